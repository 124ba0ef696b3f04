package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/providers"
)

// shape says where in a struct an [Object], [Rows] or [Numbers] stands. Such a part is cut out of the JSON around it and decoded
// alone: through encoding/json each level of them would be read twice more.
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

// shapes holds the shape of each type that was decoded: its tags are read once in the life of a program.
var shapes sync.Map // of reflect.Type to *shape

// shapeOf returns the shape of t, nil when no part stands in it.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s, _ := shapes.LoadOrStore(t, newShape(t))
	return s.(*shape)
}

// newShape makes the shape of t. Within is what t stands in: what holds itself has no shape below the first.
func newShape(t reflect.Type, within ...reflect.Type) *shape {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[part]()) {
		return &shape{part: true}
	}
	if t.Kind() != reflect.Struct || slices.Contains(within, t) {
		return nil
	}
	s := &shape{members: map[string]member{}}
	for f := range t.Fields() {
		in := newShape(f.Type, append(within, t)...)
		switch name := jsonName(f); {
		case in == nil || f.PkgPath != "" && !f.Anonymous:
		case name == "": // its fields stand in for it
			for name, m := range in.members {
				s.members[name] = member{append([]int{f.Index[0]}, m.index...), m.shape}
			}
		default:
			s.members[name] = member{f.Index, in}
		}
	}
	if len(s.members) == 0 {
		return nil
	}
	return s
}

// shortRest is room for what stands beside the parts of most objects, in bytes.
const shortRest = 1 << 10

var errNoJSON = providers.Cause("no JSON")

// decode decodes b into v, whose shape is s, and returns the path of the first field that is of the wrong type.
func (s *shape) decode(b []byte, v reflect.Value) (odd string, err error) {
	b = bytes.TrimSpace(b)
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
			if cap(rest) < len(b) && len(rest)+len(name)+len(value)+len(",:}") > cap(rest) { // once: no more than b is kept
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

// unmarshal decodes b into dst with encoding/json, and returns the path of the first field that is of the wrong type, which
// is then empty. It fails when b is no JSON or not of the kind of dst.
func unmarshal(b []byte, dst any) (odd string, err error) {
	err = json.Unmarshal(b, dst)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return "", err
	}
	if wrong.Field == "" {
		return "", providers.Cause("another kind of JSON than was expected") // the text of wrong holds a value
	}
	empty(reflect.ValueOf(dst), wrong.Field)
	return wrong.Field, nil
}

// members yields the members of a JSON object, the name in its quotes. Whole becomes true when the object ends where b does;
// what the values are is not looked at.
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
			if to <= i || !yield(name, bytes.TrimSpace(b[i:to])) {
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

// Split yields the elements of a JSON array, as parts of b. What they are is not looked at; what is no array has none.
func Split(b []byte) iter.Seq[[]byte] { return elements(b, new(bool)) }

// elements is [Split]. Broken becomes true when an element does not end, or is too much: there it stops.
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

// First returns the first n elements of a JSON array, all of them where there are no more.
func First(b []byte, n int) (all [][]byte) {
	for element := range Split(b) {
		if len(all) == n {
			break
		}
		all = append(all, element)
	}
	return all
}

// mostWork bounds a value: what is in it outside of strings, each character as often as the brackets around it. [Rows] are
// read by themselves, so that those in others are read as often as they are deep. A thread of a thousand answers to
// answers has a third of it.
const mostWork = 150_000_000

// value returns where the value that begins at i ends: less than i when it does not, or is more than anyone writes, i itself
// when none begins there.
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

// text returns where the closing quote stands of the string that opens at i, less than 0 when it does not.
func text(b []byte, i int) int {
	for i++; i < len(b); i++ {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return -1
		}
		i += next
		escapes := 0
		for at := i - 1; b[at] == '\\'; at-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return -1
}

// space returns where the space at i ends.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}
