package tables

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// program is a compiled statement, as EXPLAIN lists it. It says before the statement runs which plans it has, and which
// constants they get: SQLite gives a table the values of IN one by one.
type program struct {
	conn  *conn
	steps []step
	args  []driver.NamedValue
}

type step struct {
	code       string
	p1, p2, p3 int64
	p4         string
}

// program compiles a statement.
func (c *conn) program(ctx context.Context, text string, args []driver.NamedValue) (*program, error) {
	got, err := c.sqliteConn.QueryContext(ctx, "EXPLAIN "+text, args)
	if err != nil {
		return nil, err
	}
	p := &program{conn: c, args: args}
	row := make([]driver.Value, len(got.Columns()))
	const columns = 6 // addr, opcode, p1, p2, p3, p4 and others
	for err = got.Next(row); err == nil && len(row) >= columns; err = got.Next(row) {
		s := step{}
		s.code, _ = row[1].(string)
		s.p1, _ = row[2].(int64)
		s.p2, _ = row[3].(int64)
		s.p3, _ = row[4].(int64)
		s.p4, _ = row[5].(string)
		p.steps = append(p.steps, s)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p, errors.Join(err, got.Close())
}

// reads yields the plans of the program with the places where their tables are read.
func (p *program) reads(yield func(at int, chosen *plan) bool) {
	for i, s := range p.steps {
		if chosen := p.conn.plans[s.p4]; s.code == "VFilter" && chosen != nil && !yield(i, chosen) {
			return
		}
	}
}

// check returns an error for a program that would read without a bound, or write to a table of this package.
func (p *program) check(ctx context.Context) error {
	for _, chosen := range p.reads {
		if chosen.lacks != "" {
			return chosen.table.refusal(chosen.lacks)
		}
	}
	for _, s := range p.steps {
		if s.code != "VUpdate" {
			continue
		}
		ours, err := p.conn.has(ctx, s.p4)
		if err != nil {
			return err
		}
		if ours {
			return errReadOnly
		}
	}
	return nil
}

// has reports whether a virtual table, as programs name it, is a table of this package.
func (c *conn) has(ctx context.Context, virtual string) (bool, error) {
	for _, t := range c.db.tables {
		p, err := c.program(ctx, "SELECT 1 FROM "+quoted(t.name), nil)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(p.steps, func(s step) bool { return s.code == "VOpen" && s.p4 == virtual }) {
			return true, nil
		}
	}
	return false, nil
}

// values returns the constants that an argument of the plan at a step gets: one, or those of IN; nil if they are known
// only when the program runs.
func (p *program) values(at, arg int) []driver.Value {
	return p.register(at, p.steps[at].p3+2+int64(arg), 0)
}

// register returns the constants that a register has before a step.
func (p *program) register(at int, register int64, depth int) []driver.Value {
	if depth > 4 { // a copy of a copy
		return nil
	}
	for i := at - 1; i >= 0; i-- {
		s := p.steps[i]
		switch {
		case s.code == "Column" && s.p3 == register:
			return p.list(s.p1, depth)
		case s.code == "VColumn" && s.p3 == register:
			return nil
		case s.p2 != register:
		case s.code == "String8":
			return []driver.Value{s.p4}
		case s.code == "Integer":
			return []driver.Value{s.p1}
		case s.code == "Int64":
			n, err := strconv.ParseInt(s.p4, 10, 64)
			if err != nil {
				return nil
			}
			return []driver.Value{n}
		case s.code == "Variable":
			for _, a := range p.args {
				if int64(a.Ordinal) == s.p1 {
					return []driver.Value{a.Value}
				}
			}
			return nil
		case s.code == "SCopy" || s.code == "Copy":
			return p.register(i, s.p1, depth+1)
		case s.code == "Rowid" || s.code == "Null":
			return nil
		}
	}
	return nil
}

// list returns the constants in the table that the program makes of IN; nil if there are others.
func (p *program) list(cursor int64, depth int) (all []driver.Value) {
	opened := slices.ContainsFunc(p.steps, func(s step) bool { return s.code == "OpenEphemeral" && s.p1 == cursor })
	for i, s := range p.steps {
		if !opened || s.code != "IdxInsert" || s.p1 != cursor {
			continue
		}
		if i == 0 || p.steps[i-1].code != "MakeRecord" {
			return nil
		}
		one := p.register(i-1, p.steps[i-1].p1, depth+1)
		if len(one) != 1 {
			return nil
		}
		all = append(all, one[0])
	}
	return all
}

// keyList are the keys that IN gives to an argument of a plan.
type keyList struct {
	arg  int
	keys []string // sorted, as SQLite asks for them
}

func (l keyList) has(key string) bool {
	_, ok := slices.BinarySearch(l.keys, key)
	return ok
}

// from returns the keys of one batch, from a key on.
func (l keyList) from(key string) []string {
	at, _ := slices.BinarySearch(l.keys, key)
	length := 0
	for i, k := range l.keys[at:] {
		const separator = len("%0A")
		length += len(url.QueryEscape(k)) + separator
		if i == operation.MaxKeys || i > 0 && length > operation.MaxKeyList {
			return l.keys[at : at+i]
		}
	}
	return l.keys[at:]
}

// lists returns the keys that batches can read, by the text of the plan. A program with a LIMIT has none: it may need
// fewer keys.
func (p *program) lists() map[string][]keyList {
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.code == "DecrJumpZero" }) {
		return nil
	}
	out := map[string][]keyList{}
	for at, chosen := range p.reads {
		if chosen.table.batch == nil {
			continue
		}
		for i, a := range chosen.args {
			if a.param.Name != chosen.table.op.Key().Name {
				continue
			}
			if keys := texts(a, p.values(at, i)); len(keys) > 1 {
				out[chosen.text] = append(out[chosen.text], keyList{i, keys})
			}
		}
	}
	return out
}

