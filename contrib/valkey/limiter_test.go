package valkey_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/cache/cachetest"
	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

func limiter(tb testing.TB, s *valkey.Server, cfg valkey.LimiterConfig) *valkey.Limiter {
	tb.Helper()
	l, err := s.Limiter(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	addr := address(t)
	keystest.RunLimiter(t, func(t *testing.T, now func() time.Time) keys.Limiter {
		t.Helper()
		return limiter(t, open(t, addr, unique()), valkey.LimiterConfig{Now: now})
	})
}

// TestReplicasTogetherKeepToTheRate lets replicas take tokens by the server's clock until they have a number of
// tokens more than the full bucket.
func TestReplicasTogetherKeepToTheRate(t *testing.T) {
	t.Parallel()
	addr, prefix := address(t), unique()
	r := keys.Rate{Capacity: 20, Refill: 40}
	const more = 20
	var given atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for range 4 {
		l := limiter(t, open(t, addr, prefix), valkey.LimiterConfig{})
		for range 4 {
			wg.Go(func() {
				for given.Load() < r.Capacity+more {
					a, err := l.Take(t.Context(), "key_1", r, 1)
					if err != nil {
						t.Errorf("Take: %v", err)
						return
					}
					if a.OK {
						given.Add(1)
						continue
					}
					time.Sleep(a.RetryAfter)
				}
			})
		}
	}
	wg.Wait()
	took := time.Since(began)
	if most := float64(r.Capacity) + took.Seconds()*r.Refill; float64(given.Load()) > most {
		t.Errorf("%d calls in %v; the rate allows %v", given.Load(), took, most)
	}
}

func TestARefusalIsRepeatedWithoutTheServer(t *testing.T) {
	t.Parallel()
	p := start(t)
	now := cachetest.NewClock()
	l := limiter(t, open(t, p.addr, unique()), valkey.LimiterConfig{Now: now.Now, Fail: valkey.FailClosed})
	r := keys.Rate{Capacity: 1, Refill: 0.1}
	for _, want := range []bool{true, false} {
		if a, err := l.Take(t.Context(), "key_1", r, 1); err != nil || a.OK != want {
			t.Fatalf("Take = %+v, %v; want OK %v", a, err, want)
		}
	}
	p.kill() // so that any answer comes from the replica
	now.Advance(4 * time.Second)
	if a, err := l.Take(t.Context(), "key_1", r, 1); err != nil || a.OK || a.RetryAfter != 6*time.Second ||
		a.Remaining != 0.4 {
		t.Errorf("Take = %+v, %v; want to wait 6 s", a, err)
	}
	if _, err := l.Take(t.Context(), "key_1", keys.Rate{Capacity: 2, Refill: 0.1}, 1); err == nil {
		t.Error("another rate is answered from memory")
	}
	now.Advance(6 * time.Second)
	if _, err := l.Take(t.Context(), "key_1", r, 1); err == nil {
		t.Error("the refusal has ended, and is answered from memory")
	}
}

func TestALimiterWithoutItsServer(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := open(t, p.addr, unique())
	opened, closed := limiter(t, s, valkey.LimiterConfig{}), limiter(t, s, valkey.LimiterConfig{Fail: valkey.FailClosed})
	r := keys.Rate{Capacity: 3, Refill: 0.001}
	p.kill()
	await.Until(t, "the loss to be noticed", func() bool { return s.Ping(t.Context()) != nil && opened.State() != schema.Healthy })
	if opened.State() != schema.Degraded || closed.State() != schema.Down {
		t.Errorf("states %s and %s", opened.State(), closed.State())
	}
	for i := range 4 {
		if a, err := opened.Take(t.Context(), "key_1", r, 1); err != nil || a.OK != (i < 3) {
			t.Errorf("call %d: %+v, %v", i, a, err)
		}
	}
	for _, call := range []func() error{
		func() error { _, err := closed.Take(t.Context(), "key_1", r, 1); return err },
		func() error { _, err := closed.Peek(t.Context(), "key_1", r); return err },
	} {
		err := call()
		if q, ok := errors.AsType[*problem.Error](err); !ok || q.Code != problem.PlatformUnavailable || q.RetryAfter <= 0 {
			t.Errorf("closed: %v", err)
		}
	}
	p.run()
	await.Until(t, "the return to be noticed", func() bool { return closed.State() == schema.Healthy })
	if a, err := closed.Take(t.Context(), "key_1", r, 1); err != nil || !a.OK {
		t.Errorf("after the restart: %+v, %v", a, err)
	}
}

// TestAnUnreadableBucketIsFull replaces a bucket by something that is not one.
func TestAnUnreadableBucketIsFull(t *testing.T) {
	t.Parallel()
	addr, prefix := address(t), unique()
	s := open(t, addr, prefix)
	l := limiter(t, s, valkey.LimiterConfig{Fail: valkey.FailClosed})
	c := dial(t, addr)
	r := keys.Rate{Capacity: 2, Refill: 0.001}
	for key, put := range map[string]func(name string) error{
		"another form": func(name string) error {
			return c.Do(t.Context(), c.B().Set().Key(name).Value("2 1").Build()).Error()
		},
		"words": func(name string) error {
			return c.Do(t.Context(), c.B().Set().Key(name).Value("one two three four").Build()).Error()
		},
		"a list": func(name string) error {
			return c.Do(t.Context(), c.B().Lpush().Key(name).Element("x").Build()).Error()
		},
	} {
		if err := put(prefix + ":bucket:{" + key + "}"); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if a, err := l.Take(t.Context(), key, r, 1); err != nil || a.OK != (i < 2) {
				t.Errorf("%s, call %d: %+v, %v", key, i, a, err)
			}
		}
	}
	if l.State() != schema.Healthy {
		t.Errorf("the server counts as %s", l.State())
	}
}

func TestALimiterFailsOpenOrClosed(t *testing.T) {
	t.Parallel()
	s := open(t, "127.0.0.1:1", unique())
	if _, err := s.Limiter(valkey.LimiterConfig{Fail: "ajar"}); err == nil {
		t.Error("a third way is accepted")
	}
}
