package operation

import (
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
			ids = append(ids, NewRequestID())
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
		first, second := NewRequestID(), NewRequestID()
		if first[:13] != second[:13] || first[14:] == second[14:] {
			t.Errorf("%q and %q should have the time in common and nothing else", first, second)
		}
	})
}
