package otel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/contrib/otel"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// stack is a server with telemetry.
type stack struct {
	telemetry *otel.Telemetry
	spans     *tracetest.SpanRecorder
	page      http.Handler
	handler   http.Handler
	secret    string
}

const (
	handle = "salma-haddad-1987" // must not be in metrics
	token  = "ghp_a_token_of_ours_0123456789"
)

// newStack returns a stack that reads GitHub from upstream.
func newStack(t *testing.T, upstream string) *stack {
	t.Helper()
	meter, page, err := otel.Prometheus()
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{spans: tracetest.NewSpanRecorder(), page: page}
	s.telemetry, err = otel.New(otel.Config{
		Meter: meter, Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{}), github.New(github.Config{
			BaseURL: upstream, Token: token, HTTP: &http.Client{Transport: s.telemetry.Transport(nil)},
		})),
		socialdata.WithLedger(ledger), socialdata.WithKeys(store), socialdata.WithObserver(s.telemetry.Observer()),
		socialdata.WithDependency("cache", func() schema.HealthState { return schema.Degraded }),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.telemetry.Health(client.Health); err != nil {
		t.Fatal(err)
	}
	account, err := store.CreateAccount(t.Context(), "somebody")
	if err != nil {
		t.Fatal(err)
	}
	ledger.Open(account.ID)
	if _, err := ledger.Grant(t.Context(), account.ID, 1000, "for a test"); err != nil {
		t.Fatal(err)
	}
	s.secret, _, err = store.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Name: "test", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(client, s.telemetry.Server()...)
	if err != nil {
		t.Fatal(err)
	}
	s.handler = srv.Handler()
	return s
}

func (s *stack) get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer "+s.secret)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// metrics returns the lines of the page.
func (s *stack) metrics(t *testing.T) []string {
	t.Helper()
	w := httptest.NewRecorder()
	s.page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("the page was answered %d: %s", w.Code, w.Body)
	}
	return strings.Split(w.Body.String(), "\n")
}

