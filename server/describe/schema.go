package describe

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// object is a JSON object of the description; encoding/json writes its keys sorted.
type object map[string]any

// components collects the named parts of the description.
type components struct {
	schemas, parameters object
	names               map[string]string // of the parameters, by their JSON
	offered             map[string][]platform.ID
	inline              bool // no references: each schema is repeated wherever it is used
}

// newComponents returns components with the word lists, including the given platforms, and the other named string
// types.
func newComponents(platforms []string) *components {
	c := &components{schemas: object{}, parameters: object{}, names: map[string]string{}}
	for _, v := range schema.Vocabularies() {
		if v.Name == "PlatformID" {
			v.Words = platforms
		}
		if !v.Open {
			c.schemas[v.Name] = object{"type": "string", "enum": v.Words, "description": schema.Doc(v.Name)}
		}
	}
	c.schemas["Source"] = object{
		"type": "string", "pattern": "^(official|own|upstream:.*)$",
		"description": "Where an object was read: official, own, or upstream:NAME for a third party.",
	}
	c.schemas["Flag"] = object{
		"type": "string", "enum": []string{"true", "false"}, "default": "false", "description": "Exactly true or false.",
	}
	// First, so that it gets the plain name: queries have a parameter called platform too.
	c.param(nil, c.pathParam("platform", nil))
	return c
}

// ref returns a reference to the schema of a name, or a copy of the schema when c is inline.
func (c *components) ref(name string) object {
	if c.inline {
		return maps.Clone(c.schemas[name].(object))
	}
	return object{"$ref": componentRef + name}
}

const componentRef = "#/components/schemas/"

// schema returns the schema of t, which the caller owns. It is a reference for a named struct or word list.
func (c *components) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[schema.SearchResult]():
		return c.searchResult()
	case reflect.TypeFor[problem.Error]():
		c.describeProblem()
		return c.ref("Problem")
	case reflect.TypeFor[schema.Optional[schema.Enrichment]]():
		return nullable(c.schema(reflect.TypeFor[schema.Enrichment]()))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(c.schema(t.Elem()))
	case reflect.Slice:
		return object{"type": "array", "items": c.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": c.schema(t.Elem())}
	case reflect.String:
		if name := schema.TypeName(t); c.schemas[name] != nil {
			return c.ref(name)
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int64, reflect.Int:
		return c.number("integer", "int64")
	case reflect.Float64:
		return c.number("number", "double")
	case reflect.Struct:
		return c.named(t)
	default:
		return object{}
	}
}

// number returns the schema of a number. The format is defined by OpenAPI, not by JSON Schema.
func (c *components) number(kind, format string) object {
	if c.inline {
		return object{"type": kind}
	}
	return object{"type": kind, "format": format}
}

// nullable returns a schema of s or null.
func nullable(s object) object {
	kind, ok := s["type"].(string)
	if len(s) == 0 { // anything, null among it
		return s
	}
	if !ok {
		return object{"oneOf": []object{s, {"type": "null"}}}
	}
	s["type"] = []string{kind, "null"}
	if words, ok := s["enum"].([]string); ok {
		s["enum"] = orNull(words)
	}
	return s
}

// orNull returns the words and null.
func orNull(words []string) []any {
	out := make([]any, 0, len(words)+1)
	for _, w := range words {
		out = append(out, w)
	}
	return append(out, nil)
}

// named describes a struct once and returns a reference to it.
func (c *components) named(t reflect.Type) object {
	name := schema.TypeName(t)
	if _, ok := c.schemas[name]; !ok {
		c.schemas[name] = object{} // until it is complete: t may refer to itself
		c.schemas[name] = c.structure(t)
	}
	return c.ref(name)
}

func (c *components) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range schema.Fields(t) {
		properties[f.Name] = c.property(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := object{"type": "object", "required": required, "properties": properties}
	if doc := schema.DocOf(t); doc != "" {
		out["description"] = doc
	}
	return out
}

// property describes a field: what its type allows, within the limits of its tags. A field that is omitted when its
// value is unknown is never null.
func (c *components) property(f schema.Field) object {
	t := f.Type
	if !f.Required && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := c.schema(t)
	if f.Type.Kind() == reflect.Map && f.Type.Key() != reflect.TypeFor[string]() {
		out["propertyNames"] = c.schema(f.Type.Key())
	}
	if items, ok := out["items"].(object); ok { // the limits of an array are those of its elements
		out["items"] = c.bounded(items, f)
	} else {
		out = c.bounded(out, f)
	}
	out["description"] = f.Doc
	return out
}

// bounded adds the limits of a field to the schema of its value.
func (c *components) bounded(s object, f schema.Field) object {
	switch {
	case f.Words.Open:
		s["examples"] = f.Words.Words // a later version may have more
	case f.Words.Name != "" && s["type"] == "string":
		return c.ref(f.Words.Name)
	case s["type"] == nil: // the referenced schema has its own limits
		return s
	case f.Words.Words != nil && hasType(s, "null"):
		s["enum"] = orNull(f.Words.Words)
		return s
	case f.Words.Words != nil:
		s["enum"] = f.Words.Words
		return s
	}
	least, most := "minimum", "maximum"
	if hasType(s, "string") {
		least, most = "minLength", "maxLength"
	}
	if f.Min != nil {
		s[least] = *f.Min
	}
	if f.Max != nil {
		s[most] = *f.Max
	}
	if f.Above != nil {
		s["exclusiveMinimum"] = *f.Above
	}
	switch f.Form {
	case schema.FormURI:
		s["format"] = "uri"
	case schema.FormID:
		s["pattern"] = noControls
	}
	return s
}

// noControls is [schema.FormID] as a pattern.
const noControls = `^[^\x00-\x1f\x7f-\x9f]*$`

// hasType reports whether s is of the type word, or null.
func hasType(s object, word string) bool {
	if list, ok := s["type"].([]string); ok {
		return slices.Contains(list, word)
	}
	return s["type"] == word
}

// searchResult describes the union of search results: one schema for each value of the field kind.
func (c *components) searchResult() object {
	if _, ok := c.schemas["SearchResult"]; ok {
		return c.ref("SearchResult")
	}
	variants, mapping := []object{}, object{}
	for _, kind := range schema.ResultKinds() {
		name := resultName(kind)
		c.schemas[name] = c.resultOf(kind)
		variants = append(variants, c.ref(name))
		mapping[string(kind)] = componentRef + name
	}
	union := object{"description": schema.Doc("SearchResult"), "oneOf": variants}
	if !c.inline { // the mapping needs names
		union["discriminator"] = object{"propertyName": "kind", "mapping": mapping}
	}
	c.schemas["SearchResult"] = union
	return c.ref("SearchResult")
}

// resultName returns the name of the schema of a search result: PostResult.
func resultName(kind schema.ResultKind) string {
	return strings.ToUpper(string(kind[:1])) + string(kind[1:]) + "Result"
}

// resultOf describes the search results of one kind: the fields of the object, and kind. A collection has a field kind
// of its own, which becomes collection_kind.
func (c *components) resultOf(kind schema.ResultKind) object {
	s := c.structure(reflect.TypeOf(schema.NewResult(kind).Object).Elem())
	properties, required := s["properties"].(object), s["required"].([]string)
	if own, ok := properties["kind"]; ok {
		properties[string(kind)+"_kind"] = own
		required = slices.DeleteFunc(required, func(name string) bool { return name == "kind" })
		required = append(required, string(kind)+"_kind")
	}
	properties["kind"] = object{"type": "string", "const": string(kind), "description": "What the result is."}
	s["required"] = append([]string{"kind"}, required...)
	return s
}
