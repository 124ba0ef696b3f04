// Package pages reads cursors that are numbers, and cuts lists that an upstream gives whole into pages: the cursor is then
// a place in the list, counted from 0.
package pages

import (
	"strconv"

	"github.com/socialdata/socialdata/providers"
)

// Offset reads a cursor; "" is 0. It fails with [providers.ErrCursor].
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

// Number reads a cursor that is the number of a page, from 2 to last; "" is 1. It fails with [providers.ErrCursor].
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

// Cut returns the size rows at cursor, fewer at the end, and the cursor of what follows: "" when nothing does.
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
