package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// readerFunc is a [Reader].
type readerFunc func(context.Context, Read) (Page, error)

func (f readerFunc) Watched(ctx context.Context, r Read) (Page, error) { return f(ctx, r) }

func (f readerFunc) Together(ctx context.Context, _ int) context.Context { return ctx }

// TestARunnerPollsMoreThanFitAtOnce has more due than a runner polls at once, and an interval between its looks into
// the store that is longer than the test.
func TestARunnerPollsMoreThanFitAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, now := NewMemory(), time.Now()
		for i := range 100 {
			if _, _, err := store.Put(t.Context(), Monitor{
				Definition: Definition{Ask: Ask{Operation: "live"}, Every: time.Hour, Pages: 1},
				Account:    "ann", Name: fmt.Sprint(i), CreatedAt: now, Progress: Progress{NextAt: now},
			}, 0); err != nil {
				t.Fatal(err)
			}
		}
		r := Start(Config{Store: store, AtOnce: 3, Look: time.Hour, Reader: readerFunc(
			func(context.Context, Read) (Page, error) {
				time.Sleep(time.Millisecond)
				return Page{Data: []byte(`{"platform":"mock","id":"1"}`)}, nil
			})})
		time.Sleep(time.Minute)
		all, err := store.Monitors(t.Context(), "ann", "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		late := 0
		for i := range all {
			if all[i].LastAt.IsZero() {
				late++
			}
		}
		if late > 0 || len(all) != 100 {
			t.Errorf("%d of %d monitors are not polled", late, len(all))
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAPollThatIsUndecidedIsRepeated lets the stores fail after a page was charged: the poll is repeated under the same
// name when its lease has expired, and the monitor counts what was charged.
func TestAPollThatIsUndecidedIsRepeated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		fails   int // the read, counted from 1
		credits int64
	}{
		{"the first page", 1, 4},
		{"the second page", 2, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, now := NewMemory(), time.Now()
				if _, _, err := store.Put(t.Context(), Monitor{
					Definition: Definition{Ask: Ask{Operation: "posts", List: true}, Every: time.Hour, Pages: 2},
					Account:    "ann", Name: "a", CreatedAt: now, Progress: Progress{NextAt: now},
				}, 0); err != nil {
					t.Fatal(err)
				}
				charged, reads := map[string]bool{}, 0
				r := Start(Config{Store: store, Reader: readerFunc(func(_ context.Context, r Read) (Page, error) {
					reads++
					charged[r.Once] = true
					if reads == tt.fails {
						return Page{}, errors.Join(ErrUndecided, problem.New(problem.PlatformUnavailable, "the ledger is away"))
					}
					page := Page{Credits: 2, Data: []byte(`[{"platform":"mock","id":"1"}]`)}
					if r.Cursor == "" {
						page.Next = "2"
					}
					return page, nil
				})})
				time.Sleep(5 * time.Minute)
				m, err := store.Monitor(t.Context(), "ann", "a")
				if err != nil {
					t.Fatal(err)
				}
				if m.Credits != tt.credits || len(charged) != 2 || m.Failures != 0 || m.Polls != 1 {
					t.Errorf("%d credits counted in %d polls, %d failures, for pages %v", m.Credits, m.Polls, m.Failures, charged)
				}
				if err := r.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
