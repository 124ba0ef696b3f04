package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// The arguments that select what is shown of an answer.
const (
	argLimit  = operation.ParamLimit
	argFields = operation.ParamFields
)

// unviewed returns rows without the parameters that tools have as arguments of their own.
func unviewed(rows ...*operation.Operation) []*operation.Operation {
	out := make([]*operation.Operation, len(rows))
	for i, o := range rows {
		out[i] = o.Clone()
		out[i].Params = slices.DeleteFunc(out[i].Params, func(p operation.Param) bool {
			return p.Name == argLimit || p.Name == argFields
		})
	}
	return out
}

// withView adds the arguments of a view to a tool's schema.
func withView(in *jsonschema.Schema) {
	in.Properties[argLimit] = &jsonschema.Schema{
		Type: "integer", Minimum: new(1.0),
		Description: "Maximum number of items in this result; the rest are free under the cursor.",
	}
	in.Properties[argFields] = &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "string"},
		Description: "Only these fields, such as id, author.handle.",
	}
	in.PropertyOrder = append(in.PropertyOrder, argLimit, argFields)
}

// view reads the arguments of a view for the data of the rows. It fails for a field that none of them has.
func (a arguments) view(rows ...*operation.Operation) (v view, err error) {
	limit, err := a.text(argLimit)
	if err != nil {
		return v, err
	}
	if limit != "" {
		if v.limit, err = strconv.Atoi(limit); err != nil || v.limit < 1 {
			return v, problem.New(problem.InvalidRequest, "argument %q must be a whole number from 1 on", argLimit)
		}
	}
	words, err := a.text(argFields)
	if err != nil || words == "" {
		return v, err
	}
	var types []reflect.Type
	for _, o := range rows {
		types = append(types, o.Data)
	}
	v.fields = words
	if v.chosen, err = operation.Select(words, types...); err != nil {
		err = problem.New(problem.InvalidRequest, "argument %q: %s; describe gives those of each operation", argFields, err)
	}
	return v, err
}

// cuts reports whether the view leaves out items of a list.
func (v view) cuts(data json.RawMessage) bool {
	if v.limit == 0 || !bytes.HasPrefix(data, []byte("[")) {
		return false
	}
	var items []json.RawMessage
	return json.Unmarshal(data, &items) == nil && len(items) > v.limit
}
