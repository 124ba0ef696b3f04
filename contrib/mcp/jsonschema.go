package mcp

import (
	"encoding/json"
	"reflect"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/server/describe"
)

// inline describes the platforms of the client.
func (s *Server) inline() describe.Inline {
	return describe.Inline{Platforms: s.front.PlatformTable()}
}

// dataSchema returns the JSON Schema of a type of data.
func (s *Server) dataSchema(t reflect.Type) (*jsonschema.Schema, error) {
	return read(s.inline().Data(t))
}

// separated matches the description of how a list is written in a URL; here it is an array.
var separated = regexp.MustCompile(`, separated by commas[^;.]*`)

// paramsSchema returns the schema of an object of parameters.
func (s *Server) paramsSchema(params []operation.Param) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range params {
		own, err := read(s.inline().Param(p))
		if err != nil {
			return nil, err
		}
		if own.Items != nil {
			own.Description = separated.ReplaceAllString(own.Description, "")
		}
		if p.Filter {
			own.Description += " Only where the platform can: see its filters in platforms."
		}
		out.Properties[p.Name] = own
		out.PropertyOrder = append(out.PropertyOrder, p.Name)
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	return out, nil
}

// briefly returns the schema of an object of parameters for the list of tools: what each means, and its possible
// values. The tool describe returns the rest.
func (s *Server) briefly(params []operation.Param) (*jsonschema.Schema, error) {
	out, err := s.paramsSchema(params)
	if err != nil {
		return nil, err
	}
	for _, p := range params {
		own := out.Properties[p.Name]
		if own.Description = p.Doc; own.Items != nil {
			own.Description = separated.ReplaceAllString(p.Doc, "")
		}
		own.MinLength, own.MaxLength, own.Pattern, own.Format = nil, nil, "", ""
		if own.Items != nil {
			own.Items = &jsonschema.Schema{Type: own.Items.Type}
		}
	}
	return out, nil
}

// outline returns a schema reduced to its types and the names of its fields, deep levels of objects and lists.
func outline(s *jsonschema.Schema, deep int) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	out := &jsonschema.Schema{Type: s.Type, Types: s.Types}
	for _, one := range s.AnyOf {
		out.AnyOf = append(out.AnyOf, outline(one, deep))
	}
	if deep == 0 {
		return out
	}
	out.Items = outline(s.Items, deep-1)
	if len(s.Properties) > 0 {
		out.Properties, out.PropertyOrder = map[string]*jsonschema.Schema{}, s.PropertyOrder
	}
	for name, p := range s.Properties {
		out.Properties[name] = outline(p, deep-1)
	}
	return out
}

// read returns a generated schema in a form that can be extended.
func read(described json.RawMessage, err error) (*jsonschema.Schema, error) {
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	return &s, json.Unmarshal(described, &s)
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
