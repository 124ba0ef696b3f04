package twitch

import (
	"context"
	"errors"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// answer is what every list of Helix looks like.
// https://dev.twitch.tv/docs/api/guide/#pagination
type answer[T any] struct {
	Data       []upstream.Object[T] `json:"data"`
	Pagination struct {
		Cursor string `json:"cursor"`
	} `json:"pagination"` // {} or absent on the last page
}

// errNoList says that an answer, though JSON, holds no list: to pass it on as an empty one would be a lie.
var errNoList = errors.New("twitch: the answer holds no data")

// get reads the rows of one answer.
func get[T any](ctx context.Context, c *client, r upstream.Request) ([]upstream.Object[T], error) {
	rows, _, err := list[T](ctx, c, r, "")
	return rows, err
}

// list reads the page at a cursor and returns the cursor of the next one. A last page may hold a cursor too; then the
// page behind it has no rows.
func list[T any](ctx context.Context, c *client, r upstream.Request, cursor string) (rows []upstream.Object[T], next string, err error) {
	var a answer[T]
	_, err = c.http.JSON(ctx, r.With("after", cursor), &a)
	switch {
	case cursor != "" && errors.Is(err, errRefused):
		return nil, "", providers.ErrCursor
	case err != nil:
		return nil, "", err
	case a.Data == nil:
		return nil, "", providers.Unreadable(errNoList)
	case len(a.Data) == 0:
		return nil, "", nil
	}
	return a.Data, a.Pagination.Cursor, nil
}
