// Package pages parses cursors that are numbers, and cuts complete lists into pages: the cursor is then an index into
// the list.
package pages

import (
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Offset parses a cursor; "" is 0. It returns [providers.ErrCursor] for an invalid one.
func Offset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return 0, providers.ErrCursor
	}
	return n, nil
}

// Number parses a cursor that is a page number, from 2 to last; "" is 1. It returns [providers.ErrCursor] for an
// invalid one.
func Number(cursor string, last int) (int, error) {
	if cursor == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 2 || n > last {
		return 0, providers.ErrCursor
	}
	return n, nil
}

// Cut returns size rows from cursor on, fewer at the end, and the cursor of the next page: "" when there is none.
func Cut[T any](rows []T, cursor string, size int) (page []T, next string, err error) {
	from, err := Offset(cursor)
	if err != nil {
		return nil, "", err
	}
	from = min(from, len(rows))
	to := from + min(size, len(rows)-from)
	if to < len(rows) {
		next = strconv.Itoa(to)
	}
	return rows[from:to], next, nil
}

// Results returns a page of one kind of objects as a page of search results.
func Results[T any, P interface {
	*T
	schema.Object
}](found providers.Page[T]) providers.Page[schema.SearchResult] {
	page := providers.Page[schema.SearchResult]{Next: found.Next, Raw: found.Raw}
	for i := range found.Items {
		page.Items = append(page.Items, schema.Result(P(&found.Items[i])))
	}
	return page
}
