package pinterest

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// widgets reads what Pinterest offers to other sites for showing pins, accounts and boards.
type widgets struct {
	http  *upstream.Client
	short shortener
}

func newWidgets(cfg Config) providers.Provider {
	w := &widgets{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WidgetsURL, "https://widgets.pinterest.com"), Check: check, Absent: fails,
			Header: http.Header{"User-Agent": {browser.Agent}, "Accept": {"application/json"}}, Quota: upstream.NewQuota(0, 0),
		}),
		short: newShortener(cfg),
	}
	return providers.Provider{
		Name: "pinterest_widgets", Platform: platform.Pinterest, Source: schema.Own, Prompt: true,
		Profile:         w.profile,
		Posts:           w.posts,
		Post:            w.post,
		Collection:      w.collection,
		CollectionPosts: w.collectionPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpCollection:      {"kind": {"board"}},
			providers.OpCollectionPosts: {"kind": {"board"}},
		},
	}
}

// card is the widget of an account or a board: about 50 of the newest pins.
type card struct {
	Data struct {
		User  wire.Object[user]  `json:"user"`
		Board wire.Object[board] `json:"board"`
		Pins  sparse[pin]        `json:"pins"`
	} `json:"data"`
}

// card reads the widget of an account, or of its board with the given slug.
func (w *widgets) card(ctx context.Context, handle, slug string) (c card, err error) {
	r := upstream.Get("v3/pidgets/users", handle, "pins/")
	if slug != "" {
		r = upstream.Get("v3/pidgets/boards", handle, slug, "pins/")
	}
	if _, err = w.http.Read(ctx, r, &c); err != nil {
		return c, err
	}
	if err = wire.Need(ctx, "data.user", c.Data.User.Here()); err != nil {
		return c, err
	}
	return c, wire.SameFold(ctx, "account", handle, c.Data.User.V.handle())
}

func (w *widgets) profile(ctx context.Context, handle string) (schema.Profile, error) {
	c, err := w.card(ctx, handle, "")
	if err != nil {
		return schema.Profile{}, err
	}
	return c.Data.User.V.profile(c.Data.User.Raw), nil
}

func (w *widgets) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if page.Items, err = w.pins(ctx, handle, "", cursor); err != nil {
		return page, err
	}
	return page, nil
}

// pins reads the pins on a widget, which has one page.
func (w *widgets) pins(ctx context.Context, handle, slug, cursor string) ([]schema.Post, error) {
	if cursor != "" {
		return nil, providers.ErrCursor
	}
	c, err := w.card(ctx, handle, slug)
	if err != nil {
		return nil, err
	}
	if slug != "" {
		if err := c.isBoard(ctx, handle+"/"+slug); err != nil {
			return nil, err
		}
	}
	count := c.Data.User.V.pins()
	if slug != "" {
		count = c.Data.Board.V.Pins.V
	}
	posts, err := wire.Items(ctx, "data.pins", c.Data.Pins.Rows, pin.post)
	if err != nil {
		return nil, err
	}
	err = wire.Witness{Rows: c.Data.Pins.understood(), Count: count}.Check(ctx, "data.pins")
	if err != nil {
		return nil, err
	}
	return posts, nil
}

// isBoard returns nil if c is the card of the board with that path.
func (c card) isBoard(ctx context.Context, path string) error {
	if err := wire.Need(ctx, "data.board", c.Data.Board.Here()); err != nil {
		return err
	}
	return c.Data.Board.V.is(ctx, path)
}

func (w *widgets) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := w.pin(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	post, _ := p.V.post(p.Raw)
	return post, nil
}

func (w *widgets) pin(ctx context.Context, id string) (none wire.Object[pin], err error) {
	number, err := w.short.resolve(ctx, providers.PostID, id)
	if err != nil {
		return none, err
	}
	var answer struct {
		Pins sparse[pin] `json:"data"`
	}
	if _, err := w.http.Read(ctx, upstream.Get("v3/pidgets/pins/info/").With("pin_ids", number), &answer); err != nil {
		return none, err
	}
	if err := answer.Pins.Check(ctx, "data"); err != nil {
		return none, err
	}
	for _, p := range answer.Pins.All() {
		return p, p.V.whole(ctx, number)
	}
	return none, absent(noPin)
}

func (w *widgets) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	path, handle, slug, err := w.board(ctx, q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	c, err := w.card(ctx, handle, slug)
	if err != nil {
		return schema.Collection{}, err
	}
	if err := c.isBoard(ctx, path); err != nil {
		return schema.Collection{}, err
	}
	b := c.Data.Board
	b.V.Owner = &c.Data.User.V
	out, _ := b.V.collection(b.Raw)
	return out, nil
}

func (w *widgets) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	_, handle, slug, err := w.board(ctx, q.ID)
	if err != nil {
		return page, err
	}
	page.Items, err = w.pins(ctx, handle, slug, cursor)
	return page, err
}

// board splits the path of a board.
func (w *widgets) board(ctx context.Context, id string) (path, handle, slug string, err error) {
	if path, err = w.short.resolve(ctx, providers.CollectionID, id); err != nil {
		return "", "", "", err
	}
	handle, slug, ok := strings.Cut(path, "/")
	if !ok {
		err = errByAddress
	}
	return path, handle, slug, err
}

// errByAddress is returned by sources that cannot find a board by its number.
var errByAddress = providers.Unsupported("Pinterest's widgets and feeds only find a board by its URL")
