package otel

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Exporter sends spans to a collector in the JSON encoding of OTLP over HTTP, which every collector takes on the same
// address as the binary one. It is a span exporter of the SDK. The SDK's own, otlptracehttp, imports gRPC, whose debug
// pages link html/template, and with that the linker keeps every exported method.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type Exporter struct {
	URL    string            // of the traces, such as http://127.0.0.1:4318/v1/traces
	Header map[string]string // added to each request
	Gzip   bool              // compress the requests
	Client *http.Client      // with a timeout for each attempt
}

var _ trace.SpanExporter = (*Exporter)(nil)

const (
	exportPatience = time.Minute // for a batch, with its repetitions
	answerLimit    = 64 << 10    // bytes of an answer that are read
)

// Shutdown does nothing: the exporter keeps nothing.
func (*Exporter) Shutdown(context.Context) error { return nil }

// ExportSpans sends spans. It repeats a request that the collector may accept later.
func (e *Exporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]any{"resourceSpans": resourceSpans(spans)})
	if err == nil && e.Gzip {
		body, err = zipped(body)
	}
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, e.send(ctx, body) },
		backoff.WithMaxElapsedTime(exportPatience))
	if err != nil {
		return fmt.Errorf("traces were not sent: %w", err)
	}
	return nil
}

func zipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// send makes one attempt.
func (e *Exporter) send(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	for name, value := range e.Header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := e.Client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read, or given up
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	switch {
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusBadGateway,
		res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
		if wait, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && wait > 0 {
			return backoff.RetryAfter(wait)
		}
		return fmt.Errorf("the collector answered %s", res.Status)
	case res.StatusCode/100 != 2:
		return backoff.Permanent(fmt.Errorf("the collector answered %s", res.Status))
	case err != nil:
		return nil // the spans were accepted
	}
	var partly struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &partly) == nil && partly.PartialSuccess.ErrorMessage != "" {
		return backoff.Permanent(fmt.Errorf("the collector rejected %s spans: %s",
			partly.PartialSuccess.RejectedSpans, partly.PartialSuccess.ErrorMessage))
	}
	return nil
}

// The messages of OTLP in its JSON encoding: ids in hex, 64-bit numbers as strings, enumerations as numbers.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
type (
	wireResource struct {
		Resource  wireAttributes `json:"resource"`
		Scopes    []*wireScope   `json:"scopeSpans"`
		SchemaURL string         `json:"schemaUrl,omitempty"`
	}
	wireAttributes struct {
		Attributes []wireAttribute `json:"attributes,omitempty"`
	}
	wireScope struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
			wireAttributes
		} `json:"scope"`
		Spans     []wireSpan `json:"spans"`
		SchemaURL string     `json:"schemaUrl,omitempty"`
	}
	wireSpan struct {
		TraceID  string `json:"traceId"`
		SpanID   string `json:"spanId"`
		State    string `json:"traceState,omitempty"`
		ParentID string `json:"parentSpanId,omitempty"`
		Flags    uint32 `json:"flags"`
		Name     string `json:"name"`
		Kind     int    `json:"kind"` // that of the SDK: they have the same numbers
		Start    int64  `json:"startTimeUnixNano,string"`
		End      int64  `json:"endTimeUnixNano,string"`
		wireAttributes
		Dropped       int         `json:"droppedAttributesCount,omitempty"`
		Events        []wireEvent `json:"events,omitempty"`
		DroppedEvents int         `json:"droppedEventsCount,omitempty"`
		Links         []wireLink  `json:"links,omitempty"`
		DroppedLinks  int         `json:"droppedLinksCount,omitempty"`
		Status        wireStatus  `json:"status"`
	}
	wireEvent struct {
		Name string `json:"name"`
		At   int64  `json:"timeUnixNano,string"`
		wireAttributes
		Dropped int `json:"droppedAttributesCount,omitempty"`
	}
	wireLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
		State   string `json:"traceState,omitempty"`
		Flags   uint32 `json:"flags"`
		wireAttributes
		Dropped int `json:"droppedAttributesCount,omitempty"`
	}
	wireStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	wireAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// resourceSpans groups spans by their resource and their scope.
