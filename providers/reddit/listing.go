package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// thing is how Reddit wraps every object: t1 is a comment, t2 an account, t3 a post, t5 a community, more a stub.
// https://www.reddit.com/dev/api#fullnames
type thing[T any] struct {
	Kind string         `json:"kind"`
	Data wire.Object[T] `json:"data"`
}

// kinds are the words by which Reddit names things.
var kinds = map[string]bool{"t1": true, "t2": true, "t3": true, "t4": true, "t5": true, "t6": true, "more": true}

// is tells whether t is of a kind, and whether that can be told at all.
func (t thing[T]) is(kind string) (it, known bool) {
	return t.Kind == kind && t.Data.Raw != nil, t.Data.Raw != nil && kinds[t.Kind]
}

// listing is a page of things.
// https://www.reddit.com/dev/api#listings
type listing[T any] struct {
	Kind string `json:"kind"`
	Data struct {
		After    wire.Token          `json:"after"` // null on the last page, and on no other, however short
		Children wire.Rows[thing[T]] `json:"children"`
	} `json:"data"`
}

func get(segments ...string) upstream.Request {
	// Without raw_json every string is HTML-escaped, addresses included.
	return upstream.Get(segments...).With("raw_json", "1")
}

var fullname = regexp.MustCompile(`^t[1-5]_[0-9a-z]+$`)

// list reads one page of things of a kind. Reddit takes any nonsense for a cursor and answers its first page, so it is
// checked here.
func list[T, O any](
	ctx context.Context, c *client, r upstream.Request, cursor, kind string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	if cursor != "" && !fullname.MatchString(cursor) {
		return page, providers.ErrCursor
	}
	var l listing[T]
	if _, err := c.api.Read(ctx, r.With("limit", pageSize).With("after", cursor), &l); err != nil {
		return page, err
	}
	if page.Items, err = items(ctx, l, kind, convert); err != nil {
		return page, err
	}
	page.Next, err = l.Data.After.Next(ctx, "data.after")
	return page, err
}

// items converts the things of a kind in a listing. What is of none that we know has no id, and is left out by the engine.
func items[T, O any](
	ctx context.Context, l listing[T], kind string, convert func(T, json.RawMessage) (O, bool),
) ([]O, error) {
	if err := wire.Marker(ctx, "kind", l.Kind, "Listing"); err != nil {
		return nil, err
	}
	convertThing := func(t thing[T], _ json.RawMessage) (none O, belongs bool) {
		it, known := t.is(kind)
		if !it {
			var odd T
			none, _ = convert(odd, nil)
			return none, !known
		}
		return convert(t.Data.V, t.Data.Raw)
	}
	return wire.Items(ctx, "data.children", l.Data.Children, convertThing)
}

// single reads the one thing of a kind that has an id, from the listing of those that have.
func single[T any](
	ctx context.Context, c *client, kind, what, id string, idOf func(T) wire.ID,
) (one wire.Object[T], err error) {
	var l listing[T]
	if _, err := c.api.Read(ctx, get("api/info").With("id", kind+"_"+id), &l); err != nil {
		return one, err
	}
	found, err := items(ctx, l, kind, func(v T, raw json.RawMessage) (wire.Object[T], bool) {
		return wire.Object[T]{V: v, Raw: raw}, true
	})
	switch {
	case err != nil:
		return one, err
	case len(found) == 0:
		return one, providers.NotFound("no such %s", what)
	}
	return found[0], wire.Same(ctx, what, id, string(idOf(found[0].V)))
}

// most is how many things GET /api/info takes.
// https://www.reddit.com/dev/api#GET_api_info
const most = 100

// several reads the things of a kind that r, a request for /api/info, asks for by keys. About says which of them a thing is.
func several[T any](
	ctx context.Context, c *client, r upstream.Request, kind string, keys []string, about func(T) string,
) (found wire.Keyed[thing[T]], err error) {
	if len(keys) == 0 {
		return found, nil
	}
	var l listing[T]
	if _, err := c.api.Read(ctx, r, &l); err != nil {
		return found, err
	}
	if err := wire.Marker(ctx, "kind", l.Kind, "Listing"); err != nil {
		return found, err
	}
	return wire.ByKey(ctx, "data.children", l.Data.Children, keys, func(t thing[T]) string {
		if it, _ := t.is(kind); !it {
			return ""
		}
		return about(t.Data.V)
	})
}

// address reads a URL, which Reddit escapes here and there although it was asked not to.
func address(s string) *string {
	if s == "" {
		return nil
	}
	return text.URL(strings.ReplaceAll(s, "&amp;", "&"))
}

// unescape undoes, once, the escaping that some answers have although they were asked not to. It is for titles and
// descriptions: a body is Markdown, where people write entities and mean them.
var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace

const (
	deleted = "[deleted]" // stands where an account or a text was deleted by its owner
	removed = "[removed]" // and where a moderator took a text away
)

// author names who wrote a post or comment; old answers have no fullname.
func author(name, fullname string) schema.Actor {
	switch {
	case name == deleted, name == "" && fullname == "":
		return schema.Actor{ID: deleted, Handle: deleted}
	case name == "":
		return schema.UnknownActor()
	}
	return schema.Actor{ID: cmp.Or(strings.TrimPrefix(fullname, "t2_"), name), Handle: name}
}

// shown gives a score, unless a flag hides it or nobody knows what the flag says.
func shown(score wire.Score, hidden wire.Bool) *int64 {
	if !hidden.Not() {
		return nil
	}
	return score.V
}

// permalink returns the public address of a path.
func permalink(path, fallback string) string {
	return text.URLOr(strings.ReplaceAll(defaultWeb+cmp.Or(path, fallback), "&amp;", "&"), defaultWeb+fallback)
}
