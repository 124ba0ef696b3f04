package credits

import (
	"fmt"
	"testing"
)

// TestFiltersReadOnlyMatchingEntries removes the older entries: reading one of them would panic.
func TestFiltersReadOnlyMatchingEntries(t *testing.T) {
	t.Parallel()
	m := NewMemory(MemoryConfig{})
	if _, err := m.Grant(t.Context(), "a", 10_000, "first"); err != nil {
		t.Fatal(err)
	}
	for i := range 10 * blockLen {
		c := Charge{Amount: 1, Operation: "profile", Platform: "github", RequestID: fmt.Sprint("req_", i)}
		if _, err := m.Charge(t.Context(), Spender{Account: "a", Key: "k"}, c); err != nil {
			t.Fatal(err)
		}
	}
	b := m.books["a"]
	b.index()
	for i := range b.entries[:len(b.entries)-1] {
		b.entries[i] = nil
	}
	last := fmt.Sprint("req_", 10*blockLen-1)
	for _, tt := range []struct {
		q    Query
		want int
	}{
		{Query{Platform: "x"}, 0},
		{Query{RequestID: "req_none"}, 0},
		{Query{RequestID: "req_none", Platform: "github"}, 0},
		{Query{RequestID: last}, 1},
		{Query{RequestID: last, Platform: "x"}, 0},
		{Query{Platform: "github", Limit: 1}, 1},
	} {
		tt.q.Account = "a"
		found, err := m.Entries(t.Context(), tt.q)
		if err != nil || len(found) != tt.want {
			t.Errorf("%+v: %d entries, %v; want %d", tt.q, len(found), err, tt.want)
		}
	}
}
