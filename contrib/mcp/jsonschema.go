package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// dataSchema returns the JSON Schema of a type of the API, with what the schema package says beside each field.
func dataSchema(t reflect.Type) (*jsonschema.Schema, error) {
	known := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}
	enrichment, err := reflected(reflect.TypeFor[schema.Enrichment](), known)
	if err != nil {
		return nil, err
	}
	enrichment.Type, enrichment.Types = "", []string{"object", "null"}
	known[reflect.TypeFor[schema.Optional[schema.Enrichment]]()] = enrichment
	if known[reflect.TypeFor[schema.SearchResult]()], err = searchResult(known); err != nil {
		return nil, err
	}
	return reflected(t, known)
}

// reflected returns the JSON Schema of a type. Types that write their own JSON are in known.
func reflected(t reflect.Type, known map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, fmt.Errorf("JSON schema: %w", err)
	}
	annotate(s, t, known)
	return s, nil
}

// annotate adds to s, which was made of t, what Go types do not tell. Objects may get more properties one day.
func annotate(s *jsonschema.Schema, t reflect.Type, known map[reflect.Type]*jsonschema.Schema) {
	if _, ok := known[t]; ok {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		annotate(s, t.Elem(), known)
	case reflect.Slice: // never null
		s.Type, s.Types = "array", nil
		annotate(s.Items, t.Elem(), known)
	case reflect.Map:
		annotate(s.AdditionalProperties, t.Elem(), known)
	case reflect.Struct:
		if s.Properties == nil { // a time
			return
		}
		s.AdditionalProperties = nil
		for _, f := range schema.Fields(t) {
			p := s.Properties[f.Name]
			if f.Doc != "" {
				p.Description = f.Doc
			}
			annotate(p, f.Type, known)
			bound(p, f)
		}
	default:
	}
}

// bound adds the bounds of a field. On an array they are those of its elements.
func bound(s *jsonschema.Schema, f schema.Field) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s.Items != nil && t.Kind() == reflect.Slice {
		s, t = s.Items, t.Elem()
	}
	switch {
	case f.Words.Words != nil && t.Kind() == reflect.String:
		s.Enum = anys(f.Words.Words)
		if slices.Contains(s.Types, "null") {
			s.Enum = append(s.Enum, nil)
		}
	case t.Kind() == reflect.String:
		s.MinLength, s.MaxLength = length(f.Min), length(f.Max)
		if f.Form == schema.FormURI {
			s.Format = "uri"
		}
	case t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64:
		s.Minimum, s.Maximum = f.Min, f.Max
	}
}

func length(n *float64) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// searchResult returns the schema of a search result: that of one of the objects that it may be, and its kind. A
// collection, whose own kind gives way, carries it as collection_kind.
func searchResult(known map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{Type: "object"}
	for _, kind := range schema.ResultKinds() {
		var r schema.SearchResult
		if err := json.Unmarshal([]byte(`{"kind":"`+string(kind)+`"}`), &r); err != nil {
			return nil, err
		}
		s, err := reflected(reflect.TypeOf(r.Object).Elem(), known)
		if err != nil {
			return nil, err
		}
		if own := s.Properties["kind"]; own != nil {
			s.Properties["collection_kind"] = own
			s.Required = append(s.Required, "collection_kind")
			s.PropertyOrder = append(s.PropertyOrder, "collection_kind")
		} else {
			s.Required = append(s.Required, "kind")
			s.PropertyOrder = append([]string{"kind"}, s.PropertyOrder...)
		}
		s.Properties["kind"] = &jsonschema.Schema{Const: new(any(string(kind))), Description: "What the result is."}
		out.OneOf = append(out.OneOf, s)
	}
	return out, nil
}

// paramsSchema returns the schema of an object that holds parameters.
func paramsSchema(params []operation.Param) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range params {
		out.Properties[p.Name] = paramSchema(p)
		out.PropertyOrder = append(out.PropertyOrder, p.Name)
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	return out
}

func paramSchema(p operation.Param) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: p.Doc, Enum: anys(p.Enum)}
	switch p.Form {
	case operation.FormBool:
		s.Type, s.Default = "boolean", json.RawMessage("false")
	case operation.FormInt:
		s.Type, s.Minimum, s.Maximum = "integer", new(float64(p.Min)), new(float64(p.Max))
	case operation.FormList:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string", Enum: anys(platform.Names())}
	case operation.FormText, operation.FormProse:
		if p.Max > 0 {
			s.MaxLength = new(p.Max)
		}
	case operation.FormCountry:
		s.Pattern = "^[A-Za-z]{2}$"
	case operation.FormCursor, operation.FormTime, operation.FormLang:
	}
	switch {
	case p.OneOf:
		s.Description += " Exactly one of the parameters that say so is given."
	case p.Filter:
		s.Description += " Only where the platform can: see its filters in platforms."
	}
	return s
}

func anys(words []string) []any {
	if words == nil {
		return nil
	}
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}
