package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Columns returns the columns of rows of type t: the fields of the API description in its order. Fields of an object
// within a row are written with a dot, such as author.handle. The columns depend only on the type, never on the data. A
// list is one column. A search result has the fields of every kind.
func Columns(t reflect.Type) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var open func(t reflect.Type, at string, within []reflect.Type)
	open = func(t reflect.Type, at string, within []reflect.Type) {
		switch {
		case t.Kind() == reflect.Pointer:
			open(t.Elem(), at, within)
		case t == reflect.TypeFor[Optional[Enrichment]]():
			open(reflect.TypeFor[Enrichment](), at, within)
		case t == reflect.TypeFor[SearchResult]():
			add("kind")
			for _, kind := range ResultKinds() {
				open(reflect.TypeOf(NewResult(kind).Object), at, within)
			}
			add("collection_kind")
		case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !slices.Contains(within, t):
			for _, f := range Fields(t) {
				name := f.Name
				if at != "" {
					name = at + "." + name
				}
				open(f.Type, name, append(within, t))
			}
		case at != "":
			add(at)
		}
	}
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	open(t, "", nil)
	return names
}

// Choose returns the columns that names select, in the order of names, or all columns without names. A name such as
// author selects author.handle and all other fields of author. unknown is the first name that selects no column, in
// which case there are no columns; otherwise "".
func Choose(columns, names []string) (chosen []string, unknown string) {
	if len(names) == 0 {
		return columns, ""
	}
	for _, name := range names {
		before := len(chosen)
		for _, c := range columns {
			if c == name || strings.HasPrefix(c, name+".") {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) == before {
			return nil, name
		}
	}
	return chosen, ""
}

// Pick returns an object with only the named fields, in their order. A field that the object lacks is null.
func Pick(object json.RawMessage, names []string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	var done []string
	for _, name := range names {
		first, _, _ := strings.Cut(name, ".")
		if slices.Contains(done, first) {
			continue
		}
		var within []string // the fields of the member
		for _, other := range names {
			if rest, ok := strings.CutPrefix(other, first+"."); ok {
				within = append(within, rest)
			}
		}
		value := members[first]
		switch {
		case value == nil:
			value = json.RawMessage("null")
		case len(within) > 0 && value[0] == '{':
			inner, err := Pick(value, within)
			if err != nil {
				return nil, err
			}
			value = inner
		}
		separator := byte(',')
		if len(done) == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		fmt.Fprintf(&b, "%q:", first)
		b.Write(value)
		done = append(done, first)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
