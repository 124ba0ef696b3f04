package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// reader reads from an upstream that accepts every request.
type reader struct {
	*upstream.Client
	sent int64 // units
}

func newReader() *reader {
	r := &reader{}
	r.Client = memory(func(http.ResponseWriter, *http.Request) {}).client(upstream.Config{})
	return r
}

// read reads at a cost, and returns an error if it was not let through.
func (r *reader) read(ctx context.Context, q *upstream.Quota, cost int64) error {
	req := upstream.Get("x").On(q)
	req.Cost = cost
	_, err := r.Do(ctx, req)
	if err == nil {
		r.sent += cost
	}
	return err
}

func background(t *testing.T) context.Context {
	t.Helper()
	return callctx.InBackground(t.Context())
}

func TestAnExpensiveReadIsSentOnce(t *testing.T) {
	t.Parallel()
	small, large := upstream.NewQuota(100, 24*time.Hour), upstream.NewQuota(10_000, 24*time.Hour)
	upstream.Limits(map[string]*upstream.Quota{"searches": small, "units": large})
	for _, tt := range []struct {
		name   string
		quota  *upstream.Quota
		cost   int64
		status int // 0: the connection breaks
		want   int64
	}{
		{"a plain read is repeated", large, 1, 503, 3},
		{"so is one without a limit", nil, 100, 503, 3},
		{"a read with a high cost is not", large, 10, 503, 1},
		{"nor one against a small limit", small, 1, 503, 1},
		{"nor one against a limit that is said to be expensive", upstream.NewQuota(0, 0).Dear(), 1, 503, 1},
		{"whatever made it fail", small, 1, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := int64(0)
			c := upstream.New(upstream.Config{Base: "https://api.example", HTTP: &http.Client{
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if sent++; tt.status == 0 {
						return nil, io.ErrUnexpectedEOF
					}
					return &http.Response{StatusCode: tt.status, Body: http.NoBody, Request: r}, nil
				}),
			}})
			r := upstream.Get("x").On(tt.quota)
			r.Cost = tt.cost
			if _, err := c.Do(t.Context(), r); !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s: got error %v, want ErrUnavailable", tt.name, err)
			}
			if sent != tt.want {
				t.Errorf("%s: sent %d times, want %d", tt.name, sent, tt.want)
			}
		})
	}
}

func TestAClassLeavesTheOthersTheirShare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		shares providers.Shares
		cost   int64
		back   bool // in the background
		dear   bool // against the expensive limit
		want   int64
	}{
		{"a plain read", providers.DefaultShares(), 1, false, false, 1000},
		{"nine times a plain read", providers.DefaultShares(), 9, false, false, 999},
		{"an expensive read", providers.DefaultShares(), 10, false, false, 800},
		{"a read of an expensive limit", providers.DefaultShares(), 1, false, true, 800},
		{"a background read", providers.DefaultShares(), 1, true, false, 500},
		{"an expensive background read", providers.DefaultShares(), 10, true, false, 500},
		{"a share of its own", providers.Shares{Dear: 33, Background: 0}, 10, false, false, 330},
		{"no share", providers.Shares{Dear: 33, Background: 0}, 1, true, false, 0},
		{"all of it", providers.Shares{Dear: 100, Background: 100}, 10, true, true, 1000},
	}
	for _, tt := range tests {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, told %t", tt.name, told), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					began, used := time.Now(), int64(0)
					cfg := upstream.Config{Limits: &upstream.LimitHeaders{Limit: "Limit", Remaining: "Left", Reset: "Reset"}}
					r := &reader{Client: memory(func(w http.ResponseWriter, _ *http.Request) {
						if told {
							w.Header().Set("Limit", "1000")
							w.Header().Set("Left", fmt.Sprint(1000-used))
							w.Header().Set("Reset", fmt.Sprint(began.Add(time.Hour).Unix()))
						}
					}).client(cfg)}
					q := upstream.NewQuota(1000, time.Hour)
					if told {
						q = upstream.NewQuota(0, 0)
						if err := r.read(t.Context(), q, 0); err != nil { // which announces the limit
							t.Fatal(err)
						}
					}
					if tt.dear {
						q.Dear()
					}
					limit := upstream.Limits(map[string]*upstream.Quota{"units": q})[0]
					limit.Share(tt.shares)
					ctx := t.Context()
					if tt.back {
						ctx = background(t)
					}
					before := limit.State().Used
					for range 1100 {
						used += tt.cost
						err := r.read(ctx, q, tt.cost)
						if err == nil {
							continue
						}
						used -= tt.cost
						e, ok := errors.AsType[*providers.Error](err)
						if !ok || e.RetryAfter <= 0 || e.RetryAfter > time.Hour {
							t.Fatalf("got %#v, want an error to retry within an hour", err)
						}
						break
					}
					at := limit.State()
					if got, most := at.Used-before, tt.want; got > most || got < most-2*tt.cost-1 {
						t.Errorf("%d units went through, want %d", got, most)
					}
					if at.Limit != 1000 || at.Used+at.Left != at.Limit {
						t.Errorf("got %+v; want a limit of 1000, all of it used or left", at)
					}
					if tt.want < 1000-tt.cost { // the others continue
						if err := r.read(t.Context(), q, 1); err != nil && !tt.dear {
							t.Errorf("a plain read: %v, want no error", err)
						}
					}
				})
			})
		}
	}
}

