package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// column is a column of a table whose rows have the type R.
type column[R any] struct {
	Name  string      // in addresses, such as "credits"
	Head  string      // as the page shows it
	Class string      // "n" for numbers, "more" for what a narrow page leaves out
	Value func(R) any // by which rows are sorted and found: a string, int64, float64, bool, time or duration; nil for buttons
}

// table is the rows that a page shows. The address of the page says in which order and which: sort.NAME is the name of a
// column, after a - in descending order, and find.NAME a text that a row must contain.
type table[R any] struct {
	tableFrame

	Rows []R
}

// tableFrame is what surrounds the rows of a table.
type tableFrame struct {
	Name  string // in addresses; the id of the heading above it
	Path  string // of the page
	Heads []tableHead
	Find  string      // the text that rows must contain; "" for all
	Clear string      // the address without it
	Kept  [][2]string // the other parameters of the address, which the form of the filter sends again
	All   int         // number of rows without the filter
}

// sorted reports whether the address gives the order.
func (t tableFrame) sorted() bool {
	return slices.ContainsFunc(t.Heads, func(h tableHead) bool { return h.Sorted != "" })
}

// tableHead is the head of a column.
type tableHead struct {
	Text, Class string
	Link        string // sorts by the column; "" if nothing can
	Sorted      string // "ascending", "descending" or "" for another column
}

// newTable returns the table called name of the page at path, as r selects and sorts it.
func newTable[R any](r *http.Request, path, name string, rows []R, columns []column[R]) table[R] {
	query := url.Values{}                           // what the links keep
	if r.Method == http.MethodGet && r.URL != nil { // the address of a form has no selection
		query = r.URL.Query()
		query.Del("from") // in another order, the first page is another one
		if !viewerOf(r).operator() {
			query.Del("account") // it has one, whatever the address says
		}
	}
	sortBy, findBy := "sort."+name, "find."+name
	t := table[R]{tableFrame: tableFrame{Name: name, Path: path, Find: strings.TrimSpace(query.Get(findBy)), All: len(rows)}}
	with := func(parameter, value string) string {
		q := maps.Clone(query)
		if q.Set(parameter, value); value == "" {
			q.Del(parameter)
		}
		return strings.TrimSuffix(path+"?"+q.Encode(), "?") + "#" + name
	}
	t.Clear = with(findBy, "")
	for parameter, values := range byName(query) {
		if parameter != findBy {
			t.Kept = append(t.Kept, [2]string{parameter, values[0]})
		}
	}
	t.Rows = slices.Clone(rows)
	if t.Find != "" {
		t.Rows = slices.DeleteFunc(t.Rows, func(row R) bool { return !contains(row, t.Find, columns) })
	}
	sortedBy, descending := strings.CutPrefix(query.Get(sortBy), "-")
	for _, c := range columns {
		head := tableHead{Text: c.Head, Class: c.Class}
		if c.Value != nil {
			first, other := c.Name, "-"+c.Name
			if len(rows) > 0 && !isText(c.Value(rows[0])) {
				first, other = other, first // the highest and the newest first
			}
			head.Link = with(sortBy, first)
			if c.Name == sortedBy {
				head.Sorted = "ascending"
				if descending {
					head.Sorted = "descending"
				}
				if query.Get(sortBy) == first {
					head.Link = with(sortBy, other)
				}
				slices.SortStableFunc(t.Rows, func(a, b R) int {
					order := compare(c.Value(a), c.Value(b))
					if descending {
						return -order
					}
					return order
				})
			}
		}
		t.Heads = append(t.Heads, head)
	}
	return t
}

// contains reports whether a cell of a row contains text, whatever the case of its letters.
func contains[R any](row R, text string, columns []column[R]) bool {
	return slices.ContainsFunc(columns, func(c column[R]) bool {
		return c.Value != nil && strings.Contains(strings.ToLower(cellText(c.Value(row))), strings.ToLower(text))
	})
}

func isText(v any) bool { _, ok := v.(string); return ok }

// cellText writes a value as its cell shows it.
func cellText(v any) string {
	switch v := v.(type) {
	case time.Time:
		return second(v)
	case time.Duration:
		return milliseconds(v)
	case int64:
		return number(v)
	}
	return fmt.Sprint(v)
}

// compare orders two values of a column.
func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b.(string))), cmp.Compare(a, b.(string)))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case time.Duration:
		return cmp.Compare(a, b.(time.Duration))
	case time.Time:
		return a.Compare(b.(time.Time))
	case bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
	panic(fmt.Sprintf("dashboard: a column has values of type %T", a)) // a mistake in the code of a page
}

// timeOf returns the time that t points to, the zero time for nil: what has not happened sorts first.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
