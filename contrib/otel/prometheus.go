package otel

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"
)

// Prometheus returns a meter provider and the handler of a page with its metrics, including the usual ones of a Go
// process, in the format of Prometheus. An instrument has at most 2,000 sets of labels; any others are added up.
func Prometheus() (*sdk.MeterProvider, http.Handler, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(),
		exporter.WithoutTargetInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, nil, err
	}
	page := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithCardinalityLimit(2000)), page, nil
}
