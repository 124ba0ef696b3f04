package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// memory is an upstream without a network, so that a synctest bubble controls the time.
type memory func(w http.ResponseWriter, r *http.Request)

// RoundTrip implements [http.RoundTripper].
func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if m(w, r); r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	res := w.Result()
	res.Request = r
	return res, nil
}

func (m memory) client(cfg upstream.Config) *upstream.Client {
	cfg.HTTP = &http.Client{Transport: m}
	if cfg.Base == "" {
		cfg.Base = "https://api.example"
	}
	return upstream.New(cfg)
}

// serve starts a server on loopback and returns a client for it.
func serve(t *testing.T, h http.HandlerFunc, cfg upstream.Config) *upstream.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	cfg.Base += s.URL
	return upstream.New(cfg)
}

func reply(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	io.WriteString(w, body) //nolint:errcheck // a test server
}

// step is one answer of an upstream.
type step struct {
	status     int
	retryAfter string
}

func TestRetries(t *testing.T) {
	t.Parallel()
	const quick = time.Second // our own pauses, including jitter, are well below
	tests := []struct {
		name     string
		request  upstream.Request
		answers  []step // the last one is repeated
		sent     int    // requests
		atLeast  time.Duration
		atMost   time.Duration
		want     error // nil for success
		wantWait time.Duration
	}{
		{name: "a success is not repeated", answers: []step{{status: 200}}, sent: 1},
		{name: "a GET is tried again after a 500", answers: []step{{status: 500}, {status: 200}}, sent: 2, atLeast: 50 * time.Millisecond, atMost: quick},
		{name: "and again", answers: []step{{status: 502}, {status: 503}, {status: 200}}, sent: 3, atLeast: 100 * time.Millisecond, atMost: quick},
		{name: "but at most twice", answers: []step{{status: 500}}, sent: 3, atMost: quick, want: providers.ErrUnavailable},
		{name: "a POST is sent once", request: upstream.Request{Method: "POST"}, answers: []step{{status: 500}}, sent: 1, want: providers.ErrUnavailable},
		{name: "a POST that allows it is sent again", request: upstream.Request{Method: "POST", Retry: true}, answers: []step{{status: 500}, {status: 200}}, sent: 2, atMost: quick},
		{name: "a missing thing is final", answers: []step{{status: 404}}, sent: 1, want: providers.ErrNotFound},
		{name: "so is one that is gone", answers: []step{{status: 410}}, sent: 1, want: providers.ErrNotFound},
		{name: "a refusal is final", answers: []step{{status: 403}}, sent: 1, want: providers.ErrUnavailable},
		{name: "a malformed request is final", answers: []step{{status: 400}}, sent: 1, want: providers.ErrUnavailable},
		{name: "a short Retry-After is waited for", answers: []step{{503, "1"}, {status: 200}}, sent: 2, atLeast: time.Second, atMost: time.Second},
		{name: "to the fraction", answers: []step{{503, "1.5"}, {status: 200}}, sent: 2, atLeast: 1500 * time.Millisecond, atMost: 1500 * time.Millisecond},
		{name: "two seconds are the most", answers: []step{{429, "2"}, {status: 200}}, sent: 2, atLeast: 2 * time.Second, atMost: 2 * time.Second},
		{name: "more is not worth it", answers: []step{{429, "3"}}, sent: 1, want: providers.ErrUnavailable, wantWait: 3 * time.Second},
		{name: "nor is it on a 503", answers: []step{{503, "3600"}}, sent: 1, want: providers.ErrUnavailable, wantWait: time.Hour},
		{name: "a date counts as well", answers: []step{{503, "Sat, 01 Jan 2000 00:00:02 GMT"}, {status: 200}}, sent: 2, atLeast: 2 * time.Second, atMost: 2 * time.Second},
		{name: "a date that has passed is now", answers: []step{{503, "Fri, 31 Dec 1999 00:00:00 GMT"}, {status: 200}}, sent: 2},
		{name: "a limit without a time is final", answers: []step{{status: 429}}, sent: 1, want: providers.ErrUnavailable, wantWait: time.Minute},
		{name: "nonsense is no time", answers: []step{{429, "soon"}}, sent: 1, want: providers.ErrUnavailable, wantWait: time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the clock starts at 2000-01-01T00:00:00Z and runs only while all sleep
				sent := 0
				c := memory(func(w http.ResponseWriter, _ *http.Request) {
					s := tt.answers[min(sent, len(tt.answers)-1)]
					sent++
					if s.retryAfter != "" {
						w.Header().Set("Retry-After", s.retryAfter)
					}
					reply(w, s.status, "{}")
				}).client(upstream.Config{Absent: always})
				start := time.Now()
				_, err := c.Do(t.Context(), tt.request)
				took := time.Since(start)
				if !errors.Is(err, tt.want) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				if sent != tt.sent {
					t.Errorf("%d requests went out, want %d", sent, tt.sent)
				}
				if took < tt.atLeast || took > tt.atMost {
					t.Errorf("took %v, want between %v and %v", took, tt.atLeast, tt.atMost)
				}
				if e, ok := errors.AsType[*providers.Error](err); ok && e.RetryAfter != tt.wantWait {
					t.Errorf("RetryAfter = %v, want %v", e.RetryAfter, tt.wantWait)
				}
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("the error is more than a line: %q", err)
				}
			})
		})
	}
}

