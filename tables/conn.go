package tables

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"github.com/socialdata/socialdata/operation"
)

// sqliteConn is what this package needs of a connection of SQLite.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.QueryerContext
	driver.ExecerContext
	driver.SessionResetter
	driver.Validator
}

// conn is a connection. SQLite does not say for which statement it reads a table, so conn notes it before each step.
type conn struct {
	sqliteConn
	db    *database
	id    string
	query *query           // whose step is in progress
	open  int              // cursors over its tables
	plans map[string]*plan // of its tables that SQLite may choose, by their text
}

// query is one statement while it runs.
type query struct {
	ctx     context.Context
	left    int64                // credits that it may still spend
	lists   map[string][]keyList // keys of IN, by the text of the plan that reads them
	batched map[string]batched   // what batches have brought, by the call that would read it alone
	err     error                // what has ended it

	kept      map[string]*operation.Answer // answers, by call
	keptBytes int
}

// failed returns the error that has ended a query. That of SQLite is only its text.
func (q *query) failed(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case q.err != nil:
		return q.err
	case q.ctx.Err() != nil:
		return q.ctx.Err()
	}
	return err
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	last, q, err := c.start(ctx, text, args)
	if err != nil {
		return nil, err
	}
	got, err := c.sqliteConn.QueryContext(ctx, last, args)
	if err != nil {
		return nil, q.failed(err)
	}
	if explainsPlan(last) {
		return c.priced(ctx, last, args, got)
	}
	return &rows{got, c, q}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	last, q, err := c.start(ctx, text, args)
	if err != nil {
		return nil, err
	}
	done, err := c.sqliteConn.ExecContext(ctx, last, args)
	return done, q.failed(err)
}

// start executes the statements of a text before its last one, which it returns with the query that it is.
func (c *conn) start(ctx context.Context, text string, args []driver.NamedValue) (last string, q *query, err error) {
	if last, err = c.allButLast(ctx, text, args); err != nil {
		return "", nil, err
	}
	q, err = c.begin(ctx, last, args)
	return last, q, err
}

// allButLast executes the statements of a text before its last one, which it returns. Each is a query of its own.
func (c *conn) allButLast(ctx context.Context, text string, args []driver.NamedValue) (last string, err error) {
	all := Statements(text)
	if len(all) < 2 {
		return text, nil
	}
	if len(args) > 0 {
		return "", errors.New("arguments need a text with a single statement")
	}
	for _, s := range all[:len(all)-1] {
		q, err := c.begin(ctx, s, nil)
		if err != nil {
			return "", err
		}
		if _, err := c.sqliteConn.ExecContext(ctx, s, nil); err != nil {
			return "", q.failed(err)
		}
	}
	return all[len(all)-1], nil
}

// begin makes the next steps those of a new query, unless its plan cannot be carried out.
func (c *conn) begin(ctx context.Context, text string, args []driver.NamedValue) (*query, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := &query{ctx: ctx, left: c.db.cfg.MaxCredits, batched: map[string]batched{}, kept: map[string]*operation.Answer{}}
	c.query = q
	if explains(text) {
		return q, nil
	}
	program, err := c.program(ctx, text, args)
	if err != nil {
		return q, nil //nolint:nilerr // the statement itself says what is wrong with it
	}
	if err := program.check(ctx); err != nil {
		return nil, err
	}
	q.lists = program.lists()
	return q, nil
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *conn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return stmt{c, text}, nil
}

// Prepare implements [driver.Conn].
func (c *conn) Prepare(text string) (driver.Stmt, error) { return stmt{c, text}, nil }

// Close implements [driver.Conn].
func (c *conn) Close() error {
	c.db.mu.Lock()
	delete(c.db.conns, c.id)
	c.db.mu.Unlock()
	return c.sqliteConn.Close()
}

// stmt is a statement that is compiled whenever it runs: its plan depends on its arguments.
type stmt struct {
	*conn
	text string
}

// Close implements [driver.Stmt].
func (stmt) Close() error { return nil }

// NumInput implements [driver.Stmt].
func (stmt) NumInput() int { return -1 }

// Exec implements [driver.Stmt]; it is not called.
func (stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements [driver.Stmt]; it is not called.
func (stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext implements [driver.StmtExecContext].
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.text, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.text, args)
}

// rows are the rows of a query.
type rows struct {
	driver.Rows
	conn  *conn
	query *query
}

// Next implements [driver.Rows].
func (r *rows) Next(row []driver.Value) error {
	r.conn.query = r.query
	return r.query.failed(r.Rows.Next(row))
}

// Statements returns the statements of a text, without empty ones. A semicolon in a string, a name, a comment or the
// body of a trigger separates none.
func Statements(text string) []string {
	var out []string
	begin := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[begin:end]); withoutComments(s) != "" {
			out = append(out, s)
		}
		begin = end + 1
	}
	for i := 0; i < len(text); i++ {
		if text[i] != ';' {
			i += skipped(text[i:])
			continue
		}
		if s := strings.ToUpper(withoutComments(text[begin:i])); !trigger(s) || strings.HasSuffix(s, "END") {
			add(i)
		}
	}
	add(len(text))
	return out
}

// trigger reports whether a statement, in capitals, makes a trigger, whose body has statements.
func trigger(s string) bool {
	words := strings.Fields(s)
	return len(words) > 2 && words[0] == "CREATE" && (words[1] == "TRIGGER" || words[2] == "TRIGGER")
}

// skipped returns how many bytes after the first belong to a string, a quoted name or a comment that text begins with.
func skipped(text string) int {
	closing := map[byte]string{'\'': "'", '"': `"`, '`': "`", '[': "]"}[text[0]]
	switch {
	case strings.HasPrefix(text, "--"):
		closing = "\n"
	case strings.HasPrefix(text, "/*"):
		closing = "*/"
	}
	if closing == "" {
		return 0
	}
	from := 1
	if closing == "*/" {
		from = 2
	}
	if n := strings.Index(text[from:], closing); n >= 0 {
		return from + n + len(closing) - 1
	}
	return len(text) - 1
}

// withoutComments returns a text without its comments and without space around it.
func withoutComments(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		n := skipped(text[i:])
		if !strings.HasPrefix(text[i:], "--") && !strings.HasPrefix(text[i:], "/*") {
			b.WriteString(text[i : i+n+1])
		} else {
			b.WriteByte(' ')
		}
		i += n
	}
	return strings.TrimSpace(b.String())
}

// explains reports whether a statement only explains another one.
func explains(text string) bool {
	words := strings.Fields(withoutComments(text))
	return len(words) > 0 && strings.EqualFold(words[0], "EXPLAIN")
}

// explainsPlan reports whether a statement is EXPLAIN QUERY PLAN.
func explainsPlan(text string) bool {
	words := strings.Fields(withoutComments(text))
	return len(words) > 3 && explains(text) && strings.EqualFold(words[1], "QUERY") && strings.EqualFold(words[2], "PLAN")
}
