package watch

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// readerFunc is a [Reader].
type readerFunc func(context.Context, Read) (Page, error)

func (f readerFunc) Watched(ctx context.Context, r Read) (Page, error) { return f(ctx, r) }

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
		all, err := store.Monitors(t.Context(), "ann", "", 0)
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
