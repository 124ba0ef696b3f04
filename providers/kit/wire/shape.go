package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/providers"
)

// shape describes what of a type's JSON is decoded, and where it contains an [Object], [Rows] or [Numbers]. Such a part
// is cut out of the JSON around it and decoded separately: encoding/json would read each level of them twice more. What
// is not decoded is checked and left out, since encoding/json would read it twice too.
type shape struct {
	part    bool
	parts   bool              // it is a part, or contains one
	members map[string]member // of a struct; nil for what is decoded whole
	folded  map[string]bool   // the names of members in lower case
	element *shape            // of a list or a pointer; nil if elements are decoded whole
}

type member struct {
	index []int
	shape *shape // nil when it is decoded whole
}

// part is an [Object], [Rows] or [Numbers].
type part interface {
	json.Unmarshaler
	nested
}

// shapes holds the shape of each type that was decoded: its tags are read once per process.
var shapes sync.Map // of reflect.Type to *shape

// shapeOf returns the shape of t, nil when it is decoded whole.
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
	of := reflect.PointerTo(t)
	switch {
	case of.Implements(reflect.TypeFor[part]()):
		return &shape{part: true, parts: true}
	case of.Implements(reflect.TypeFor[json.Unmarshaler]()), of.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		if in := newShape(t.Elem(), within...); in != nil {
			return &shape{element: in}
		}
		return nil
	case reflect.Struct:
		if slices.Contains(within, t) {
			return nil
		}
		return newStruct(t, append(slices.Clip(within), t))
	default:
		return nil
	}
}

// newStruct makes the shape of a struct; nil if the names of its members are not known.
func newStruct(t reflect.Type, within []reflect.Type) *shape {
	s := &shape{members: map[string]member{}, folded: map[string]bool{}}
	for f := range t.Fields() {
		in := newShape(f.Type, within...)
		switch name := jsonName(f); {
		case f.PkgPath != "" && !f.Anonymous:
		case name != "":
			s.add(name, member{f.Index, in})
		case in == nil || in.members == nil: // embedded, and of a kind whose names are not known here
			return nil
		default: // its fields are promoted
			for name, m := range in.members {
				s.add(name, member{append([]int{f.Index[0]}, m.index...), m.shape})
			}
		}
	}
	return s
}

func (s *shape) add(name string, m member) {
	s.members[name] = m
	s.folded[strings.ToLower(name)] = true
	s.parts = s.parts || m.shape != nil && m.shape.parts
}

// shortRest is the capacity for the members of most objects besides their parts, in bytes.
const shortRest = 1 << 10

var errNoJSON = providers.Cause("no JSON")

// decode decodes b into v, whose shape is s, and returns the path of the first field with the wrong type.
func (s *shape) decode(b []byte, v reflect.Value) (odd string, err error) {
	b = bytes.TrimSpace(b)
	if s == nil || s.members == nil || len(b) == 0 || b[0] != '{' {
		return unmarshal(b, v.Addr().Interface())
	}
	rest, whole := append(make([]byte, 0, min(len(b), shortRest)), '{'), false
	for name, value := range members(b, &whole) {
		m, decoded := s.find(name)
		switch parts := m.shape != nil && m.shape.parts; {
		case parts && m.shape.part:
			v.FieldByIndex(m.index).Addr().Interface().(part).UnmarshalJSON(value) //nolint:errcheck // it never fails
		case parts && value[0] == '{':
			in, err := m.shape.decode(value, v.FieldByIndex(m.index))
			if err != nil {
				return "", err
			}
			if odd == "" && in != "" {
				odd = join(string(name[1:len(name)-1]), in)
			}
		default:
			var ok bool
			if rest, ok = m.append(rest, name, value, decoded); !ok {
				return "", errNoJSON
			}
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

// find returns the member with a quoted name, and reports whether encoding/json decodes it: also if the name differs in
// case, which makes it a member that is decoded whole.
func (s *shape) find(name []byte) (m member, decoded bool) {
	m, decoded = s.members[string(name[1:len(name)-1])]
	return m, decoded || s.may(name)
}

// append appends a member to the JSON of an object if it is decoded. It returns false if what it leaves out is not
// JSON; the rest is left for encoding/json to check.
func (m member) append(dst, name, value []byte, decoded bool) ([]byte, bool) {
	if !decoded {
		return dst, jsontext.Valid(name) && jsontext.Valid(value)
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return m.shape.project(append(append(dst, name...), ':'), value)
}

// may reports whether encoding/json takes a quoted name for that of a member, in which it ignores case.
func (s *shape) may(name []byte) bool {
	name = name[1 : len(name)-1]
	for _, c := range name {
		switch {
		case c >= utf8.RuneSelf || c == '\\':
			return true
		case 'A' <= c && c <= 'Z':
			return s.folded[strings.ToLower(string(name))]
		}
	}
	return s.folded[string(name)]
}

// project appends what is decoded of a value. It returns false if what it leaves out is not JSON.
func (s *shape) project(dst, value []byte) (out []byte, ok bool) {
	switch {
	case s == nil:
	case s.members != nil && value[0] == '{':
		whole := false
		dst = append(dst, '{')
		for name, value := range members(value, &whole) {
			m, decoded := s.find(name)
			if dst, ok = m.append(dst, name, value, decoded); !ok {
				return dst, false
			}
		}
		return append(dst, '}'), whole
	case s.element != nil && value[0] == '[':
		whole := false
		dst = append(dst, '[')
		for element := range items(value, &whole) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			if dst, ok = s.element.project(dst, element); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), whole
	case s.element != nil && value[0] == '{': // of what a pointer points to
		return s.element.project(dst, value)
	}
	return append(dst, value...), true
}

// unmarshal decodes b into dst with encoding/json, and returns the path of the first field with the wrong type, which
// is left empty. It returns an error if b is not JSON, or not of the kind of dst.
func unmarshal(b []byte, dst any) (odd string, err error) {
	err = json.Unmarshal(b, dst)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return "", err
	}
	if wrong.Field == "" {
		return "", providers.Cause("an unexpected JSON type") // the text of the error contains a value
	}
	empty(reflect.ValueOf(dst), wrong.Field)
	return wrong.Field, nil
}

// members yields the members of a JSON object, with quoted names. Whole becomes true when the object ends at the end of
// b. The values are not checked.
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

// items yields the elements of a JSON array. Whole becomes true when the array ends at the end of b. The elements are
// not checked, but unlike [elements] it stops at a missing or extra comma.
func items(b []byte, whole *bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(b, 1)
		if i < len(b) && b[i] == ']' {
			*whole = i+1 == len(b)
			return
		}
		for {
			to := value(b, i)
			if to <= i || to == len(b) || !yield(bytes.TrimRight(b[i:to], spaces)) {
				return
			}
			switch i = space(b, to); {
			case i < len(b) && b[i] == ']':
				*whole = i+1 == len(b)
				return
			case i == len(b) || b[i] != ',':
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
	i++
	if i += jsontext.Closing(b[i:]); i == len(b) {
		return -1
	}
	return i
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
