package wire

import (
	"bytes"
	"errors"
	"iter"
	"reflect"
	"slices"
	"sync"

	json "github.com/go-json-experiment/json/v1"

	"github.com/socialdata/socialdata/providers"
)

// shape describes where a struct contains an [Object], [Rows] or [Numbers]. Such a part is cut out of the JSON around
// it and decoded separately: encoding/json would read each level of them once or twice more.
type shape struct {
	part    bool
	members map[string]member // of a struct
}

type member struct {
	index []int
	shape *shape
}

// part is an [Object], [Rows] or [Numbers].
type part interface {
	json.Unmarshaler
	nested
}

// shapes holds the shape of each type that was decoded: its tags are read once per process.
var shapes sync.Map // of reflect.Type to *shape

// shapeOf returns the shape of t, nil when it contains no part.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s, _ := shapes.LoadOrStore(t, newShape(t))
	return s.(*shape)
}

// newShape makes the shape of t. within are the types around t: a type that contains itself has no shape below the
// first.
func newShape(t reflect.Type, within ...reflect.Type) *shape {
	switch of := reflect.PointerTo(t); {
	case of.Implements(reflect.TypeFor[part]()):
		return &shape{part: true}
	case of.Implements(reflect.TypeFor[json.Unmarshaler]()): // it wants its JSON whole
		return nil
	case t.Kind() != reflect.Struct || slices.Contains(within, t):
		return nil
	}
	s := &shape{members: map[string]member{}}
	own := map[string]bool{} // names of fields that are not promoted, which come before those that are
	for f := range t.Fields() {
		if f.PkgPath != "" && !f.Anonymous {
			continue
		}
		in, name := newShape(f.Type, append(within, t)...), jsonName(f)
		switch {
		case name != "":
			own[name] = true
			delete(s.members, name)
			if in != nil {
				s.members[name] = member{f.Index, in}
			}
		case in != nil: // its fields are promoted
			for name, m := range in.members {
				if !own[name] {
					s.members[name] = member{append([]int{f.Index[0]}, m.index...), m.shape}
				}
			}
		}
	}
	if len(s.members) == 0 {
		return nil
	}
	return s
}

// shortRest is the capacity for the members of most objects besides their parts, in bytes.
const shortRest = 1 << 10

var errNoJSON = providers.Cause("no JSON")

// decode decodes b into v, whose shape is s, and returns the path of the first field with the wrong type.
func (s *shape) decode(b []byte, v reflect.Value) (odd string, err error) {
	b = b[space(b, 0):]
	if s == nil || len(b) == 0 || b[0] != '{' {
		return unmarshal(b, v.Addr().Interface())
	}
	rest, whole := append(make([]byte, 0, min(len(b), shortRest)), '{'), false
	for name, value := range members(b, &whole) {
		m, known := s.members[string(name[1:len(name)-1])]
		switch {
		case known && m.shape.part:
			v.FieldByIndex(m.index).Addr().Interface().(part).UnmarshalJSON(value) //nolint:errcheck // it never fails
		case known && value[0] == '{':
			in, err := m.shape.decode(value, v.FieldByIndex(m.index))
			if err != nil {
				return "", err
			}
			if odd == "" && in != "" {
				odd = join(string(name[1:len(name)-1]), in)
			}
		default:
			if cap(rest) < len(b) && len(rest)+len(name)+len(value)+len(",:}") > cap(rest) { // once: never larger than b
				rest = append(make([]byte, 0, len(b)), rest...)
			}
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, name...), ':'), value...)
		}
	}
	if !whole {
		return "", errNoJSON
	}
	beside, err := unmarshal(append(rest, '}'), v.Addr().Interface())
	if odd == "" {
		odd = beside
	}
	return odd, err
}

// unmarshal decodes b into dst with the encoding/json of Go 1.27: with that of Go 1.26, BenchmarkDecode takes one and a
// half times as long. It returns the path of the first field with the wrong type, which is left empty, and an error if
// b is not JSON, or not of the kind of dst.
func unmarshal(b []byte, dst any) (odd string, err error) {
	err = json.Unmarshal(b, dst)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return "", err
	}
	if wrong.Field != "" {
		odd = empty(reflect.ValueOf(dst), wrong.Field)
	}
	if odd == "" {
		return "", providers.Cause("an unexpected JSON type") // the text of the error contains a value
	}
	return odd, nil
}

// members yields the members of a JSON object, with quoted names. Whole becomes true when the object ends at the end of
// b. Unlike those of internal/jsontext, the values are not checked, so that a malformed row only affects itself, and
// their cost is limited by mostWork.
func members(b []byte, whole *bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := space(b, 1)
		if i < len(b) && b[i] == '}' {
			*whole = space(b, i+1) == len(b)
			return
		}
		for i < len(b) && b[i] == '"' {
			to := text(b, i) + 1
			if to <= 0 {
				return
			}
			name := b[i:to]
			if i = space(b, to); i >= len(b) || b[i] != ':' {
				return
			}
			i = space(b, i+1)
			to = value(b, i)
			if to <= i || !yield(name, bytes.TrimRight(b[i:to], spaces)) {
				return
			}
			i = space(b, to)
			if i < len(b) && b[i] == '}' {
				*whole = space(b, i+1) == len(b)
				return
			}
			if i >= len(b) || b[i] != ',' {
				return
			}
			i = space(b, i+1)
		}
	}
}

// Split yields the elements of a JSON array, as parts of b, without checking them; if b is not an array it yields none.
func Split(b []byte) iter.Seq[[]byte] { return elements(b, new(bool)) }

// elements is [Split]. Broken becomes true, and it stops, when an element does not end or is too large.
func elements(b []byte, broken *bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(b, 0)
		if i == len(b) || b[i] != '[' {
			return
		}
		for i = space(b, i+1); i < len(b) && b[i] != ']'; {
			to := value(b, i)
			if *broken = to < i; to <= i || !yield(bytes.TrimSpace(b[i:to])) {
				return
			}
			if i = space(b, to); i < len(b) && b[i] == ',' {
				i = space(b, i+1)
			}
		}
	}
}

// First returns the first n elements of a JSON array, or all of them if there are fewer.
func First(b []byte, n int) (all [][]byte) {
	for element := range Split(b) {
		if len(all) == n {
			break
		}
		all = append(all, element)
	}
	return all
}

// mostWork limits the cost of a value: the sum over its characters outside strings of the brackets around each. [Rows]
// are read separately, so that nested ones are read as often as they are deep. A thread of a thousand nested replies
// has a third of it.
const mostWork = 150_000_000

// value returns the end of the value that begins at i: less than i when it does not end or is too large, i itself when
// none begins there.
func value(b []byte, i int) int {
	depth, work := 0, 0
	for ; i < len(b); i++ {
		if work += depth; work > mostWork {
			return -1
		}
		switch b[i] {
		case '"':
			if i = text(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return -1
	}
	return len(b)
}

// text returns the position of the closing quote of the string that opens at i, negative when there is none.
func text(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		from := i
		i += n
		before := bytes.TrimRight(b[from:i], `\`) // a quote after an odd number of backslashes is a part of the string
		if (i-from-len(before))%2 == 0 {
			return i
		}
	}
}

// spaces are the white space of JSON.
const spaces = " \n\t\r"

// space returns the end of the space at i.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}