func TestBrokenConnectionIsTriedAgainForReadsOnly(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"GET": 3, "POST": 1} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			c := upstream.New(upstream.Config{Base: "https://api.example", HTTP: &http.Client{
				Transport: roundTrip(func(*http.Request) (*http.Response, error) { sent++; return nil, io.ErrUnexpectedEOF }),
			}})
			if _, err := c.Do(t.Context(), upstream.Request{Method: method}); !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: got error %v, want %v", method, err, providers.ErrUnavailable)
			}
			if sent != want {
				t.Errorf("%s: %d requests went out, want %d", method, sent, want)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	silent := memory(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	busy := memory(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		reply(w, 503, "")
	})
	tests := []struct {
		name string
		up   memory
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
		took time.Duration
	}{
		{"each attempt has its limit", silent, context.WithCancel, providers.ErrTimeout, 3 * 4 * time.Second},
		{"a caller's deadline is a time-out", silent, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, providers.ErrTimeout, time.Second},
		{"a deadline during a pause is one as well", busy, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, providers.ErrTimeout, time.Second},
		{"a caller who leaves is no time-out", silent, leaveAfter(time.Second), context.Canceled, time.Second},
		{"nor one who leaves during a pause", busy, leaveAfter(time.Second), context.Canceled, time.Second},
		{"a caller who has left sends nothing", silent, leaveAfter(0), context.Canceled, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				start := time.Now()
				_, err := tt.up.client(upstream.Config{Attempt: 4 * time.Second}).Do(ctx, upstream.Get("x"))
				if !errors.Is(err, tt.want) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				if errors.Is(tt.want, context.Canceled) && (errors.Is(err, providers.ErrTimeout) || errors.Is(err, providers.ErrUnavailable)) {
					t.Errorf("%v blames the upstream", err)
				}
				if took := time.Since(start); took < tt.took || took > tt.took+time.Second {
					t.Errorf("took %v, want about %v", took, tt.took)
				}
			})
		})
	}
}

func leaveAfter(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		if d == 0 {
			cancel()
		}
		time.AfterFunc(d, cancel)
		return ctx, cancel
	}
}

