package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// Flat makes rows of objects: CSV, tables of SQL and files all have its columns and values.
type Flat struct {
	Columns []FlatColumn
	index   map[string]int // of a column, by the path of a field
}

// FlatColumn is a column of flat rows.
type FlatColumn struct {
	Name string     // such as author_handle; a number of engagement has its own name, such as likes
	Kind ColumnKind // of its values; "" if it is not known
}

// ColumnKind is what the values of a column are, in the words of SQL.
type ColumnKind string

// The kinds of columns. A list is a text with JSON, a time is a text as RFC 3339 writes it.
const (
	TextColumn    ColumnKind = "TEXT"
	IntegerColumn ColumnKind = "INTEGER"
	RealColumn    ColumnKind = "REAL"
	BooleanColumn ColumnKind = "BOOLEAN"
)

// FlatOf returns the flat form of rows of type t, with the [Columns] of t.
func FlatOf(t reflect.Type) *Flat {
	var c columns
	c.open(element(t), "", nil)
	return flatOf(c.names, c.kinds)
}

// NewFlat returns the flat form of rows with these fields, which [Columns] or [Selection.Columns] have returned.
func NewFlat(fields []string) *Flat { return flatOf(fields, nil) }

func flatOf(fields []string, kinds map[string]ColumnKind) *Flat {
	f := &Flat{index: make(map[string]int, len(fields))}
	for _, field := range fields {
		name := strings.ReplaceAll(strings.Replace("."+field, ".engagement.", ".", 1)[1:], ".", "_")
		at := slices.IndexFunc(f.Columns, func(c FlatColumn) bool { return c.Name == name })
		if at < 0 { // search results have likes of comments, and engagement.likes of posts
			at = len(f.Columns)
			f.Columns = append(f.Columns, FlatColumn{name, kinds[field]})
		}
		f.index[field] = at
	}
	return f
}

// FieldsOf returns the fields of objects whose type is not known, in the order in which they are met, for [NewFlat].
func FieldsOf(objects []json.RawMessage) []string {
	var out []string
	for _, o := range objects {
		eachField("", o, func(field string, value []byte) bool {
			if field != "" && !bytes.HasPrefix(value, []byte("{")) && !slices.Contains(out, field) {
				out = append(out, field)
			}
			return false
		})
	}
	return out
}

// Row returns the values of an object, one for each column: string, int64, float64, bool, or nil if the object has no
// such field or it is null. A list is its JSON, and so is an object that is a column.
func (f *Flat) Row(object []byte) []any {
	row := make([]any, len(f.Columns))
	eachField("", object, func(field string, value []byte) bool {
		at, known := f.index[field]
		if known && row[at] == nil {
			row[at] = flatValue(value)
		}
		return known
	})
	return row
}

// eachField calls use for each value of an object that is not an object itself, unless use claims that as a whole.
func eachField(at string, value []byte, use func(field string, value []byte) (claimed bool)) {
	value = bytes.TrimSpace(value)
	if !bytes.HasPrefix(value, []byte("{")) {
		use(at, value)
		return
	}
	if at != "" {
		if claimed := use(at, value); claimed {
			return
		}
		at += "."
	}
	for name, v := range jsontext.Members(value) {
		eachField(at+name, v, use)
	}
}

// flatValue returns a JSON value as a Go value.
func flatValue(value []byte) any {
	switch {
	case len(value) == 0 || string(value) == "null":
		return nil
	case value[0] == '{' || value[0] == '[':
		return string(value)
	case value[0] == '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil
		}
		return text
	case value[0] == 't' || value[0] == 'f':
		return value[0] == 't'
	}
	number := json.Number(value)
	if n, err := number.Int64(); err == nil {
		return n
	}
	n, err := number.Float64()
	if err != nil {
		return nil
	}
	return n
}

// kindOf returns the kind of a column with values of type t.
func kindOf(t reflect.Type) ColumnKind {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return TextColumn
	case t.Kind() == reflect.Bool:
		return BooleanColumn
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return RealColumn
	case reflect.Int <= t.Kind() && t.Kind() <= reflect.Uint64:
		return IntegerColumn
	case t.Kind() == reflect.String || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return TextColumn
	}
	return ""
}
