package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite/vtab"

	"github.com/socialdata/socialdata/operation"
)

// table is a table of one connection.
type table struct {
	*definition
	conn *conn
}

// plan is one way to read a table.
type plan struct {
	table *table
	text  string
	args  []argument
	raw   bool   // the query names _raw
	lacks string // what has no value; "" if the table can be read
}

// argument is a value that a plan needs.
type argument struct {
	param *operation.Param
	since bool // it is a bound of the time of rows, which SQLite checks again
}

// The costs that SQLite compares: of a call and of a plan that cannot be read.
const (
	callCost   = 1000
	brokenCost = 1e15
)

// BestIndex implements [vtab.Table]. A plan that lacks a parameter is given a price that no other has: SQLite asks
// about the orders of a join one by one, and some of them lack it. If such a plan is chosen, the query is refused.
func (t *table) BestIndex(info *vtab.IndexInfo) error {
	p := &plan{table: t, raw: info.ColUsed&(1<<rawColumn) != 0}
	given := map[string]bool{}
	for i := range info.Constraints {
		c := &info.Constraints[i]
		if !c.Usable || c.Column < 0 || c.Column >= len(t.columns) {
			continue
		}
		param := t.columns[c.Column].param
		if param == nil || c.Op != vtab.OpEQ || given[param.Name] {
			continue
		}
		c.ArgIndex, c.Omit = len(p.args), true
		p.args = append(p.args, argument{param: param})
		given[param.Name] = true
	}
	for i := range info.Constraints {
		c := &info.Constraints[i]
		if !c.Usable || t.time < 0 || c.Column != t.time || c.Op != vtab.OpGE && c.Op != vtab.OpGT || given["since"] {
			continue
		}
		c.ArgIndex = len(p.args)
		p.args = append(p.args, argument{param: &operation.Param{Name: "since"}, since: true})
		given["since"] = true
	}
	p.lacks = t.lacking(given)
	p.text = t.describe(p)
	t.conn.plans[p.text] = p
	info.IdxStr = p.text
	switch {
	case p.lacks != "":
		info.EstimatedCost, info.EstimatedRows = brokenCost, 1<<40
	case t.op.List():
		info.EstimatedCost, info.EstimatedRows = 3*callCost, 60
	default:
		info.EstimatedCost, info.EstimatedRows, info.IdxFlags = callCost, 1, vtab.IndexScanUnique
	}
	return nil
}

// lacking returns the required parameters that have no value; "" if there are none.
func (t *table) lacking(given map[string]bool) string {
	var missing, oneOf []string
	chosen := 0
	for _, c := range t.columns {
		switch {
		case c.param == nil:
		case c.param.Required && !given[c.param.Name]:
			missing = append(missing, c.param.Name)
		case c.param.OneOf:
			oneOf = append(oneOf, c.param.Name)
			if given[c.param.Name] {
				chosen++
			}
		}
	}
	slices.SortStableFunc(missing, func(a, b string) int { // the platform first, as in every call
		return strings.Compare(b, platformParam.Name) - strings.Compare(a, platformParam.Name)
	})
	if oneOf != nil && chosen == 0 {
		missing = append(missing, "one of "+strings.Join(oneOf, ", "))
	}
	return strings.Join(missing, " and ")
}

// describe returns a plan as EXPLAIN QUERY PLAN shows it. No two plans of a table have the same text.
func (t *table) describe(p *plan) string {
	if p.lacks != "" {
		return fmt.Sprintf("%s cannot be read: it needs %s", t.name, p.lacks)
	}
	var names []string
	for _, a := range p.args {
		name := a.param.Name
		if a.since {
			name += " of " + t.columns[t.time].name
		}
		names = append(names, name)
	}
	text := t.name
	if names != nil {
		text += " by " + strings.Join(names, ", ")
	}
	if p.raw {
		text += " with raw"
	}
	return text + ": " + t.price()
}

// price returns what a read of the table costs, before its platform is known.
func (t *table) price() string {
	each := "each call"
	if t.op.Paged() {
		each = "each page"
	}
	switch t.op.Price {
	case operation.Free:
		return "free"
	case operation.EachPlatform:
		return each + " costs the base credits of each platform that answers"
	case operation.PlatformAndProbes:
		return each + " costs the base credits of the platform and of each that is probed"
	case operation.PlatformBase, operation.EachKey, operation.OneEnrichment:
	}
	return each + " costs the base credits of its platform"
}

// refusal returns the error for a plan that cannot be read.
func (t *definition) refusal(lacks string) error {
	params := strings.Split(lacks, " and ")
	example := make([]string, 0, len(params))
	for _, p := range params {
		if one, ok := strings.CutPrefix(p, "one of "); ok {
			p, _, _ = strings.Cut(one, ", ")
		}
		example = append(example, p+" = '…'")
	}
	return fmt.Errorf("the table %s cannot be read without %s: add WHERE %s, or join it on a column; nothing was read",
		t.name, lacks, strings.Join(example, " AND "))
}

// errReadOnly is the error of statements that write to a table of this package.
var errReadOnly = errors.New("these tables are read-only: INSERT, UPDATE and DELETE work on tables of your own")

// Insert implements [vtab.Updater].
func (*table) Insert([]vtab.Value, *int64) error { return errReadOnly }

// Update implements [vtab.Updater].
func (*table) Update(int64, []vtab.Value, *int64) error { return errReadOnly }

// Delete implements [vtab.Updater].
func (*table) Delete(int64) error { return errReadOnly }

// Open implements [vtab.Table].
func (t *table) Open() (vtab.Cursor, error) {
	t.conn.open++
	return &reading{table: t}, nil
}

// Disconnect implements [vtab.Table].
func (*table) Disconnect() error { return nil }

// Destroy implements [vtab.Table].
func (*table) Destroy() error { return nil }
