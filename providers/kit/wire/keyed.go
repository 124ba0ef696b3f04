package wire

import (
	"context"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// Keyed is the rows of an answer to several keys, by the key that each row is about.
type Keyed[T any] struct {
	rows map[string]Object[T]
	odd  bool // some rows are about none of the keys, or could not be decoded
}

// ByKey groups the rows of the list called name by key, for an answer to keys: about returns the key of a row. The
// first row of a key is used, and a row about another key is reported to the trace as left out. It fails as
// [Rows.Check] does.
func ByKey[T any](ctx context.Context, name string, rows Rows[T], keys []string, about func(T) string) (Keyed[T], error) {
	if err := rows.Check(ctx, name); err != nil {
		return Keyed[T]{}, err
	}
	asked := make(map[string]bool, len(keys))
	for _, key := range keys {
		asked[key] = true
	}
	k := Keyed[T]{rows: make(map[string]Object[T], len(rows.list)), odd: rows.lost > 0}
	for _, row := range rows.list {
		key := about(row.V)
		if !asked[key] {
			callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{name + "[]"}, LeftOut: true})
			k.odd = true
			continue
		}
		if _, twice := k.rows[key]; !twice {
			k.rows[key] = row
		}
	}
	return k, nil
}

// Of returns the row of a key. If there is none it returns absent, or [providers.ErrUnavailable] when the row may be
// among the unreadable ones.
func (k Keyed[T]) Of(key string, absent error) (Object[T], error) {
	row, ok := k.rows[key]
	switch {
	case ok:
		return row, nil
	case k.odd:
		return row, providers.Unreadable(nil)
	}
	return row, absent
}
