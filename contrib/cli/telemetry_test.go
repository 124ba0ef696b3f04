package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// serving is a server in this process.
type serving struct {
	base, metrics, secret, admin string
	stop                         func() // stops it and waits
}

var (
	baseLine    = regexp.MustCompile(`^socialdata serves on (http://\S+) `)
	adminLine   = regexp.MustCompile(`^\s+(admin_\S+)$`)
	metricsLine = regexp.MustCompile(`^metrics for Prometheus: (http://\S+)$`)
)

// startInProcess runs serve with these arguments and returns when it has printed its address.
func startInProcess(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	var log bytes.Buffer
	var wg sync.WaitGroup
	db := filepath.Join(t.TempDir(), "t.db") // before the cleanup that stops the server, so that it is removed after that
	wg.Go(func() {
		args := append([]string{"--db", db, "serve", "--addr", "127.0.0.1:0"}, args...)
		if status := run(ctx, args, nil, out, &log, func(string) string { return "" }); status != 0 {
			t.Errorf("exit status %d: %s", status, log.String())
		}
		_ = out.Close()
	})
	s := &serving{stop: sync.OnceFunc(func() { cancel(); wg.Wait() })}
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		for re, to := range map[*regexp.Regexp]*string{
			secretLine: &s.secret, adminLine: &s.admin, metricsLine: &s.metrics, baseLine: &s.base,
		} {
			if m := re.FindStringSubmatch(lines.Text()); m != nil {
				*to = m[1]
			}
		}
		if s.base != "" {
			go func() { _, _ = io.Copy(io.Discard, in) }() // so that it can write until it ends
			return s
		}
	}
	s.stop()
	t.Fatalf("the server did not start: %s", log.String())
	return nil
}

func TestMetricsAreServedOnAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := startInProcess(t, "--metrics", "127.0.0.1:0")
	for range 2 {
		if status, _, body := read(t, s.base+"/v1/mock/profile?handle=ann", s.secret); status != http.StatusOK {
			t.Fatalf("%d: %s", status, body)
		}
	}
	page := text(t, s.metrics, "")
	for _, want := range []string{
		`socialdata_credits_charged_total{operation="profile",platform="mock"} 2`,
		`socialdata_cache_requests_total{class="profile",result="hit"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="200",http_route="/v1/{platform}/profile"} 2`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("the page lacks %s", want)
		}
	}
	if status, _, body := read(t, s.base+"/metrics", s.secret); status != http.StatusUnauthorized ||
		!strings.Contains(string(body), "ADMIN_SECRET") {
		t.Errorf("callers get %d for /metrics: %s", status, body)
	}
}

func TestMetricsAreServedWithTheAdminSecret(t *testing.T) {
	t.Parallel()
	s := startInProcess(t)
	read(t, s.base+"/v1/mock/profile?handle=ann_of_the_metrics", s.secret)
	page := text(t, s.base+"/metrics", s.admin)
	for _, want := range []string{
		`socialdata_credits_charged_total{operation="profile",platform="mock"} 1`, `socialdata_upstream_quota_left{limit="`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "ann_of") || strings.Contains(page, s.secret) {
		t.Error("the page has a parameter, or the key")
	}
	if status, _, body := read(t, s.base+"/metrics", "admin_guessed"); status != http.StatusUnauthorized ||
		!strings.Contains(string(body), "urn:socialdata:problem:unauthorized") {
		t.Errorf("a wrong secret: %d %s", status, body)
	}
}

func TestAMetricsAddressInUseIsReported(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing was written
	status, _, log := cliRun(t, nil, "--db", filepath.Join(t.TempDir(), "t.db"), "serve", "--addr", "127.0.0.1:0",
		"--metrics", taken.Addr().String())
	if status != 1 || !strings.Contains(log, "is in use by another program") {
		t.Errorf("exit status %d: %s", status, log)
	}
}

// text reads a page that is not JSON.
func text(t *testing.T, target, secret string) string {
	t.Helper()
	_, b := fetch(t, target, secret)
	return string(b)
}

// TestTracesGoToTheCollector sets the environment, so it cannot run in parallel.
func TestTracesGoToTheCollector(t *testing.T) {
	var mu sync.Mutex
	var sent bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/v1/traces" {
			_, _ = io.Copy(&sent, r.Body)
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	s := startInProcess(t)
	read(t, s.base+"/v1/mock/profile?handle=ann_of_the_traces", s.secret)
	s.stop()
	mu.Lock()
	defer mu.Unlock()
	if got := sent.String(); !strings.Contains(got, "GET /v1/{platform}/profile") || strings.Contains(got, "ann_of") ||
		strings.Contains(got, s.secret) {
		t.Errorf("the collector was sent %q", got)
	}
}

func TestTheExporterIsConfiguredAsOpenTelemetrySays(t *testing.T) {
	t.Parallel()
	const all, traces = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"
	for name, test := range map[string]struct {
		env  map[string]string
		url  string
		head string
		zip  bool
		wait time.Duration
		fail string
	}{
		"address":             {env: map[string]string{all + "ENDPOINT": "http://a:4318/"}, url: "http://a:4318/v1/traces", wait: 10 * time.Second},
		"address of traces":   {env: map[string]string{all + "ENDPOINT": "http://a", traces + "ENDPOINT": "https://b/x"}, url: "https://b/x", wait: 10 * time.Second},
		"everything":          {env: map[string]string{all + "ENDPOINT": "http://a", all + "HEADERS": "x-k=1, x-s=a%20b", all + "TIMEOUT": "500", all + "COMPRESSION": "gzip"}, url: "http://a/v1/traces", head: "a b", zip: true, wait: 500 * time.Millisecond},
		"no address":          {env: map[string]string{all + "ENDPOINT": "collector:4318"}, fail: "http://127.0.0.1:4318"},
		"a header's line end": {env: map[string]string{all + "ENDPOINT": "http://a", all + "HEADERS": "x-s=secret%0A"}, fail: "a=1,b=2"},
		"no time":             {env: map[string]string{all + "ENDPOINT": "http://a", all + "TIMEOUT": "10s"}, fail: "milliseconds"},
		"no certificate":      {env: map[string]string{all + "ENDPOINT": "https://a", all + "CERTIFICATE": "/no/such"}, fail: "CERTIFICATE"},
		"no key":              {env: map[string]string{all + "ENDPOINT": "https://a", all + "CLIENT_CERTIFICATE": "/no/such"}, fail: "CLIENT_CERTIFICATE"},
	} {
		e, err := exporterOf(func(name string) string { return test.env[name] })
		if test.fail != "" {
			if err == nil || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.URL != test.url || e.Header["x-s"] != test.head || e.Gzip != test.zip || e.Client.Timeout != test.wait {
			t.Errorf("%s: %+v, timeout %s", name, e, e.Client.Timeout)
		}
	}
}
