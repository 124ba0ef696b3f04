package truthsocial

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// posts leaves replies out: Truth Social requires a token for them.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return c.timeline(ctx, cursor,
		func(id string) upstream.Request {
			return upstream.Get("v1/accounts", id, "statuses").With("exclude_replies", "true").With("with_muted", "true").With("limit", pageSize)
		}, by,
		func() (string, *int64, error) {
			a, err := c.account(ctx, handle)
			return string(a.V.ID), a.V.Statuses.V, err
		})
}

// timeline reads a page of the list of(id), newest first. The cursor is that id and the number of the last post. For
// the first page, find looks up the id and the number of listed posts, nil when it is unknown.
func (c *client) timeline(
	ctx context.Context, cursor string, of func(id string) upstream.Request, convert author,
	find func() (string, *int64, error),
) (page providers.Page[schema.Post], err error) {
	id, last, _ := strings.Cut(cursor, "/")
	var count *int64
	if cursor == "" {
		if id, count, err = find(); err != nil {
			return page, err
		}
	} else if !links.Digits(id) || !links.Digits(last) {
		return page, providers.ErrCursor
	}
	r := of(id).With("max_id", last)
	if last != "" {
		r = r.On(c.pages)
	}
	found, more, err := c.statuses(ctx, r)
	if err != nil {
		return page, err
	}
	err = wire.Witness{Rows: rows(found), Count: count, Cursor: cursor, Last: !more, More: more}.Check(ctx, "statuses")
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "statuses", found, convert(id))
	// A short page is not necessarily the last.
	for _, s := range found.All() {
		if s.V.ID != "" {
			page.Next = id + "/" + string(s.V.ID)
		}
	}
	return page, err
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	s, err := c.status(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return s.V.post(s.Raw), nil
}

// status reads a status, which must be public.
func (c *client) status(ctx context.Context, id string) (s wire.Object[status], err error) {
	_, err = c.http.Read(ctx, upstream.Get("v1/statuses", id), &s)
	switch {
	case err != nil:
	case s.V.ID == "" && s.V.Visibility == "":
		err = errNothing
	case s.V.hidden():
		err = providers.NotFound("the post is not public")
	case !s.V.understood():
		err = wire.Need(ctx, "visibility and reblog", false)
	default:
		err = wire.Same(ctx, "post", id, string(s.V.ID))
	}
	return s, err
}

const trendingSize = 10

func (c *client) trending(
	ctx context.Context, _ providers.TrendingQuery, cursor string,
) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	from, err := pages.Offset(cursor)
	if err != nil {
		return page, err
	}
	found, _, err := c.statuses(ctx, upstream.Get("v1/truth/trending/truths").With("limit", strconv.Itoa(trendingSize)).With("offset", cursor))
	if err != nil {
		return page, err
	}
	// a page that was not full was the last
	err = wire.Witness{Rows: rows(found), Cursor: cursor, Last: from%trendingSize != 0}.Check(ctx, "statuses")
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "statuses", found, shown)
	if err != nil {
		return page, err
	}
	if n := rows(found); n > 0 {
		page.Next = strconv.Itoa(from + n)
	}
	return page, nil
}

// statuses reads a list, and reports whether its Link header leads to more. An answer that is not a list, such as {},
// is not an empty list.
func (c *client) statuses(ctx context.Context, r upstream.Request) (found wire.Rows[status], more bool, err error) {
	res, err := c.http.Read(ctx, r, &found)
	if err != nil {
		return found, false, err
	}
	more = slices.ContainsFunc(res.Header.Values("Link"), func(l string) bool { return strings.Contains(l, `rel="next"`) })
	return found, more, nil
}

// rows returns the number of rows, including unreadable ones: that is how far a list has been read.
func rows[T any](list wire.Rows[T]) int { return list.Len() + list.Lost() }

// status is the answer of GET /v1/statuses/{id}.
// https://docs.joinmastodon.org/entities/Status/
type status struct {
	ID         wire.Serial  `json:"id"`
	URL        string       `json:"url"`
	CreatedAt  wire.Time    `json:"created_at"`
	InReplyTo  wire.Serial  `json:"in_reply_to_id"` // null when it is not a reply
	Visibility string       `json:"visibility"`     // "public", "unlisted", "group", "private", "direct" or "self"
	Language   string       `json:"language"`       // null when it is unknown
	Content    string       `json:"content"`        // HTML
	Account    *account     `json:"account"`
	Media      []attachment `json:"media_attachments"`
	Mentions   []struct {
		Acct string `json:"acct"`
	} `json:"mentions"`
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Sponsored  bool       `json:"sponsored"`
	Replies    wire.Count `json:"replies_count"` // -1 when it was not counted; so are the two below
	Reblogs    wire.Count `json:"reblogs_count"`
	Favourites wire.Count `json:"favourites_count"`
	Reblog     reblog     `json:"reblog"` // null unless s is a reblog: then s itself has no lists and counts
}

