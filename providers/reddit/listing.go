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

// thing is Reddit's envelope for every object: t1 is a comment, t2 an account, t3 a post, t5 a community, more a stub.
// https://www.reddit.com/dev/api#fullnames
type thing[T any] struct {
	Kind string         `json:"kind"`
	Data wire.Object[T] `json:"data"`
}

// kinds are Reddit's names for the types of things.
var kinds = map[string]bool{"t1": true, "t2": true, "t3": true, "t4": true, "t5": true, "t6": true, "more": true}

// is reports whether t is of a kind, and whether its kind is known.
func (t thing[T]) is(kind string) (it, known bool) {
	return t.Kind == kind && t.Data.Raw != nil, t.Data.Raw != nil && kinds[t.Kind]
}

// listing is a page of things.
// https://www.reddit.com/dev/api#listings
type listing[T any] struct {
	Kind string `json:"kind"`
	Data struct {
		After    wire.Token          `json:"after"` // null on the last page only; other pages may be short too
		Children wire.Rows[thing[T]] `json:"children"`
	} `json:"data"`
}

func get(segments ...string) upstream.Request {
	// Without raw_json every string is HTML-escaped, including addresses.
	return upstream.Get(segments...).With("raw_json", "1")
}

var fullname = regexp.MustCompile(`^t[1-5]_[0-9a-z]+$`)

// list reads one page of things of a kind. It checks the cursor, because Reddit answers an invalid one with the first
// page.
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

// items converts the things of a kind in a listing. A thing of unknown kind becomes an object without an id, which the
// engine omits.
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

// single reads one thing of a kind with an id, from the listing that contains it.
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

// most is the maximum number of things in GET /api/info.
// https://www.reddit.com/dev/api#GET_api_info
const most = 100

// several reads the things of a kind that r, a request to /api/info, asks for by keys. about returns the key of a
// thing.
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

// address parses a URL. Some of Reddit's URLs are escaped in spite of raw_json.
func address(s string) *string {
	if s == "" {
		return nil
	}
	return text.URL(strings.ReplaceAll(s, "&amp;", "&"))
}

// unescape decodes the HTML entities that some answers contain in spite of raw_json, once. It is for titles and
// descriptions only: in a body, which is Markdown, people write entities themselves.
var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace

const (
	deleted = "[deleted]" // replaces an account or a text that its owner has deleted
	removed = "[removed]" // replaces a text that a moderator has removed
)

// author returns the author of a post or comment; old answers have no fullname.
func author(name, fullname string) schema.Actor {
	switch {
	case name == deleted, name == "" && fullname == "":
		return schema.Actor{ID: deleted, Handle: deleted}
	case name == "":
		return schema.UnknownActor()
	}
	return schema.Actor{ID: cmp.Or(strings.TrimPrefix(fullname, "t2_"), name), Handle: name}
}

// shown returns a score, unless a flag hides it or the flag cannot be read.
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
