package callctx

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestIDsSortAsTheyWereMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ids []string
		for range 1000 {
			ids = append(ids, NewID())
			time.Sleep(time.Duration(1+len(ids)) * time.Millisecond)
		}
		if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(ids) {
			t.Errorf("the ids are not in the order of time: %q", ids[:10])
		}
		id, ok := strings.CutPrefix(ids[0], "req_")
		if !ok || len(id) != 26 || strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUV") != "" {
			t.Errorf("the id is %q", ids[0])
		}
	})
}

func TestRequestIDsOfOneMomentDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := NewID(), NewID()
		if first[:13] != second[:13] || first[14:] == second[14:] {
			t.Errorf("%q and %q should have the time in common and nothing else", first, second)
		}
	})
}

func TestFromWhenTheTimeOfACallCounts(t *testing.T) {
	t.Parallel()
	call := Begin(t.Context(), "req_1")
	begun := Of(call).Begun
	for name, tt := range map[string]struct {
		ctx           context.Context
		begun, counts time.Time
	}{
		"no call":                       {t.Context(), time.Time{}, time.Time{}},
		"a call":                        {call, begun, begun},
		"detached":                      {context.WithoutCancel(call), begun, begun},
		"that has waited":               {Extend(call, time.Minute), begun, begun.Add(time.Minute)},
		"that has not":                  {Extend(call, -1), begun, begun},
		"nothing to extend":             {Extend(t.Context(), time.Minute), time.Time{}, time.Time{}},
		"after the call":                {After(call), begun, time.Time{}},
		"after a call that has waited":  {After(Extend(call, time.Minute)), begun, time.Time{}},
		"after the call, not to extend": {Extend(After(call), time.Minute), begun, time.Time{}},
	} {
		if got := Of(tt.ctx).Begun; !got.Equal(tt.begun) {
			t.Errorf("%s: begun at %v, want %v", name, got, tt.begun)
		}
		if got := Of(tt.ctx).Counts; !got.Equal(tt.counts) {
			t.Errorf("%s: counts from %v, want %v", name, got, tt.counts)
		}
	}
}
