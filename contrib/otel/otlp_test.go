package otel

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// recorded is a span with a value in every place that OTLP has.
func recorded() []trace.ReadOnlySpan {
	at := time.Unix(0, 1_700_000_000_000_000_001)
	context := func(span byte, remote bool) oteltrace.SpanContext {
		return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
			TraceID: oteltrace.TraceID{15: 0xab}, SpanID: oteltrace.SpanID{7: span}, TraceFlags: oteltrace.FlagsSampled,
			Remote: remote,
		})
	}
	return tracetest.SpanStubs{{
		Name: `GET "x"`, SpanContext: context(1, false), Parent: context(2, true), SpanKind: oteltrace.SpanKindServer,
		StartTime: at, EndTime: at.Add(time.Second), Status: trace.Status{Code: codes.Error, Description: "why"},
		Attributes: []attribute.KeyValue{
			attribute.String("s", "مرحبا"), attribute.Int64("i", math.MaxInt64), attribute.Bool("b", true),
			attribute.Float64("f", 0.5), attribute.Float64("inf", math.Inf(1)), attribute.StringSlice("l", []string{"a", "b"}),
		},
		Events:               []trace.Event{{Name: "e", Time: at, Attributes: []attribute.KeyValue{attribute.Int("n", 1)}}},
		Links:                []trace.Link{{SpanContext: context(3, false)}},
		DroppedAttributes:    4,
		Resource:             resource.NewSchemaless(attribute.String("service.name", "socialdata")),
		InstrumentationScope: instrumentation.Scope{Name: "scope", Version: "1"},
	}}.Snapshots()
}

// TestSpansAreSentAsOTLPInJSON compares what a collector gets with the mapping of the specification.
func TestSpansAreSentAsOTLPInJSON(t *testing.T) {
	t.Parallel()
	for _, zip := range []bool{false, true} {
		var got any
		collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var body io.Reader = r.Body
			if r.Header.Get("Content-Encoding") == "gzip" {
				body, _ = gzip.NewReader(r.Body)
			}
			if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Team") != "a" {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			if err := json.NewDecoder(body).Decode(&got); err != nil {
				t.Error(err)
			}
		}))
		defer collector.Close()
		e := &Exporter{
			URL: collector.URL + "/v1/traces", Header: map[string]string{"X-Team": "a"}, Gzip: zip, Client: collector.Client(),
		}
		if err := e.ExportSpans(t.Context(), recorded()); err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal([]byte(`{"resourceSpans":[{
			"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"socialdata"}}]},
			"scopeSpans":[{"scope":{"name":"scope","version":"1"},"spans":[{
				"traceId":"000000000000000000000000000000ab","spanId":"0000000000000001","parentSpanId":"0000000000000002",
				"flags":769,"name":"GET \"x\"","kind":2,
				"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000001000000001",
				"attributes":[{"key":"s","value":{"stringValue":"مرحبا"}},{"key":"i","value":{"intValue":"9223372036854775807"}},
					{"key":"b","value":{"boolValue":true}},{"key":"f","value":{"doubleValue":0.5}},
					{"key":"inf","value":{"doubleValue":"Infinity"}},
					{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}}],
				"droppedAttributesCount":4,
				"events":[{"name":"e","timeUnixNano":"1700000000000000001","attributes":[{"key":"n","value":{"intValue":"1"}}]}],
				"links":[{"traceId":"000000000000000000000000000000ab","spanId":"0000000000000003","flags":257}],
				"status":{"code":2,"message":"why"}}]}]}]}`), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("gzip %v (-want +got):\n%s", zip, diff)
		}
	}
}

func TestSpansThatMayBeAcceptedLaterAreSentAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first int
		body  string
		tries int64
		want  string // in the error; "" for none
	}{
		"busy":     {http.StatusServiceUnavailable, "", 2, ""},
		"invalid":  {http.StatusBadRequest, "", 1, "400"},
		"rejected": {http.StatusOK, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}`, 1, "rejected 1 spans: too old"},
		"accepted": {http.StatusOK, `{}`, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tries.Add(1) == 1 {
					w.WriteHeader(test.first)
					_, _ = io.WriteString(w, test.body)
				}
			}))
			defer collector.Close()
			err := (&Exporter{URL: collector.URL, Client: collector.Client()}).ExportSpans(t.Context(), recorded())
			if tries.Load() != test.tries || (err == nil) != (test.want == "") || !strings.Contains(errors.Join(err, errNone).Error(), test.want) {
				t.Errorf("%d tries: %v", tries.Load(), err)
			}
		})
	}
}

var errNone = errors.New("")
