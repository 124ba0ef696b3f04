package describe

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// SchemaFiles returns the file names of [Description.Schemas], sorted.
func SchemaFiles() []string {
	var files []string
	for _, name := range schemaNames() {
		files = append(files, schemaFile(name))
	}
	slices.Sort(files)
	return files
}

// schemaNames returns the names of the resources with a schema of their own, each once.
func schemaNames() []string {
	names := []string{"Problem", "Meta"}
	for _, o := range socialdata.Operations() {
		if name := dataName(o); name != "" {
			names = append(names, name)
		}
	}
	for _, kind := range schema.ResultKinds() { // some objects are only found by search
		names = append(names, resultName(kind))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// resources returns a JSON Schema for each of [schemaNames], by the name of its file. Each is self-contained: what it
// refers to is in its $defs.
// https://json-schema.org/draft/2020-12/json-schema-core
func (c *components) resources() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, name := range schemaNames() {
		body, err := schema.Marshal(c.standalone(name))
		if err != nil {
			return nil, err
		}
		out[schemaFile(name)] = body
	}
	return out, nil
}

// dataName returns the name of the object in an operation's answer, or of the objects in its list; "" for other data.
func dataName(o *operation.Operation) string {
	t := o.Data
	if o.List() {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	return schema.TypeName(t)
}

// schemaFile returns the name of the file of a schema: live_stream.json for LiveStream.
func schemaFile(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String()) + ".json"
}

// standalone returns the schema of a name as a separate document.
func (c *components) standalone(name string) object {
	defs := object{}
	out := c.within(c.schemas[name], defs).(object)
	delete(defs, name)
	out["$schema"], out["$id"], out["title"] = "https://json-schema.org/draft/2020-12/schema", schemaFile(name), name
	if len(defs) > 0 {
		out["$defs"] = defs
	}
	return out
}

// within returns a copy of a part of a schema with references to $defs, and adds the schemas that it refers to to defs.
// It drops what JSON Schema does not define.
func (c *components) within(part any, defs object) any {
	switch part := part.(type) {
	case object:
		out := maps.Clone(part)
		delete(out, "discriminator")
		for key, inside := range out {
			out[key] = c.within(inside, defs)
		}
		if to, ok := out["$ref"].(string); ok {
			name := strings.TrimPrefix(to, componentRef)
			out["$ref"] = "#/$defs/" + name
			if _, known := defs[name]; !known {
				defs[name] = object{} // while it may refer to itself
				defs[name] = c.within(c.schemas[name], defs)
			}
		}
		return out
	case []object:
		out := slices.Clone(part)
		for i := range out {
			out[i] = c.within(out[i], defs).(object)
		}
		return out
	}
	return part
}
