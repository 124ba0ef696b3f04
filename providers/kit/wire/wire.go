// Package wire decodes what upstreams write, and limits the effect of malformed values: a field of the wrong type is
// left empty, a row that cannot be decoded is left out, and an answer of the wrong kind is [providers.ErrUnavailable].
// Malformed values are reported to the [callctx.Trace] of the context, by path and never by value.
//
// A wire struct uses string for text, [ID] or [Serial] for identifiers, [Count], [Score], [Float], [Bool] and [Time]
// for what may be unknown, [Rows] for the list that makes a page, and [Object] for what keeps its raw. It has no
// *int64, *bool, *string or time.Time: encoding/json allocates the pointer before it finds that the value does not fit,
// and a time that cannot be parsed ends the decoding.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/providers"
)

// Object is a decoded upstream object and its unchanged JSON. Raw is nil when the value could not be decoded.
type Object[T any] struct {
	V   T
	Raw json.RawMessage // a part of the answer, not a copy
	odd string          // the path of the first field with the wrong type
	bad bool            // the value is not a T

	place int // in the list, when it is a row
}

// Odd reports whether the value is not a T; a missing value and null do not count.
func (o Object[T]) Odd() bool { return o.bad }

// UnmarshalJSON never fails: if b is not a T, Raw stays nil.
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

// Here reports whether there is an object.
func (o Object[T]) Here() bool { return o.Raw != nil }

// Optional returns [providers.ErrUnavailable] when the value at name is not a T; the upstream may leave it out or write
// null.
func (o Object[T]) Optional(ctx context.Context, name string) error { return Need(ctx, name, !o.bad) }

// null reports whether null is a T.
func (o *Object[T]) null() bool { return reflect.TypeFor[T]().Kind() == reflect.Pointer }

// whole reads a complete answer.
func (o *Object[T]) whole(b []byte) error {
	odd, err := lenient(b, &o.V)
	o.Raw, o.odd = b, odd
	return err
}

// answer is a type that can be a complete answer and is decoded in one pass.
type answer interface {
	null() bool
	whole(b []byte) error
}

// Decode decodes the answer b into dst, a pointer. It returns [providers.ErrUnavailable] when b is not JSON, or not of
// the kind of dst; null is only valid for a pointer. The raw parts of dst are parts of b.
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

// Pick decodes those members of the object b into dst, a pointer to a struct, that have the name of one of its fields,
// and skips the others unread: to look for a refusal in a long answer. It returns an error if b is not an object, or if
// what it has read is not JSON or of another kind than its field.
func Pick(b []byte, dst any) error {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' {
		return errNoJSON
	}
	picked, whole := []byte{'{'}, false
	for name, value := range members(b, &whole) {
		for f := range reflect.TypeOf(dst).Elem().Fields() {
			if jsonName(f) != string(name[1:len(name)-1]) {
				continue
			}
			if len(picked) > 1 {
				picked = append(picked, ',')
			}
			picked = append(append(append(picked, name...), ':'), value...)
		}
	}
	if !whole {
		return errNoJSON
	}
	return json.Unmarshal(append(picked, '}'), dst)
}

// lenient decodes b into dst, and returns the path of the first field with the wrong type, which is left empty. It
// returns an error if b is not JSON, or not of the kind of dst.
func lenient(b []byte, dst any) (odd string, err error) {
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() == reflect.Pointer { // null has been handled
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	return shapeOf(v.Type()).decode(b, v)
}

// isWhole reports whether b is exactly one JSON value, judging by its brackets.
func isWhole(b []byte) bool {
	from := space(b, 0)
	to := value(b, from)
	return to > from && space(b, to) == len(b)
}

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

func looksLikeHTML(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b[:min(len(b), 512)], " \t\r\n\ufeff"), []byte("<"))
}
