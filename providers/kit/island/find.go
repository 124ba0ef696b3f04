package island

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// deepest is how deep [Find] goes. The data of real sites is at most about half as deep.
const deepest = 64

// Value is a JSON value whose end is only searched when it is needed.
type Value struct {
	b    []byte
	from int
}

// Bytes returns the value, which is a part of the input of [Find].
func (v Value) Bytes() []byte { return v.b[v.from:end(v.b, v.from)] }

// Is reports whether the value begins with the given character, such as a brace for an object.
func (v Value) Is(first byte) bool { return v.b[v.from] == first }

// Find is the function [Find] for the members of the value, which is known to be valid JSON.
func (v Value) Find(visit func(name string, value Value) (into bool)) {
	finder{v.b, visit}.value(v.from, 0)
}

// Find visits every member of every object in JSON, from the outside in and from front to back, in one pass: decoding
// level by level would read an object as often as it is deep. Visit gets the member's name and value, and reports
// whether to go into the value. If b is not JSON, it has no members.
func Find(b []byte, visit func(name string, value Value) (into bool)) {
	if jsontext.Valid(b) {
		f := finder{b, visit}
		f.value(skip(b, 0), 0)
	}
}

// finder walks over valid JSON.
type finder struct {
	b     []byte
	visit func(string, Value) bool
}

// value visits the members of the value that begins at i, and returns its end.
func (f finder) value(i, depth int) int {
	switch {
	case depth >= deepest:
	case f.b[i] == '{':
		return f.object(i, depth)
	case f.b[i] == '[':
		return f.array(i, depth)
	}
	return end(f.b, i)
}

func (f finder) object(i, depth int) int {
	for i = skip(f.b, i+1); f.b[i] != '}'; i = skip(f.b, i) {
		if f.b[i] == ',' {
			i = skip(f.b, i+1)
		}
		behind := text(f.b, i)
		name := unquote(f.b[i:behind])
		i = skip(f.b, skip(f.b, behind)+1) // skip the colon
		if f.visit(name, Value{f.b, i}) {
			i = f.value(i, depth+1)
		} else {
			i = end(f.b, i)
		}
	}
	return i + 1
}

func (f finder) array(i, depth int) int {
	for i = skip(f.b, i+1); f.b[i] != ']'; i = skip(f.b, i) {
		if f.b[i] == ',' {
			i = skip(f.b, i+1)
		}
		i = f.value(i, depth+1)
	}
	return i + 1
}

// end returns the end of the value that begins at i.
func end(b []byte, i int) int {
	switch b[i] {
	case '"':
		return text(b, i)
	case '{', '[':
		return closing(b, i)
	}
	for i < len(b) && !isEnd(b[i]) { // a number or a literal
		i++
	}
	return i
}

// closing returns the end of the object or array that begins at i.
func closing(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i = text(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// text returns the end of the string that begins at i.
func text(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skip(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

func isEnd(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

func unquote(name []byte) string {
	if !bytes.ContainsRune(name, '\\') {
		return string(name[1 : len(name)-1])
	}
	var s string
	_ = json.Unmarshal(name, &s) // it is valid JSON
	return s
}

// Objects yields the JSON objects in a script, from front to back: the script itself if it is one, or those that its
// JavaScript passes to functions. Objects within another are not yielded. The cost is bounded by the size of the
// script, even if it is nothing but braces.
func Objects(script []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for from, budget := 0, 32*len(script); from < len(script) && budget > 0; {
			at := bytes.IndexByte(script[from:], '{')
			if at < 0 {
				return
			}
			from += at
			if next := skip(script, from+1); next == len(script) || script[next] != '"' && script[next] != '}' {
				from++
				continue
			}
			d := json.NewDecoder(bytes.NewReader(script[from:]))
			var object json.RawMessage
			if d.Decode(&object) != nil {
				budget -= len(script) - from
				from++
				continue
			}
			if !yield(object) {
				return
			}
			from += int(d.InputOffset())
		}
	}
}
