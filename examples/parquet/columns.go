package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// kind is what the values of a column are.
type kind string

const (
	none    kind = ""
	boolean kind = "BOOLEAN"
	integer kind = "INTEGER"
	number  kind = "REAL"
	moment  kind = "TIME"
	object  kind = "JSON"
	text    kind = "TEXT"
)

// column is a column of what is read.
type column struct {
	name     string
	declared kind // by the SQLite file
	kind     kind // of its values so far
}

// columns are those of the Parquet file.
type columns struct {
	all []column
	at  map[string]int // by name
}

// learn takes the names and kinds of a row.
func (c *columns) learn(names []column, values []any) error {
	for i, name := range names {
		at, ok := c.at[name.name]
		if !ok {
			if c.at == nil {
				c.at = map[string]int{}
			}
			at = len(c.all)
			c.at[name.name], c.all = at, append(c.all, name)
		}
		if i < len(values) { // a table without rows has only names
			c.all[at].kind = both(c.all[at].kind, kindOf(values[i]))
		}
	}
	return nil
}

// settle gives a kind to columns without values. Those of an object that was null in some rows, such as author beside
// author_handle, are left out.
func (c *columns) settle() {
	c.all = slices.DeleteFunc(c.all, func(one column) bool {
		return one.kind == none && one.declared == none && slices.ContainsFunc(c.all, func(part column) bool {
			return strings.HasPrefix(part.name, one.name+"_")
		})
	})
	clear(c.at)
	for i, one := range c.all {
		c.at[one.name] = i
		switch {
		case one.kind == none && one.declared == none:
			c.all[i].kind = text
		case one.kind == none:
			c.all[i].kind = one.declared
		}
	}
}

// both returns the kind of a column that has values of two kinds.
func both(a, b kind) kind {
	switch {
	case a == b || b == none:
		return a
	case a == none:
		return b
	case a == integer && b == number || a == number && b == integer:
		return number
	}
	return text
}

func kindOf(value any) kind {
	switch v := value.(type) {
	case nil:
		return none
	case bool:
		return boolean
	case int64:
		return integer
	case float64:
		return number
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return moment
		}
		if (strings.HasPrefix(v, "[") || strings.HasPrefix(v, "{")) && json.Valid([]byte(v)) {
			return object
		}
	}
	return text
}

// node returns the type of a column.
func (k kind) node() parquet.Node {
	switch k {
	case boolean:
		return parquet.Leaf(parquet.BooleanType)
	case integer:
		return parquet.Int(64)
	case number:
		return parquet.Leaf(parquet.DoubleType)
	case moment:
		return parquet.Timestamp(parquet.Microsecond)
	case object:
		return parquet.JSON()
	case none, text:
	}
	return parquet.String()
}

// value returns a value that is not nil as one of a column of this kind.
func (k kind) value(v any) (parquet.Value, error) {
	switch v := v.(type) {
	case bool:
		if k == boolean {
			return parquet.BooleanValue(v), nil
		}
	case int64:
		switch k {
		case integer:
			return parquet.Int64Value(v), nil
		case number:
			return parquet.DoubleValue(float64(v)), nil
		case none, boolean, moment, object, text:
		}
	case float64:
		if k == number {
			return parquet.DoubleValue(v), nil
		}
	case []byte:
		return parquet.ByteArrayValue(v), nil
	case string:
		if k != moment {
			return parquet.ByteArrayValue([]byte(v)), nil
		}
		at, err := time.Parse(time.RFC3339, v)
		return parquet.Int64Value(at.UnixMicro()), err
	}
	words, err := json.Marshal(v) // of a column of several kinds
	return parquet.ByteArrayValue(words), err
}

// ordered is a group of columns in this order; that of the package has them by name.
type ordered struct {
	parquet.Group
	at map[string]int
}

// Fields implements [parquet.Node].
func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return o.at[a.Name()] - o.at[b.Name()] })
	return fields
}

// schema returns the columns as those of a Parquet file.
func (c *columns) schema() *parquet.Schema {
	group := parquet.Group{}
	for _, one := range c.all {
		group[one.name] = parquet.Optional(one.kind.node())
	}
	return parquet.NewSchema("rows", ordered{group, c.at})
}
