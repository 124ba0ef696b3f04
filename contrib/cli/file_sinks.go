package cli

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/schema"
)

// newFileSink returns a sink for the file of --into: a table of a SQLite file, or a new file with CSV or JSON Lines.
func newFileSink(e *env, file, table string, columns []schema.FlatColumn) (rowSink, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	switch ext := filepath.Ext(file); ext {
	case tableFile:
		return newTableSink(e.ctx, file, table, columns, e.now(), true)
	case ".csv", ".jsonl":
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, err
		}
		if ext == ".jsonl" {
			return &fileSink{&jsonlSink{f, names}, f}, nil
		}
		out := csvOf(f)
		return &fileSink{&csvSink{out}, f}, out.head(&schema.Flat{Columns: columns})
	}
	return nil, misusef("--into needs a file that ends in .db, .csv or .jsonl, not %s", filepath.Base(file))
}

// tableFile is the ending of files of --into that are databases.
const tableFile = ".db"

// fileFormat returns the format of a file of --into: by its ending, or def.
func fileFormat(file, def string) string {
	switch ext := filepath.Ext(file); ext {
	case ".csv", ".jsonl":
		return ext[1:]
	}
	return def
}

// keyedFlat returns the flat form of rows of type t with these fields and with those that identify them.
func keyedFlat(t reflect.Type, fields []string) *schema.Flat {
	for _, name := range []string{"id", "platform"} {
		if !slices.Contains(fields, name) {
			fields = append([]string{name}, fields...)
		}
	}
	flat := schema.NewFlat(fields)
	for _, c := range schema.FlatOf(t).Columns {
		for i := range flat.Columns {
			if flat.Columns[i].Name == c.Name {
				flat.Columns[i].Kind = c.Kind
			}
		}
	}
	return flat
}

// writeTable writes objects to a table of a SQLite file, in one transaction. Objects without a platform and an id
// replace what the table has, if first is set, and else are added to it.
func (e *env) writeTable(file, table string, flat *schema.Flat, objects []json.RawMessage, first bool) error {
	s, err := newTableSink(e.ctx, file, table, flat.Columns, e.now(), first)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := s.row(flat.Row(o)); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", file, err), s.abort())
		}
	}
	return s.end()
}

// fileSink closes its file at the end.
type fileSink struct {
	rowSink
	file *os.File
}

func (s *fileSink) end() error   { return errors.Join(s.rowSink.end(), s.file.Close()) }
func (s *fileSink) abort() error { return errors.Join(s.rowSink.abort(), s.file.Close()) }

// tableSink writes rows to a table, in one transaction. Rows with a platform and an id update those that the table has,
// and keep when they were first seen; other rows replace all of them.
type tableSink struct {
	ctx    context.Context
	db     *sql.DB
	tx     *sql.Tx
	insert *sql.Stmt
	now    string
}

const (
	firstSeen = "first_seen"
	lastSeen  = "last_seen"
)

func newTableSink(
	ctx context.Context, file, table string, columns []schema.FlatColumn, now time.Time, replace bool,
) (*tableSink, error) {
	connector, err := sqlite.NewConnector(file + "?_busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	s := &tableSink{ctx: ctx, db: db, now: now.UTC().Format(time.RFC3339)}
	if s.tx, err = db.BeginTx(ctx, nil); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.prepare(table, columns, replace); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file, err), s.abort())
	}
	return s, nil
}

// prepare makes the table, or adds the columns that it lacks, and the statement that writes a row.
func (s *tableSink) prepare(table string, columns []schema.FlatColumn, replace bool) error {
	all := slices.Concat(columns, []schema.FlatColumn{
		{Name: firstSeen, Kind: schema.TextColumn}, {Name: lastSeen, Kind: schema.TextColumn},
	})
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c schema.FlatColumn) bool { return c.Name == name })
	}
	keyed := has("platform") && has("id")
	var defined, names, marks, updates []string
	for _, c := range all {
		name := identifier(c.Name)
		if slices.Contains(names, name) {
			return fmt.Errorf("there are two columns %s: name one with AS", c.Name)
		}
		defined = append(defined, strings.TrimSpace(name+" "+string(c.Kind)))
		names, marks = append(names, name), append(marks, "?")
		if c.Name != firstSeen && c.Name != "platform" && c.Name != "id" {
			updates = append(updates, name+" = excluded."+name)
		}
	}
	create := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s(%s)", identifier(table), strings.Join(defined, ", "))
	if _, err := s.tx.ExecContext(s.ctx, create); err != nil {
		return err
	}
	for i, name := range names {
		var there bool
		err := s.tx.QueryRowContext(s.ctx, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?", table, all[i].Name).
			Scan(&there)
		if err != nil {
			return err
		}
		if !there {
			if _, err := s.tx.ExecContext(s.ctx, "ALTER TABLE "+identifier(table)+" ADD COLUMN "+defined[i]); err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
		}
	}
	insert := fmt.Sprintf("INSERT INTO %s(%s) VALUES (%s)", //nolint:gosec // names are quoted
		identifier(table), strings.Join(names, ", "), strings.Join(marks, ", "))
	if keyed {
		const key = "(ifnull(platform, ''), id)" // a change of the account has no platform
		index := fmt.Sprintf("CREATE UNIQUE INDEX IF NOT EXISTS %s ON %s%s", identifier(table+"_key"), identifier(table), key)
		if _, err := s.tx.ExecContext(s.ctx, index); err != nil {
			return err
		}
		insert += " ON CONFLICT " + key + " DO UPDATE SET " + strings.Join(updates, ", ")
	} else if replace {
		if _, err := s.tx.ExecContext(s.ctx, fmt.Sprintf("DELETE FROM %s", identifier(table))); err != nil {
			return err
		}
	}
	var err error
	s.insert, err = s.tx.PrepareContext(s.ctx, insert)
	return err
}

// identifier returns a name as SQL writes one that may be a keyword.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (s *tableSink) row(values []any) error {
	_, err := s.insert.ExecContext(s.ctx, append(slices.Clone(values), s.now, s.now)...)
	return err
}

func (s *tableSink) end() error { return errors.Join(s.insert.Close(), s.tx.Commit(), s.db.Close()) }

func (s *tableSink) abort() error { return errors.Join(s.tx.Rollback(), s.db.Close()) }
