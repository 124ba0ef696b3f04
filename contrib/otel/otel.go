package otel

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/server"
)

// scope is the name of this package's instruments.
const scope = "github.com/socialdata/socialdata/contrib/otel"

// Config configures a [Telemetry]. Nil disables metrics or traces. If both are nil, what a Telemetry returns for a
// client and a server does nothing and costs nothing.
type Config struct {
	Tracer trace.TracerProvider
	Meter  metric.MeterProvider
	// Platforms are the program's own, as passed to [socialdata.WithPlatform]. Any other unknown platform is counted as
	// other.
	Platforms []platform.ID
}

// Telemetry makes the parts of a client and a server that send telemetry. It is safe for concurrent use.
type Telemetry struct {
	tracer   trace.Tracer
	carry    propagation.TraceContext
	meters   *meters
	measures bool // false if Config.Meter is nil
	traces   bool // false if Config.Tracer is nil
}

// New returns a Telemetry. It fails when the meter refuses an instrument.
func New(cfg Config) (*Telemetry, error) {
	t := &Telemetry{measures: cfg.Meter != nil, traces: cfg.Tracer != nil}
	if cfg.Tracer == nil {
		cfg.Tracer = tracenoop.NewTracerProvider()
	}
	if cfg.Meter == nil {
		cfg.Meter = metricnoop.NewMeterProvider()
	}
	var err error
	t.tracer = cfg.Tracer.Tracer(scope)
	t.meters, err = newMeters(cfg.Meter.Meter(scope), cfg.Platforms)
	return t, err
}

// Server returns the options of a server that records its requests.
func (t *Telemetry) Server() []server.Option {
	var opts []server.Option
	if t.traces {
		opts = append(opts, server.WithMiddleware(t.begin))
	}
	if t.traces || t.measures {
		opts = append(opts, server.WithObserver(t.end))
	}
	return opts
}

// begin starts the span of a request, as a child of the caller's span.
func (t *Telemetry) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.carry.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// end ends the span of a request, and records its metrics.
func (t *Telemetry) end(ctx context.Context, r server.Request) {
	about := words{a: r.Method, b: r.Route, status: r.Status}
	if r.Status >= http.StatusInternalServerError {
		about.c = string(r.Code)
	}
	t.meters.requests.record(ctx, r.Duration, about)
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	name := r.Method
	if name == "_OTHER" {
		name = "HTTP"
	}
	if r.Route != "" {
		name += " " + r.Route
	}
	span.SetName(name)
	span.SetAttributes(requestLabels(about)...)
	span.SetAttributes(semconv.URLScheme("http"), semconv.URLPath(r.Route))
	for _, a := range []attribute.KeyValue{
		operationKey.String(r.Operation), platformKey.String(r.Platform), codeKey.String(string(r.Code)),
	} {
		if a.Value.AsString() != "" {
			span.SetAttributes(a)
		}
	}
	if r.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, string(r.Code))
	}
}

// requestLabels returns the labels for a method, a route and the code of a failure.
func requestLabels(w words) []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(w.a), semconv.HTTPResponseStatusCode(w.status)}
	if w.b != "" {
		attrs = append(attrs, semconv.HTTPRoute(w.b))
	}
	if w.status >= http.StatusInternalServerError {
		attrs = append(attrs, semconv.ErrorTypeKey.String(w.c))
	}
	return attrs
}
