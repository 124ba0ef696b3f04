package mock

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/socialdata/socialdata/providers"
)

const pageSize = 20

// sizes returns the page sizes: the same for all lists.
func sizes() providers.PageSizes {
	return providers.PagesOf(strconv.Itoa(pageSize), providers.Lists()...)
}

// series is a list before it is divided into pages. It is endless, although its length is n: some magic words return
// more.
type series[T any] struct {
	n    int
	at   func(i int) T
	keep func(T) bool     // nil keeps all
	sort func(a, b T) int // nil keeps the order
}

// slice returns the objects from one position to another, without those that are not kept.
func (l series[T]) slice(from, to int) []T {
	var out []T
	for i := from; i < to; i++ {
		if o := l.at(i); l.keep == nil || l.keep(o) {
			out = append(out, o)
		}
	}
	if l.sort != nil {
		slices.SortStableFunc(out, l.sort)
	}
	return out
}

// page returns a page of an ordinary list, and the number of the next one, 0 if there is none.
func (l series[T]) page(number int) (items []T, next int, err error) {
	from, to, n := (number-1)*pageSize, number*pageSize, l.n
	if l.keep == nil && l.sort == nil { // only the page has to be generated
		items = l.slice(min(from, n), min(to, n))
	} else {
		all := l.slice(0, n)
		n = len(all)
		items = all[min(from, n):min(to, n)]
	}
	switch {
	case number > 1 && from >= n:
		return nil, 0, providers.ErrCursor // the page never existed
	case to < n:
		next = number + 1
	}
	return items, next, nil
}

// itself returns the key of an operation with one key.
func itself(key string) []string { return []string{key} }

// one serves one object for a query. The keys of the query may be magic words.
func one[Q, T any](s *sandbox, op providers.Op, keys func(Q) []string, read func(Q) (T, error)) func(context.Context, Q) (T, error) {
	return func(ctx context.Context, q Q) (T, error) {
		var none T
		w := magic(s.id, keys(q))
		if err := s.enter(ctx, op, w); err != nil {
			return none, err
		}
		o, err := read(q)
		if err != nil {
			return none, err
		}
		if w.touch != nil {
			w.touch(0, &o)
		}
		return o, nil
	}
}

// list serves the pages of a list for a query. The keys of the query may be magic words.
func list[Q, T any](s *sandbox, op providers.Op, keys func(Q) []string, read func(Q) (series[T], error)) func(context.Context, Q, string) (providers.Page[T], error) {
	return func(ctx context.Context, q Q, cursor string) (providers.Page[T], error) {
		var page providers.Page[T]
		w := magic(s.id, keys(q))
		if err := s.enter(ctx, op, w); err != nil {
			return page, err
		}
		number, err := pageNumber(cursor)
		if err != nil {
			return page, err
		}
		l, err := read(q)
		if err != nil {
			return page, err
		}
		var next int
		if w.turn == nil {
			page.Items, next, err = l.page(number)
		} else {
			var t turn
			t, err = w.turn(number)
			page.Items, next = l.slice(t.from, t.to), t.next
		}
		if err != nil {
			return providers.Page[T]{}, err
		}
		if w.touch != nil {
			for i := range page.Items {
				w.touch(i, &page.Items[i])
			}
		}
		if next > 0 {
			page.Next = strconv.Itoa(next)
		}
		return page, nil
	}
}

// pageNumber parses a cursor.
func pageNumber(cursor string) (int, error) {
	if cursor == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, providers.ErrCursor
	}
	return n, nil
}

// enter makes a call wait or fail if its word does so.
func (s *sandbox) enter(ctx context.Context, op providers.Op, w word) error {
	if err := gone(ctx); err != nil {
		return err
	}
	if w.fault && !s.faults {
		return providers.Invalid("the word %q only works in your own sandbox: start one with socialdata serve --sandbox", w.Word)
	}
	if w.enter == nil {
		return nil
	}
	return w.enter(ctx, s, op)
}

// gone returns an error if the caller is gone, or its time has run out.
func gone(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return &providers.Error{Kind: providers.ErrTimeout, Detail: "the sandbox did not answer in time", Err: err}
	}
	return err
}