func resourceSpans(spans []trace.ReadOnlySpan) []*wireResource {
	type key struct {
		of attribute.Distinct
		in instrumentation.Scope
	}
	var out []*wireResource
	resources, scopes := map[attribute.Distinct]*wireResource{}, map[key]*wireScope{}
	for _, s := range spans {
		k := key{s.Resource().Equivalent(), s.InstrumentationScope()}
		r := resources[k.of]
		if r == nil {
			r = &wireResource{Resource: attributes(s.Resource().Attributes()), SchemaURL: s.Resource().SchemaURL()}
			resources[k.of], out = r, append(out, r)
		}
		scope := scopes[k]
		if scope == nil {
			scope = &wireScope{SchemaURL: k.in.SchemaURL}
			scope.Scope.Name, scope.Scope.Version = k.in.Name, k.in.Version
			scope.Scope.wireAttributes = attributes(k.in.Attributes.ToSlice())
			scopes[k], r.Scopes = scope, append(r.Scopes, scope)
		}
		scope.Spans = append(scope.Spans, spanOf(s))
	}
	return out
}

func spanOf(s trace.ReadOnlySpan) wireSpan {
	at := s.SpanContext()
	out := wireSpan{
		TraceID: at.TraceID().String(), SpanID: at.SpanID().String(), State: at.TraceState().String(),
		Flags: flags(at.TraceFlags(), s.Parent()), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(), wireAttributes: attributes(s.Attributes()),
		Dropped: s.DroppedAttributes(), DroppedEvents: s.DroppedEvents(), DroppedLinks: s.DroppedLinks(),
	}
	if s.Parent().SpanID().IsValid() {
		out.ParentID = s.Parent().SpanID().String()
	}
	switch s.Status().Code { // OTLP numbers them otherwise
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status = wireStatus{2, s.Status().Description}
	case codes.Unset:
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events,
			wireEvent{e.Name, e.Time.UnixNano(), attributes(e.Attributes), e.DroppedAttributeCount})
	}
	for _, l := range s.Links() {
		c := l.SpanContext
		out.Links = append(out.Links, wireLink{
			c.TraceID().String(), c.SpanID().String(), c.TraceState().String(), flags(c.TraceFlags(), c),
			attributes(l.Attributes), l.DroppedAttributeCount,
		})
	}
	return out
}

// flags returns the trace flags of W3C, with the bits that say whether the parent or the linked span is in another
// process.
func flags(of oteltrace.TraceFlags, parent oteltrace.SpanContext) uint32 {
	const hasIsRemote, isRemote = 0x100, 0x200
	if parent.IsRemote() {
		return uint32(of) | hasIsRemote | isRemote
	}
	return uint32(of) | hasIsRemote
}

func attributes(set []attribute.KeyValue) wireAttributes {
	var out wireAttributes
	for _, kv := range set {
		out.Attributes = append(out.Attributes, wireAttribute{string(kv.Key), value(kv.Value)})
	}
	return out
}

// value returns v as the message AnyValue.
func value(v attribute.Value) map[string]any {
	switch v.Type() {
	case attribute.BOOL:
		return map[string]any{"boolValue": v.AsBool()}
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": double(v.AsFloat64())}
	case attribute.STRING:
		return map[string]any{"stringValue": v.AsString()}
	case attribute.BYTESLICE:
		return map[string]any{"bytesValue": base64.StdEncoding.EncodeToString(v.AsByteSlice())}
	case attribute.BOOLSLICE:
		return list(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return list(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return list(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return list(v.AsStringSlice(), attribute.StringValue)
	case attribute.SLICE:
		return list(v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.MAP:
		return map[string]any{"kvlistValue": map[string]any{"values": attributes(v.AsMap()).Attributes}}
	default:
		return map[string]any{}
	}
}

func list[T any](of []T, wrap func(T) attribute.Value) map[string]any {
	values := make([]map[string]any, len(of))
	for i := range of {
		values[i] = value(wrap(of[i]))
	}
	return map[string]any{"arrayValue": map[string]any{"values": values}}
}

// double returns n as OTLP writes it in JSON, which has no infinite numbers: those, and NaN, are strings.
func double(n float64) any {
	if b, err := json.Marshal(n); err == nil {
		return json.RawMessage(b)
	}
	return map[string]string{"+Inf": "Infinity", "-Inf": "-Infinity", "NaN": "NaN"}[strconv.FormatFloat(n, 'g', -1, 64)]
}
