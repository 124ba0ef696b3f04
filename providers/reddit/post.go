package reddit

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if name, ok := strings.CutPrefix(handle, "r/"); ok {
		return c.communityPosts(ctx, providers.CommunityPostsQuery{ID: name}, cursor)
	}
	return c.page(ctx, get("user", handle, "submitted").With("sort", "new"), cursor)
}

// page reads a listing of posts.
func (c *client) page(ctx context.Context, r upstream.Request, cursor string) (providers.Page[schema.Post], error) {
	return list(ctx, c, r, cursor, "t3", func(p post, raw json.RawMessage) (schema.Post, bool) { return p.post(raw), true })
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	id, err := c.web.resolve(ctx, providers.PostID, id)
	if err != nil {
		return schema.Post{}, err
	}
	found, err := single(ctx, c, "t3", "post", id, func(p post) wire.ID { return p.ID })
	if err != nil {
		return schema.Post{}, err
	}
	return found.V.post(found.Raw), nil
}

// longestID is the maximum length of an id that is requested together with others: current ids have seven characters.
const longestID = 10

// postsByID reads posts by their ids. Share links are read by post, because each needs a request to find its target.
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	known := providers.Together(ids, func(id string) bool { return base36.MatchString(id) && len(id) <= longestID })
	r := get("api/info").With("id", "t3_"+strings.Join(known, ",t3_"))
	found, err := several(ctx, c, r, "t3", known, func(p post) string { return string(p.ID) })
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		if !slices.Contains(known, id) {
			return schema.Post{}, providers.Alone()
		}
		t, err := found.Of(id, providers.NotFound("no such post"))
		if err != nil {
			return schema.Post{}, err
		}
		return t.V.Data.V.post(t.V.Data.Raw), nil
	})
}

// post is a t3 in any listing. Its url is the target of its link, not its own address.
// https://github.com/reddit-archive/reddit/wiki/JSON#link-implements-votable--created
type post struct {
	ID             wire.ID    `json:"id"`
	Permalink      string     `json:"permalink"`
	Author         string     `json:"author"`
	AuthorFullname string     `json:"author_fullname"` // absent if the account has been deleted, and in old answers
	Title          string     `json:"title"`
	Selftext       string     `json:"selftext"` // Markdown
	CreatedUTC     wire.Time  `json:"created_utc"`
	Score          wire.Score `json:"score"`
	HideScore      wire.Bool  `json:"hide_score"`
	Comments       wire.Count `json:"num_comments"`
	Crossposts     wire.Count `json:"num_crossposts"`
	Views          wire.Count `json:"view_count"`
	Promoted       bool       `json:"promoted"`
	FromAds        bool       `json:"is_created_from_ads_ui"`
	attached
	Parents []post `json:"crosspost_parent_list"` // for a crosspost, the original
}

func (p post) post(raw json.RawMessage) schema.Post {
	body := p.Selftext
	if body == deleted || body == removed {
		body = ""
	}
	out := schema.Post{
		Common:    schema.Common{ID: string(p.ID), URL: permalink(p.Permalink, "/comments/"+string(p.ID)+"/"), Raw: raw},
		Author:    author(p.Author, p.AuthorFullname),
		Text:      text.Join(unescape(p.Title), body),
		CreatedAt: p.CreatedUTC.V,
		Media:     p.media(),
		Engagement: schema.Engagement{
			Likes: shown(p.Score, p.HideScore), Comments: p.Comments.V, Shares: p.Crossposts.V, Views: p.Views.V,
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

// mentions returns the names after u/ and /u/.
func mentions(s string) []string { return text.Find(mention, s, "u/", "/u/") }

// ParsePost converts a t3 without its envelope, from any source. The error wraps [providers.ErrUnavailable].
// https://github.com/reddit-archive/reddit/wiki/JSON#link-implements-votable--created
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.post(raw), err
}
