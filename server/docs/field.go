package docs

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// field is a property of an answer as the page shows it.
type field struct {
	Name, Type, Doc string
	Null, Absent    bool     // it can be null, or be omitted
	Words           []string // the possible values; nil for any, or when they are platforms
	Head            bool     // the first field of a kind of search result
}

// fields returns the properties of the data of an answer. Those of nested objects follow with their path.
func fields(t reflect.Type) []field {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t == reflect.TypeFor[schema.SearchResult]() {
		return results()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return under("", t)
}

// Meta returns the properties of the meta of every answer.
func (site) Meta() []field { return under("", reflect.TypeFor[schema.Meta]()) }

// results returns the properties of the search results of every kind.
func results() []field {
	var out []field
	for _, kind := range schema.ResultKinds() {
		t := reflect.TypeOf(schema.NewResult(kind).Object).Elem()
		out = append(out, field{Head: true, Name: string(kind), Doc: schema.Doc(t.Name())},
			field{Name: "kind", Type: "word", Doc: "What the result is.", Words: []string{string(kind)}})
		for _, f := range under("", t) {
			if f.Name == "kind" {
				f.Name = string(kind) + "_kind"
			}
			out = append(out, f)
		}
	}
	return out
}

// under returns the properties of the struct t with a path before their names.
func under(path string, t reflect.Type) []field {
	var out []field
	for _, f := range schema.Fields(t) {
		typ, list, null := f.Type, false, false
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice && typ != reflect.TypeFor[json.RawMessage]() {
			list, null = list || typ.Kind() == reflect.Slice, null || typ.Kind() == reflect.Pointer
			typ = typ.Elem()
		}
		row := field{
			Name: path + f.Name, Type: word(typ), Doc: f.Doc, Null: null && f.Required, Absent: !f.Required,
			Words: f.Words.Words,
		}
		if typ == reflect.TypeFor[platform.ID]() {
			row.Words = nil
		}
		if list {
			row.Type = "array of " + plural(row.Type)
		}
		if typ == reflect.TypeFor[schema.Optional[schema.Enrichment]]() {
			row.Null, row.Doc = true, row.Doc+" Its fields are those of enrich."
		}
		out = append(out, row)
		if typ.Kind() == reflect.Struct && row.Type != "time" && row.Type != "enrichment" {
			inside := row.Name + "."
			if list {
				inside = row.Name + "[]."
			}
			out = append(out, under(inside, typ)...)
		}
	}
	return out
}

// word describes t in a word or two.
func word(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	case reflect.TypeFor[schema.Optional[schema.Enrichment]]():
		return "enrichment"
	case reflect.TypeFor[platform.ID]():
		return "platform"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Map:
		return "object by " + word(t.Key())
	case reflect.Struct:
		return "object"
	default:
		return "text"
	}
}

// plural returns the plural of a word of [word].
func plural(word string) string {
	switch word {
	case "object", "platform", "integer", "number", "time":
		return word + "s"
	}
	return strings.TrimSuffix(word, "s") + "s"
}
