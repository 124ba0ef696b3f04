package describe

import (
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Inline describes single parts for front ends other than HTTP. Its schemas have no references, because many programs
// that read the schemas of tools do not follow them.
type Inline struct{ Platforms *platform.Table }

// Data returns the JSON Schema of the type of an answer's data.
func (i Inline) Data(t reflect.Type) (json.RawMessage, error) {
	c := newComponents(i.Platforms.Names())
	c.inline = true
	return schema.Marshal(c.schema(t))
}

// Param returns the JSON Schema of a parameter for front ends with JSON parameters: a flag is a boolean, a list is an
// array.
func (i Inline) Param(p operation.Param) (json.RawMessage, error) {
	c := newComponents(i.Platforms.Names())
	c.inline = true
	s := c.paramSchema(p)
	s["description"] = paramDoc(p)
	return schema.Marshal(s)
}