// reblog is the status that another one shares; V is nil for none.
type reblog struct {
	V   *status
	odd bool // the value is not a status
}

// UnmarshalJSON never fails.
func (r *reblog) UnmarshalJSON(b []byte) error {
	*r = reblog{}
	if string(b) == "null" {
		return nil
	}
	var s wire.Object[status]
	if r.odd = s.UnmarshalJSON(b) != nil || s.Raw == nil || s.V.ID == ""; !r.odd {
		r.V = &s.V
	}
	return nil
}

// public reports whether everyone may see s: with a token Truth Social also returns what only the token's owner may
// see.
func (s status) public() bool {
	return s.Visibility == "public" || s.Visibility == "unlisted" || s.Visibility == "group"
}

func (s status) hidden() bool {
	return s.Visibility == "private" || s.Visibility == "direct" || s.Visibility == "self"
}

// understood reports whether the visibility of s is known, and the status that it shares is readable.
func (s status) understood() bool { return (s.public() || s.hidden()) && !s.Reblog.odd }

// author returns the conversion of the statuses of an account or group.
type author func(id string) func(s status, raw json.RawMessage) (schema.Post, bool)

// by converts the statuses of one account: a status of another account is malformed there.
func by(id string) func(s status, raw json.RawMessage) (schema.Post, bool) {
	return func(s status, raw json.RawMessage) (schema.Post, bool) {
		if s.Account != nil && string(s.Account.ID) != id {
			return schema.Post{}, true
		}
		return shown(s, raw)
	}
}

// anyAuthor converts the statuses of any author.
func anyAuthor(string) func(s status, raw json.RawMessage) (schema.Post, bool) { return shown }

// shown converts a public status. One with unknown visibility is malformed.
func shown(s status, raw json.RawMessage) (schema.Post, bool) {
	if !s.understood() {
		return schema.Post{}, true
	}
	return s.post(raw), s.public()
}

// post converts s. A reblog becomes the original, with the author, number and time of s.
func (s status) post(raw json.RawMessage) schema.Post {
	of, words := s, plain(s.Content)
	if s.Reblog.V != nil {
		of = *s.Reblog.V
		if of.Account != nil && of.Account.Acct != "" {
			words = strings.TrimSpace("RT @" + of.Account.Acct + ": " + plain(of.Content))
		}
	}
	p := schema.Post{
		Common:     s.common(raw),
		Author:     s.Account.actor(),
		Text:       words,
		Lang:       &of.Language,
		CreatedAt:  s.CreatedAt.V,
		Engagement: schema.Engagement{Likes: of.Favourites.V, Comments: of.Replies.V, Shares: of.Reblogs.V},
		IsAd:       s.Sponsored,
	}
	for _, a := range of.Media {
		if m, ok := a.media(); ok {
			p.Media = append(p.Media, m)
		}
	}
	for _, t := range of.Tags {
		p.Hashtags = append(p.Hashtags, t.Name)
	}
	for _, m := range of.Mentions {
		p.Mentions = append(p.Mentions, m.Acct)
	}
	p.Hashtags, p.Mentions = text.Each(p.Hashtags), text.Each(p.Mentions)
	return p
}

func (s status) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: string(s.ID), URL: text.URLOr(s.URL, site+"@"+s.Account.actor().Handle+"/"+string(s.ID)), Raw: raw}
}

// attachment is a medium of a status.
// https://docs.joinmastodon.org/entities/MediaAttachment/
type attachment struct {
	Type       string `json:"type"`        // "image", "video", "gifv", "audio", "tv" or "unknown"
	URL        string `json:"url"`         // null while it is being processed
	PreviewURL string `json:"preview_url"` // may be the picture of a link
	Meta       struct {
		Original struct {
			Duration wire.Float `json:"duration"` // seconds; 0 when it is unknown
		} `json:"original"`
	} `json:"meta"`
}

var mediaTypes = map[string]schema.MediaType{
	"image": schema.Image, "video": schema.Video, "gifv": schema.Video, "audio": schema.Audio,
	"tv": schema.Image, // a still of the programme, which itself is not available
}

func (a attachment) media() (schema.Media, bool) {
	kind, known := mediaTypes[a.Type]
	u := text.URL(a.URL)
	if !known || u == nil {
		return schema.Media{}, false
	}
	m := schema.Media{Type: kind, URL: *u, ThumbnailURL: picture(a.PreviewURL)}
	if d := a.Meta.Original.Duration.V; kind != schema.Image && d != nil && *d > 0 {
		m.DurationS = d
	}
	return m, true
}

// ParsePost converts a status. The error wraps [providers.ErrUnavailable], or [providers.ErrNotFound] for a status that
// is not public.
// https://docs.joinmastodon.org/entities/Status/
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var s status
	if err := wire.Decode(ctx, raw, &s); err != nil {
		return schema.Post{}, err
	}
	if s.hidden() {
		return schema.Post{}, providers.NotFound("the post is not public")
	}
	return s.post(raw), wire.Need(ctx, "visibility and reblog", s.understood())
}
