package sqlstore

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// columns are the columns of a row, which is read from and written to the fields. The first one is the number of the
// row, which the database gives.
type columns []column

type column struct {
	name  string
	field any // a pointer, or a [driver.Valuer] that is a [database/sql.Scanner] as well
}

// names returns the names, each after a prefix.
func (c columns) names(prefix string) string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = prefix + c[i].name
	}
	return strings.Join(names, ", ")
}

// fields returns what the columns are scanned into.
func (c columns) fields() []any {
	fields := make([]any, len(c))
	for i := range c {
		fields[i] = c[i].field
	}
	return fields
}

// values returns what is stored.
func (c columns) values() ([]any, error) {
	values := make([]any, len(c))
	for i := range c {
		v, err := driver.DefaultParameterConverter.ConvertValue(c[i].field)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c[i].name, err)
		}
		values[i] = v
	}
	return values, nil
}

// insertRow writes a new row.
func (t tx) insertRow(table string, c columns) error {
	values, err := c[1:].values()
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO @"+table+" ("+c[1:].names("")+") VALUES (?"+strings.Repeat(", ?", len(values)-1)+")",
		values...)
}

// updateRow writes an existing row.
func (t tx) updateRow(table string, c columns) error {
	values, err := c.values()
	if err != nil {
		return err
	}
	sets := make([]string, len(c)-1)
	for i := range sets {
		sets[i] = c[i+1].name + " = ?"
	}
	return t.exec("UPDATE @"+table+" SET "+strings.Join(sets, ", ")+" WHERE "+c[0].name+" = ?",
		append(values[1:], values[0])...)
}

// inJSON is a field that is stored as JSON.
type inJSON[T any] struct{ field *T }

// Scan implements [database/sql.Scanner].
func (f inJSON[T]) Scan(stored any) error {
	body, ok := stored.([]byte)
	if !ok {
		return fmt.Errorf("%T is not JSON", stored)
	}
	var v T // and not the field itself, whose maps may belong to the row before
	err := json.Unmarshal(body, &v)
	*f.field = v
	return err
}

// Value implements [driver.Valuer].
func (f inJSON[T]) Value() (driver.Value, error) { return schema.Marshal(f.field) }

// nanos is a time that is stored in nanoseconds since 1970; NULL is the zero time.
type nanos struct{ field *time.Time }

// Scan implements [database/sql.Scanner].
func (f nanos) Scan(stored any) error {
	*f.field = time.Time{}
	if n, ok := stored.(int64); ok {
		*f.field = fromNanos(n)
	} else if stored != nil {
		return fmt.Errorf("%T is not a time", stored)
	}
	return nil
}

// Value implements [driver.Valuer].
func (f nanos) Value() (driver.Value, error) {
	if f.field.IsZero() {
		return nil, nil //nolint:nilnil // NULL
	}
	return f.field.UnixNano(), nil
}

// truth is a truth value, which is stored as 0 or 1.
type truth struct{ field *bool }

// Scan implements [database/sql.Scanner].
func (f truth) Scan(stored any) error {
	n, ok := stored.(int64)
	if !ok {
		return errors.New("it is not 0 or 1")
	}
	*f.field = n != 0
	return nil
}

// Value implements [driver.Valuer].
func (f truth) Value() (driver.Value, error) { return bit(*f.field), nil }
