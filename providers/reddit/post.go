package reddit

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if name, ok := strings.CutPrefix(handle, "r/"); ok {
		return c.communityPosts(ctx, providers.CommunityPostsQuery{ID: name}, cursor)
	}
	page, err := c.page(ctx, get("user", handle, "submitted").With("sort", "new"), cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("reddit: posts of %q: %w", handle, err)
	}
	return page, nil
}

// page reads a listing of posts.
func (c *client) page(ctx context.Context, r upstream.Request, cursor string) (providers.Page[schema.Post], error) {
	things, next, err := list[post](ctx, c, r, cursor)
	page := providers.Page[schema.Post]{Next: next}
	for _, t := range things {
		if t.Kind == "t3" {
			page.Items = append(page.Items, t.Data.V.post(t.Data.Raw))
		}
	}
	return page, err
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := c.one(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("reddit: post %q: %w", id, err)
	}
	return p, nil
}

func (c *client) one(ctx context.Context, id string) (schema.Post, error) {
	id, err := c.web.resolve(ctx, providers.PostID, id)
	if err != nil {
		return schema.Post{}, err
	}
	var l listing[post]
	if _, err := c.api.JSON(ctx, get("api/info").With("id", "t3_"+id), &l); err != nil {
		return schema.Post{}, err
	}
	if l.Data == nil {
		return schema.Post{}, providers.Unreadable(nil)
	}
	for _, t := range l.Data.Children {
		if t.Kind == "t3" {
			return t.Data.V.post(t.Data.Raw), nil
		}
	}
	return schema.Post{}, providers.NotFound("no such post")
}

// post is a t3 of any listing. Its url is where it links to, which is not its own address.
// https://github.com/reddit-archive/reddit/wiki/JSON#link-implements-votable--created
type post struct {
	ID             string       `json:"id"`
	Permalink      string       `json:"permalink"`
	Author         string       `json:"author"`
	AuthorFullname string       `json:"author_fullname"` // absent when the account is gone, and in old answers
	Title          string       `json:"title"`
	Selftext       string       `json:"selftext"` // Markdown
	CreatedUTC     *float64     `json:"created_utc"`
	Score          upstream.Int `json:"score"`
	HideScore      bool         `json:"hide_score"`
	Comments       upstream.Int `json:"num_comments"`
	Crossposts     upstream.Int `json:"num_crossposts"`
	Views          upstream.Int `json:"view_count"`
	Promoted       bool         `json:"promoted"`
	FromAds        bool         `json:"is_created_from_ads_ui"`
	attached
	Parents []post `json:"crosspost_parent_list"` // one, of a crosspost
}

func (p post) post(raw []byte) schema.Post {
	body := p.Selftext
	if body == deleted || body == removed {
		body = ""
	}
	out := schema.Post{
		Common:    schema.Common{ID: p.ID, URL: permalink(p.Permalink, "/comments/"+p.ID+"/"), Raw: raw},
		Author:    author(p.Author, p.AuthorFullname),
		Text:      text.Join(unescape(p.Title), body),
		CreatedAt: instant(p.CreatedUTC),
		Media:     p.media(),
		Engagement: schema.Engagement{
			Likes: count(p.Score, p.HideScore), Comments: count(p.Comments, false),
			Shares: count(p.Crossposts, false), Views: count(p.Views, false),
		},
		Mentions: mentions(body),
		IsAd:     p.Promoted || p.FromAds,
	}
	if len(out.Media) == 0 && len(p.Parents) > 0 {
		out.Media = p.Parents[0].media()
	}
	return out
}

var mention = regexp.MustCompile(`(?:^|[^\pL\pN_/-])/?u/([A-Za-z0-9_-]{3,20})`)

// mentions finds u/name and /u/name.
func mentions(s string) []string { return text.Find(mention, s) }