func TestUnusableBodies(t *testing.T) {
	t.Parallel()
	const chunk = 1 << 16
	tests := []struct {
		name  string
		write func(w http.ResponseWriter)
		max   int64
		want  string
	}{
		{"100 MB", func(w http.ResponseWriter) {
			spaces := []byte(strings.Repeat(" ", chunk))
			for range 100 << 20 / chunk {
				if _, err := w.Write(spaces); err != nil {
					return
				}
			}
		}, 0, "too large"},
		{"one byte too many", func(w http.ResponseWriter) { reply(w, 200, `{"a":1}`+" ") }, 7, "too large"},
		{"HTML", func(w http.ResponseWriter) { reply(w, 200, "\ufeff \n<!doctype html><p>Just a moment…") }, 0, "HTML"},
		{"nothing", func(http.ResponseWriter) {}, 0, "cannot be read"},
		{"half an object", func(w http.ResponseWriter) { reply(w, 200, `{"a":`) }, 0, "cannot be read"},
		{"another shape", func(w http.ResponseWriter) { reply(w, 200, `[1]`) }, 0, "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) { sent++; tt.write(w) }, upstream.Config{MaxBody: tt.max})
			var dst struct{ A int }
			_, err := c.JSON(t.Context(), upstream.Get("x"), &dst)
			if !errors.Is(err, providers.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got error %v, want %v with %q", err, providers.ErrUnavailable, tt.want)
			}
			if sent != 1 {
				t.Errorf("%d requests went out, want 1: the answer would not get better", sent)
			}
		})
	}
	t.Run("as large as allowed", func(t *testing.T) {
		t.Parallel()
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"a":1}`) }, upstream.Config{MaxBody: 7})
		var dst struct{ A int }
		if _, err := c.JSON(t.Context(), upstream.Get("x"), &dst); err != nil || dst.A != 1 {
			t.Errorf("got %+v, %v; want 1", dst, err)
		}
	})
}

func TestRedirectsStayOnTheHost(t *testing.T) {
	t.Parallel()
	var stolen atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer elsewhere.Close()
	up := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/here?page=2", http.StatusMovedPermanently)
		case "/here":
			reply(w, 200, `"`+r.Header.Get("Authorization")+" "+r.URL.RawQuery+`"`)
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/here", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		}
	}
	c := serve(t, up, upstream.Config{Header: http.Header{"Authorization": {"Bearer secret-token"}}})
	var got string
	res, err := c.JSON(t.Context(), upstream.Request{Path: []string{"moved"}, Token: true}, &got) // nothing is blanked
	if err != nil || got != "Bearer secret-token page=2" || res.URL.Path != "/here" {
		t.Errorf("on the host: got %q, %v; want /here with the token and page 2", got, err)
	}
	for _, path := range []string{"away", "loop"} {
		if _, err := c.Do(t.Context(), upstream.Request{Method: "POST", Path: []string{path}}); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got error %v, want %v", path, err, providers.ErrUnavailable)
		}
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("%d requests went to the other host", n)
	}
}

func TestRedirectToPlainHTTPIsNotFollowed(t *testing.T) {
	t.Parallel()
	c := memory(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Scheme == "http" {
			t.Error("the credential went over the wire in the clear")
		}
		http.Redirect(w, r, "http://api.example/x", http.StatusFound)
	}).client(upstream.Config{})
	if _, err := c.Do(t.Context(), upstream.Get("x")); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want %v", err, providers.ErrUnavailable)
	}
}

func TestTheCallersOwnRedirectRuleHoldsToo(t *testing.T) {
	t.Parallel()
	rule := errors.New("no redirects here")
	own := &http.Client{
		Transport:     memory(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/y", http.StatusFound) }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return rule },
	}
	c := upstream.New(upstream.Config{HTTP: own, Base: "https://api.example"})
	if _, err := c.Do(t.Context(), upstream.Request{Method: "POST"}); !errors.Is(err, rule) {
		t.Errorf("got error %v, want %v", err, rule)
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	const key, token = "query-key+2dZ", "bearer-token-91c"
	tests := []struct {
		name string
		base string
		up   roundTrip
	}{
		{"a status", "https://api.example", func(r *http.Request) (*http.Response, error) { return response(r, 500, nil), nil }},
		{"a limit", "https://api.example", func(r *http.Request) (*http.Response, error) { return response(r, 429, nil), nil }},
		{"a broken connection", "https://api.example", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }},
		{"a chatty transport", "https://api.example", func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("dial %s with %s", r.URL, r.Header)
		}},
		{"a redirect that cannot be read", "https://api.example", func(r *http.Request) (*http.Response, error) {
			return response(r, 302, http.Header{"Location": {"https://api.example:port/?" + r.URL.RawQuery}}), nil
		}},
		{"redirects without end", "https://api.example", func(r *http.Request) (*http.Response, error) {
			return response(r, 302, http.Header{"Location": {r.URL.String()}}), nil
		}},
		{"a base with a password", "https://ann:" + key + "@api.example", func(r *http.Request) (*http.Response, error) { return response(r, 500, nil), nil }},
		{"a base that cannot be read", "https://ann:" + key + "@api.example:port", nil},
		{"a base without a host", key, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := upstream.New(upstream.Config{
					HTTP: &http.Client{Transport: tt.up}, Base: tt.base,
					Header: http.Header{"Authorization": {"Bearer " + token}, "X-Api-Key": {key}},
				})
				_, err := c.Do(t.Context(), upstream.Get("users", "ann").With("key", key))
				if !errors.Is(err, providers.ErrUnavailable) {
					t.Fatalf("got error %v, want %v", err, providers.ErrUnavailable)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					for _, secret := range []string{key, url.QueryEscape(key), token} {
						if strings.Contains(e.Error(), secret) {
							t.Errorf("%q shows %q", e, secret)
						}
					}
				}
			})
		})
	}
}

func response(r *http.Request, status int, h http.Header) *http.Response {
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: h, Body: http.NoBody, Request: r}
}

func TestErrorsDoNotContainTheRequest(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		404: "not found", 403: "upstream unavailable: the upstream refused our request (status 403)",
		418: "upstream unavailable: the upstream answered 418", 200: "upstream unavailable: the upstream's answer cannot be read",
	} {
		c := memory(func(w http.ResponseWriter, _ *http.Request) { reply(w, status, `"quillwort"`) }).client(upstream.Config{Base: "https://api.example/v2", Absent: always})
		_, err := c.Read(t.Context(), upstream.Get("users", "quillwort").With("q", "quillwort"), &struct{}{})
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || strings.Contains(got, "quillwort") {
			t.Errorf("%d: got %q, want %q", status, err, want)
		}
		if e, ok := errors.AsType[*providers.RequestError](err); !ok || e.Address != "api.example/v2/users/quillwort" ||
			e.Status != status && (status != 200 || e.Status != 0) {
			t.Errorf("%d: the error is %+v, want the status in it", status, e)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	type sent struct{ Method, URL, ContentType, Accept, Mark, Body string }
	tests := []struct {
		name string
		base string
		r    upstream.Request
		want sent
	}{
		{
			"segments are escaped and the base's path is kept", "https://api.example/v2/", upstream.Get("users", "a b?c", "x/y").With("q", "ü&").With("none", ""),
			sent{Method: "GET", URL: "https://api.example/v2/users/a%20b%3Fc/x/y?q=%C3%BC%26", Accept: "application/json", Mark: "config"},
		},
		{
			"dot segments do not climb", "https://api.example/v2", upstream.Get("..", "../.", "x"),
			sent{Method: "GET", URL: "https://api.example/v2/%2E%2E/%2E%2E/%2E/x", Accept: "application/json", Mark: "config"},
		},
		{
			"a slash at the end stays", "https://api.example/v2", upstream.Get("a", "", "b/c/"),
			sent{Method: "GET", URL: "https://api.example/v2/a/b/c/", Accept: "application/json", Mark: "config"},
		},
		{
			"a form", "https://api.example",
			upstream.Request{Method: "POST", Path: []string{"token"}, Form: url.Values{"a": {"b c"}}},
			sent{"POST", "https://api.example/token", "application/x-www-form-urlencoded", "application/json", "config", "a=b+c"},
		},
		{
			"JSON, and headers over those of the config", "https://api.example",
			upstream.Request{Method: "POST", JSON: map[string]int{"a": 1}, Header: http.Header{"X-Mark": {"request"}, "Accept": {"text/html"}}},
			sent{"POST", "https://api.example/", "application/json", "text/html", "request", `{"a":1}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got sent
			c := memory(func(_ http.ResponseWriter, r *http.Request) {
				got = sent{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.Header.Get("X-Mark"), ""}
				if r.Body != nil {
					b, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					got.Body = string(b)
				}
				if !strings.HasPrefix(r.UserAgent(), "socialdata/") {
					t.Errorf("User-Agent is %q", r.UserAgent())
				}
			}).client(upstream.Config{Base: tt.base, Header: http.Header{"X-Mark": {"config"}}})
			if _, err := c.Do(t.Context(), tt.r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	one := upstream.Get("x").With("a", "1")
	two := one.With("b", "2")
	three := two.Each("c", []string{"4", "3"})
	if one.Query.Has("b") || two.Query.Encode() != "a=1&b=2" || three.Query.Encode() != "a=1&b=2&c=4&c=3" {
		t.Errorf("got %v, %v and %v; want a, then b, then c alone added", one.Query, two.Query, three.Query)
	}
}

func TestCheckMayRefuseASuccess(t *testing.T) {
	t.Parallel()
	sent := 0
	c := memory(func(http.ResponseWriter, *http.Request) { sent++ }).client(upstream.Config{
		Check: func(*upstream.Response) error { return providers.NotFound("comments are disabled on this post") },
	})
	if _, err := c.Do(t.Context(), upstream.Get("x")); !errors.Is(err, providers.ErrNotFound) || sent != 1 {
		t.Errorf("got error %v after %d requests, want %v after one", err, sent, providers.ErrNotFound)
	}
}

func TestForwardReadsAPathUnchanged(t *testing.T) {
	t.Parallel()
	c := memory(func(w http.ResponseWriter, r *http.Request) { reply(w, 200, `{"path": "`+r.URL.String()+`"}`) }).client(upstream.Config{})
	raw, err := c.Forward(t.Context(), "users/ann", url.Values{"a": {"1", "2"}})
	if want := `{"path": "https://api.example/users/ann?a=1&a=2"}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}

// TestMemoryIsReservedBeforeAnAnswerIsRead checks that memory is reserved for each part of an answer, and that a
// refusal is not the upstream's failure.
func TestMemoryIsReservedBeforeAnAnswerIsRead(t *testing.T) {
	t.Parallel()
	const size = 100_000
	for _, limit := range []int64{size + 32<<10, 64 << 10} {
		sent, asked := 0, int64(0)
		c := memory(func(w http.ResponseWriter, _ *http.Request) {
			sent++
			_, _ = w.Write(bytes.Repeat([]byte(" "), size))
		}).client(upstream.Config{})
		busy := &providers.Error{Kind: providers.ErrUnavailable, Blame: providers.BlameNone, Err: providers.ErrBusy}
		ctx := callctx.WithTrace(t.Context(), callctx.Trace{Reserve: func(_ context.Context, n int64) error {
			if asked += n; asked > limit {
				return busy
			}
			return nil
		}})
		res, err := c.Do(ctx, upstream.Get("x"))
		switch {
		case limit < size:
			if !errors.Is(err, providers.ErrBusy) || providers.BlameOf(err) != providers.BlameNone || sent != 1 {
				t.Errorf("%v after %d requests, want %v after one", err, sent, busy)
			}
		case err != nil || len(res.Body) != size || asked < size:
			t.Errorf("%v: room for %d bytes was asked for", err, asked)
		}
	}
}
