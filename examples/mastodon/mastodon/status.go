package mastodon

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	return upstream.One(ctx, c.http, upstream.Get("api/v1/statuses", id), "", wire.As(status.post),
		upstream.About[schema.Post]("post", id))
}

// posts lists the statuses of an account; a cursor is the number of the last one of the page before.
// https://docs.joinmastodon.org/methods/accounts/#statuses
func (c *client) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if cursor != "" && !links.Digits(cursor) {
		return page, providers.ErrCursor
	}
	by, err := c.profile(ctx, handle)
	if err != nil {
		return page, err
	}
	if err := wire.Need(ctx, "id", by.ID != ""); err != nil {
		return page, err
	}
	var rows wire.Rows[status]
	r := upstream.Get("api/v1/accounts", by.ID, "statuses").With("limit", pageSize).With("exclude_reblogs", "true")
	res, err := c.http.Read(ctx, r.With("max_id", cursor), &rows)
	if err != nil {
		return page, err
	}
	page.Next = next(res.Header)
	page.Items, err = wire.Items(ctx, "statuses", rows, func(s status, raw json.RawMessage) (schema.Post, bool) {
		if s.Account == nil || string(s.Account.ID) != by.ID {
			return schema.Post{}, true // it cannot be understood, and is counted
		}
		return s.post(raw), true
	})
	return page, err
}

var relNext = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="next"`)

// next takes the cursor out of a Link header; "" on the last page.
// https://docs.joinmastodon.org/api/guidelines/#pagination
func next(h http.Header) string {
	if m := relNext.FindStringSubmatch(h.Get("Link")); m != nil {
		if u, err := url.Parse(m[1]); err == nil && links.Digits(u.Query().Get("max_id")) {
			return u.Query().Get("max_id")
		}
	}
	return ""
}

// comments lists all replies to a status, and their replies, in one page.
// https://docs.joinmastodon.org/methods/statuses/#context
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	if cursor != "" {
		return providers.Page[schema.Comment]{}, providers.ErrCursor
	}
	r := upstream.Get("api/v1/statuses", postID, "context")
	return upstream.Page(ctx, c.http, r, upstream.List{Rows: "descendants"}, func(s status, raw json.RawMessage) (schema.Comment, bool) {
		return s.comment(postID, raw), true
	})
}

// status is a post or a reply, as in GET /api/v1/statuses/{id}.
// https://docs.joinmastodon.org/entities/Status/
type status struct {
	ID        wire.Serial  `json:"id"`
	URL       string       `json:"url"` // null for a status of another server that has no page
	CreatedAt wire.Time    `json:"created_at"`
	InReplyTo wire.Serial  `json:"in_reply_to_id"` // null if it is not a reply
	Language  string       `json:"language"`
	Content   string       `json:"content"` // HTML
	Account   *account     `json:"account"`
	Media     []attachment `json:"media_attachments"`
	Mentions  []struct {
		Acct string `json:"acct"`
	} `json:"mentions"`
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Replies    wire.Count `json:"replies_count"`
	Reblogs    wire.Count `json:"reblogs_count"`
	Favourites wire.Count `json:"favourites_count"`
}

// attachment is a file of a status.
// https://docs.joinmastodon.org/entities/MediaAttachment/
type attachment struct {
	Type    string `json:"type"` // image, gifv, video, audio or unknown
	URL     string `json:"url"`
	Preview string `json:"preview_url"`
}

func (s status) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: string(s.ID), URL: s.URL, Raw: raw}
}

func (s status) post(raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:     s.common(raw),
		Author:     s.Account.actor(),
		Text:       text.FromHTML(s.Content),
		Lang:       text.NonEmpty(s.Language),
		CreatedAt:  s.CreatedAt.V,
		Engagement: schema.Engagement{Likes: s.Favourites.V, Comments: s.Replies.V, Shares: s.Reblogs.V},
	}
	types := map[string]schema.MediaType{"image": schema.Image, "gifv": schema.Video, "video": schema.Video, "audio": schema.Audio}
	for _, a := range s.Media {
		if u := text.URL(a.URL); u != nil && types[a.Type] != "" {
			p.Media = append(p.Media, schema.Media{Type: types[a.Type], URL: *u, ThumbnailURL: text.URL(a.Preview)})
		}
	}
	for _, m := range s.Mentions {
		p.Mentions = append(p.Mentions, m.Acct)
	}
	for _, t := range s.Tags {
		p.Hashtags = append(p.Hashtags, t.Name)
	}
	p.Mentions, p.Hashtags = text.Each(p.Mentions), text.Each(p.Hashtags)
	return p
}

func (s status) comment(postID string, raw json.RawMessage) schema.Comment {
	c := schema.Comment{
		Common:    s.common(raw),
		PostID:    postID,
		Author:    s.Account.actor(),
		Text:      text.FromHTML(s.Content),
		Lang:      text.NonEmpty(s.Language),
		CreatedAt: s.CreatedAt.V,
		Likes:     s.Favourites.V,
	}
	if parent := string(s.InReplyTo); parent != postID {
		c.ReplyToID = text.NonEmpty(parent)
	}
	return c
}
