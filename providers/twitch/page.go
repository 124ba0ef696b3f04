package twitch

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// answer is the envelope of every list of Helix.
// https://dev.twitch.tv/docs/api/guide/#pagination
type answer[T any] struct {
	Data       wire.Rows[T] `json:"data"`
	Pagination pagination   `json:"pagination"`
}

// pagination leads to the next page; {} or absent on the last one.
type pagination json.RawMessage

// UnmarshalJSON never fails.
func (p *pagination) UnmarshalJSON(b []byte) error {
	*p = append((*p)[:0], b...)
	return nil
}

func (p pagination) next(ctx context.Context) (string, error) {
	if len(p) == 0 || string(p) == "null" {
		return "", nil
	}
	var at struct {
		Cursor wire.Token `json:"cursor"`
	}
	if err := wire.Decode(ctx, p, &at); err != nil {
		return "", err
	}
	return at.Cursor.Next(ctx, "pagination.cursor")
}

// list reads the page at a cursor and returns the cursor of the next one. The last page may have a cursor too; then the
// page after it has no rows.
func list[T any](ctx context.Context, c *client, r upstream.Request, cursor string) (rows wire.Rows[T], next string, err error) {
	var a answer[T]
	if err := c.read(ctx, r, cursor, &a); err != nil {
		return rows, "", err
	}
	if err := a.Data.Check(ctx, "data"); err != nil {
		return rows, "", err
	}
	if a.Data.Len() > 0 {
		next, err = a.Pagination.next(ctx)
	}
	return a.Data, next, err
}

// listPage reads the page at a cursor as [list] does, and converts its rows.
func listPage[T, O any](
	ctx context.Context, c *client, r upstream.Request, cursor string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	rows, next, err := list[T](ctx, c, r.With("first", pageSize), cursor)
	if err != nil {
		return page, err
	}
	page.Next = next
	page.Items, err = wire.Items(ctx, "data", rows, convert)
	return page, err
}

// read reads the page at a cursor into dst. If Helix rejects a request with a cursor as malformed, the cursor is the
// reason.
func (c *client) read(ctx context.Context, r upstream.Request, cursor string, dst any) error {
	if cursor != "" {
		r = r.Says("after", cursor)
	}
	_, err := c.http.Read(ctx, r, dst)
	if cursor != "" && errors.Is(err, providers.ErrInvalid) {
		return providers.ErrCursor
	}
	return err
}

// several reads the rows of the answer to a request with each of keys, at most 100, as the parameter name. about
// returns the key of a row.
func several[T any](
	ctx context.Context, c *client, r upstream.Request, name string, keys []string, about func(T) string,
) (found wire.Keyed[T], err error) {
	if len(keys) == 0 {
		return found, nil
	}
	r = r.Each(name, keys)
	r.Input = true
	rows, _, err := list[T](ctx, c, r, "")
	if err != nil {
		return found, err
	}
	return wire.ByKey(ctx, "data", rows, keys, about)
}

// one returns the row for which is returns true; what is the name of the thing. It returns [providers.ErrNotFound] if
// there are no rows.
func one[T any](ctx context.Context, c *client, r upstream.Request, what string, is func(T) bool) (wire.Object[T], error) {
	rows, _, err := list[T](ctx, c, r, "")
	if err != nil {
		return wire.Object[T]{}, err
	}
	for _, o := range rows.All() {
		if is(o.V) {
			return o, nil
		}
	}
	if rows.Len() > 0 {
		return wire.Object[T]{}, wire.Same(ctx, what, "", "another")
	}
	return wire.Object[T]{}, providers.ErrNotFound
}
