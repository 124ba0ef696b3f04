package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

// pipes is a listener without a network, so that slow callers take no real time in a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

var errNoListener = errors.New("the listener is closed")

// dial returns a connection that Accept returns the other end of.
func (p *pipes) dial() (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, errNoListener
	}
}

// served is a server in a synctest bubble.
type served struct {
	*site
	t     *testing.T
	pipes *pipes
	stop  context.CancelFunc
	ended chan error
}

func serving(t *testing.T, cfg enginetest.Config, opts ...server.Option) *served {
	t.Helper()
	s := &served{site: &site{Engine: enginetest.New(t, cfg)}, t: t, pipes: newPipes(), ended: make(chan error, 1)}
	srv, err := server.New(s.Open, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.handler = stop, srv.Handler()
	go func() { s.ended <- srv.Serve(ctx, s.pipes) }()
	t.Cleanup(func() {
		stop()
		if err, open := <-s.ended; open && err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// caller is a client's connection.
type caller struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func newCaller(t *testing.T, conn net.Conn) *caller {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

// call opens a connection and sends text.
func (s *served) call(text string) *caller {
	s.t.Helper()
	conn, err := s.pipes.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	c := newCaller(s.t, conn)
	c.send(text)
	return c
}

func (c *caller) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads an answer to GET.
func (c *caller) reply() reply {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if resp.Close { // net/http removes it from the header
		resp.Header.Set("Connection", "close")
	}
	return reply{resp.StatusCode, resp.Header, body}
}

// wantClosed waits until the other side has closed, and discards what it sends before.
func (c *caller) wantClosed(within time.Duration) {
	c.t.Helper()
	began := time.Now()
	_ = c.SetReadDeadline(began.Add(within + time.Hour)) // fails if it is already closed
	if _, err := io.Copy(io.Discard, c.r); err != nil {
		c.t.Errorf("the connection is not closed: %v", err)
	}
	if took := time.Since(began); took > within {
		c.t.Errorf("the connection was closed after %v, want %v", took, within)
	}
}

func (s *served) request(path string, fields ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + s.Secret + "\r\n" +
		strings.Join(append(fields, ""), "\r\n") + "\r\n"
}

// wantServed checks that an ordinary call succeeds.
func (s *served) wantServed() {
	s.t.Helper()
	began := time.Now()
	s.call(s.request("/v1/mock/profile?handle=salma")).reply().envelope(s.t)
	if took := time.Since(began); took > 0 {
		s.t.Errorf("an ordinary call took %v", took)
	}
}

func TestMissingBodiesDoNotDelayAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{})
		began := time.Now()
		var callers []*caller
		for range 90 { // from one address: more in a second are delayed
			c := s.call("GET /v1/me HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n")
			r := c.reply()
			if r.status != http.StatusUnauthorized || r.header.Get("Connection") != "close" {
				t.Fatalf("status %d, Connection %q; want 401, close", r.status, r.header.Get("Connection"))
			}
			callers = append(callers, c)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the answers took %v", took)
		}
		s.wantServed()
		for _, c := range callers {
			c.wantClosed(time.Second)
		}
		for _, body := range []string{
			"Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			"Content-Length: 900000\r\n\r\nhello", "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
			"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		} {
			c := s.call(strings.TrimSuffix(s.request("/v1/me"), "\r\n") + body)
			if r := c.reply(); r.status != http.StatusOK || r.header.Get("Connection") != "close" {
				t.Errorf("%q: status %d, Connection %q; want 200, close", body, r.status, r.header.Get("Connection"))
			}
			c.wantClosed(time.Second)
		}
	})
}

func TestARequestHeaderThatNeverEndsTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{})
		var callers []*caller
		for range 1000 {
			callers = append(callers, s.call("GET /v1/me HTTP/1.1\r\nHost: test\r\nX-Slow: "))
		}
		s.wantServed()
		for _, c := range callers {
			c.wantClosed(5 * time.Second)
		}
	})
}

func TestACallerThatDoesNotReadIsDisconnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{}, server.WithLimits(server.Limits{InFlight: 5}))
		var callers []*caller
		for range 100 { // more than the limit: an answer that is being written does not count
			callers = append(callers, s.call("GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n"))
			callers = append(callers, s.call(s.request("/v1/mock/posts?handle=salma")))
		}
		synctest.Wait()
		s.wantServed()
		time.Sleep(51 * time.Second)
		for _, c := range callers {
			c.wantClosed(0)
		}
	})
}

func TestAStreamThatIsNotReadEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{})
		c := s.call(s.request("/v1/search?query=a", "Accept: text/event-stream"))
		time.Sleep(11 * time.Second)
		c.wantClosed(0)
		all := s.call(s.request("/v1/search?query=a", "Accept: text/event-stream")).reply()
		if !strings.Contains(string(all.body), "event: done") || all.header.Get("Connection") != "close" {
			t.Errorf("a stream that is read is %v: %.200s", all.header, all.body)
		}
	})
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serving(t, enginetest.Config{Providers: mock.New(mock.Config{Release: release})},
			server.WithLimits(server.Limits{Connections: 3}))
		idle := s.call(s.request("/v1/me"))
		idle.reply().envelope(t)
		time.Sleep(time.Second)
		unread := s.call("GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n")
		time.Sleep(time.Second)
		half := s.call("GET /v1/me HTTP/1.1\r\n")
		time.Sleep(time.Second)
		first := s.call(s.request("/v1/mock/search?query=pending"))
		idle.wantClosed(0) // it has been waiting longest
		time.Sleep(time.Second)
		second := s.call(s.request("/v1/mock/search?query=pending"))
		half.wantClosed(0)
		time.Sleep(time.Second)
		third := s.call(s.request("/v1/mock/search?query=pending"))
		time.Sleep(time.Second)
		if _, err := io.Copy(io.Discard, unread); err != nil { // the slowest reader ends last
			t.Error(err)
		}
		if more, err := s.pipes.dial(); err == nil {
			if _, err := more.Write([]byte("GET")); err == nil {
				t.Error("a connection is served although all are in use")
			}
		}
		close(release)
		for _, c := range []*caller{first, second, third} {
			c.reply().envelope(t)
		}
		s.wantServed()
	})
}

func TestTheRequestHeaderIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{})
		longest := "/v1/enrich?text=" + url.QueryEscape(strings.Repeat("😀", 4000))
		s.call(s.request(longest)).reply().envelope(t)
		conn, err := s.pipes.dial()
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, s.request("/v1/me", "X-Long: "+strings.Repeat("x", 70_000))) }()
		c := newCaller(t, conn)
		if r := c.reply(); r.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 70 KB returned %d", r.status)
		}
		c.wantClosed(time.Second)
	})
}

func TestAShutdownClosesEveryConnection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		leave  func(*served)
		within time.Duration
	}{
		{"nobody", func(*served) {}, time.Second},
		{"idle", func(s *served) { s.call(s.request("/v1/me")).reply() }, time.Second},
		{"silent", func(s *served) { s.call("") }, time.Second},
		{"half a head", func(s *served) { s.call("GET / HTTP/1.1\r\n") }, time.Second},
		{"a body that never comes", func(s *served) {
			s.call("GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n")
		}, 6 * time.Second},
		{"a caller that does not read", func(s *served) { s.call("GET /docs HTTP/1.1\r\nHost: test\r\n\r\n") }, 6 * time.Second},
		{"a stream that is not read", func(s *served) {
			s.call(s.request("/v1/search?query=a", "Accept: text/event-stream"))
		}, 16 * time.Second},
		{"a call that hangs", func(s *served) { s.call(s.request("/v1/mock/profile?handle=hang")) }, 21 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serving(t, enginetest.Config{})
				tt.leave(s)
				synctest.Wait()
				began := time.Now()
				s.stop()
				if err := <-s.ended; err != nil {
					t.Errorf("the server ended with %v, want no error", err)
				}
				close(s.ended)
				if took := time.Since(began); took > tt.within {
					t.Errorf("it took %v, want %v", took, tt.within)
				}
			})
		})
	}
}

func TestAShutdownFinishesCallsInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{}, server.WithLimits(server.Limits{DrainNotice: 5 * time.Second}))
		wait := func(path string) *caller { return s.call(s.request(path)) }
		slow := wait("/v1/mock/profile?handle=slow")
		s.stop()
		synctest.Wait()
		wait("/readyz").reply().wantProblem(t, problem.PlatformUnavailable, "draining")
		if r := wait("/livez").reply(); r.status != http.StatusOK {
			t.Errorf("livez: status %d, want 200", r.status)
		}
		s.wantServed() // so that load balancers can send requests elsewhere
		slow.reply().envelope(t)
		time.Sleep(2900 * time.Millisecond)
		last := wait("/v1/mock/profile?handle=slow_2")
		slow = wait("/v1/mock/search?query=slow")
		time.Sleep(time.Second)
		if _, err := s.pipes.dial(); !errors.Is(err, errNoListener) {
			t.Error("it still listens after the notice")
		}
		slow.reply().envelope(t)
		last.reply()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		close(s.ended)
	})
}

func TestCallsInProgressOfOneAccountAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serving(t, enginetest.Config{Providers: []providers.Provider{mock.NewFor(platform.X,
			mock.Config{Release: release}), mock.NewFor(platform.Mock, mock.Config{})}},
			server.WithLimits(server.Limits{InFlight: 4}))
		_, other := s.Account(t, "other", 10)
		first, second := s.call(s.request("/v1/x/search?query=pending")),
			s.call(s.request("/v1/x/search?query=pending&kind=post"))
		synctest.Wait()
		r := s.call(s.request("/v1/mock/profile?handle=a")).reply()
		if r.wantProblem(t, "rate_limited", "calls in progress, 2"); r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q, want 1", r.header.Get("Retry-After"))
		}
		s.call("GET /v1/mock/profile?handle=a HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + other +
			"\r\n\r\n").reply().envelope(t)
		close(release)
		first.reply().envelope(t)
		second.reply().envelope(t)
		s.call(s.request("/v1/mock/profile?handle=a")).reply().envelope(t)
		s.WantBalance(t, 1000-3)
	})
}

func TestCallsAboveTheLimitAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serving(t, enginetest.Config{Providers: []providers.Provider{mock.NewFor(platform.X,
			mock.Config{Release: release}), mock.NewFor(platform.Mock, mock.Config{})}},
			server.WithLimits(server.Limits{InFlight: 2, PerAccount: 2}))
		first, second := s.call(s.request("/v1/x/search?query=pending")),
			s.call(s.request("/v1/x/search?query=pending&kind=post"))
		synctest.Wait()
		// It does not count.
		s.call("GET /v1/nowhere/x HTTP/1.1\r\nHost: test\r\n\r\n").reply().wantProblem(t, "unauthorized", "")
		for _, head := range []string{
			s.request("/v1/mock/profile?handle=a"), s.request("/v1/me"), s.request("/v1/nowhere/x"),
		} {
			began := time.Now()
			r := s.call(head).reply()
			p := r.wantProblem(t, "platform_unavailable", "the service is at its limit")
			if r.header.Get("Retry-After") != "1" || p.RetryAfter != time.Second || time.Since(began) > 0 ||
				r.header.Get("X-Cache") != "MISS" {
				t.Errorf("got %v after %v, %v; want a miss, refused at once, to be retried in 1 s", p, time.Since(began), r.header)
			}
		}
		for _, path := range []string{"/health", "/livez", "/readyz", "/docs", "/v1/platforms"} {
			r := s.call("GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n").reply()
			if r.status != http.StatusOK {
				t.Errorf("%s: status %d, want 200", path, r.status)
			}
			if path == "/health" && strings.Contains(string(r.body), `"degraded"`) {
				t.Errorf("overload counts against a platform: %s", r.body)
			}
		}
		close(release)
		first.reply().envelope(t)
		second.reply().envelope(t)
		s.wantServed()
		s.WantBalance(t, 1000-3)
	})
}

// TestAnAccountAtItsLimitDoesNotWaitForTheSandbox checks that it is refused at once.
func TestAnAccountAtItsLimitDoesNotWaitForTheSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{}, server.WithLimits(server.Limits{InFlight: 32, PerAccount: 2, Sandbox: 2}))
		first, second := s.call(s.request("/v1/mock/profile?handle=slow_200ms")), s.call(s.request("/v1/mock/profile?handle=slow_250ms"))
		synctest.Wait()
		began := time.Now()
		s.call(s.request("/v1/mock/profile?handle=a")).reply().wantProblem(t, "rate_limited", "calls in progress, 2")
		if took := time.Since(began); took > 0 {
			t.Errorf("refused after %v, want at once", took)
		}
		first.reply().envelope(t)
		second.reply().envelope(t)
	})
}

