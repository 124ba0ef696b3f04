package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/socialdata/socialdata/contrib/otel"
)

// telemetryFlags say who is told what the server does. Where traces go is set as everywhere, by
// OTEL_EXPORTER_OTLP_ENDPOINT.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
type telemetryFlags struct {
	Metrics string `help:"Serve metrics for Prometheus at /metrics on this address, which callers should not reach." env:"SOCIALDATA_METRICS" placeholder:"ADDR"`
}

const metricsHeadTimeout = 5 * time.Second

// start begins to listen for who reads metrics. Stop ends that, and sends what traces are left.
func (f telemetryFlags) start(e *env, log *slog.Logger) (told *otel.Telemetry, stop func() error, err error) {
	stops := []func() error{}
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	cfg := otel.Config{}
	// The exporter reads these by itself, and others of their kind.
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		traces, err := tracer(e.ctx)
		if err != nil {
			return nil, nil, err
		}
		cfg.Tracer = traces
		stops = append(stops, func() error { return flush(e.ctx, traces, log) })
	}
	if f.Metrics != "" {
		meter, page, err := otel.Prometheus()
		if err != nil {
			return nil, nil, err
		}
		cfg.Meter = meter
		closed, err := f.listen(e, page, log)
		if err != nil {
			return nil, nil, err
		}
		stops = append(stops, closed)
	}
	told, err = otel.New(cfg)
	return told, stop, err
}

// listen serves page at /metrics.
func (f telemetryFlags) listen(e *env, page http.Handler, log *slog.Logger) (closed func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(e.ctx, "tcp", f.Metrics)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	web := &http.Server{
		Handler: mux, ReadTimeout: metricsHeadTimeout, ReadHeaderTimeout: metricsHeadTimeout, WriteTimeout: patience,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	go func() { _ = web.Serve(listener) }() // until it is closed
	return web.Close, e.printf("metrics for Prometheus: http://%s/metrics\n", listener.Addr())
}

// tracer returns a provider that sends traces to the collector that the environment names.
func tracer(ctx context.Context) (*trace.TracerProvider, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	// What comes later goes before: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
	own, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("socialdata")), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	return trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(own)), nil
}

// flush sends what is left, if the collector takes it soon. It is not worth failing for.
func flush(ctx context.Context, traces *trace.TracerProvider, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), metricsHeadTimeout)
	defer cancel()
	if err := traces.Shutdown(ctx); err != nil {
		log.WarnContext(ctx, "the last traces were not sent", "error", err)
	}
	return nil
}
