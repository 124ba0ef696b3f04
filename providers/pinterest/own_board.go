package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// board is a board in the website's API and the widgets.
type board struct {
	ID          wire.Serial `json:"id"`
	Type        string      `json:"type"` // board
	Name        string      `json:"name"`
	Description string      `json:"description"`
	URL         string      `json:"url"` // a path or an address
	Owner       *user       `json:"owner"`
	Privacy     string      `json:"privacy"` // public, protected or secret
	Pins        wire.Count  `json:"pin_count"`
	CoverHD     string      `json:"image_cover_hd_url"`
	Cover       string      `json:"image_cover_url"`
	Thumbnail   string      `json:"image_thumbnail_url"` // in the widgets
	CreatedAt   wire.Time   `json:"created_at"`
}

func (b board) id() string { return string(b.ID) }

// path returns the path of the board's page without slashes around it, such as ann_example/tea; "" when it is unknown.
func (b board) path() string {
	u, err := url.Parse(b.URL)
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// collection converts b; it reports false for what is not a board, and for a board that is not public.
func (b board) collection(raw json.RawMessage) (schema.Collection, bool) {
	out := schema.Collection{
		Common:      schema.Common{ID: b.id(), Raw: raw},
		Kind:        schema.Board,
		Title:       b.Name,
		Description: text.NonEmpty(b.Description),
		ItemsCount:  b.Pins.V,
		CoverURL:    text.URL(cmp.Or(b.CoverHD, b.Cover, b.Thumbnail)),
		CreatedAt:   b.CreatedAt.V,
	}
	if b.Owner != nil && b.Owner.handle() != "" {
		out.Owner = new(b.Owner.actor())
	}
	switch path := b.path(); {
	case path != "":
		out.URL = page(path)
	case out.Owner != nil:
		out.URL = page(out.Owner.Handle)
	}
	return out, (b.Type == "" || b.Type == "board") && isPublic(b.Privacy)
}

const ownPage = 25 // boards of an account, or pins of a board

func (o *own) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (providers.Page[schema.Collection], error) {
	return rows(ctx, o, "Boards", options{
		"username": q.Handle, "field_set_key": "profile_grid_item", "sort": "last_pinned_to", "filter_stories": false,
		"page_size": ownPage, "include_archived": true,
	}, cursor, o.counts(q.Handle, user.boards), board.collection)
}

func (o *own) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	b, err := o.board(ctx, q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	out, _ := b.V.collection(b.Raw)
	return out, nil
}

// board reads a board, by its number or the path of its page.
func (o *own) board(ctx context.Context, id string) (b wire.Object[board], err error) {
	if id, err = o.short.resolve(ctx, providers.CollectionID, id); err != nil {
		return b, err
	}
	opts := options{"field_set_key": "detailed"}
	handle, slug, byPath := strings.Cut(id, "/")
	if byPath {
		opts["username"], opts["slug"] = handle, slug
	} else {
		opts["board_id"] = id
	}
	if b, err = single[board](ctx, o, "Board", opts); err != nil {
		return b, err
	}
	if byPath {
		err = b.V.is(ctx, id)
	} else {
		err = wire.Same(ctx, "board", id, b.V.id())
	}
	if err != nil {
		return b, err
	}
	if !isPublic(b.V.Privacy) {
		return b, absent(noBoard)
	}
	return b, nil
}

// is returns nil if b is the board with that path, as far as b says.
func (b board) is(ctx context.Context, path string) error {
	if got := b.path(); got != "" {
		return wire.SameFold(ctx, "board", path, got)
	}
	handle, _, _ := strings.Cut(path, "/")
	if b.Owner == nil {
		return wire.Need(ctx, "resource_response.data.url", false)
	}
	return wire.SameFold(ctx, "board", handle, b.Owner.handle())
}

// collectionPosts reads the pins of a board. The cursor begins with the number of the board.
func (o *own) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	id, cursor, err := o.boardAt(ctx, q.ID, cursor)
	if err != nil {
		return page, err
	}
	page, err = rows(ctx, o, "BoardFeed", options{
		"board_id": id, "field_set_key": "react_grid_pin", "page_size": ownPage, "prepend": false,
	}, cursor, func(ctx context.Context) (*int64, error) {
		b, err := o.board(ctx, id)
		return b.V.Pins.V, err
	}, pin.post)
	if err != nil {
		return page, err
	}
	if page.Next != "" {
		page.Next = id + "." + page.Next
	}
	return page, nil
}

// boardAt returns the number of a board, and the position in the list of its pins.
func (o *own) boardAt(ctx context.Context, id, cursor string) (number, rest string, err error) {
	if cursor != "" {
		if number, rest, _ = strings.Cut(cursor, "."); !isNumber(number) || rest == "" {
			return "", "", providers.ErrCursor
		}
		return number, rest, nil
	}
	if isNumber(id) {
		return id, "", nil
	}
	b, err := o.board(ctx, id)
	if err != nil {
		return number, "", err
	}
	err = wire.Need(ctx, "resource_response.data.id", b.V.id() != "")
	return b.V.id(), "", err
}

// ParseBoard is [ParsePin] for a board. It also reports false for a board that is not public.
func ParseBoard(ctx context.Context, raw json.RawMessage) (schema.Collection, bool, error) {
	var b board
	if err := wire.Decode(ctx, raw, &b); err != nil {
		return schema.Collection{}, true, err
	}
	collection, belongs := b.collection(raw)
	return collection, belongs, nil
}
