package upstream_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/internal/upstream"
)

func TestObjectKeepsItsJSONUntouched(t *testing.T) {
	t.Parallel()
	var got []upstream.Object[struct{ A int }]
	if err := json.Unmarshal([]byte(`[ {"a": 1,  "unknown":[1e400]} , {"a":2}]`), &got); err != nil {
		t.Fatal(err)
	}
	if got[0].V.A != 1 || string(got[0].Raw) != `{"a": 1,  "unknown":[1e400]}` || string(got[1].Raw) != `{"a":2}` {
		t.Errorf("got %+v", got)
	}
}

func TestIDReadsNumbersAndStrings(t *testing.T) {
	t.Parallel()
	var got []upstream.ID
	if err := json.Unmarshal([]byte(`["a1", 12345678901234567890, "", null, "\u00e9"]`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]upstream.ID{"a1", "12345678901234567890", "", "", "é"}, got); diff != "" {
		t.Errorf("ID (-want +got):\n%s", diff)
	}
	for _, bad := range []string{`[{}]`, `[[]]`, `[true]`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s passed for an ID", bad)
		}
	}
}

func TestIntIsNilWhereThereIsNoCount(t *testing.T) {
	t.Parallel()
	var got []upstream.Int
	if err := json.Unmarshal([]byte(`[0, "12", -1, 3e2, null, "", "many", 1.5, {}, [], true, 1e300, "Inf"]`), &got); err != nil {
		t.Fatal(err)
	}
	want := []upstream.Int{{V: new(int64(0))}, {V: new(int64(12))}, {V: new(int64(-1))}, {V: new(int64(300))}}
	for len(want) < len(got) {
		want = append(want, upstream.Int{})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Int (-want +got):\n%s", diff)
	}
}
