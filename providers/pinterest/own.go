package pinterest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// own reads the API behind the website, with the requests that the website's own scripts send.
type own struct {
	http  *upstream.Client
	short shortener
}

func newOwn(cfg Config) providers.Provider {
	o := &own{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.pinterest.com"), Header: asWebsite(), Check: check, Absent: fails,
			Quota: upstream.NewQuota(0, 0),
		}),
		short: newShortener(cfg),
	}
	return providers.Provider{
		Name: "pinterest_own", Platform: platform.Pinterest, Source: schema.Own, Prompt: true,
		PageSizes:       providers.PagesOf(strconv.Itoa(ownPage), providers.OpCollections, providers.OpCollectionPosts),
		Profile:         o.profile,
		Posts:           o.posts,
		Post:            o.post,
		Search:          o.search,
		Collections:     o.collections,
		Collection:      o.collection,
		CollectionPosts: o.collectionPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:          {"kind": {"post", "profile", "collection"}},
			providers.OpCollections:     {"kind": {"board"}},
			providers.OpCollection:      {"kind": {"board"}},
			providers.OpCollectionPosts: {"kind": {"board"}},
		},
		Notes: notes,
	}
}

// asWebsite returns the headers that the website's own scripts send. Without the handler header, which may name any
// page of the site, every request is refused as an "Invalid Resource Request".
func asWebsite() http.Header {
	csrf := make([]byte, 16)
	rand.Read(csrf) // it never fails
	return http.Header{
		"User-Agent":              {browser.Agent},
		"Accept":                  {"application/json, text/javascript, */*, q=0.01"},
		"Accept-Language":         {"en-US,en;q=0.9"},
		"Cookie":                  {"csrftoken=" + hex.EncodeToString(csrf)},
		"X-Requested-With":        {"XMLHttpRequest"},
		"X-Pinterest-AppState":    {"active"},
		"X-APP-VERSION":           {"a89153f"},
		"X-Pinterest-PWS-Handler": {"www/[username].js"},
	}
}

// options are the parameters of a resource. They are written in the order of their names.
type options map[string]any

// ask returns the request for a resource of the website's API.
func ask(resource string, o options) (upstream.Request, error) {
	data, err := schema.Marshal(struct {
		Options options `json:"options"`
	}{o})
	return upstream.Get("resource", resource+"Resource", "get/").With("data", string(data)), err
}

// resource is an answer of the website's API.
type resource[T any] struct {
	Response struct {
		Data     T          `json:"data"`
		Bookmark wire.Token `json:"bookmark"` // the same as below, when there is a next page
	} `json:"resource_response"`
	Resource struct {
		Options struct {
			Username  string            `json:"username"` // as requested
			BoardID   wire.ID           `json:"board_id"` // as requested
			Bookmarks wire.Rows[string] `json:"bookmarks"`
		} `json:"options"`
	} `json:"resource"`
}

// sparse is a list in which null marks what has been taken down and does not count as malformed.
type sparse[T any] struct {
	wire.Rows[T]

	gone int // how many nulls there were
}

// understood returns the number of rows, including those that have been taken down.
func (s sparse[T]) understood() int { return s.Len() + s.gone }

// UnmarshalJSON never fails.
func (s *sparse[T]) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) && bytes.Contains(b, []byte("null")) {
		rows := wire.First(b, wire.MaxRows+1)
		s.gone = len(rows)
		rows = slices.DeleteFunc(rows, func(row []byte) bool { return string(row) == "null" })
		s.gone -= len(rows)
		b = slices.Concat([]byte("["), bytes.Join(rows, []byte(",")), []byte("]"))
	}
	return s.Rows.UnmarshalJSON(b)
}

// read reads a resource.
func read[T any](ctx context.Context, o *own, name string, opts options) (answer resource[T], err error) {
	r, err := ask(name, opts)
	if err != nil {
		return answer, err
	}
	_, err = o.http.Read(ctx, r, &answer)
	return answer, err
}

// single reads a resource that is one object.
func single[T any](ctx context.Context, o *own, name string, opts options) (wire.Object[T], error) {
	answer, err := read[wire.Object[T]](ctx, o, name, opts)
	if err != nil {
		return wire.Object[T]{}, err
	}
	data := answer.Response.Data
	return data, wire.Need(ctx, "resource_response.data", data.Here())
}

