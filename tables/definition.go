package tables

import (
	"reflect"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// definition is what a table is made of. It is read-only.
type definition struct {
	name    string
	op      *operation.Operation
	batch   *operation.Operation // that reads many keys; nil if none does
	flat    *schema.Flat
	columns []column
	time    int   // column of the time that since is about; -1 if the operation has no since
	shared  []int // columns of flat with platform, id and url, which identify a row; nil if it has none
}

// column is a column of a table.
type column struct {
	name   string
	kind   schema.ColumnKind
	hidden bool
	flat   int              // of the row's values; -1 if it is not one of them
	param  *operation.Param // that the column gives a value to; nil if none
}

// rawColumn is the number of _raw. It comes first, because SQLite only says of the first 63 columns whether a query uses
// them.
const rawColumn = 0

// platformParam is the parameter that is a part of the path.
var platformParam = operation.Param{Name: "platform", Required: true, Form: operation.FormText}

// definitions returns the tables, in the order of the operations.
func definitions() []*definition {
	services := []string{"search_across", "platforms", "usage", "changes", "history"}
	var out []*definition
	for _, o := range socialdata.Operations() {
		if o.Of != "" || o.Data.Kind() == reflect.Interface || o.Service && !slices.Contains(services, o.Name) {
			continue
		}
		out = append(out, definitionOf(o))
	}
	return out
}

func definitionOf(o *operation.Operation) *definition {
	d := &definition{
		name: strings.ReplaceAll(o.Name, "/", "_"), op: o, batch: socialdata.Operation(o.Name + "/batch"),
		flat: schema.FlatOf(o.Data), time: -1,
		columns: []column{{name: "_raw", hidden: true, kind: schema.TextColumn, flat: -1}},
	}
	byName := map[string]int{}
	for i, c := range d.flat.Columns {
		if c.Name == "raw" {
			d.columns[rawColumn].flat = i
			continue
		}
		byName[c.Name] = len(d.columns)
		d.columns = append(d.columns, column{name: c.Name, kind: c.Kind, flat: i})
	}
	params := slices.DeleteFunc(slices.Clone(o.Params), func(p operation.Param) bool { return !asked(o, p) })
	if !o.Service {
		params = append([]operation.Param{platformParam}, params...)
	}
	for i := range params {
		p := &params[i]
		at, isField := byName[p.Name]
		if !isField {
			at = len(d.columns)
			d.columns = append(d.columns, column{name: p.Name, kind: schema.TextColumn, hidden: true, flat: -1})
		}
		d.columns[at].param = p
	}
	for _, name := range metaColumns() {
		d.columns = append(d.columns, column{name: name, hidden: true, flat: -1})
	}
	if o.Has("since") {
		for _, name := range []string{"created_at", "at"} {
			if at, ok := byName[name]; ok {
				d.time = at
			}
		}
	}
	for _, name := range []string{"platform", "id", "url"} {
		if at, ok := byName[name]; ok {
			d.shared = append(d.shared, d.columns[at].flat)
		}
	}
	if len(d.shared) < 3 {
		d.shared = nil
	}
	return d
}

// asked reports whether a parameter is a column: it says what is read. The others are the table's own business.
func asked(o *operation.Operation, p operation.Param) bool {
	switch p.Name {
	case "include_raw", "max_credits", operation.ParamLimit, operation.ParamFields, "pages", "wait_s":
		return false
	case "group", "key": // of usage: they ask for sums, which SQL makes itself
		return o.Or == nil
	}
	return p.Form != operation.FormCursor
}

// metaColumns are the hidden columns about the call that has brought a row.
func metaColumns() []string { return []string{"_cache", "_age_s", "_credits", "_source"} }

// declaration returns the table as SQLite wants it declared.
func (d *definition) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	for i, c := range d.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(c.name))
		if c.kind != "" {
			b.WriteString(" " + string(c.kind))
		}
		if c.hidden {
			b.WriteString(" HIDDEN")
		}
	}
	b.WriteString(")")
	return b.String()
}

// quoted returns a name as SQL writes one that may be a keyword.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
