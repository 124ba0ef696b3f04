// Package jsontext goes over JSON without decoding it into values.
package jsontext

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// lax are the options with which JSON is read and written as [encoding/json] does: strings are not changed.
var lax = []jsontext.Options{
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true),
}

// decoder returns a decoder of b, which it does not copy.
func decoder(b []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewBuffer(b), lax...) }

// Valid reports whether b is JSON.
func Valid(b []byte) bool { return jsontext.Value(b).IsValid(lax...) }

// Without returns b without white space and without the members that hides names, and false if b is not JSON. The rest
// is unchanged, byte for byte.
func Without(b []byte, hides func(name string) bool) ([]byte, bool) {
	if !Valid(b) {
		return nil, false
	}
	var out bytes.Buffer
	in, to := decoder(b), jsontext.NewEncoder(&out, lax...)
	for {
		switch in.PeekKind() {
		case jsontext.KindInvalid: // the end
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
		case jsontext.KindBeginObject, jsontext.KindEndObject, jsontext.KindBeginArray, jsontext.KindEndArray:
			t, _ := in.ReadToken()
			_ = to.WriteToken(t)
		default:
			within, n := in.StackIndex(in.StackDepth())
			v, _ := in.ReadValue()
			if within == jsontext.KindBeginObject && n%2 == 0 && hides(Text(v)) {
				_ = in.SkipValue()
				continue
			}
			_ = to.WriteValue(v)
		}
	}
}

// Text returns the text of a JSON string; "" if b is not one.
func Text(b []byte) string {
	text, err := jsontext.AppendUnquote(nil, b)
	if err != nil && text == nil {
		return ""
	}
	return string(text)
}

// Token is a brace, a bracket, or a whole string, number, true, false or null.
type Token struct {
	Kind  byte   // '{', '}', '[', ']', '"', '0', 't', 'f' or 'n'
	Name  []byte // of the member that it is the value of, or an element of; nil for an end and outside objects
	Value []byte // a part of the JSON
	At    int    // where Value begins in the JSON
}

// Walk yields the tokens of JSON in order, names together with their values. Of invalid JSON, it yields those before
// the error.
func Walk(b []byte) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		in := decoder(b)
		names := [][]byte{nil} // of the value that is next, and of the objects and arrays around it
		for {
			top := len(names) - 1
			t := Token{Kind: byte(in.PeekKind()), Name: names[top]}
			length := 1
			switch t.Kind {
			case '{', '[', '}', ']':
				if _, err := in.ReadToken(); err != nil {
					return
				}
			default:
				within, n := in.StackIndex(in.StackDepth())
				v, err := in.ReadValue()
				if err != nil {
					return
				}
				if within == jsontext.KindBeginObject && n%2 == 0 {
					names[top] = name(v)
					continue
				}
				length = len(v)
			}
			end := int(in.InputOffset())
			t.At, t.Value = end-length, b[end-length:end:end]
			switch t.Kind {
			case '{':
				names = append(names, nil)
			case '[':
				names = append(names, t.Name)
			case '}', ']':
				t.Name, names = nil, names[:top]
			}
			if !yield(t) {
				return
			}
		}
	}
}

// name returns the text of a name; a part of it, if it has no escapes.
func name(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(Text(quoted))
}

// Elements returns the elements of an array, as parts of it; nil if b is not one.
func Elements(b []byte) [][]byte {
	return parts(b, jsontext.KindBeginArray, jsontext.KindEndArray)
}

// Members yields the names and the values of an object, in order, the values as parts of it. It yields nothing for
// anything but an object.
func Members(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(name string, value []byte) bool) {
		all := parts(b, jsontext.KindBeginObject, jsontext.KindEndObject)
		for i := 0; i < len(all); i += 2 {
			if !yield(Text(all[i]), all[i+1]) {
				return
			}
		}
	}
}

// parts returns the values in an array, or the names and values in an object; nil if b is something else.
func parts(b []byte, begin, end jsontext.Kind) [][]byte {
	in := decoder(b)
	if in.PeekKind() != begin {
		return nil
	}
	_, _ = in.ReadToken()
	all := [][]byte{}
	for in.PeekKind() != end {
		v, err := in.ReadValue()
		if err != nil {
			return nil
		}
		at := in.InputOffset()
		all = append(all, b[at-int64(len(v)):at:at])
	}
	_, _ = in.ReadToken()
	if len(bytes.TrimSpace(b[in.InputOffset():])) > 0 {
		return nil
	}
	return all
}
