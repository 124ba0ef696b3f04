package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// The arguments that select what is shown of an answer.
const (
	argLimit  = "limit"
	argFields = "fields"
)

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
	var columns []string
	for _, o := range rows {
		columns = append(columns, schema.Columns(o.Data)...)
	}
	v.fields = strings.Split(strings.ReplaceAll(words, " ", ""), ",")
	chosen, unknown := schema.Choose(columns, v.fields)
	if unknown != "" || len(chosen) == 0 {
		return v, problem.New(problem.InvalidRequest,
			"argument %q: there is no field %q%s; describe gives those of each operation",
			argFields, unknown, problem.DidYouMean(unknown, columns))
	}
	return v, nil
}

// pick returns data with only the fields of the view.
func (v view) pick(data json.RawMessage) (json.RawMessage, error) {
	switch {
	case v.fields == nil:
		return data, nil
	case bytes.HasPrefix(data, []byte("{")):
		return schema.Pick(data, v.fields)
	case !bytes.HasPrefix(data, []byte("[")):
		return data, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, err
	}
	for i := range items {
		var err error
		if items[i], err = v.pick(items[i]); err != nil {
			return nil, err
		}
	}
	return schema.Marshal(items)
}

// cuts reports whether the view leaves out items of a list.
func (v view) cuts(data json.RawMessage) bool {
	if v.limit == 0 || !bytes.HasPrefix(data, []byte("[")) {
		return false
	}
	var items []json.RawMessage
	return json.Unmarshal(data, &items) == nil && len(items) > v.limit
}
