package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"reflect"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// MaxRows is how many rows of one list are read. No real page is longer; further rows are left out like undecodable
// ones.
const MaxRows = 1000

// Rows is a list whose rows are decoded one by one, so that a malformed row only affects itself. The zero Rows is a
// missing list, as are null and anything that is not a list.
type Rows[T any] struct {
	list []Object[T]
	here bool
	bad  bool // the value is not a list
	lost int  // rows that could not be decoded, or exceed MaxRows
}

// UnmarshalJSON never fails.
func (r *Rows[T]) UnmarshalJSON(b []byte) error {
	*r = Rows[T]{}
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '[' {
		r.bad = !isNull(b)
		return nil
	}
	r.here = true
	t := shapeOf(reflect.TypeFor[T]())
	place := -1
	broken := false
	for row := range elements(b, &broken) {
		place++
		if len(r.list)+r.lost == MaxRows {
			r.lost++
			break
		}
		var o Object[T]
		if o.decode(row, t); o.Raw == nil {
			r.lost++
			continue
		}
		o.place = place
		r.list = append(r.list, o)
	}
	if broken {
		r.lost++
	}
	return nil
}

func (r *Rows[T]) null() bool { return false }

// whole reads an answer that is only a list.
func (r *Rows[T]) whole(b []byte) error {
	if !isWhole(b) {
		return errNoJSON
	}
	r.UnmarshalJSON(b) //nolint:errcheck // it never fails
	if !r.here {
		return providers.Cause("another JSON type where a list was expected")
	}
	return nil
}

// Here reports whether the list is present; it may be empty.
func (r Rows[T]) Here() bool { return r.here }

// Odd reports whether the value is not a list; null does not count.
func (r Rows[T]) Odd() bool { return r.bad }

// Lost returns how many rows could not be decoded.
func (r Rows[T]) Lost() int { return r.lost }

// Len returns how many rows could be decoded.
func (r Rows[T]) Len() int { return len(r.list) }

// All returns the rows that could be decoded, in order, with their index in the list, in which undecodable rows count.
func (r Rows[T]) All() iter.Seq2[int, Object[T]] {
	return func(yield func(int, Object[T]) bool) {
		for _, o := range r.list {
			if !yield(o.place, o) {
				return
			}
		}
	}
}

// Check returns [providers.ErrUnavailable] when the list, called name as in "items", is missing, or when it has rows
// and none of them could be decoded.
func (r Rows[T]) Check(ctx context.Context, name string) error {
	if err := Need(ctx, name, r.here); err != nil {
		return err
	}
	callctx.Of(ctx).Trace.Rows(len(r.list) + r.lost)
	return Understood(name, len(r.list), r.lost)
}

// Optional is [Rows.Check] for a list that the upstream leaves out when it is empty.
func (r Rows[T]) Optional(ctx context.Context, name string) error {
	if !r.here && !r.bad {
		return nil
	}
	return r.Check(ctx, name)
}

// Items converts the rows of the list called name, in order. It leaves out rows for which convert returns false: they
// were understood and do not belong. It fails as [Rows.Check] does, also when only undecodable rows are left, and when
// ctx ends.
func Items[T, O any](
	ctx context.Context, name string, rows Rows[T], convert func(v T, raw json.RawMessage) (O, bool),
) ([]O, error) {
	if err := rows.Check(ctx, name); err != nil {
		return nil, err
	}
	items := make([]O, 0, len(rows.list))
	for _, row := range rows.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if item, belongs := convert(row.V, row.Raw); belongs {
			items = append(items, item)
		}
	}
	return items, Understood(name, len(items), rows.lost)
}
