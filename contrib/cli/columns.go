package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// columnsOf returns the columns of rows of type t: the fields of the API description in its order, with those of an object
// within a row behind a dot, such as author.handle. They depend on the type alone, never on what was read. A list is one
// column. A search result has the fields of every kind.
func columnsOf(t reflect.Type) []string {
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
		case t == reflect.TypeFor[schema.Optional[schema.Enrichment]]():
			open(reflect.TypeFor[schema.Enrichment](), at, within)
		case t == reflect.TypeFor[schema.SearchResult]():
			add("kind")
			for _, kind := range schema.ResultKinds() {
				open(reflect.TypeOf(schema.NewResult(kind).Object), at, within)
			}
			add("collection_kind")
		case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !slices.Contains(within, t):
			for _, f := range schema.Fields(t) {
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

// choose returns those of columns that fields name, in the order of fields; all without any. A name such as author means
// all of author.handle and its like.
func choose(columns, fields []string) ([]string, error) {
	if len(fields) == 0 {
		return columns, nil
	}
	var chosen []string
	for _, name := range fields {
		found := false
		for _, c := range columns {
			if c == name || strings.HasPrefix(c, name+".") {
				found = true
				chosen = append(chosen, c)
			}
		}
		if !found {
			return nil, fmt.Errorf("--fields: there is no field %q%s; there are %s",
				name, problem.DidYouMean(name, columns), strings.Join(columns, ", "))
		}
	}
	return chosen, nil
}

// pick returns an object with the named fields alone, in their order. One that the object lacks is null.
func pick(object json.RawMessage, names []string) (json.RawMessage, error) {
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
			inner, err := pick(value, within)
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

// field is one value of an object with the way to it, such as author.handle.
type field struct{ name, value string }

// flatten returns the values of an object that are not null, in its order. Objects within it are opened, but for those
// that are a column; a list is its words, or JSON when it holds objects.
func flatten(data json.RawMessage, columns []string) ([]field, error) {
	var out []field
	var open func(at string, raw json.RawMessage) error
	open = func(at string, raw json.RawMessage) error {
		var text string
		var words []string
		switch {
		case string(raw) == "null" || string(raw) == "[]" || string(raw) == "{}":
			return nil
		case raw[0] == '{' && !slices.Contains(columns, at):
			return members(raw, func(name string, value json.RawMessage) error {
				if at != "" {
					name = at + "." + name
				}
				return open(name, value)
			})
		case json.Unmarshal(raw, &text) == nil:
			out = append(out, field{at, text})
		case json.Unmarshal(raw, &words) == nil:
			out = append(out, field{at, strings.Join(words, ", ")})
		default:
			out = append(out, field{at, string(raw)})
		}
		return nil
	}
	return out, open("", bytes.TrimSpace(data))
}

// members calls do with each member of an object, in its order.
func members(object json.RawMessage, do func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := do(fmt.Sprint(name), value); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the values of each object by column, and the columns that hold one, in order of appearance.
func rowsOf(objects []json.RawMessage, columns []string) (rows []map[string]string, seen []string, err error) {
	for _, o := range objects {
		fields, err := flatten(o, columns)
		if err != nil {
			return nil, nil, err
		}
		row := map[string]string{}
		for _, f := range fields {
			row[f.name] = f.value
			if !slices.Contains(seen, f.name) {
				seen = append(seen, f.name)
			}
		}
		rows = append(rows, row)
	}
	return rows, seen, nil
}
