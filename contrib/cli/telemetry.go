package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"golang.org/x/net/http/httpguts"

	"github.com/socialdata/socialdata/contrib/otel"
)

// telemetryFlags configure metrics and traces. Traces are sent to OTEL_EXPORTER_OTLP_ENDPOINT, the standard variable.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
type telemetryFlags struct {
	Metrics string `help:"Serve metrics for Prometheus at /metrics on this address as well, without a secret; callers should not reach it. On the address of the API they require the admin secret." env:"SOCIALDATA_METRICS" group:"watching" placeholder:"ADDR"`
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
	if otlpSetting(os.Getenv, "ENDPOINT") != "" {
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
	exporter, err := exporterOf(os.Getenv)
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

// otlpSetting returns a standard setting of the exporter: that for traces, or that for everything.
func otlpSetting(getenv func(string) string, name string) string {
	return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
}

const exportTimeout = 10 * time.Second // as the specification has it

// exporterOf returns the exporter that the standard variables configure: ENDPOINT, HEADERS, TIMEOUT, COMPRESSION,
// CERTIFICATE, CLIENT_CERTIFICATE and CLIENT_KEY.
func exporterOf(getenv func(string) string) (*otel.Exporter, error) {
	setting := func(name string) string { return otlpSetting(getenv, name) }
	e := &otel.Exporter{URL: getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), Gzip: setting("COMPRESSION") == "gzip"}
	if e.URL == "" {
		e.URL = strings.TrimRight(getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://127.0.0.1:4318")
	}
	headers, err := otlpHeaders(setting("HEADERS"))
	if err != nil {
		return nil, err
	}
	e.Header = headers
	timeout := exportTimeout
	if ms := setting("TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds, such as 10000, and is %q", ms)
		}
		timeout = time.Duration(n) * time.Millisecond
	}
	own, err := otlpTLS(setting)
	if err != nil {
		return nil, err
	}
	e.Client = &http.Client{Timeout: timeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: own, ForceAttemptHTTP2: true,
	}}
	return e, nil
}

// otlpHeaders reads a list such as "a=1,b=2". The values are percent-encoded, and may be secret.
func otlpHeaders(list string) (map[string]string, error) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, encoded, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if name = strings.TrimSpace(name); !ok || err != nil || !httpguts.ValidHeaderFieldName(name) ||
			!httpguts.ValidHeaderFieldValue(value) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be a list of header fields, such as a=1,b=2")
		}
		out[name] = value
	}
	return out, nil
}

// otlpTLS returns the certificates with which the exporter and the collector prove who they are.
func otlpTLS(setting func(string) string) (*tls.Config, error) {
	own := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := setting("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		if own.RootCAs = x509.NewCertPool(); !own.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file)
		}
	}
	if file, key := setting("CLIENT_CERTIFICATE"), setting("CLIENT_KEY"); file != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		own.Certificates = []tls.Certificate{pair}
	}
	return own, nil
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