// TestACallWaitsBrieflyForASlot lets calls of one account wait for the places of another: for all, and for those of
// the sandbox.
func TestACallWaitsBrieflyForASlot(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]server.Limits{
		"of all":         {InFlight: 2, PerAccount: 2, Sandbox: 2},
		"of the sandbox": {InFlight: 32, PerAccount: 32, Sandbox: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serving(t, enginetest.Config{}, server.WithLimits(limits))
				_, other := s.Account(t, "other", 10)
				wait := func(handle string) (reply, time.Duration) {
					began := time.Now()
					r := s.call("GET /v1/mock/profile?handle=" + handle + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " +
						other + "\r\n\r\n").reply()
					return r, time.Since(began)
				}
				first, second := s.call(s.request("/v1/mock/profile?handle=slow_200ms")), s.call(s.request("/v1/mock/profile?handle=slow_250ms"))
				synctest.Wait()
				r, took := wait("a")
				if r.wantProblem(t, "platform_unavailable", "the service is at its limit"); took != 100*time.Millisecond {
					t.Errorf("refused after %v, want 100ms", took)
				}
				time.Sleep(50 * time.Millisecond)
				r, took = wait("a")
				if r.envelope(t); took != 50*time.Millisecond {
					t.Errorf("answered after %v, want 50ms", took)
				}
				first.reply().envelope(t)
				second.reply().envelope(t)
			})
		})
	}
}

// TestSandboxCallsHaveTheirOwnLimit checks that slow calls of the sandbox take no place from other calls.
func TestSandboxCallsHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serving(t, enginetest.Config{Providers: append(mock.New(mock.Config{Release: release}),
			mock.NewFor(platform.X, mock.Config{}))},
			server.WithLimits(server.Limits{InFlight: 32, PerAccount: 32}))
		first, second := s.call(s.request("/v1/mock/search?query=pending")),
			s.call(s.request("/v1/mock/search?query=pending&kind=post"))
		synctest.Wait()
		r := s.call(s.request("/v1/mock/profile?handle=ann")).reply()
		if r.wantProblem(t, "platform_unavailable", "at its limit"); r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q, want 1", r.header.Get("Retry-After"))
		}
		s.call(s.request("/v1/x/profile?handle=ann")).reply().envelope(t)
		close(release)
		first.reply().envelope(t)
		second.reply().envelope(t)
		s.call(s.request("/v1/mock/profile?handle=ann")).reply().envelope(t)
		s.wantServed()
	})
}

// TestSlowCallersOverTCPAreDisconnected is the same over a real connection, where the kernel buffers what is not read.
func TestSlowCallersOverTCPAreDisconnected(t *testing.T) {
	t.Parallel()
	s := &site{Engine: enginetest.New(t, enginetest.Config{})}
	srv, err := server.New(s.Open,
		server.WithLimits(server.Limits{HeadTimeout: 50 * time.Millisecond, AnswerTimeout: 100 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, listener) }()
	var slow sync.WaitGroup
	for i := range 200 {
		slow.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprint(conn, []string{
				"GET / HTTP/1.1\r\nHost: ", "GET /v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n", "",
				"POST /v1/me HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
			}[i%4])
			if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("a slow connection is held: %v", err)
			}
		})
	}
	slow.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestEveryAnswerHasAContentLength(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serving(t, enginetest.Config{})
		for _, path := range []string{
			"/livez", "/v1/me", "/v1/mock/profile?handle=salma", "/v1/mock/posts?handle=salma", "/v1/mock/profile", "/docs",
		} {
			r := s.call(s.request(path)).reply()
			if got := r.header.Get("Content-Length"); got != strconv.Itoa(len(r.body)) || len(r.body) == 0 {
				t.Errorf("%s: Content-Length is %q of %d bytes", path, got, len(r.body))
			}
		}
	})
}
