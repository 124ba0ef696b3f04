package youtube

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// pageSize is that of every list except comments; YouTube's maximum.
const pageSize = "50"

// list is the answer of every list method.
// https://developers.google.com/youtube/v3/docs/videos/list#response
type list[T any] struct {
	Kind string `json:"kind"` // such as youtube#videoListResponse
	Page struct {
		Total wire.Count `json:"totalResults"` // an estimate, except for 0
	} `json:"pageInfo"`
	Items wire.Rows[T] `json:"items"`
	Token wire.Token   `json:"nextPageToken"`
	Next  string       `json:"-"` // the decoded token
}

// get reads a list for r, and checks its kind. If there is no such channel, the items of a list of channels are missing
// instead of empty.
func get[T any](ctx context.Context, c *client, r upstream.Request) (list[T], error) {
	var l list[T]
	if _, err := c.http.Read(ctx, r, &l); err != nil {
		return l, err
	}
	resource := r.Path[0]
	if err := wire.Marker(ctx, "kind", l.Kind, "youtube#"+strings.TrimSuffix(resource, "s")+"ListResponse"); err != nil {
		return l, err
	}
	var err error
	if l.Next, err = l.Token.Next(ctx, "nextPageToken"); err != nil {
		return l, err
	}
	if total := l.Page.Total.V; resource == "channels" && (total == nil || *total == 0) {
		return l, l.Items.Optional(ctx, "items")
	}
	return l, l.Items.Check(ctx, "items")
}

// listPage reads a page of a list as [get] does, and converts its rows.
func listPage[T, O any](
	ctx context.Context, c *client, r upstream.Request, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	found, err := get[T](ctx, c, r)
	if err != nil {
		return page, err
	}
	page.Next = found.Next
	page.Items, err = wire.Items(ctx, "items", found.Items, convert)
	return page, err
}

// batch are the results for some ids, in the order of the ids, without those that do not exist.
type batch[T any] struct {
	rows []wire.Object[T]
	lost int // rows that cannot be read, or were not requested
}

// most is the maximum number of ids in one request.
const most = 50

// byID reads at most 50 things, and sorts them in the order of ids. A malformed row is reported in the batch.
func byID[T any](ctx context.Context, c *client, r upstream.Request, ids []string, id func(T) string) (batch[T], error) {
	var b batch[T]
	if len(ids) == 0 {
		return b, nil
	}
	found, err := get[T](ctx, c, r.With("id", strings.Join(ids, ",")))
	if err != nil {
		return b, err
	}
	b.lost = found.Items.Lost()
	at := make(map[string]wire.Object[T], found.Items.Len())
	for _, o := range found.Items.All() {
		if wire.Need(ctx, "items[].id", slices.Contains(ids, id(o.V))) != nil {
			b.lost++
			continue
		}
		at[id(o.V)] = o
	}
	for _, id := range ids {
		if o, ok := at[id]; ok {
			b.rows = append(b.rows, o)
			delete(at, id) // a playlist may contain a video twice
		}
	}
	return b, nil
}

// one returns the only thing that was requested; what is the name of the thing.
func (b batch[T]) one(what string) (wire.Object[T], error) {
	return b.find(what, func(T) bool { return true })
}

// find returns the thing for which meant returns true; what is the name of the thing.
func (b batch[T]) find(what string, meant func(T) bool) (wire.Object[T], error) {
	for _, o := range b.rows {
		if meant(o.V) {
			return o, nil
		}
	}
	if err := wire.Understood("items", 0, b.lost); err != nil {
		return wire.Object[T]{}, err
	}
	return wire.Object[T]{}, providers.NotFound("no such %s", what)
}

// forward reads a route unchanged. Searches count against their own limit here too.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	r := upstream.Request{Path: []string{path}, Query: query, Input: true}
	if path == "search" {
		r = r.On(c.search)
	}
	var raw json.RawMessage
	_, err := c.http.JSON(ctx, r, &raw)
	return raw, err
}