// next returns the bookmark of the next page, "" when there is none, and whether r itself says that its page is the
// last.
func (r resource[T]) next(ctx context.Context) (next string, last bool, err error) {
	bookmarks := r.Resource.Options.Bookmarks
	for _, b := range bookmarks.All() {
		next = b.V
		break
	}
	if next == "" {
		if next, err = r.Response.Bookmark.Next(ctx, "resource_response.bookmark"); err != nil {
			return "", false, err
		}
	}
	if next == "" {
		return "", false, wire.Need(ctx, "resource.options.bookmarks", !bookmarks.Odd() && bookmarks.Lost() == 0)
	}
	if isEnd(next) {
		return "", true, nil
	}
	return next, false, nil
}

// isEnd reports whether a bookmark marks the end of a list; the second form is cbNone.
func isEnd(bookmark string) bool {
	return bookmark == "-end-" || strings.HasPrefix(bookmark, "Y2JOb25lO")
}

// place is a position in a list: the bookmark of a page, and the id with which the whole list begins. Pinterest accepts
// any text as a bookmark, and then answers with its first page.
type place struct{ first, bookmark string }

func placeOf(cursor string) (place, error) {
	first, bookmark, ok := strings.Cut(cursor, ".")
	if cursor != "" && (!ok || bookmark == "") {
		return place{}, providers.ErrCursor
	}
	return place{first, bookmark}, nil
}

// of returns opts for the page at p.
func (p place) of(opts options) options {
	if p.bookmark != "" {
		opts["bookmarks"] = []string{p.bookmark}
	}
	return opts
}

// then returns the cursor of the page after the one at p, which begins with an id. It returns [providers.ErrCursor] if
// that page is the first of the list again and not the last.
func (p place) then(begins, next string) (string, error) {
	switch {
	case next == "":
		return "", nil
	case p.bookmark == "":
		return begins + "." + next, nil
	case begins != "" && begins == p.first:
		return "", providers.ErrCursor
	}
	return p.first + "." + next, nil
}

// begins returns the id of the first row that has one.
func begins[T interface{ id() string }](rows wire.Rows[T]) string {
	for _, row := range rows.All() {
		if id := row.V.id(); id != "" {
			return id
		}
	}
	return ""
}

// turn makes a page of the rows of an answer, which are at a place such as "resource_response.data".
func turn[A any, T interface{ id() string }, O any](
	ctx context.Context, answer resource[A], at place, name string, rows sparse[T],
	count counter, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	items, err := wire.Items(ctx, name, rows.Rows, convert)
	if err != nil {
		return page, err
	}
	next, last, err := answer.next(ctx)
	if err != nil {
		return page, err
	}
	w := wire.Witness{Rows: rows.understood(), Cursor: at.bookmark, Last: last, More: next != ""}
	if err := count.check(ctx, w, name); err != nil {
		return page, err
	}
	next, err = at.then(begins(rows.Rows), next)
	if err != nil {
		return page, err
	}
	return providers.Page[O]{Items: items, Next: next}, nil
}

// counter returns the number of things in a list; nil when it is unknown.
type counter func(ctx context.Context) (*int64, error)

// check returns an error unless a list may be empty. It reads the count only if that decides.
func (c counter) check(ctx context.Context, w wire.Witness, name string) error {
	if w.Rows == 0 && w.Cursor == "" && !w.More && c != nil {
		var err error
		if w.Count, err = c(ctx); err != nil {
			return err
		}
	}
	return w.Check(ctx, name)
}

// rows reads one page of a resource that is a list. It compares what the answer says it is about with what was
// requested.
func rows[T interface{ id() string }, O any](
	ctx context.Context, o *own, name string, opts options, cursor string,
	count counter, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	at, err := placeOf(cursor)
	if err != nil {
		return page, err
	}
	answer, err := read[sparse[T]](ctx, o, name, at.of(opts))
	if err != nil {
		return page, blameCursor(err, cursor)
	}
	about := answer.Resource.Options
	if handle, ok := opts["username"].(string); ok && about.Username != "" {
		err = wire.SameFold(ctx, "account", handle, about.Username)
	}
	if board, ok := opts["board_id"].(string); ok && about.BoardID != "" {
		err = wire.Same(ctx, "board", board, string(about.BoardID))
	}
	if err != nil {
		return page, err
	}
	return turn(ctx, answer, at, "resource_response.data", answer.Response.Data, count, convert)
}
