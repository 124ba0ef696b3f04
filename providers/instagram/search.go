package instagram

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// tagFields are the available fields of a post with a hashtag; the author is not among them.
const tagFields = "id,caption,children{id,media_type,media_url,thumbnail_url,permalink},comments_count,like_count," +
	"media_type,media_url,permalink,timestamp"

// The lists of a hashtag.
const (
	recent = "recent_media" // of the last 24 hours
	top    = "top_media"
)

// place is the position of a walk over the posts of a hashtag. It contains the hashtag's number, so that it is looked
// up only once.
type place struct{ hashtag, list, after string }

func (p place) cursor() string { return p.hashtag + "/" + p.list + "/" + p.after }

func placeOf(cursor string) (place, error) {
	parts := strings.SplitN(cursor, "/", 3)
	if len(parts) < 3 || !links.Digits(parts[0]) || parts[1] != recent && parts[1] != top {
		return place{}, providers.ErrCursor
	}
	return place{parts[0], parts[1], parts[2]}, nil
}

// searchable returns an error if a query cannot be searched for.
func searchable(q providers.SearchQuery) error {
	_, err := tagOf(q)
	return err
}

// tagOf returns the hashtag that a query consists of.
func tagOf(q providers.SearchQuery) (string, error) {
	tag, isTag := strings.CutPrefix(q.Query, "#")
	if !isTag {
		return "", providers.Unsupported("only hashtags can be searched for on Instagram, as in #word")
	}
	if found := text.GluedHashtags("#" + tag); len(found) != 1 || found[0] != tag {
		return "", providers.Invalid("an Instagram hashtag is one word of letters, digits and underscores")
	}
	return tag, nil
}

// find lists the posts with a hashtag: the newest, or the top posts if there are none from the last day.
// https://developers.facebook.com/docs/instagram-platform/instagram-api-with-facebook-login/hashtag-search
func (c *client) find(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (none providers.Page[schema.SearchResult], err error) {
	tag, err := tagOf(q)
	if err != nil {
		return none, err
	}
	if cursor != "" {
		at, err := placeOf(cursor)
		if err != nil {
			return none, err
		}
		return c.list(ctx, tag, at)
	}
	id, err := c.hashtag(ctx, tag)
	if err != nil {
		return none, err
	}
	if q.Sort == "relevance" {
		return c.list(ctx, tag, place{id, top, ""})
	}
	page, err := c.list(ctx, tag, place{id, recent, ""})
	if err != nil {
		return none, err
	}
	if q.Sort == "" && len(page.Items) == 0 && page.Next == "" {
		return c.list(ctx, tag, place{id, top, ""})
	}
	return page, nil
}

// hashtag looks up the number of a hashtag.
func (c *client) hashtag(ctx context.Context, tag string) (string, error) {
	var a struct {
		Data wire.Rows[struct {
			ID wire.Serial `json:"id"`
		}] `json:"data"`
	}
	r := upstream.Get("ig_hashtag_search").With("user_id", c.account).Says("q", tag).On(c.tags)
	if err := c.read(ctx, r, &a); err != nil {
		return "", err
	}
	if err := a.Data.Check(ctx, "data"); err != nil {
		return "", err
	}
	for _, row := range a.Data.All() {
		return string(row.V.ID), wire.Need(ctx, "data[].id", row.V.ID != "")
	}
	return "", providers.NotFound("Instagram has no such hashtag")
}

const hashtagPage = "50" // Instagram's maximum

// list reads one page of the posts of a hashtag.
func (c *client) list(ctx context.Context, tag string, at place) (page providers.Page[schema.SearchResult], err error) {
	var a struct {
		Data   wire.Rows[media] `json:"data"`
		Paging meta.Paging      `json:"paging"`
	}
	r := upstream.Get(at.hashtag, at.list).With("user_id", c.account).With("fields", tagFields).With("limit", hashtagPage)
	if err = c.read(ctx, r.With("after", at.after).On(c.tags), &a); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data", a.Data, func(m media, raw json.RawMessage) (schema.SearchResult, bool) {
		p := m.post(schema.UnknownActor(), hashtagURL(tag), raw)
		return schema.Result(&p), true
	})
	if err != nil {
		return page, err
	}
	after, err := a.Paging.Next(ctx)
	if after != "" {
		at.after = after
		page.Next = at.cursor()
	}
	return page, err
}
