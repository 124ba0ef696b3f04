package wire_test

import (
	"errors"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	none, some := new(int64(0)), new(int64(178))
	tests := []struct {
		name    string
		witness wire.Witness
		want    error
	}{
		{"no witness", wire.Witness{}, providers.ErrUnavailable},
		{"rows", wire.Witness{Rows: 1, Count: some, Cursor: "2", More: true}, nil},
		{"words", wire.Witness{Words: true}, nil},
		{"none are counted", wire.Witness{Count: none}, nil},
		{"some are counted", wire.Witness{Count: some}, providers.ErrUnavailable},
		{"words and more", wire.Witness{Words: true, More: true}, providers.ErrUnavailable},
		{"none are counted and more", wire.Witness{Count: none, More: true}, providers.ErrUnavailable},
		{"behind a cursor", wire.Witness{Words: true, Count: none, Cursor: "2"}, providers.ErrUnavailable},
		{"the last page behind a cursor", wire.Witness{Count: some, Cursor: "2", Last: true}, nil},
		{"a first page that says that it is the last", wire.Witness{Last: true}, providers.ErrUnavailable},
		{"the last page that says that there is more", wire.Witness{Cursor: "2", Last: true, More: true}, providers.ErrUnavailable},
		{"more where gaps are known", wire.Witness{Cursor: "2", More: true, Gaps: true}, nil},
		{"no more where gaps are known", wire.Witness{Gaps: true}, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			told := 0
			ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { told++ }})
			if err := tt.witness.Check(ctx, "rows"); !errors.Is(err, tt.want) || (err != nil) != (told == 1) {
				t.Errorf("got error %v, recorded %d times, want %v", err, told, tt.want)
			}
		})
	}
}
