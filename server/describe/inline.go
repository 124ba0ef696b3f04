package describe

import (
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// DataSchema returns the JSON Schema of a type that is answered, for a front end that is not HTTP. It is complete in
// itself and refers to nothing: many programs that read the schemas of tools follow no references.
func DataSchema(t reflect.Type) (json.RawMessage, error) {
	c := newComponents()
	c.inline = true
	return schema.Marshal(c.schema(t))
}

// ParamSchema returns the JSON Schema of a parameter as a front end takes it whose parameters are JSON: a flag is true or
// false, a list is an array.
func ParamSchema(p operation.Param) (json.RawMessage, error) {
	c := newComponents()
	c.inline = true
	s := c.paramSchema(p)
	s["description"] = paramDoc(p)
	return schema.Marshal(s)
}
