package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/schema"
)

// choose returns the choice that --fields makes in data of type t, and its columns: all of them without --fields.
func choose(t reflect.Type, fields []string) (*schema.Selection, []string, error) {
	if len(fields) == 0 {
		return nil, schema.Columns(t), nil
	}
	chosen, err := schema.Select(fields, t)
	if err != nil {
		return nil, nil, misusef("--fields: %s; there are %s", err, strings.Join(schema.FieldNames(t), ", "))
	}
	return chosen, chosen.Columns(), nil
}

// field is one value of an object with its path, such as author.handle.
type field struct{ name, value string }

// flatten returns the values of an object that are not null, in order. Nested objects are flattened too, except those
// that are a column. A list becomes its texts, or JSON if it has objects.
func flatten(data json.RawMessage, columns []string) ([]field, error) {
	var out []field
	var open func(at string, raw json.RawMessage) error
	open = func(at string, raw json.RawMessage) error {
		var text string
		var words []string
		switch {
		case string(raw) == "null" || string(raw) == "[]" || string(raw) == "{}":
			return nil
		case raw[0] == '{' && !slices.Contains(columns, at):
			return members(raw, func(name string, value json.RawMessage) error {
				if at != "" {
					name = at + "." + name
				}
				return open(name, value)
			})
		case json.Unmarshal(raw, &text) == nil:
			out = append(out, field{at, text})
		case json.Unmarshal(raw, &words) == nil:
			out = append(out, field{at, strings.Join(words, ", ")})
		default:
			out = append(out, field{at, string(raw)})
		}
		return nil
	}
	return out, open("", bytes.TrimSpace(data))
}

// members calls do for each member of an object, in order.
func members(object json.RawMessage, do func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := do(fmt.Sprint(name), value); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the values of each object by column, and the columns with a value, in order of appearance.
func rowsOf(objects []json.RawMessage, columns []string) (rows []map[string]string, seen []string, err error) {
	for _, o := range objects {
		fields, err := flatten(o, columns)
		if err != nil {
			return nil, nil, err
		}
		row := map[string]string{}
		for _, f := range fields {
			row[f.name] = f.value
			if !slices.Contains(seen, f.name) {
				seen = append(seen, f.name)
			}
		}
		rows = append(rows, row)
	}
	return rows, seen, nil
}
