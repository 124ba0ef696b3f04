package server_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/server"
)

func TestAMountedHandlerReadsBodiesWithinTheLimits(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, server.WithLimits(server.Limits{Mounted: 1}),
		server.WithMount("/echo", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(entered)
			<-release
			_, _ = io.Copy(w, r.Body)
		})))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w,
			httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/echo", strings.NewReader("hello")))
		return w
	}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- ask() }()
	<-entered
	if got := ask(); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" {
		t.Errorf("beyond the limit: %d %v, want 503 and Retry-After 1", got.Code, got.Header())
	}
	close(release)
	if got := <-first; got.Code != http.StatusOK || got.Body.String() != "hello" ||
		got.Header().Get("X-Request-Id") == "" {
		t.Errorf("within the limit: %d %q %v; want 200, hello and an id", got.Code, got.Body, got.Header())
	}
}

const post = "POST /mounted HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n"

func TestSlowRequestsToAMountDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{}, server.WithLimits(server.Limits{InFlight: 2, Mounted: 1}),
			server.WithMount("/mounted", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, r.Body)
			})))
		for range 20 {
			s.call(post) // and sends no body
			if r := s.call("GET /mounted HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n").reply(); r.status != http.StatusOK {
				t.Errorf("a read that declares a body returned %d", r.status)
			}
		}
		synctest.Wait()
		s.call(s.request("/v1/mock/profile?handle=a")).reply().envelope(t)
		if r := s.call(post + "ninebytes").reply(); r.status != http.StatusOK || string(r.body) != "ninebytes" {
			t.Errorf("a whole request returned %d %q", r.status, r.body)
		}
		unread := s.call(post + "ninebytes") // the answer is never read
		defer func() { _ = unread.Close() }()
		synctest.Wait()
		if r := s.call(post + "ninebytes").reply(); r.status != http.StatusOK {
			t.Errorf("beside an answer that is not read: status %d, want 200", r.status)
		}
	})
}

func TestABodyThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := &site{Engine: enginetest.New(t, enginetest.Config{})}
	srv, err := server.New(s.Open, server.WithLimits(server.Limits{BodyBytes: 4}),
		server.WithMount("/mounted", http.NotFoundHandler()))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mounted", strings.NewReader("12345")))
	if w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("a body of 5 bytes of 4 returned %d %v", w.Code, w.Header())
	}
}

func TestMountsCountAgainstTheLimitOfTheAccount(t *testing.T) {
	t.Parallel()
	s := &site{Engine: enginetest.New(t, enginetest.Config{})}
	release, entered := make(chan struct{}), make(chan struct{}, 8)
	srv, err := server.New(s.Open, server.WithLimits(server.Limits{InFlight: 4, PerAccount: 2, Mounted: 1}),
		server.WithMount("/tools", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := server.Enter(r.Context(), &s.Key); err != nil {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			entered <- struct{}{}
			<-release
		})))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() int {
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/tools", nil))
		return w.Code
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if got := ask(); got != http.StatusOK {
				t.Errorf("within the share: status %d, want 200", got)
			}
		})
		<-entered // which then no longer counts as a mounted request
	}
	if got := ask(); got != http.StatusTooManyRequests {
		t.Errorf("beyond the share of the account: status %d, want 429", got)
	}
	close(release)
	wg.Wait()
	if got := ask(); got != http.StatusOK {
		t.Errorf("after the others have ended: got %d, want 200", got)
	}
}

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from net.Addr
}

func (c addressed) RemoteAddr() net.Addr { return c.from }

func TestConnectionsOfOneAddressAreBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, from string
		open       bool // whether the first connection is open after two more
	}{
		{"an address", "192.0.2.1", false},
		{"an address mapped into IPv6", "::ffff:192.0.2.1", false},
		{"loopback", "127.0.0.1", true},
		{"a trusted proxy", "198.51.100.7", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serving(t, enginetest.Config{}, server.WithLimits(server.Limits{Connections: 8, PerAddress: 2}),
					server.WithTrustedProxies(netip.MustParsePrefix("198.51.100.0/24")))
				other := s.from("192.0.2.9")
				first := s.from(tt.from)
				for range 2 {
					time.Sleep(time.Millisecond)
					s.from(tt.from)
				}
				synctest.Wait()
				_ = first.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err := first.Read(make([]byte, 1))
				if open := errors.Is(err, os.ErrDeadlineExceeded); open != tt.open {
					t.Errorf("the first connection is open: %t (%v), want %t", open, err, tt.open)
				}
				_ = other.SetReadDeadline(time.Now().Add(time.Millisecond))
				if _, err := other.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the connection of another address: %v", err)
				}
			})
		})
	}
}

// from opens a connection from an address.
func (s *served) from(addr string) net.Conn {
	s.t.Helper()
	here, there := net.Pipe()
	s.t.Cleanup(func() { _ = here.Close() })
	s.pipes.conns <- addressed{there, &net.TCPAddr{IP: net.ParseIP(addr), Port: 5000}}
	return here
}

func TestTheAddressOfARequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"no proxy", "192.0.2.1:99", nil, "192.0.2.1:99"},
		{"a header from a caller without a proxy", "192.0.2.1:99", []string{"203.0.113.5"}, "192.0.2.1:99"},
		{"a proxy", "10.0.0.1:99", []string{"203.0.113.5"}, "203.0.113.5"},
		{"addresses that the caller invented", "10.0.0.1:99", []string{"1.2.3.4, 203.0.113.5"}, "203.0.113.5"},
		{"a chain of proxies", "10.0.0.1:99", []string{"1.2.3.4, 203.0.113.5", "10.0.0.2, 10.0.0.3:80"}, "203.0.113.5"},
		{"IPv6", "[::ffff:10.0.0.1]:99", []string{"2001:db8::1"}, "2001:db8::1"},
		{"a proxy without the header", "10.0.0.1:99", nil, "10.0.0.1:99"},
		{"a proxy with an invalid header", "10.0.0.1:99", []string{"203.0.113.5, unknown"}, "10.0.0.1:99"},
		{"proxies alone", "10.0.0.1:99", []string{"10.0.0.9"}, "10.0.0.1:99"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open,
				server.WithTrustedProxies(netip.MustParsePrefix("10.0.0.0/8")),
				server.WithMount("/mounted", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })))
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/mounted", nil)
			r.RemoteAddr, r.Header["X-Forwarded-For"] = tt.remote, tt.forwarded
			srv.Handler().ServeHTTP(httptest.NewRecorder(), r)
			if got != tt.want {
				t.Errorf("the request comes from %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADocumentIsCompressedForFewAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &site{Engine: enginetest.New(t, enginetest.Config{})}
		srv, err := server.New(s.Open)
		if err != nil {
			t.Fatal(err)
		}
		zipped := 0
		for i := range 50 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", nil)
			r.Host = fmt.Sprintf("host%d.example", i)
			r.Header.Set("Accept-Encoding", "gzip")
			w := httptest.NewRecorder()
			srv.Handler().ServeHTTP(w, r)
			if w.Header().Get("Content-Encoding") == "gzip" {
				zipped++
			} else if !strings.Contains(w.Body.String(), "http://"+r.Host+"/v1/") {
				t.Fatalf("the page of %s does not name it", r.Host)
			}
		}
		if zipped != 4 {
			t.Errorf("%d pages of 50 hosts were compressed, want 4", zipped)
		}
	})
}

func TestWithoutAPIOnlyMountsAreServed(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	srv, err := server.New(enginetest.New(t, enginetest.Config{}).Open, server.WithMount("/page", page),
		server.WithoutAPI())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/page": http.StatusOK, "/v1/platforms": http.StatusNotFound, "/health": http.StatusNotFound, "/docs": http.StatusNotFound,
		"/": http.StatusNotFound, "/readyz": http.StatusNotFound, "/openapi.json": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
