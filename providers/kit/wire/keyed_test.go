package wire_test

import (
	"errors"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

func TestByKey(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID   wire.ID `json:"id"`
		Name string  `json:"name"`
	}
	absent := providers.NotFound("no such thing")
	tests := []struct {
		name, rows string
		a, b       any // a name, or an error
		leftOut    int
	}{
		{"each has its row, in any order", `[{"id":"b","name":"B"},{"id":"a","name":"A"}]`, "A", "B", 0},
		{"the first row of a key counts", `[{"id":"a","name":"A"},{"id":"a","name":"again"}]`, "A", providers.ErrNotFound, 0},
		{"none is absent", `[]`, providers.ErrNotFound, providers.ErrNotFound, 0},
		{"an odd row may be of any that is missing", `[{"id":"a","name":"A"},7]`, "A", providers.ErrUnavailable, 1},
		{"so may one that does not say what it is", `[{"id":"a","name":"A"},{"name":"?"}]`, "A", providers.ErrUnavailable, 1},
		{"and one of another thing", `[{"id":"a","name":"A"},{"id":"c"}]`, "A", providers.ErrUnavailable, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			leftOut := 0
			ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(d callctx.Drift) {
				if d.LeftOut {
					leftOut++
				}
			}})
			var rows wire.Rows[thing]
			if err := wire.Decode(ctx, []byte(tt.rows), &rows); err != nil {
				t.Fatal(err)
			}
			found, err := wire.ByKey(ctx, "rows", rows, []string{"a", "b"}, func(t thing) string { return string(t.ID) })
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range map[string]any{"a": tt.a, "b": tt.b} {
				got, err := found.Of(key, absent)
				if name, ok := want.(string); ok && (err != nil || got.V.Name != name) {
					t.Errorf("%s is %q (%v), want %q", key, got.V.Name, err, name)
				}
				if wanted, ok := want.(error); ok && !errors.Is(err, wanted) {
					t.Errorf("%s: got error %v, want %v", key, err, wanted)
				}
			}
			if leftOut != tt.leftOut {
				t.Errorf("%d rows were told as left out, want %d", leftOut, tt.leftOut)
			}
		})
	}
	t.Run("no list is no answer", func(t *testing.T) {
		t.Parallel()
		_, err := wire.ByKey(t.Context(), "rows", wire.Rows[thing]{}, []string{"a"}, func(t thing) string { return string(t.ID) })
		if !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("got error %v, want %v", err, providers.ErrUnavailable)
		}
	})
}
