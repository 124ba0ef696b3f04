package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/socialdata/socialdata/contrib/otel"
)

// telemetryFlags configure metrics and traces. Traces are sent to OTEL_EXPORTER_OTLP_ENDPOINT, the standard variable.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
type telemetryFlags struct {
	Metrics string `help:"Serve metrics for Prometheus at /metrics on this address as well, without a secret: callers should not reach it. On the address of the API they want the admin secret." env:"SOCIALDATA_METRICS" group:"watching" placeholder:"ADDR"`
}

const metricsHeadTimeout = 5 * time.Second

// telemetry is the metrics and traces of a server, and the page of its metrics.
type telemetry struct {
	*otel.Telemetry
	page  http.Handler
	stops []func() error
}

// stop ends what start began, and sends the remaining traces.
func (t *telemetry) stop() error {
	var errs []error
	for _, s := range t.stops {
		errs = append(errs, s())
	}
	return errors.Join(errs...)
}

// start begins to record, and to serve the metrics if they have an address of their own.
func (f telemetryFlags) start(e *env, log *slog.Logger) (_ *telemetry, err error) {
	t := &telemetry{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.stop())
		}
	}()
	cfg := otel.Config{}
	for _, info := range e.cfg.Platforms {
		cfg.Platforms = append(cfg.Platforms, info.ID)
	}
	if cfg.Meter, t.page, err = otel.Prometheus(); err != nil {
		return nil, err
	}
	// The exporter itself reads these and similar variables.
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		traces, err := tracer(e.ctx)
		if err != nil {
			return nil, err
		}
		cfg.Tracer = traces
		t.stops = append(t.stops, func() error { return flush(e.ctx, traces, log) })
	}
	if f.Metrics != "" {
		closed, err := f.listen(e, t.page, log)
		if err != nil {
			return nil, err
		}
		t.stops = append(t.stops, closed)
	}
	t.Telemetry, err = otel.New(cfg)
	return t, err
}

// listen serves page at /metrics.
func (f telemetryFlags) listen(e *env, page http.Handler, log *slog.Logger) (closed func() error, err error) {
	listener, err := listenOn(e.ctx, f.Metrics)
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

// tracer returns a provider that sends traces to the collector that is configured in the environment.
func tracer(ctx context.Context) (*trace.TracerProvider, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	// Later options take precedence: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
	own, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("socialdata")), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	return trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(own)), nil
}

// flush sends the remaining traces, if the collector accepts them soon. An error is only logged.
func flush(ctx context.Context, traces *trace.TracerProvider, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), metricsHeadTimeout)
	defer cancel()
	if err := traces.Shutdown(ctx); err != nil {
		log.WarnContext(ctx, "the last traces were not sent", "error", err)
	}
	return nil
}
