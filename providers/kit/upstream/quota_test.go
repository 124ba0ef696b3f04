package upstream_test

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

func TestQuotaKeepsToItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := memory(func(http.ResponseWriter, *http.Request) { sent++ }).client(upstream.Config{})
		q := upstream.NewQuota(3, time.Minute)
		read := func() error {
			_, err := c.Do(t.Context(), upstream.Get("x").On(q))
			return err
		}
		for range 2 {
			if err := read(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(40 * time.Second)
		if err := read(); err != nil {
			t.Fatal(err)
		}
		refused(t, read(), 20*time.Second)
		if sent != 3 {
			t.Errorf("%d requests went out, want 3", sent)
		}
		time.Sleep(20 * time.Second) // the first two have left the window, the third has not
		for range 2 {
			if err := read(); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, read(), 40*time.Second)
		if sent != 5 {
			t.Errorf("%d requests went out, want 5: never more than 3 in any minute", sent)
		}
	})
}

// TestConcurrentCallersDoNotExceedTheLimit lets 64 goroutines take three units at a time of a limit of 10,000.
func TestConcurrentCallersDoNotExceedTheLimit(t *testing.T) {
	t.Parallel()
	const units, each = 10_000, 3
	q := upstream.NewQuota(units, time.Hour)
	var taken, refused atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 100 {
				if err := upstream.Take(t.Context(), q, each); err != nil {
					refused.Add(1)
				} else {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if taken.Load() != units/each || refused.Load() != 64*100-units/each {
		t.Errorf("%d reads were let through and %d refused; want %d let through", taken.Load(), refused.Load(), units/each)
	}
}

// recorder is a transport that does not reach a platform.
type recorder struct{ memory }

func (recorder) Recorded() {}

func TestARecorderIsNotLimitedByTheQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := "9"
		c := upstream.New(upstream.Config{
			Base: "https://api.example", Quota: upstream.NewQuota(1, time.Hour),
			Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset", Form: upstream.DeltaSeconds},
			HTTP: &http.Client{Transport: recorder{func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Left", left)
				w.Header().Set("Reset", "60")
			}}},
		})
		for _, left = range []string{"9", "9", "0"} {
			if _, err := c.Do(t.Context(), upstream.Get("x")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Do(t.Context(), upstream.Get("x"))
		refused(t, err, time.Minute) // what the answers announced still holds
	})
}

func refused(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || !errors.Is(err, providers.ErrUnavailable) || e.RetryAfter != wait {
		t.Errorf("got error %v, want %v with RetryAfter %v", err, providers.ErrUnavailable, wait)
	}
}

func TestQuotaFollowsTheUpstreamsHeaders(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	date := func(d time.Duration) string {
		return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	}
	tests := []struct {
		name   string
		form   upstream.ResetForm
		status int
		header func() map[string]string
		closed time.Duration // 0 when the quota stays open
	}{
		{"seconds since 1970", upstream.EpochSeconds, 200, headers("Left", "0", "Reset", in, 90*time.Second), 90 * time.Second},
		{"seconds from now", upstream.DeltaSeconds, 200, headers("Left", "0", "Reset", nil, 90*time.Second), 90 * time.Second},
		{"a date with fractions", upstream.RFC3339, 200, headers("Left", "0", "Reset", date, 90*time.Second), 90 * time.Second},
		{"less than one is nothing", upstream.DeltaSeconds, 200, headers("Left", "0.4", "Reset", nil, time.Second), time.Second},
		{"something is left", upstream.DeltaSeconds, 200, headers("Left", "1", "Reset", nil, 90*time.Second), 0},
		{"a reset that has passed", upstream.EpochSeconds, 200, headers("Left", "0", "Reset", in, -time.Second), 0},
		{"nonsense", upstream.EpochSeconds, 200, func() map[string]string { return map[string]string{"Left": "0", "Reset": "NaN"} }, 0},
		{"no headers", upstream.EpochSeconds, 200, func() map[string]string { return nil }, 0},
		{"a limit with a reset and no Retry-After", upstream.EpochSeconds, 429, headers("Left", "0", "Reset", in, 5*time.Second), 5 * time.Second},
		{"a limit with a Retry-After", upstream.EpochSeconds, 429, headers("Left", "7", "Retry-After", nil, 30*time.Second), 30 * time.Second},
		{"a limit without a time", upstream.EpochSeconds, 429, func() map[string]string { return nil }, time.Minute},
		{"used up on a refusal", upstream.EpochSeconds, 403, headers("Left", "0", "Reset", in, time.Hour), time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := memory(func(w http.ResponseWriter, _ *http.Request) {
					if sent++; sent == 1 {
						for k, v := range tt.header() {
							w.Header().Set(k, v)
						}
						w.WriteHeader(tt.status)
					}
				}).client(upstream.Config{Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset", Form: tt.form}})
				q := upstream.NewQuota(0, 0)
				r := upstream.Get("x").On(q)
				if _, err := c.Do(t.Context(), r); (err == nil) != (tt.status == 200) {
					t.Fatal(err)
				}
				if tt.closed > 0 {
					_, err := c.Do(t.Context(), r)
					refused(t, err, tt.closed)
					if sent != 1 {
						t.Errorf("%d requests went out, want 1: the bucket is closed", sent)
					}
					if _, err := c.Do(t.Context(), upstream.Get("x").On(upstream.NewQuota(0, 0))); err != nil {
						t.Errorf("another bucket is closed as well: %v", err)
					}
					time.Sleep(tt.closed)
				}
				if _, err := c.Do(t.Context(), r); err != nil {
					t.Errorf("the bucket did not open: %v", err)
				}
			})
		})
	}
}

// headers returns what is left and when more is available; a nil form writes plain seconds.
func headers(leftName, left, resetName string, form func(time.Duration) string, d time.Duration) func() map[string]string {
	return func() map[string]string {
		if form == nil {
			return map[string]string{leftName: left, resetName: strconv.Itoa(int(d.Seconds()))}
		}
		return map[string]string{leftName: left, resetName: form(d)}
	}
}

func TestARefusalWithATimeClosesTheQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := memory(func(w http.ResponseWriter, _ *http.Request) { sent++; w.WriteHeader(http.StatusForbidden) }).client(upstream.Config{
			Check: func(*upstream.Response) error {
				return &providers.Error{Kind: providers.ErrUnavailable, RetryAfter: time.Minute}
			},
		})
		q := upstream.NewQuota(0, 0)
		for range 3 {
			_, err := c.Do(t.Context(), upstream.Get("x").On(q))
			refused(t, err, time.Minute)
		}
		if sent != 1 {
			t.Errorf("%d requests went out, want 1", sent)
		}
	})
}

func TestANilQuotaHasNoLimit(t *testing.T) {
	t.Parallel()
	c := memory(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Left", "0")
		w.Header().Set("Reset", "60")
	}).client(upstream.Config{
		Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset", Form: upstream.DeltaSeconds},
	})
	for range 50 {
		if _, err := c.Do(t.Context(), upstream.Get("x")); err != nil {
			t.Fatal(err)
		}
	}
}
