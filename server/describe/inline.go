package describe

import (
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// DataSchema returns the JSON Schema of the type of an answer, for front ends other than HTTP. It has no references:
// many programs that read the schemas of tools do not follow them.
func DataSchema(t reflect.Type) (json.RawMessage, error) {
	c := newComponents()
	c.inline = true
	return schema.Marshal(c.schema(t))
}

// ParamSchema returns the JSON Schema of a parameter for front ends whose parameters are JSON: a flag is true or false,
// a list is an array.
func ParamSchema(p operation.Param) (json.RawMessage, error) {
	c := newComponents()
	c.inline = true
	s := c.paramSchema(p)
	s["description"] = paramDoc(p)
	return schema.Marshal(s)
}
