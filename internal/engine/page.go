package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
)

// boundTo returns the text to which the cursor of a page is bound: the operation, the account and the parameters.
func boundTo(row *read.Row, owner string, in operation.Args) string {
	return row.Name + "|" + strconv.Quote(owner) + in.Binding()
}

// position returns the position at which the requested page begins; "" is the beginning.
func (s *Session) position(ctx context.Context, bound string, in operation.Args) (string, error) {
	given := in.Cursor()
	if given == "" {
		return "", nil
	}
	at, err := s.reader.OpenCursor(ctx, bound, given)
	if err != nil {
		return "", err
	}
	return at.Token, nil
}

// positionNumber is place for a position that is a number; 0 is the beginning.
func (s *Session) positionNumber(ctx context.Context, bound string, in operation.Args) (int64, error) {
	given, err := s.position(ctx, bound, in)
	if err != nil || given == "" {
		return 0, err
	}
	at, err := strconv.ParseInt(given, 10, 64)
	if err != nil {
		return 0, cursor.ErrInvalid
	}
	return at, nil
}

// pageOf returns the first size items of list as callers see them. If the list has more items, next is the position of
// the page's last item, otherwise "".
func pageOf[T, U any](list []T, size int, position func(*T) string, shown func(*T) U) (page []U, next string) {
	if len(list) > size {
		list = list[:size]
		next = position(&list[size-1])
	}
	page = make([]U, len(list))
	for i := range list {
		page[i] = shown(&list[i])
	}
	return page, next
}

// paged makes the free answer of a page, with the cursor of the next position; "" for none.
func (s *Session) paged(
	ctx context.Context, call operation.Call, data any, bound, next string,
) (*operation.Answer, error) {
	a, err := s.free(ctx, call, data)
	if err != nil || next == "" {
		return a, err
	}
	a.Meta.NextCursor, err = s.reader.SealCursor(ctx, bound,
		&cursor.Cursor{Token: next, Issued: s.cfg.Now().Truncate(time.Hour)})
	return a, err
}
