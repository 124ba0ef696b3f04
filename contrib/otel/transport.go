package otel

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns base with a span around each request, and with the traceparent of that span in the request. The
// span ends when the answer has been read. A nil base means [http.DefaultTransport].
func (t *Telemetry) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport //nolint:forbidigo // what an http.Client without a transport uses
	}
	if !t.traces {
		return base
	}
	return &transport{t, base}
}

type transport struct {
	*Telemetry
	base http.RoundTripper
}

// Unwrap returns base, in which other packages find their cache of conditional requests.
func (t *transport) Unwrap() http.RoundTripper { return t.base }

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, span := t.tracer.Start(req.Context(), req.Method, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(upstreamAttributes(req)...))
	req = req.Clone(ctx) // a RoundTripper must not modify the request
	t.carry.Inject(ctx, propagation.HeaderCarrier(req.Header))
	res, err := t.base.RoundTrip(req)
	if err != nil {
		failed(span, "unreachable") // the text of err may contain the URL
		span.End()
		return nil, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		failed(span, strconv.Itoa(res.StatusCode))
	}
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is a connection, and has no end
		span.End()
		return res, nil
	}
	res.Body = &body{ReadCloser: res.Body, span: span}
	return res, nil
}

func upstreamAttributes(req *http.Request) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(req.Method), semconv.URLScheme(req.URL.Scheme),
		semconv.ServerAddress(req.URL.Hostname()), semconv.ServerPort(port(req.URL)),
	}
}

func port(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

func failed(span trace.Span, kind string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, "")
}

// body ends a span when the answer has been read.
type body struct {
	io.ReadCloser
	span trace.Span
	end  sync.Once
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended(err != io.EOF)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.ended(false)
	return b.ReadCloser.Close()
}

func (b *body) ended(broken bool) {
	b.end.Do(func() {
		if broken {
			failed(b.span, "broken_off")
		}
		b.span.End()
	})
}