// texts returns the different values of a parameter, sorted.
func texts(a argument, values []driver.Value) (out []string) {
	for _, v := range values {
		if text, ok := textOf(a, v); ok {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sinceOf returns a bound of a time column as the parameter since; false if it is not a time.
func sinceOf(text string) (string, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339), true
		}
	}
	return "", false
}

// mostPriced is how many calls EXPLAIN QUERY PLAN prices.
const mostPriced = 20

// priced adds to the rows of EXPLAIN QUERY PLAN what the calls of the plan may cost, as far as the statement says what
// they read.
func (c *conn) priced(
	ctx context.Context, text string, args []driver.NamedValue, got driver.Rows,
) (driver.Rows, error) {
	out := &listed{columns: got.Columns()}
	for {
		row := make([]driver.Value, len(out.columns))
		err := got.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, got.Close())
		}
		out.rows = append(out.rows, row)
	}
	if err := got.Close(); err != nil {
		return nil, err
	}
	statement := text
	for range 3 {
		statement = withoutWord(statement)
	}
	p, err := c.program(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	batches := p.lists()
	for at, chosen := range p.reads {
		for _, detail := range c.prices(ctx, p, at, chosen, len(batches[chosen.text]) > 0) {
			row := make([]driver.Value, len(out.columns))
			for i := range row {
				row[i] = int64(0)
			}
			row[len(row)-1] = detail
			out.rows = append(out.rows, row)
		}
	}
	return out, nil
}

// withoutWord returns a text without its first word and the comments around it.
func withoutWord(text string) string {
	text = withoutComments(text)
	return strings.TrimSpace(text[max(0, strings.IndexAny(text, " \t\r\n")):])
}

// prices returns a line for each call that a plan begins with.
func (c *conn) prices(ctx context.Context, p *program, at int, chosen *plan, batch bool) (lines []string) {
	t := chosen.table
	if chosen.lacks != "" {
		return []string{"REFUSED " + t.refusal(chosen.lacks).Error()}
	}
	if t.op.Price == operation.Free {
		return nil
	}
	o := t.op
	calls := []url.Values{{}}
	for i, a := range chosen.args {
		values, name := texts(a, p.values(at, i)), a.param.Name
		if values == nil {
			return []string{"READ " + t.name + " once for each row of the tables before it"}
		}
		if batch && name == o.Key().Name {
			o, name = t.batch, t.batch.Key().Name
			list, joined := keyList{i, values}, []string{}
			for at := 0; at < len(values); {
				part := list.from(values[at])
				joined = append(joined, operation.JoinKeys(part))
				at += len(part)
			}
			values = joined
		}
		var all []url.Values
		for _, call := range calls {
			for _, v := range values {
				next := maps.Clone(call)
				next.Set(name, v)
				all = append(all, next)
			}
		}
		calls = all
	}
	for i, params := range calls {
		if i == mostPriced {
			return append(lines, fmt.Sprintf("READ %s %d times more", t.name, len(calls)-i))
		}
		call := operation.Call{Platform: params.Get(platformParam.Name), Params: params}
		params.Del(platformParam.Name)
		line := "READ " + o.Target(call) + ": " + c.price(ctx, o, call)
		switch {
		case o.Paged() && p.toItsEnd(at):
			line += "; all pages are read"
		case o.Paged():
			line += "; pages are read until the query has its rows"
		}
		lines = append(lines, line)
	}
	return lines
}

// price returns what a call may cost.
func (c *conn) price(ctx context.Context, o *operation.Operation, call operation.Call) string {
	a, err := c.db.caller.Do(ctx, socialdata.Operation("estimate"), operation.Call{
		Params: url.Values{"of": {o.Target(call)}},
	})
	if err != nil {
		return err.Error()
	}
	var e schema.Estimate
	if err := json.Unmarshal(a.Data, &e); err != nil {
		return err.Error()
	}
	said := fmt.Sprintf("at most %d credit", e.Credits.Most)
	if e.Credits.Most != 1 {
		said += "s"
	}
	if o.Paged() {
		said += " for each page"
		if e.Pages != nil {
			said += fmt.Sprintf(", %d pages", *e.Pages)
		}
	}
	if e.Cache == schema.Hit {
		said += ", in the cache"
	}
	return said
}

// toItsEnd reports whether the table that a step begins to read is read to its end: nothing leaves the loop over its
// rows, as LIMIT and EXISTS do.
func (p *program) toItsEnd(at int) bool {
	for _, s := range p.steps[at+1:] {
		switch s.code {
		case "VNext":
			if s.p1 == p.steps[at].p1 {
				return true
			}
		case "DecrJumpZero", "Gosub", "Goto", "Yield":
			return false
		}
	}
	return false
}

// listed are rows that are all known.
type listed struct {
	columns []string
	rows    [][]driver.Value
}

// Columns implements [driver.Rows].
func (l *listed) Columns() []string { return l.columns }

// Close implements [driver.Rows].
func (*listed) Close() error { return nil }

// Next implements [driver.Rows].
func (l *listed) Next(row []driver.Value) error {
	if len(l.rows) == 0 {
		return io.EOF
	}
	copy(row, l.rows[0])
	l.rows = l.rows[1:]
	return nil
}
