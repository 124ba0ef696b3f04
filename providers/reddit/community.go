package reddit

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) community(ctx context.Context, name string) (schema.Profile, error) {
	var t thing[subreddit]
	if _, err := c.api.JSON(ctx, get("r", name, "about"), &t); err != nil {
		return schema.Profile{}, fmt.Errorf("reddit: community %q: %w", name, err)
	}
	switch s := t.Data.V; {
	case t.Kind == "Listing": // a search for the name
		return schema.Profile{}, fmt.Errorf("reddit: community %q: %w", name, providers.NotFound("no such community"))
	case s.id() == "":
		return schema.Profile{}, fmt.Errorf("reddit: community %q: %w", name, providers.Unreadable(nil))
	case !s.public():
		return schema.Profile{}, fmt.Errorf("reddit: community %q: %w", name, providers.NotFound("this community is private"))
	}
	return t.Data.V.profile(t.Data.Raw), nil
}

// The words of Reddit's interface for ours.
var orders = map[string]string{"": "new", "recent": "new", "hot": "hot", "top": "top", "rising": "rising"}

func (c *client) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, cursor string) (providers.Page[schema.Post], error) {
	r := get("r", q.ID, orders[q.Sort])
	if q.Sort == "top" {
		r = r.With("t", "week")
	}
	page, err := c.page(ctx, r, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("reddit: posts in %q: %w", q.ID, err)
	}
	return page, nil
}

// subreddit is the answer of GET /r/{subreddit}/about.
// https://www.reddit.com/dev/api#GET_r_{subreddit}_about
type subreddit struct {
	ID          string       `json:"id"`
	Fullname    string       `json:"name"`
	Name        string       `json:"display_name"`
	Title       string       `json:"title"`
	Description string       `json:"public_description"`
	Icon        string       `json:"community_icon"`
	OldIcon     string       `json:"icon_img"`
	Subscribers upstream.Int `json:"subscribers"`
	Lang        string       `json:"lang"`
	Type        string       `json:"subreddit_type"`
}

func (s subreddit) id() string { return cmp.Or(s.ID, strings.TrimPrefix(s.Fullname, "t5_")) }

func (s subreddit) public() bool {
	return s.Type == "public" || s.Type == "restricted" || s.Type == "archived"
}

func (s subreddit) profile(raw []byte) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: s.id(), URL: permalink("/r/"+s.Name+"/", "/"), Raw: raw},
		Handle:      s.Name,
		DisplayName: text.NonEmpty(unescape(s.Title)),
		Bio:         text.NonEmpty(unescape(s.Description)),
		AvatarURL:   address(cmp.Or(s.Icon, s.OldIcon)),
		Followers:   count(s.Subscribers, false),
	}
	if len(s.Lang) >= 2 {
		p.Lang = &s.Lang
	}
	return p
}

func (s subreddit) actor() schema.Actor {
	p := s.profile(nil)
	return schema.Actor{ID: p.ID, Handle: p.Handle, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL}
}
