// Package wire decodes what upstreams write, and gives each oddity its price: a field of the wrong type is left empty, a
// row that cannot be decoded is left out, and an answer that is not of its kind is [providers.ErrUnavailable]. What was odd is
// told to the [providers.Trace] of the context, by its path and never by its value.
//
// A wire struct uses string for text, [ID] or [Serial] for identifiers, [Count], [Score], [Float], [Bool] and [Time] for what may
// be unknown, [Rows] for the list that makes a page, and [Object] for what keeps its raw. It has no *int64, *bool, *string or
// time.Time: encoding/json allocates the pointer before it finds that the value does not fit, and a time that cannot be
// read ends the decoding.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/providers"
)

// Object is a decoded upstream object beside its untouched JSON. Raw is nil when nothing that could be decoded stood there.
type Object[T any] struct {
	V   T
	Raw json.RawMessage // a part of the answer, not a copy
	odd string          // the path of the first field of the wrong type
	bad bool            // something stood there that is no T

	place int // in the list, when it is a row
}

// Odd tells whether something else than a T stood there, where nothing and null are the upstream's own words.
func (o Object[T]) Odd() bool { return o.bad }

// UnmarshalJSON never fails: what is no T leaves Raw nil.
func (o *Object[T]) UnmarshalJSON(b []byte) error {
	o.decode(b, shapeOf(reflect.TypeFor[T]()))
	return nil
}

// decode decodes b into an object whose V is of the shape s.
func (o *Object[T]) decode(b []byte, s *shape) {
	*o = Object[T]{}
	if isNull(b) {
		return
	}
	var err error
	if o.odd, err = s.decode(b, reflect.ValueOf(&o.V).Elem()); err != nil {
		*o = Object[T]{bad: true}
		return
	}
	o.Raw = b
}

// Here tells whether there is an object.
func (o Object[T]) Here() bool { return o.Raw != nil }

// Optional fails with [providers.ErrUnavailable] when something else than a T stands at name, where the upstream may leave out
// the object or write null.
func (o Object[T]) Optional(ctx context.Context, name string) error { return Need(ctx, name, !o.bad) }

// null tells whether null is a T.
func (o *Object[T]) null() bool { return reflect.TypeFor[T]().Kind() == reflect.Pointer }

// whole reads an answer.
func (o *Object[T]) whole(b []byte) error {
	odd, err := lenient(b, &o.V)
	o.Raw, o.odd = b, odd
	return err
}

// answer is what can be the whole of an answer without a second look at it.
type answer interface {
	null() bool
	whole(b []byte) error
}

// Decode decodes the answer b into dst, a pointer. It fails with [providers.ErrUnavailable] when b is no JSON or not of the
// kind of dst; null is of no kind but that of a pointer. The raw parts of dst are parts of b.
func Decode(ctx context.Context, b []byte, dst any) error {
	whole, known := dst.(answer)
	if isNull(b) {
		if known && whole.null() || !known && reflect.TypeOf(dst).Elem().Kind() == reflect.Pointer {
			return nil
		}
		return providers.Unreadable(providers.Cause("null where an object was expected"))
	}
	var odd string
	var err error
	if known {
		err = whole.whole(b)
	} else {
		odd, err = lenient(b, dst)
	}
	if err != nil {
		if looksLikeHTML(b) {
			err = providers.Cause("HTML where JSON was expected")
		}
		return providers.Unreadable(err)
	}
	report(ctx, odd, dst)
	return nil
}

// lenient decodes b into dst, and returns the path of the first field that is of the wrong type, which is then empty. It
// fails when b is no JSON or not of the kind of dst.
func lenient(b []byte, dst any) (odd string, err error) {
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() == reflect.Pointer { // null has been looked at
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	return shapeOf(v.Type()).decode(b, v)
}

// isWhole tells whether b is one JSON value and nothing else, as far as its brackets tell.
func isWhole(b []byte) bool {
	from := space(b, 0)
	to := value(b, from)
	return to > from && space(b, to) == len(b)
}

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

func looksLikeHTML(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b[:min(len(b), 512)], " \t\r\n\ufeff"), []byte("<"))
}
