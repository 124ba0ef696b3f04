package engine_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
)

// TestEachChargeIsObservedOnce makes calls that are charged, fail, are repeated and have parts.
func TestEachChargeIsObservedOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	observed := map[observe.Charge]int{}
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithObserver(observe.Observer{
		Charge: func(c observe.Charge) {
			mu.Lock()
			defer mu.Unlock()
			observed[c]++
		},
	})}})
	for _, c := range []struct{ operation, key, params string }{
		{"profile", "", "handle=ann"},
		{"profile", "", "handle=ann"},
		{"profile", "", "handle=not_found"},
		{"profile", idempotencyKey, "handle=bob&fresh=true&enrich=arabic"},
		{"profile", idempotencyKey, "handle=bob&fresh=true&enrich=arabic"},
		{"me", "", ""},
	} {
		_, _ = socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation(c.operation), keyedCall("mock", c.key, c.params)) // some fail
	}
	if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"),
		keyedCall("", "", "query=cats&platforms=mock")); err != nil {
		t.Fatal(err)
	}
	want := map[observe.Charge]int{}
	for _, c := range e.Charges(t) {
		want[observe.Charge{Operation: c.Operation, Platform: c.Platform, Credits: c.Amount}]++
	}
	if diff := cmp.Diff(want, observed); diff != "" || len(want) != 3 {
		t.Errorf("the observed charges are not those of the ledger (-want +got):\n%s", diff)
	}
}