func TestASmallLimitIsExpensive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		day := 24 * time.Hour
		quotas := map[string]*upstream.Quota{
			"units": upstream.NewQuota(10_000, day), "searches": upstream.NewQuota(100, day),
			"a twentieth": upstream.NewQuota(500, day), "more": upstream.NewQuota(600, day),
			"as much in less time": upstream.NewQuota(50, 10*time.Minute), "none": nil, "not told": upstream.NewQuota(0, 0),
		}
		want := map[string]int64{"searches": 80, "a twentieth": 400, "more": 600, "as much in less time": 50}
		if n := len(upstream.Limits(quotas)); n != len(quotas)-1 {
			t.Errorf("%d limits, want %d", n, len(quotas)-1)
		}
		for name, most := range want {
			r := newReader()
			for range 700 {
				if r.read(t.Context(), quotas[name], 1) != nil {
					break
				}
			}
			if r.sent != most {
				t.Errorf("%s: %d reads went through, want %d", name, r.sent, most)
			}
		}
	})
}

// TestUsedAndLeftAddUpToTheLimit checks that used and left add up to the limit, whenever reads are made and given back.
func TestUsedAndLeftAddUpToTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 200).Draw(rt, "limit")
		window := time.Duration(rapid.IntRange(1, 3600).Draw(rt, "window")) * time.Second
		type step struct {
			wait time.Duration
			cost int64
			back bool
			who  string
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				time.Duration(rapid.IntRange(0, 600).Draw(rt, "wait")) * time.Second, rapid.Int64Range(1, 40).Draw(rt, "cost"),
				rapid.Bool().Draw(rt, "background"), rapid.SampledFrom([]string{"", "one", "two"}).Draw(rt, "who"),
			}
		}), 1, 60).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			r, q := newReader(), upstream.NewQuota(limit, window)
			l := upstream.Limits(map[string]*upstream.Quota{"units": q})[0]
			type sent struct {
				at   time.Time
				cost int64
			}
			var all []sent
			for i, s := range steps {
				time.Sleep(s.wait)
				ctx := callctx.WithCaller(t.Context(), callctx.Caller{Account: s.who})
				if s.back {
					ctx = callctx.InBackground(ctx)
				}
				if r.read(ctx, q, s.cost) == nil {
					all = append(all, sent{time.Now(), s.cost})
				}
				all = slices.DeleteFunc(all, func(s sent) bool { return time.Since(s.at) >= window })
				want := int64(0)
				for _, s := range all {
					want += s.cost
				}
				at := l.State()
				if at.Used+at.Left != at.Limit || at.Limit != int64(limit) || at.Used != want {
					t.Errorf("step %d: %+v, want %d used", i, at, want)
				}
			}
		})
	})
}

// TestAWeekOfMixedLoad checks that no cheap read of a caller is refused because expensive reads and background reads
// have used more than their share, and that the limit is never exceeded.
func TestAWeekOfMixedLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 1000
		day := 24 * time.Hour
		random := rand.New(rand.NewPCG(1, 2))
		r, q := newReader(), upstream.NewQuota(limit, day)
		l := upstream.Limits(map[string]*upstream.Quota{"units": q})[0]
		type sent struct {
			at   time.Time
			cost int64
		}
		var all []sent
		refused := map[string]int{}
		for minute := range 7 * 24 * 60 {
			time.Sleep(time.Minute)
			kind, ctx, cost := "background", background(t), int64(1) // more than is available for it
			switch n := random.IntN(100); {
			case n < 10:
				kind, ctx = "call", t.Context() // about 140 a day: less than what is left for them
			case n < 30:
				kind, ctx, cost = "dear", t.Context(), 20
			}
			switch err := r.read(ctx, q, cost); {
			case err == nil:
				all = append(all, sent{time.Now(), cost})
			case !errors.Is(err, providers.ErrShare):
				t.Fatalf("minute %d, %s: %v, want ErrShare", minute, kind, err)
			default:
				refused[kind]++
			}
			all = slices.DeleteFunc(all, func(s sent) bool { return time.Since(s.at) >= day })
			used := int64(0)
			for _, s := range all {
				used += s.cost
			}
			if at := l.State(); used > limit || at.Used != used || at.Used+at.Left != limit {
				t.Fatalf("minute %d: %d units in a day, told %+v", minute, used, at)
			}
		}
		if refused["call"] > 0 || refused["dear"] == 0 || refused["background"] == 0 {
			t.Errorf("refused: %v; want the others alone", refused)
		}
	})
}

