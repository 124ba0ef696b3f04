package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/tables"
)

type sqlCmd struct {
	Query  string `arg:"" optional:"" help:"The query; without it, queries are read from standard input, each up to a semicolon."`
	Into   string `help:"Write the rows to this file, which ends in .db, .csv or .jsonl; rows with platform and id update those that a database has." type:"path" placeholder:"FILE" group:"output"`
	Attach string `help:"Attach this SQLite file: its tables can be joined, as NAME.table for NAME.db." type:"path" placeholder:"FILE"`
	Most   int64  `name:"max-credits" help:"The most that a query may cost." default:"1000" placeholder:"N"`

	outputFlags `embed:""`
}

// Run answers one query, or those of standard input. Without --server nothing is charged.
func (c *sqlCmd) Run(e *env) (err error) {
	if c.Most < 1 {
		return misusef("--max-credits must be a positive number")
	}
	if c.Into != "" && c.Query == "" {
		return misusef("--into needs a query in the arguments")
	}
	client, err := e.caller()
	if err != nil {
		return err
	}
	s := &sqlSession{cmd: c, env: e}
	db, err := tables.Open(client, tables.Config{MaxCredits: c.Most, OnRead: s.note})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.conn, err = db.Conn(e.ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	if err := s.attach(c.Attach); err != nil {
		return err
	}
	if c.Query != "" {
		return s.answer(e.ctx, c.Query)
	}
	return s.prompt()
}

// sqlSession is a connection with what its queries have cost.
type sqlSession struct {
	cmd  *sqlCmd
	env  *env
	conn *sql.Conn

	bar     *progress
	reads   int
	credits int64
	missing []string
}

func (s *sqlSession) note(r tables.Read) {
	s.reads++
	s.credits += r.Credits
	s.bar.show(int64(s.reads))
	for _, key := range r.Missing {
		s.missing = append(s.missing, r.Table+" "+key)
	}
}

// attach attaches a file under its name.
func (s *sqlSession) attach(file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); err != nil { // SQLite would make it
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if name == "" || strings.ContainsFunc(name, notOfAName) {
		name = "file"
	}
	_, err := s.conn.ExecContext(s.env.ctx, `ATTACH ? AS "`+name+`"`, file)
	return err
}

// notOfAName reports whether a character can only be in a name with quotes.
func notOfAName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// answer prints the rows of a text with one or more statements.
func (s *sqlSession) answer(ctx context.Context, text string) error {
	statements := tables.Statements(text)
	if len(statements) == 0 {
		return misusef("there is no query")
	}
	for i, statement := range statements {
		if err := s.one(ctx, statement, i == len(statements)-1); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqlSession) one(ctx context.Context, statement string, last bool) (err error) {
	s.reads, s.credits, s.missing = 0, 0, nil
	s.bar = newProgress(s.env.log, "calls", 0)
	defer func() { s.bar.clear() }()
	rows, err := s.conn.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	if len(names) == 0 { // it returns no rows, and has been executed
		rows.Next()
		return rows.Err()
	}
	to, err := s.sink(names, last)
	if err != nil {
		return err
	}
	n := 0
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return errors.Join(err, to.abort())
		}
		s.bar.clear()
		if err := to.row(values); err != nil {
			return errors.Join(err, to.abort())
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return errors.Join(err, to.abort())
	}
	s.bar.clear()
	if err := to.end(); err != nil {
		return err
	}
	return s.footer(n)
}

// footer prints for people what a query has cost.
func (s *sqlSession) footer(rows int) error {
	cost := "would have cost"
	if s.env.remote() {
		cost = "cost"
	}
	said := fmt.Sprintf("%s, %s; it %s %s", counted(int64(rows), "row"), counted(int64(s.reads), "call"), cost,
		counted(s.credits, "credit"))
	if s.missing != nil {
		said += "; not found: " + strings.Join(s.missing, ", ")
	}
	if s.cmd.Into != "" {
		said += "; written to " + s.cmd.Into
	}
	_, err := fmt.Fprintf(escaping{s.env.log}, "\n%s\n", said)
	return err
}

// counted returns a number of things, such as "1 row".
func counted[N int | int64](n N, thing string) string {
	if stem, ok := strings.CutSuffix(thing, "ry"); ok && n != 1 { // entries, but keys
		thing = stem + "ries"
	} else if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// rowSink is where the rows of a query go.
type rowSink interface {
	row(values []any) error
	end() error
	abort() error
}

// sink returns where rows with these columns go: to the file of --into, if they are those of the last statement, or to
// the output.
func (s *sqlSession) sink(names []string, last bool) (rowSink, error) {
	if s.cmd.Into != "" && last {
		return newFileSink(s.env, s.cmd.Into, "rows", columnsOf(names))
	}
	format := s.cmd.Output
	if _, terminal := width(s.env.out); format == "" && !terminal {
		format = "json"
	}
	switch format {
	case "csv":
		out := csvOf(s.env.out)
		return &csvSink{out}, out.head(&schema.Flat{Columns: columnsOf(names)})
	case "jsonl":
		return &jsonlSink{s.env.out, names}, nil
	case "json":
		return &jsonSink{out: s.env.out, names: names}, nil
	}
	return &gridSink{out: s.env.out, names: names}, nil
}

func columnsOf(names []string) []schema.FlatColumn {
	columns := make([]schema.FlatColumn, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

// csvSink writes CSV.
type csvSink struct{ csvWriter }

func (s *csvSink) end() error {
	s.Flush()
	return s.Error()
}

func (s *csvSink) abort() error { return s.end() }

// jsonlSink writes an object for each row.
type jsonlSink struct {
	out   io.Writer
	names []string
}

func (s *jsonlSink) row(values []any) error {
	o, err := objectOf(s.names, values)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, escaped(string(o))+"\n")
	return err
}

func (*jsonlSink) end() error   { return nil }
func (*jsonlSink) abort() error { return nil }

// objectOf returns a row as JSON, with its columns in order.
func objectOf(names []string, values []any) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, value := range values {
		if raw, ok := value.([]byte); ok {
			value = string(raw)
		}
		name, err := schema.Marshal(names[i])
		if err != nil {
			return nil, err
		}
		text, err := schema.Marshal(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonSink writes {"data": […]} at the end.
type jsonSink struct {
	out   io.Writer
	names []string
	rows  []json.RawMessage
}

func (s *jsonSink) row(values []any) error {
	o, err := objectOf(s.names, values)
	s.rows = append(s.rows, o)
	return err
}

func (s *jsonSink) end() error {
	return encode(s.out, struct {
		Data json.RawMessage `json:"data"`
	}{dataOf(s.rows, true)}, "  ")
}

func (*jsonSink) abort() error { return nil }

// gridSink writes a table at the end.
type gridSink struct {
	out   io.Writer
	names []string
	lines [][]string
}

func (s *gridSink) row(values []any) error {
	line := make([]string, len(values))
	for i, v := range values {
		line[i] = oneLine(cellOf(v))
	}
	s.lines = append(s.lines, line)
	return nil
}

func (s *gridSink) end() error {
	p, columns := pen{}, make([]telling, len(s.names))
	if n, terminal := width(s.out); terminal {
		p.columns = n
	}
	for i := range columns {
		columns[i].rank = i
	}
	return p.grid(s.out, slices.Clone(s.names), s.lines, columns)
}

func (*gridSink) abort() error { return nil }
