package truthsocial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// posts leaves replies out: with them Truth Social wants a token.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := c.timeline(ctx, cursor,
		func(id string) upstream.Request {
			return upstream.Get("v1/accounts", id, "statuses").With("exclude_replies", "true").With("with_muted", "true").With("limit", pageSize)
		},
		func() (string, error) {
			a, err := c.account(ctx, handle)
			return a.V.ID, err
		})
	if err != nil {
		return page, fmt.Errorf("truthsocial: posts of %q: %w", handle, err)
	}
	return page, nil
}

// timeline reads a page of what of(id) lists, newest first. The cursor is that id, which find looks up for the first
// page, and the number of the last post.
func (c *client) timeline(
	ctx context.Context, cursor string, of func(id string) upstream.Request, find func() (string, error),
) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	id, last, _ := strings.Cut(cursor, "/")
	if cursor == "" {
		var err error
		if id, err = find(); err != nil {
			return page, err
		}
	} else if !links.Digits(id) || !links.Digits(last) {
		return page, providers.ErrCursor
	}
	r := of(id).With("max_id", last)
	if last != "" {
		r = r.On(c.pages)
	}
	found, err := c.statuses(ctx, r)
	if err != nil {
		return page, err
	}
	page.Items = posts(found)
	// A page may be short and yet not the last.
	if n := len(found); n > 0 {
		page.Next = id + "/" + found[n-1].V.ID
	}
	return page, nil
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	var s upstream.Object[status]
	_, err := c.http.JSON(ctx, upstream.Get("v1/statuses", id), &s)
	switch {
	case err != nil:
	case s.V.ID == "":
		err = errNothing
	case !s.V.public():
		err = providers.NotFound("the post is not public")
	}
	if err != nil {
		return schema.Post{}, fmt.Errorf("truthsocial: post %q: %w", id, err)
	}
	return s.V.post(s.Raw), nil
}

func (c *client) trending(ctx context.Context, _ providers.TrendingQuery, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	from, err := pages.Offset(cursor)
	var found []upstream.Object[status]
	if err == nil {
		found, err = c.statuses(ctx, upstream.Get("v1/truth/trending/truths").With("limit", "10").With("offset", cursor))
	}
	if err != nil {
		return page, fmt.Errorf("truthsocial: trending: %w", err)
	}
	page.Items = posts(found)
	if len(found) > 0 {
		page.Next = strconv.Itoa(from + len(found))
	}
	return page, nil
}

// statuses reads a list. An answer that is none, such as {}, is no empty list.
func (c *client) statuses(ctx context.Context, r upstream.Request) ([]upstream.Object[status], error) {
	var found *[]upstream.Object[status]
	if _, err := c.http.JSON(ctx, r, &found); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errNothing
	}
	return *found, nil
}

func posts(found []upstream.Object[status]) []schema.Post {
	var out []schema.Post
	for _, s := range found {
		if s.V.public() {
			out = append(out, s.V.post(s.Raw))
		}
	}
	return out
}

// status is the answer of GET /v1/statuses/{id}.
// https://docs.joinmastodon.org/entities/Status/
type status struct {
	ID         string       `json:"id"`
	URL        string       `json:"url"`
	CreatedAt  *time.Time   `json:"created_at"`
	InReplyTo  *string      `json:"in_reply_to_id"`
	Visibility string       `json:"visibility"` // "public", "unlisted", "group", "private", "direct" or "self"
	Language   *string      `json:"language"`
	Content    string       `json:"content"` // HTML
	Account    *account     `json:"account"`
	Media      []attachment `json:"media_attachments"`
	Mentions   []struct {
		Acct string `json:"acct"`
	} `json:"mentions"`
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Sponsored  bool         `json:"sponsored"`
	Replies    upstream.Int `json:"replies_count"`
	Reblogs    upstream.Int `json:"reblogs_count"`
	Favourites upstream.Int `json:"favourites_count"`
	Reblog     *status      `json:"reblog"` // what was passed on: its text is in Content, all else is empty or 0 outside
}

// public tells whether anybody may see s: with a token Truth Social also shows what its owner alone may.
func (s status) public() bool {
	return s.Visibility != "private" && s.Visibility != "direct" && s.Visibility != "self"
}

func (s status) post(raw []byte) schema.Post {
	p := schema.Post{
		Common:    s.common(raw),
		Author:    s.Account.actor(),
		Text:      plain(s.Content),
		Lang:      s.lang(),
		CreatedAt: s.CreatedAt,
		IsAd:      s.Sponsored,
	}
	counted := s
	if s.Reblog != nil {
		counted = *s.Reblog
		if len(s.Media) == 0 {
			s.Media = s.Reblog.Media
		}
		if len(s.Tags) == 0 {
			s.Tags = s.Reblog.Tags
		}
		if len(s.Mentions) == 0 {
			s.Mentions = s.Reblog.Mentions
		}
	}
	p.Engagement = schema.Engagement{
		Likes: count(counted.Favourites), Comments: count(counted.Replies), Shares: count(counted.Reblogs),
	}
	for _, a := range s.Media {
		if m, ok := a.media(); ok {
			p.Media = append(p.Media, m)
		}
	}
	for _, t := range s.Tags {
		p.Hashtags = append(p.Hashtags, t.Name)
	}
	for _, m := range s.Mentions {
		p.Mentions = append(p.Mentions, m.Acct)
	}
	return p
}

func (s status) common(raw []byte) schema.Common {
	return schema.Common{ID: s.ID, URL: cmp.Or(s.URL, site+"@"+s.Account.actor().Handle+"/"+s.ID), Raw: raw}
}

// lang is what Truth Social guesses, which is sometimes odd.
func (s status) lang() *string {
	if l := text.NonEmptyPtr(s.Language); l != nil && len(*l) > 1 {
		return l
	}
	return nil
}

// attachment is what a status shows.
// https://docs.joinmastodon.org/entities/MediaAttachment/
type attachment struct {
	Type       string          `json:"type"` // "image", "video", "gifv", "audio", "tv" or "unknown"
	URL        *string         `json:"url"`  // null while it is being processed
	PreviewURL string          `json:"preview_url"`
	Meta       json.RawMessage `json:"meta"`
}

var mediaTypes = map[string]schema.MediaType{
	"image": schema.Image, "video": schema.Video, "gifv": schema.Video, "audio": schema.Audio,
	"tv": schema.Image, // a still of the programme, which itself is not to be had
}

func (a attachment) media() (schema.Media, bool) {
	kind, known := mediaTypes[a.Type]
	u := text.URLPtr(a.URL)
	if !known || u == nil {
		return schema.Media{}, false
	}
	m := schema.Media{Type: kind, URL: *u, ThumbnailURL: picture(a.PreviewURL)}
	if kind != schema.Image {
		m.DurationS = a.seconds()
	}
	return m, true
}

// seconds is how long a lasts, nil when the server has not found out.
func (a attachment) seconds() *float64 {
	var meta struct {
		Original struct {
			Duration *float64 `json:"duration"`
		} `json:"original"`
	}
	if json.Unmarshal(a.Meta, &meta) != nil || meta.Original.Duration == nil || *meta.Original.Duration <= 0 {
		return nil
	}
	return meta.Original.Duration
}
