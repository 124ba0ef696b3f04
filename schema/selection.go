package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/problem"
)

// Selection is a choice of the fields of objects: see [Select].
type Selection struct {
	names  []string
	row    reflect.Type // of the data, or of an element of it
	member string       // of a row, that has the object; "" if the row is the object
	kept   fields
}

// fields are the members of an object that are kept; nil keeps it whole.
type fields map[string]fields

// alwaysKept are the members that every object keeps: those that identify it, and those that are only there because the
// caller has asked for them.
func alwaysKept() []string { return []string{"platform", "id", "url", "kind", "raw", "enrichment"} }

// Select returns the choice of the named fields of data of any of the types, an object or a list of them. A name has
// dots between its parts, also within the elements of a list, such as media.url. The elements of a batch and changes keep
// their own members: the names are those of the objects in them. It fails for a name that no object has.
func Select(names []string, types ...reflect.Type) (*Selection, error) {
	if unknown := unknownField(names, FieldNames(types...)); unknown != nil {
		return nil, unknown
	}
	s := &Selection{names: names, row: element(types[0]), kept: fields{}}
	s.member, _ = objectsIn(s.row)
	for _, name := range alwaysKept() {
		s.kept[name] = nil
	}
	for _, name := range names {
		s.kept.keep(strings.Split(name, "."))
	}
	return s, nil
}

// unknownField returns an error for the first of names that is not one of known, with the most similar one; nil if all are.
func unknownField(names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no field %s%s", problem.Quote(name), problem.DidYouMean(name, known))
		}
	}
	return nil
}

func (f fields) keep(path []string) {
	within, known := f[path[0]]
	switch {
	case known && within == nil: // it is kept whole
	case len(path) == 1:
		f[path[0]] = nil
	case !known:
		within = fields{}
		f[path[0]] = within
		fallthrough
	default:
		within.keep(path[1:])
	}
}

// Of returns data with only the chosen fields of each object, in the order in which they are there.
func (s *Selection) Of(data []byte) []byte {
	if s == nil {
		return data
	}
	kept := s.kept
	if s.member != "" {
		kept = fields{}
		for _, f := range Fields(s.row) {
			kept[f.Name] = nil
		}
		kept[s.member] = s.kept
	}
	return kept.appendOf(make([]byte, 0, len(data)/2), data)
}

// appendOf appends what is kept of a value.
func (f fields) appendOf(out, value []byte) []byte {
	value = bytes.TrimSpace(value)
	switch {
	case f == nil:
	case bytes.HasPrefix(value, []byte("[")):
		out = append(out, '[')
		for i, e := range jsontext.Elements(value) {
			if i > 0 {
				out = append(out, ',')
			}
			out = f.appendOf(out, e)
		}
		return append(out, ']')
	case bytes.HasPrefix(value, []byte("{")):
		out = append(out, '{')
		first := true
		for name, v := range jsontext.Members(value) {
			within, kept := f[name]
			if !kept {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = within.appendOf(append(out, `"`+name+`":`...), v)
		}
		return append(out, '}')
	}
	return append(out, value...)
}

// Columns returns the [Columns] of the data that are chosen, in the order of the names; a name within a list chooses the
// whole list. A row with an object in it also has its own columns.
func (s *Selection) Columns() []string {
	var before, chosen, after []string
	within := ""
	if s.member != "" {
		within = s.member + "."
	}
	all := Columns(s.row)
	for _, c := range all {
		switch {
		case s.member == "" || c == s.member:
		case strings.HasPrefix(c, within):
			before, after = append(before, after...), nil
		default:
			after = append(after, c)
		}
	}
	for _, name := range s.names {
		name = within + name
		for _, c := range all {
			if c == name || strings.HasPrefix(c, name+".") || strings.HasPrefix(name, c+".") {
				chosen = append(chosen, c)
			}
		}
	}
	return slices.Concat(before, chosen, after)
}
