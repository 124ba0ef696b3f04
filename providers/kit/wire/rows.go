package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"reflect"

	"github.com/socialdata/socialdata/providers"
)

// MaxRows is how many rows of one list are read. No honest page is longer; what is beyond is left out, as a row that cannot
// be decoded is.
const MaxRows = 1000

// Rows is a list whose rows are decoded one by one, so that an odd one costs itself alone. The zero Rows is a list that is not
// there, as are null and anything that is no list.
type Rows[T any] struct {
	list []Object[T]
	here bool
	bad  bool // something stood there that is no list
	lost int  // rows that could not be decoded, or were too many
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

// whole reads an answer that is a list and nothing else.
func (r *Rows[T]) whole(b []byte) error {
	if !isWhole(b) {
		return errNoJSON
	}
	r.UnmarshalJSON(b) //nolint:errcheck // it never fails
	if !r.here {
		return providers.Cause("another kind of JSON where a list was expected")
	}
	return nil
}

// Here tells whether there is a list, which may be empty.
func (r Rows[T]) Here() bool { return r.here }

// Odd tells whether something stood there that is no list, which null is not.
func (r Rows[T]) Odd() bool { return r.bad }

// Lost returns how many rows could not be decoded.
func (r Rows[T]) Lost() int { return r.lost }

// Len returns how many rows could be decoded.
func (r Rows[T]) Len() int { return len(r.list) }

// All returns the rows that could be decoded, in order, beside their place in the list: that of the first is 0, and those
// that could not be decoded count.
func (r Rows[T]) All() iter.Seq2[int, Object[T]] {
	return func(yield func(int, Object[T]) bool) {
		for _, o := range r.list {
			if !yield(o.place, o) {
				return
			}
		}
	}
}

// Check fails with [providers.ErrUnavailable] when there is no list, named as in "items", and when rows came and none of
// them could be decoded.
func (r Rows[T]) Check(ctx context.Context, name string) error {
	if err := Need(ctx, name, r.here); err != nil {
		return err
	}
	return Understood(name, len(r.list), r.lost)
}

// Optional is [Rows.Check] for a list that the upstream leaves out when it is empty.
func (r Rows[T]) Optional(ctx context.Context, name string) error {
	if !r.here && !r.bad {
		return nil
	}
	return r.Check(ctx, name)
}

// Items converts the rows of the list named name, in order. It leaves out those for which convert is false: they were
// understood and do not belong. It fails as [Rows.Check] does, also when nothing is left beside rows that could not be
// decoded, and when ctx ends.
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
