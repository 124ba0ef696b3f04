package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

// secure serves over TLS on loopback, and returns its address and a configuration that trusts its certificate.
func secure(t *testing.T, opts ...server.Option) (string, *tls.Config) {
	t.Helper()
	lender := httptest.NewUnstartedServer(http.NotFoundHandler()) // has a certificate
	lender.StartTLS()
	t.Cleanup(lender.Close)
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open,
		append(opts, server.WithTLS(&tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12}))...)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	return listener.Addr().String(),
		&tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2", "http/1.1"}}
}

func TestUnreadableRequestsOverTLS(t *testing.T) {
	t.Parallel()
	addr, cfg := secure(t)
	for name, tt := range map[string]struct {
		text   string
		clear  bool // without TLS
		status int
		says   string
	}{
		"a good one":            {"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", false, http.StatusOK, ""},
		"bad escapes":           {"GET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n", false, http.StatusBadRequest, "%"},
		"nonsense":              {"nonsense\r\n\r\n", false, http.StatusBadRequest, "first line"},
		"no host":               {"GET /livez HTTP/1.1\r\n\r\n", false, http.StatusBadRequest, "Host"},
		"a head too long":       {"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 70<<10) + "\r\n\r\n", false, http.StatusRequestHeaderFieldsTooLarge, "61440 bytes"},
		"a handler's own":       {"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", false, http.StatusNotFound, "/nothing"},
		"a request without TLS": {"GET /v1/me HTTP/1.1\r\nHost: a\r\n\r\n", true, http.StatusBadRequest, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.clear {
				conn = tls.Client(conn, cfg)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, tt.text); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			got := reply{resp.StatusCode, resp.Header, body}
			if got.status != tt.status {
				t.Fatalf("answered %d, want %d: %s", got.status, tt.status, got.body)
			}
			if tt.status == http.StatusOK {
				return
			}
			if p := got.problem(t); !strings.Contains(p.Detail, tt.says) {
				t.Errorf("the detail %q does not say %q", p.Detail, tt.says)
			}
		})
	}
}

// livez reads /livez over TLS.
func livez(t *testing.T, addr string, cfg *tls.Config) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+addr+"/livez", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTLSIsKnownToHandlers(t *testing.T) {
	t.Parallel()
	seen := make(chan *tls.ConnectionState, 1)
	addr, cfg := secure(t, server.WithMiddleware(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r.TLS
			h.ServeHTTP(w, r)
		})
	}))
	livez(t, addr, cfg)
	if state := <-seen; state == nil || !state.HandshakeComplete || state.NegotiatedProtocol != "http/1.1" {
		t.Errorf("the handler sees %+v, want a handshake that ended with http/1.1", state)
	}
}

// TestAnswersOfMiddlewareAreKept checks that the answers of other handlers are not changed, even if their text is that
// of net/http.
func TestAnswersOfMiddlewareAreKept(t *testing.T) {
	t.Parallel()
	addr, cfg := secure(t, server.WithMiddleware(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "400 Bad Request", http.StatusBadRequest)
		})
	}))
	if got := livez(t, addr, cfg); got != "400 Bad Request\n" {
		t.Errorf("got %q, want the middleware's answer", got)
	}
}

func TestUnreadableRequestsAreObserved(t *testing.T) {
	t.Parallel()
	told := make(chan server.Request, 1)
	addr, cfg := secure(t, server.WithObserver(func(_ context.Context, r server.Request) { told <- r }))
	conn, err := (&tls.Dialer{Config: cfg}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if r := <-told; r.Status != http.StatusBadRequest || r.Code != problem.InvalidRequest || r.Method != "_OTHER" ||
		r.Route != "" {
		t.Errorf("the observer received %+v", r)
	}
}
