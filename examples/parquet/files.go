package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/schema"
)

// readLines calls use with the flat columns and values of each object in files of JSON Lines.
func readLines(files []string, use func([]column, []any) error) error {
	for _, file := range files {
		if err := readFile(file, use); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func readFile(file string, use func([]column, []any) error) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	for lines := json.NewDecoder(in); ; {
		var o json.RawMessage
		if err := lines.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		fields := schema.FieldsOf([]json.RawMessage{o})
		for i, field := range fields {
			if strings.HasPrefix(field, "raw.") { // the upstream's own object stays one
				fields[i] = "raw"
			}
		}
		flat := schema.NewFlat(slices.Compact(fields))
		names := make([]column, len(flat.Columns))
		for i, c := range flat.Columns {
			names[i].name = c.Name
		}
		if err := use(names, flat.Row(o)); err != nil {
			return err
		}
	}
}

// readTable calls use with each row of a table of a SQLite file, or with the columns alone if it has none.
func readTable(file, table string, use func([]column, []any) error) (err error) {
	connector, err := sqlite.NewConnector("file:" + file + "?mode=ro")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	if table, err = theTable(ctx, db, table); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	rows, err := db.QueryContext(ctx, `SELECT * FROM "`+strings.ReplaceAll(table, `"`, `""`)+`"`) //nolint:gosec // the name is quoted
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	names, into, values := make([]column, len(types)), make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		names[i] = column{name: t.Name(), declared: kind(t.DatabaseTypeName())}
		into[i] = &values[i]
	}
	if err := use(names, nil); err != nil {
		return err
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			if n, ok := v.(int64); ok && names[i].declared == boolean { // SQLite has no booleans
				values[i] = n != 0
			}
		}
		if err := use(names, values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// theTable returns the name of a table, or of the only one.
func theTable(ctx context.Context, db *sql.DB, table string) (string, error) {
	var names string
	err := db.QueryRowContext(ctx, "SELECT coalesce(group_concat(name, ', '), '') FROM sqlite_schema WHERE type = 'table'").Scan(&names)
	if err != nil || table != "" {
		return table, err
	}
	if names == "" || strings.Contains(names, ", ") {
		return "", fmt.Errorf("name a table with -table; there are: %s", cmp.Or(names, "none"))
	}
	return names, nil
}

// write writes rows to a new file, which replaces an older one.
func write(to string, c *columns, read func(func([]column, []any) error) error) (n int64, err error) {
	part := to + ".part"
	f, err := os.Create(part)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(part))
			return
		}
		err = os.Rename(part, to)
	}()
	const group = 100_000 // rows that are in memory at once
	w := parquet.NewWriter(f, c.schema(), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(group))
	err = read(func(names []column, values []any) error {
		if values == nil {
			return nil
		}
		row := make(parquet.Row, len(c.all))
		for i := range row {
			row[i] = parquet.NullValue().Level(0, 0, i)
		}
		for i, name := range names {
			at, ok := c.at[name.name]
			if !ok || values[i] == nil {
				continue
			}
			v, err := c.all[at].kind.value(values[i])
			if err != nil {
				return fmt.Errorf("column %s: %w", name.name, err)
			}
			row[at] = v.Level(0, 1, at)
		}
		n++
		_, err := w.WriteRows([]parquet.Row{row})
		return err
	})
	return n, errors.Join(err, w.Close())
}