// TestBackgroundReadsSaveWhatIsUsed checks that a background read is not sent before the usage is saved, if a fiftieth of
// the limit is not, and that it is sent if saving fails.
func TestBackgroundReadsSaveWhatIsUsed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		failed error
		window time.Duration
		want   int // calls of save for 10 reads
	}{
		"a caller":               {t.Context(), nil, time.Hour, 0},
		"in the background":      {background(t), nil, time.Hour, 4},
		"saving fails":           {background(t), errors.New("no store"), time.Hour, 8},
		"a window that is short": {background(t), nil, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, q := newReader(), upstream.NewQuota(100, tt.window)
			l, saved := upstream.Limits(map[string]*upstream.Quota{"units": q})[0], 0
			l.OnUnsaved(func() error {
				saved++
				if tt.failed == nil {
					l.Restore(l.Save(""))
				}
				return tt.failed
			})
			for range 10 {
				if err := r.read(tt.ctx, q, 1); err != nil {
					t.Fatal(err)
				}
			}
			if saved != tt.want {
				t.Errorf("saved %d times, want %d", saved, tt.want)
			}
		})
	}
}

// TestUsageIsSaved checks that three processes and their restarts count together, except for what was used since
// they last saved.
func TestUsageIsSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 1000
		type process struct {
			*reader
			q *upstream.Quota
			l providers.Limit
		}
		saved := ""
		start := func() *process {
			p := &process{reader: newReader(), q: upstream.NewQuota(limit, 24*time.Hour)}
			p.l = upstream.Limits(map[string]*upstream.Quota{"units": p.q})[0]
			p.l.Restore(saved)
			return p
		}
		all := []*process{start(), start(), start()}
		sent := int64(0)
		for n := range 3000 {
			time.Sleep(10 * time.Second)
			i := n % 3
			if n == 500 { // including what it has not saved
				all[1] = start()
			}
			p := all[i]
			if p.read(t.Context(), p.q, 1) == nil {
				sent++
			}
			if p.l.State().MuchUnsaved() {
				saved = p.l.Save(saved)
				p.l.Restore(saved)
				if again := p.l.State().Unsaved; again != 0 {
					t.Fatalf("%d units are unsaved after a save", again)
				}
			}
		}
		if sent < limit*95/100 || sent > limit*105/100 {
			t.Errorf("%d units were sent, want %d", sent, limit)
		}
		time.Sleep(25 * time.Hour)
		if at := start().l.State(); at.Used != 0 || at.Left != limit || at.Known() != true {
			t.Errorf("a day later: %+v, want %d left of the announced limit", at, limit)
		}
		for _, nonsense := range []string{"", "{", `{"used":{"x":{"99999999999999":5,"0":7}}}`, `{"used":{"x":{"1":-5}}}`, `[]`} {
			p := start()
			p.l.Restore(nonsense)
			if at := p.l.State(); at.Used != 0 {
				t.Errorf("restored from %q: %+v, want nothing used", nonsense, at)
			}
		}
	})
}

func TestAnnouncedLimitsAreSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		cfg := upstream.Config{Limits: &upstream.LimitHeaders{Remaining: "Left", Reset: "Reset"}}
		c := memory(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Left", "7")
			w.Header().Set("Reset", fmt.Sprint(began.Add(time.Hour).Unix()))
		}).client(cfg)
		q, other := upstream.NewQuota(0, 0), upstream.NewQuota(0, 0)
		l, restored := upstream.Limits(map[string]*upstream.Quota{"core": q})[0], upstream.Limits(map[string]*upstream.Quota{"core": other})[0]
		if at := l.State(); at.Known() || l.Save("") != "" {
			t.Errorf("before any answer: %+v, %q; want no announced limit", at, l.Save(""))
		}
		if _, err := c.Do(t.Context(), upstream.Get("x").On(q)); err != nil {
			t.Fatal(err)
		}
		restored.Restore(l.Save(""))
		if a, b := l.State(), restored.State(); a.Left != 7 || b.Left != 7 || b.Limit != 7 || !a.Reset.Equal(b.Reset) {
			t.Errorf("%+v is restored as %+v, want 7 left of 7 until the same time", a, b)
		}
		time.Sleep(time.Hour)
		if at := restored.State(); at.Known() {
			t.Errorf("after its end: %+v, want no announced limit", at)
		}
	})
}

func BenchmarkQuotaTake(b *testing.B) {
	var ctxs []context.Context
	for i := range 64 {
		ctxs = append(ctxs, callctx.WithCaller(b.Context(), callctx.Caller{Account: fmt.Sprint("account", i)}))
	}
	q := upstream.NewQuota(1<<30, time.Hour)
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if err := upstream.Take(ctxs[i%len(ctxs)], q, 3); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
