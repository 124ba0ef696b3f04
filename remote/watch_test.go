package remote_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/watch"
)

// broadcast watches what changes every 20 seconds.
var broadcast = accounts.WatchRequest{
	Name: "broadcast", Operation: "live", Platform: platform.Mock, Params: map[string]string{"handle": "lively"},
	Every: 30 * time.Second,
}

// watching returns an engine with the clock of the synctest bubble in which the test runs, and a transport to its
// service that is inside of that bubble too.
func watching(t *testing.T) (*enginetest.Engine, roundTrip) {
	t.Helper()
	e := enginetest.New(t, enginetest.Config{
		Cache: cache.NewMemory(cache.MemoryConfig{}), Options: []socialdata.Option{socialdata.WithClock(time.Now)},
	})
	srv, err := server.New(e.Open, server.WithChanges())
	if err != nil {
		t.Fatal(err)
	}
	handler := srv.Handler()
	return e, func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return w.Result(), nil
	}
}

// managing returns a client with a key that may manage.
func managing(t *testing.T, e *enginetest.Engine, over roundTrip) (*remote.Client, keys.Key) {
	t.Helper()
	secret, key := newKey(t, e, true)
	return through(t, secret, over), key
}

// nextChanges returns the next n changes that a monitor reports.
func nextChanges(t *testing.T, c *remote.Client, req accounts.WatchRequest, n int) []schema.Change {
	t.Helper()
	var out []schema.Change
	for change, err := range c.Watch(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, change); len(out) == n {
			break
		}
	}
	return out
}

func TestWatchYieldsEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, direct := watching(t)
		calls := 0
		c, _ := managing(t, e, func(r *http.Request) (*http.Response, error) {
			resp, err := direct(r)
			if calls++; calls%2 == 0 { // every other answer is lost
				return nil, io.ErrUnexpectedEOF
			}
			return resp, err
		})
		got := nextChanges(t, c, broadcast, 4)
		time.Sleep(2 * time.Minute) // more is found, but not read
		got = append(got, nextChanges(t, c, broadcast, 4)...)
		feed, err := e.Client.Account().Changes(t.Context(), accounts.ChangesRequest{Monitor: broadcast.Name})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(feed.Data[:8], got); diff != "" || got[0].Type != watch.Ready {
			t.Errorf("changes (-feed +watched):\n%s", diff)
		}
		if err := e.Client.Account().Monitors().End(t.Context(), broadcast.Name); err != nil {
			t.Fatal(err)
		}
		if again := nextChanges(t, c, broadcast, 1); again[0].Type != watch.Ready || again[0].Seq <= got[7].Seq {
			t.Errorf("the first change of another monitor with that name is %+v; want a later ready", again[0])
		}
	})
}

func TestWatchOfAPausedMonitorResumesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, direct := watching(t)
		c, _ := managing(t, e, direct)
		got := nextChanges(t, c, broadcast, 1)
		if _, err := c.Account().Monitors().Pause(t.Context(), broadcast.Name); err != nil {
			t.Fatal(err)
		}
		if more := nextChanges(t, c, broadcast, 1); more[0].Seq != got[0].Seq+1 || more[0].Type != watch.Changed {
			t.Errorf("after %+v comes %+v; want the next change", got[0], more[0])
		}
	})
}

func TestWatchEndsWithItsMonitor(t *testing.T) {
	t.Parallel()
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e, direct := watching(t)
			c, _ := managing(t, e, direct)
			_, payer := managing(t, e, direct)
			if _, err := e.Open.As(payer).Account().Monitors().Make(t.Context(), broadcast); err != nil {
				t.Fatal(err)
			}
			last := ""
			for change, err := range c.Watch(t.Context(), broadcast) {
				if err != nil {
					t.Fatal(err)
				}
				// Watch has given the monitor another key, so that it must be made again with the one that is revoked.
				if last = change.Type; last == watch.Ready {
					if _, err := e.Open.As(payer).Account().Monitors().Make(t.Context(), broadcast); err != nil {
						t.Fatal(err)
					}
					if _, err := e.Keys.Revoke(t.Context(), payer.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			if last != watch.Stopped {
				t.Errorf("the last change is %q; want %q", last, watch.Stopped)
			}
		})
	})
	t.Run("ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e, direct := watching(t)
			c, _ := managing(t, e, direct)
			var last error
			for _, err := range c.Watch(t.Context(), broadcast) {
				if last = err; err == nil {
					if err := e.Client.Account().Monitors().End(t.Context(), broadcast.Name); err != nil {
						t.Fatal(err)
					}
				}
			}
			enginetest.WantProblem(t, last, problem.NotFound)
		})
	})
}

func TestWatchEndsWithAProblem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, direct := watching(t)
		c, _ := managing(t, e, direct)
		plain := through(t, e.Secret, direct)
		invalid, brief := broadcast, broadcast
		invalid.Operation, brief.Every = "lives", time.Second
		for name, tt := range map[string]struct {
			client *remote.Client
			req    accounts.WatchRequest
			want   problem.Code
		}{
			"a key without the mark manage": {plain, broadcast, problem.Unauthorized},
			"an unknown operation":          {c, invalid, problem.InvalidRequest},
			"an interval that is too short": {c, brief, problem.InvalidRequest},
			"a caller who stops waiting":    {c, broadcast, problem.UpstreamTimeout},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			var last error
			for change, err := range tt.client.Watch(ctx, tt.req) {
				if last = err; err == nil && change.Type != watch.Ready {
					t.Errorf("%s: got %+v, want only ready", name, change)
				}
			}
			cancel()
			if codeOf(t, last) != tt.want {
				t.Errorf("%s: %v; want %s", name, last, tt.want)
			}
		}
	})
}
