package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// counting returns Tokens that number their fetches from 1; each token is valid for life and takes a while to fetch.
func counting(fetches *atomic.Int32, life, takes time.Duration) *upstream.Tokens {
	return upstream.NewTokens(func(ctx context.Context) (upstream.Token, error) {
		n := fetches.Add(1)
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return upstream.Token{}, ctx.Err()
		}
		t := upstream.Token{Value: fmt.Sprint("token-", n)}
		if life > 0 {
			t.Expires = time.Now().Add(life)
		}
		return t, nil
	}, nil)
}

func TestTokensAreKeptUntilAMinuteBeforeTheirEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		life time.Duration
		idle time.Duration
		want string
	}{
		{"kept while young", time.Hour, 58 * time.Minute, "token-1"},
		{"renewed a minute before the end", time.Hour, 59 * time.Minute, "token-2"},
		{"renewed after the end", time.Hour, 2 * time.Hour, "token-2"},
		{"kept for ever without an end", 0, 1000 * time.Hour, "token-1"},
		{"a very short lifetime is extended", 10 * time.Second, 0, "token-1"},
		{"but only a little", 10 * time.Second, time.Second, "token-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var fetches atomic.Int32
				tokens := counting(&fetches, tt.life, 0)
				if got, err := tokens.Get(t.Context()); err != nil || got != "token-1" {
					t.Fatalf("first Get: %q, %v; want token-1", got, err)
				}
				time.Sleep(tt.idle)
				if got, err := tokens.Get(t.Context()); err != nil || got != tt.want {
					t.Errorf("got %q, %v, want %q", got, err, tt.want)
				}
			})
		})
	}
}

func TestFiftyCallersShareOneFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, fetches atomic.Int32
		tokens := upstream.NewTokens(func(context.Context) (upstream.Token, error) {
			if running.Add(1) > 1 {
				t.Error("two fetches at the same time")
			}
			defer running.Add(-1)
			time.Sleep(time.Second)
			return upstream.Token{Value: fmt.Sprint("token-", fetches.Add(1)), Expires: time.Now().Add(time.Hour)}, nil
		}, nil)
		for round := range 3 {
			want := fmt.Sprint("token-", round+1)
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					if got, err := tokens.Get(t.Context()); err != nil || got != want {
						t.Errorf("got %q, %v, want %q", got, err, want)
					}
				})
			}
			wg.Wait()
			time.Sleep(time.Hour)
		}
		if n := fetches.Load(); n != 3 {
			t.Errorf("%d fetches, want 3", n)
		}
	})
}

func TestACallerWhoLeavesDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		tokens := counting(&fetches, time.Hour, 3*time.Second)
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { // the first caller: the fetch is on its behalf
			if _, err := tokens.Get(leaving); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller who left got %v, want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got, err := tokens.Get(t.Context()); err != nil || got != "token-1" {
				t.Errorf("the caller who stayed got %q, %v; want token-1", got, err)
			}
		})
		time.Sleep(time.Second)
		leave()
		wg.Wait()
		if n := fetches.Load(); n != 1 {
			t.Errorf("%d fetches, want 1", n)
		}
	})
}

func TestDropForgetsOnlyTheTokenInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		tokens := counting(&fetches, time.Hour, 0)
		for _, step := range []struct{ drop, want string }{
			{"", "token-1"}, {"token-1", "token-2"}, {"token-1", "token-2"}, {"token-2", "token-3"},
		} {
			tokens.Drop(step.drop)
			if got, err := tokens.Get(t.Context()); err != nil || got != step.want {
				t.Errorf("after Drop(%q): %q, %v, want %q", step.drop, got, err, step.want)
			}
		}
	})
}

func TestRefusedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		method  string
		good    string // the token that the upstream accepts
		want    error
		sent    int
		fetches int32
	}{
		{"and the read succeeds", "GET", "token-2", nil, 2, 2},
		{"a POST was not carried out, so it is sent again", "POST", "token-2", nil, 2, 2},
		{"and not again", "GET", "none", providers.ErrUnavailable, 2, 2},
		{"not at all while it is accepted", "GET", "token-1", nil, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var fetches atomic.Int32
				sent := 0
				c := memory(func(w http.ResponseWriter, r *http.Request) {
					if sent++; r.Header.Get("Authorization") != "Bearer "+tt.good {
						w.WriteHeader(http.StatusUnauthorized)
					}
				}).client(upstream.Config{Tokens: counting(&fetches, time.Hour, 0)})
				if _, err := c.Do(t.Context(), upstream.Request{Method: tt.method}); !errors.Is(err, tt.want) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				if sent != tt.sent || fetches.Load() != tt.fetches {
					t.Errorf("%d requests and %d fetches, want %d and %d", sent, fetches.Load(), tt.sent, tt.fetches)
				}
			})
		})
	}
}

func TestFiftyRefusedCallersRenewOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		c := memory(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			if r.Header.Get("Authorization") == "Bearer token-1" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}).client(upstream.Config{Tokens: counting(&fetches, time.Hour, time.Second)})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := c.Do(t.Context(), upstream.Get("x")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := fetches.Load(); n != 2 {
			t.Errorf("%d fetches, want 2: the first token and its one replacement", n)
		}
	})
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	const secret = "client-secret-77"
	tests := []struct {
		name   string
		status int
		body   string
		want   error // nil for a token
		asked  int
		wait   time.Duration
	}{
		{"a token", 200, `{"access_token":"t","expires_in":3600,"token_type":"bearer"}`, nil, 1, 0},
		{"its lifetime as a string", 200, `{"access_token":"t","expires_in":"3600"}`, nil, 1, 0},
		{"no lifetime", 200, `{"access_token":"t"}`, nil, 1, 0},
		{"no token", 200, `{"message":"ok"}`, providers.ErrUnavailable, 1, 0},
		{"HTML", 200, `<html>`, providers.ErrUnavailable, 1, 0},
		{"a wrong secret", 403, `{"status":403,"message":"invalid client secret"}`, providers.ErrUnavailable, 1, 0},
		{"a wrong client", 400, `{"error":"invalid_client"}`, providers.ErrUnavailable, 1, 0},
		{"a refused client", 401, `{}`, providers.ErrUnavailable, 1, 0},
		{"a wrong address is no missing profile", 404, ``, providers.ErrUnavailable, 1, 0},
		{"a limit", 429, ``, providers.ErrUnavailable, 1, time.Minute},
		{"an upstream that is down is tried three times, not nine", 503, ``, providers.ErrUnavailable, 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked, read := 0, 0
				id := memory(func(w http.ResponseWriter, r *http.Request) {
					asked++
					if err := r.ParseForm(); err != nil || r.Method != "POST" || r.PostForm.Get("client_secret") != secret {
						t.Errorf("asked %s with %v (%v)", r.Method, r.PostForm, err)
					}
					reply(w, tt.status, tt.body)
				}).client(upstream.Config{Base: "https://id.example"})
				c := memory(func(_ http.ResponseWriter, r *http.Request) {
					if read++; r.Header.Get("Authorization") != "Bearer t" {
						t.Errorf("read with %q, want Bearer t", r.Header.Get("Authorization"))
					}
				}).client(upstream.Config{Tokens: upstream.ClientCredentials(id, upstream.Request{
					Path: []string{"oauth2", "token"}, Form: url.Values{"grant_type": {"client_credentials"}, "client_secret": {secret}},
				})})
				_, err := c.Do(t.Context(), upstream.Get("x"))
				if !errors.Is(err, tt.want) || errors.Is(err, providers.ErrNotFound) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				if asked != tt.asked || (read == 1) != (tt.want == nil) {
					t.Errorf("%d token requests and %d reads, want %d", asked, read, tt.asked)
				}
				if tt.want != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("%v shows the secret", err)
				}
				if e, ok := errors.AsType[*providers.Error](err); ok && e.RetryAfter != tt.wait {
					t.Errorf("RetryAfter = %v, want %v", e.RetryAfter, tt.wait)
				}
			})
		})
	}
}

func TestAppTokensGoInTheForm(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://id.example/oauth2/token", "https://id.example/oauth2/token?tenant=7"} {
		id := &http.Client{Transport: memory(func(w http.ResponseWriter, r *http.Request) {
			if got := r.URL.String(); got != address {
				t.Errorf("asked %s, want %s", got, address)
			}
			if err := r.ParseForm(); err != nil || r.PostForm.Encode() != "client_id=id&client_secret=a%2Bb&grant_type=client_credentials" {
				t.Errorf("sent %v (%v), want the credentials of the client", r.PostForm, err)
			}
			reply(w, 200, `{"access_token":"t"}`)
		})}
		if got, err := upstream.AppTokens(id, address, "id", "a+b").Get(t.Context()); err != nil || got != "t" {
			t.Errorf("got token %q (%v), want t", got, err)
		}
	}
}

func TestSilentTokenEndpointIsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := memory(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		tokens := upstream.ClientCredentials(silent.client(upstream.Config{}), upstream.Request{})
		for _, attempt := range []time.Duration{5 * time.Second, time.Minute} { // shorter and longer than a fetch may take
			_, err := silent.client(upstream.Config{Tokens: tokens, Attempt: attempt}).Do(t.Context(), upstream.Get("x"))
			if !errors.Is(err, providers.ErrTimeout) || errors.Is(err, context.Canceled) {
				t.Errorf("attempts of %v: got error %v, want %v", attempt, err, providers.ErrTimeout)
			}
			synctest.Wait()
		}
	})
}

func TestBasic(t *testing.T) {
	t.Parallel()
	r := http.Request{Header: http.Header{"Authorization": {upstream.Basic("ann", "a:b")}}}
	if id, secret, ok := r.BasicAuth(); !ok || id != "ann" || secret != "a:b" {
		t.Errorf("Basic became %q and %q, want ann and a:b", id, secret)
	}
}