// upstream serves one profile of GitHub, and answers 500 for any other.
func upstream(t *testing.T, seen func(*http.Request)) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r)
		if !strings.HasPrefix(r.URL.Path, "/users/"+handle) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"id":1,"login":"`+handle+`","html_url":"https://github.com/`+handle+
			`","type":"User","followers":"many"}`)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newStack(t, upstream(t, func(*http.Request) {}))
	for _, path := range []string{
		"/v1/mock/profile?handle=" + handle, "/v1/mock/profile?handle=" + handle, "/v1/github/profile?handle=" + handle,
		"/v1/github/profile?handle=somebody-else", "/v1/mock/profile?handle=not_found", "/docs",
		"/health", // it is not cached
	} {
		s.get(t, path)
	}
	s.telemetry.Observer().Breaker(observe.Breaker{Platform: platform.GitHub, Provider: "github", State: observe.Open})
	got := s.metrics(t)
	for _, want := range []string{
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="200",http_route="/v1/{platform}/profile"} 3`,
		`http_server_request_duration_seconds_count{error_type="platform_unavailable",http_request_method="GET",http_response_status_code="503",http_route="/v1/{platform}/profile"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="200",http_route="/docs"} 1`,
		`socialdata_calls_total{code="ok",operation="profile",platform="mock"} 2`,
		`socialdata_calls_total{code="not_found",operation="profile",platform="mock"} 1`,
		`socialdata_cache_requests_total{class="profile",result="hit"} 1`,
		`socialdata_cache_requests_total{class="profile",result="miss"} 2`,
		`socialdata_credits_charged_total{operation="profile",platform="mock"} 2`,
		`socialdata_upstream_request_duration_seconds_count{outcome="ok",platform="github",provider="github"} 1`,
		`socialdata_upstream_request_duration_seconds_count{outcome="server_error",platform="github",provider="github"} 3`,
		`socialdata_breaker_state{platform="github",provider="github"} 2`,
		`socialdata_schema_drift_total{field="followers",operation="profile",platform="github"} 1`,
		`socialdata_dependency_state{dependency="cache"} 1`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if slices.ContainsFunc(got,
		func(l string) bool { return strings.HasPrefix(l, `socialdata_cache_requests_total{class="health"`) }) {
		t.Error("a cache miss is counted for an operation that is never cached")
	}
	if t.Failed() {
		t.Log(strings.Join(slices.DeleteFunc(got, func(l string) bool {
			return strings.HasPrefix(l, "#") || strings.HasPrefix(l, "go_") || strings.Contains(l, "_bucket")
		}), "\n"))
	}
}

// TestLimitsOfUpstreamsAreMeasured checks the known limits, with what is left of them and when they reset.
func TestLimitsOfUpstreamsAreMeasured(t *testing.T) {
	t.Parallel()
	s := newStack(t, upstream(t, func(*http.Request) {}))
	at := time.Now()
	err := s.telemetry.Quotas(func() []observe.Quota {
		return []observe.Quota{
			{Platform: platform.YouTube, Provider: "youtube", Name: "units", Limit: 10_000, Used: 100, Left: 9_900, Resets: at.Add(time.Hour)},
			{Platform: platform.YouTube, Provider: "youtube", Name: "searches", Limit: 100, Used: 100, Resets: at.Add(-time.Minute)},
			{Platform: platform.GitHub, Provider: "github", Name: "core"}, // not known
			{Platform: platform.X, Provider: "x", Name: "posts", Limit: 300, Left: 300},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	got := s.metrics(t)
	for _, want := range []string{
		`socialdata_upstream_quota_left{limit="units",provider="youtube"} 9900`,
		`socialdata_upstream_quota_left{limit="searches",provider="youtube"} 0`,
		`socialdata_upstream_quota_left{limit="posts",provider="x"} 300`,
		`socialdata_upstream_quota_resets_seconds{limit="searches",provider="youtube"} 0`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, line := range got {
		value, ok := strings.CutPrefix(line, `socialdata_upstream_quota_resets_seconds{limit="units",provider="youtube"} `)
		if n, err := strconv.ParseFloat(value, 64); ok && (err != nil || n > 3600 || n < 3600-time.Since(at).Seconds()-1) {
			t.Errorf("it resets in %s seconds, want an hour", value)
		}
		if strings.Contains(line, "_upstream_quota_") &&
			(strings.Contains(line, `limit="core"`) || strings.Contains(line, `resets_seconds{limit="posts"`)) {
			t.Errorf("an unknown limit is measured: %s", line)
		}
	}
	if !slices.ContainsFunc(got, func(l string) bool {
		return strings.HasPrefix(l, `socialdata_upstream_quota_resets_seconds{limit="units",provider="youtube"}`)
	}) {
		t.Error("the page lacks when the units reset")
	}
}

// TestNoLabelHasTextOfACaller makes a thousand requests with text of a caller wherever it could get into a label,
// and finds neither the text nor more lines.
func TestNoLabelHasTextOfACaller(t *testing.T) {
	t.Parallel()
	s := newStack(t, upstream(t, func(*http.Request) {}))
	ask := func(word string) {
		for _, path := range []string{
			"/v1/mock/profile?handle=" + word, "/v1/" + word + "/profile?handle=a", "/v1/mock/" + word, "/" + word,
			"/v1/raw/mock/" + word, "/v1/raw/" + word + "/users", "/v1/mock/profile?" + word + "=1", "/v1/job?id=" + word,
			"/v1/github/profile?handle=" + word, "/v1/mock/posts?handle=a&cursor=" + word,
		} {
			s.get(t, path, "Authorization", "Bearer "+s.secret, "Idempotency-Key", word+"0123456789")
			s.get(t, path, "Authorization", "Bearer "+word)
		}
		r := httptest.NewRequestWithContext(t.Context(), strings.ToUpper(word), "/v1/me", nil)
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
		o := s.telemetry.Observer()
		o.Call(observe.Call{Operation: word, Platform: word})
		o.Charge(observe.Charge{Operation: word, Platform: word, Credits: 1})
		o.Drift(observe.Drift{Platform: platform.ID(word), Operation: word, Field: "likes", Path: "items[7]." + word})
	}
	ask(handle)
	before := len(s.metrics(t))
	for i := range 50 {
		ask(handle + strings.Repeat("x", i))
	}
	got := s.metrics(t)
	if len(got) > before+100 { // for the circuit breaker of github, which has opened, and for more outcomes
		t.Errorf("%d lines have become %d", before, len(got))
	}
	for _, line := range got {
		for _, word := range []string{handle, strings.ToUpper(handle), token, s.secret, s.secret[:12]} {
			if strings.Contains(line, word) {
				t.Errorf("a line of the page holds %s: %s", word, line)
			}
		}
	}
}

func TestFieldsThatDriftAreBounded(t *testing.T) {
	t.Parallel()
	s := newStack(t, "http://127.0.0.1:1")
	for i := range 5000 {
		s.telemetry.Observer().Drift(observe.Drift{
			Platform: platform.GitHub, Operation: "profile", Field: "f" + strings.Repeat("x", i),
		})
	}
	n, rest := 0, false
	for _, line := range s.metrics(t) {
		if strings.HasPrefix(line, "socialdata_schema_drift_total{") {
			n++
			rest = rest || strings.Contains(line, `field="other"`)
		}
	}
	if n != 501 || !rest {
		t.Errorf("%d lines for 5000 fields, other among them: %v", n, rest)
	}
}

func TestTheNumberOfOutcomesIsLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t, "http://127.0.0.1:1")
	o := s.telemetry.Observer()
	for status := range 1000 {
		for _, err := range []error{
			nil, context.Canceled, io.ErrUnexpectedEOF, &providers.Error{Kind: providers.ErrTimeout},
		} {
			o.Upstream(observe.Upstream{
				Platform: platform.GitHub, Provider: "github", UpstreamCall: callctx.UpstreamCall{Status: status, Err: err},
			})
		}
	}
	n := 0
	for _, line := range s.metrics(t) {
		if strings.HasPrefix(line, "socialdata_upstream_request_duration_seconds_count{") {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d outcomes; want 10", n)
	}
}

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

func TestATraceGoesThroughToTheUpstream(t *testing.T) {
	t.Parallel()
	var sent atomic.Value
	s := newStack(t, upstream(t, func(r *http.Request) { sent.Store(r.Header.Get("Traceparent")) }))
	if w := s.get(t, "/v1/github/profile?handle="+handle, "Traceparent", traceparent); w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	spans := s.spans.Ended()
	if len(spans) != 2 {
		t.Fatalf("%d spans; want that of the upstream and that of the request", len(spans))
	}
	up, own := spans[0], spans[1]
	for _, span := range spans {
		if span.SpanContext().TraceID().String() != traceID {
			t.Errorf("%s is of another trace: %s", span.Name(), span.SpanContext().TraceID())
		}
	}
	if own.Parent().SpanID().String() != "00f067aa0ba902b7" || up.Parent().SpanID() != own.SpanContext().SpanID() {
		t.Errorf("the parents are %s and %s", own.Parent().SpanID(), up.Parent().SpanID())
	}
	if want := "00-" + traceID + "-" + up.SpanContext().SpanID().String() + "-01"; sent.Load() != want {
		t.Errorf("the upstream was sent traceparent %v; want %s", sent.Load(), want)
	}
	want := map[string]map[string]string{
		"GET /v1/{platform}/profile": {
			"http.request.method": "GET", "http.response.status_code": "200", "http.route": "/v1/{platform}/profile",
			"url.path": "/v1/{platform}/profile", "url.scheme": "http",
			"socialdata.operation": "profile", "socialdata.platform": "github",
		},
		"GET": {
			"http.request.method": "GET", "http.response.status_code": "200", "server.address": "127.0.0.1", "url.scheme": "http",
		},
	}
	got := map[string]map[string]string{}
	for _, span := range spans {
		attrs := map[string]string{}
		for _, a := range span.Attributes() {
			if a.Key != attribute.Key("server.port") { // different in each run
				attrs[string(a.Key)] = a.Value.String()
			}
		}
		got[span.Name()] = attrs
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestNoSpanHasTextOfACaller(t *testing.T) {
	t.Parallel()
	s := newStack(t, upstream(t, func(*http.Request) {}))
	for _, path := range []string{
		"/v1/github/profile?handle=" + handle, "/v1/github/profile?handle=other-" + handle, "/v1/raw/github/users/" + handle,
		"/" + handle, "/v1/" + handle + "/profile",
	} {
		s.get(t, path)
	}
	broken := newStack(t, "http://127.0.0.1:1")
	broken.get(t, "/v1/github/profile?handle="+handle)
	spans := append(s.spans.Ended(), broken.spans.Ended()...)
	if len(spans) < 10 {
		t.Fatalf("%d spans", len(spans))
	}
	word := regexp.MustCompile("(?i)" + handle + "|" + token + "|" + s.secret)
	for _, span := range spans {
		text := span.Name() + span.Status().Description
		for _, a := range span.Attributes() {
			text += " " + a.Value.String()
		}
		for _, e := range span.Events() {
			text += " " + e.Name
			for _, a := range e.Attributes {
				text += " " + a.Value.String()
			}
		}
		if found := word.FindString(text); found != "" {
			t.Errorf("a span holds %s: %s", found, text)
		}
	}
}

func TestWithoutProvidersNothingIsMeasured(t *testing.T) {
	t.Parallel()
	telemetry, err := otel.New(otel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if telemetry.Observer().Call != nil || len(telemetry.Server()) > 0 {
		t.Error("something is reported although there is no listener")
	}
	if base := (&http.Transport{}); telemetry.Transport(base) != http.RoundTripper(base) {
		t.Error("requests to upstreams are traced without a tracer")
	}
	if err := telemetry.Health(func(context.Context) (schema.Health, error) { return schema.Health{}, nil }); err != nil {
		t.Error(err)
	}
}
