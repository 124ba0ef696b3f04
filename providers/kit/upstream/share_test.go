package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// TestNoAccountTakesAnothersShare checks that an account that reads as fast as it can leaves something of a limit to
// those that come later, and that one account gets at most a quarter while there are others (D98).
func TestNoAccountTakesAnothersShare(t *testing.T) {
	t.Parallel()
	const limit = 60
	type turn struct {
		by    callctx.Caller
		times int
		want  int // that are sent
	}
	one, two, three := callctx.Caller{Account: "one"}, callctx.Caller{Account: "two"}, callctx.Caller{Account: "three"}
	alone := callctx.Caller{Account: "one", Alone: true}
	tests := []struct {
		name  string
		turns []turn
	}{
		{"the only account", []turn{{alone, 70, 60}}},
		{"no account", []turn{{callctx.Caller{}, 70, 60}}},
		{"no other account has read: all but a tenth", []turn{{one, 70, 54}, {two, 70, 1}, {one, 5, 0}, {three, 1, 1}}},
		{"others have read: a quarter of what they leave", []turn{{two, 1, 1}, {one, 70, 14}, {three, 70, 11}, {two, 70, 7}, {one, 5, 0}}},
		{"callers without an account do not count as others", []turn{{callctx.Caller{}, 10, 10}, {one, 70, 44}, {callctx.Caller{}, 70, 6}}},
	}
	for _, tt := range tests {
		for _, announced := range []bool{false, true} {
			t.Run(tt.name+", announced "+strconv.FormatBool(announced), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					began, sent := time.Now(), 0
					c := memory(func(w http.ResponseWriter, _ *http.Request) {
						sent++
						if announced {
							w.Header().Set("Left", strconv.Itoa(limit-sent))
							w.Header().Set("Reset", strconv.FormatInt(began.Add(time.Hour).Unix(), 10))
						}
					}).client(upstream.Config{Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset"}})
					q := upstream.NewQuota(limit, time.Hour)
					if announced {
						q = upstream.NewQuota(0, 0)
					}
					for n, turn := range tt.turns {
						through := 0
						for range turn.times {
							_, err := c.Do(callctx.WithCaller(t.Context(), turn.by), upstream.Get("x").On(q))
							if err == nil {
								through++
							} else if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter <= 0 || e.RetryAfter > time.Hour ||
								errors.Is(err, providers.ErrShare) && e.Blame != providers.BlameNone {
								t.Errorf("turn %d: %#v, want an error that blames no one", n, err)
							}
						}
						if through != turn.want {
							t.Errorf("turn %d: %d reads of %q went through, want %d", n, through, turn.by.Account, turn.want)
						}
					}
					time.Sleep(time.Hour)
					if _, err := c.Do(callctx.WithCaller(t.Context(), one), upstream.Get("x").On(q)); err != nil {
						t.Errorf("in the next window: %v", err)
					}
				})
			})
		}
	}
}

// TestAReadForSeveralCountsInParts: a joined read counts against each account in proportion to its keys (D98), and the
// error names the account that has used its share.
func TestAReadForSeveralCountsInParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100
		sent := 0
		c := memory(func(http.ResponseWriter, *http.Request) { sent++ }).client(upstream.Config{})
		q := upstream.NewQuota(limit, time.Hour)
		read := func(keys map[string]int) string {
			caller := callctx.Caller{Keys: keys}
			_, err := c.Do(callctx.WithCaller(t.Context(), caller), upstream.Get("x").On(q))
			if err == nil {
				return ""
			}
			e, ok := errors.AsType[*providers.ShareError](err)
			if !ok || !errors.Is(err, providers.ErrShare) || strings.Contains(err.Error(), e.Account) {
				t.Fatalf("got %#v, want ErrShare without the account", err)
			}
			return e.Account
		}
		for n := range 20 { // 15 of one, 5 of two
			if refused := read(map[string]int{"one": 75, "two": 25}); refused != "" {
				t.Fatalf("read %d is refused for %s", n, refused)
			}
		}
		until := func(keys map[string]int) (through int, refused string) {
			for ; refused == ""; through++ {
				refused = read(keys)
			}
			return through - 1, refused
		}
		// A quarter of the 80 that are left and the account's own: 15 + n < (80 - n + 15 + n) / 4.
		if n, refused := until(map[string]int{"one": 1}); n != 8 || refused != "one" {
			t.Errorf("%d more reads of one, then it is %q", n, refused)
		}
		if refused := read(map[string]int{"one": 1, "two": 99}); refused != "one" {
			t.Errorf("a joined read is refused for %q", refused)
		}
		// 5 + n < (72 - n + 5 + n) / 4
		if n, refused := until(map[string]int{"two": 1}); n != 14 || refused != "two" {
			t.Errorf("%d more reads of two, then it is %q", n, refused)
		}
		if refused := read(map[string]int{"three": 1}); refused != "" {
			t.Errorf("an account that has read nothing is refused for %q", refused)
		}
		if at := upstream.Limits(map[string]*upstream.Quota{"units": q})[0].State(); int(at.Used) != sent || at.Used+at.Left != limit {
			t.Errorf("%d reads were sent, and it is %+v", sent, at)
		}
		time.Sleep(time.Hour)
		if refused := read(map[string]int{"one": 1, "two": 1}); refused != "" {
			t.Errorf("in the next window it is refused for %q", refused)
		}
	})
}

func TestAShareIsRefusedWithoutAskingTheUpstream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := memory(func(http.ResponseWriter, *http.Request) { sent++ }).client(upstream.Config{})
		q := upstream.NewQuota(8, time.Minute)
		read := func(account string) error {
			ctx := callctx.WithCaller(context.Background(), callctx.Caller{Account: account})
			_, err := c.Do(ctx, upstream.Get("x").On(q))
			return err
		}
		for _, account := range []string{"two", "one"} {
			if err := read(account); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Second)
		if err := read("one"); !errors.Is(err, providers.ErrShare) {
			t.Errorf("got %v, want %v", err, providers.ErrShare)
		} else {
			refused(t, err, 40*time.Second) // then its own read has left the window
		}
		if sent != 2 {
			t.Errorf("%d requests went out, want 2", sent)
		}
	})
}
