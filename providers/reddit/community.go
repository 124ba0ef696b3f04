package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) community(ctx context.Context, name string) (schema.Profile, error) {
	var t thing[subreddit]
	if _, err := c.api.Read(ctx, get("r", name, "about"), &t); err != nil {
		return schema.Profile{}, err
	}
	if err := isCommunity(ctx, t, name); err != nil {
		return schema.Profile{}, err
	}
	return t.Data.V.profile(t.Data.Raw), nil
}

// communitiesByName reads communities by their names. Reddit documents that several names are allowed, but not which
// communities it omits, so missing ones are read alone.
// https://www.reddit.com/dev/api#GET_api_info
func (c *client) communitiesByName(ctx context.Context, names []string) (map[string]schema.Profile, error) {
	known := providers.Together(names, community.MatchString)
	r := get("api/info").With("sr_name", strings.Join(known, ","))
	found, err := several(ctx, c, r, "t5", known, func(s subreddit) string { return strings.ToLower(s.Name) })
	return providers.PerKey(names, err, func(name string) (schema.Profile, error) {
		t, err := found.Of(name, providers.Alone())
		if err != nil {
			return schema.Profile{}, err
		}
		if err := isCommunity(ctx, t.V, name); err != nil {
			return schema.Profile{}, err
		}
		return t.V.Data.V.profile(t.V.Data.Raw), nil
	})
}

// isCommunity returns an error if t is not the requested community, or if the community is not public.
func isCommunity(ctx context.Context, t thing[subreddit], name string) error {
	if t.Kind == "Listing" { // Reddit has searched for the name
		return providers.NotFound("no such community")
	}
	if err := wire.Marker(ctx, "kind", t.Kind, "t5"); err != nil {
		return err
	}
	s := t.Data.V
	if err := wire.SameFold(ctx, "community", name, s.Name); err != nil {
		return err
	}
	if err := wire.Need(ctx, "data.id", s.id() != ""); err != nil {
		return err
	}
	if err := wire.Need(ctx, "data.subreddit_type", s.Type != ""); err != nil {
		return err
	}
	if !s.public() {
		return providers.NotFound("this community is private")
	}
	return nil
}

// orders maps our orders to Reddit's.
var orders = map[string]string{"": "new", "recent": "new", "hot": "hot", "top": "top", "rising": "rising"}

func (c *client) communityPosts(ctx context.Context, q providers.CommunityPostsQuery, cursor string) (providers.Page[schema.Post], error) {
	r := get("r", q.ID, orders[q.Sort])
	if q.Sort == "top" {
		r = r.With("t", "week")
	}
	return c.page(ctx, r, cursor)
}

// subreddit is the answer of GET /r/{subreddit}/about.
// https://www.reddit.com/dev/api#GET_r_{subreddit}_about
type subreddit struct {
	ID          wire.ID    `json:"id"`
	Fullname    string     `json:"name"`
	Name        string     `json:"display_name"`
	Title       string     `json:"title"`
	Description string     `json:"public_description"`
	Icon        string     `json:"community_icon"`
	OldIcon     string     `json:"icon_img"`
	Subscribers wire.Count `json:"subscribers"`
	Lang        string     `json:"lang"`
	Type        string     `json:"subreddit_type"`
}

func (s subreddit) id() string { return cmp.Or(string(s.ID), strings.TrimPrefix(s.Fullname, "t5_")) }

func (s subreddit) public() bool {
	return s.Type == "public" || s.Type == "restricted" || s.Type == "archived"
}

func (s subreddit) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: s.id(), URL: permalink("/r/"+s.Name+"/", "/"), Raw: raw},
		Handle:      s.Name,
		DisplayName: text.NonEmpty(unescape(s.Title)),
		Bio:         text.NonEmpty(unescape(s.Description)),
		AvatarURL:   address(cmp.Or(s.Icon, s.OldIcon)),
		Followers:   s.Subscribers.V,
	}
	p.Lang = &s.Lang
	return p
}

func (s subreddit) actor() schema.Actor {
	p := s.profile(nil)
	return schema.Actor{ID: p.ID, Handle: p.Handle, DisplayName: p.DisplayName, AvatarURL: p.AvatarURL}
}
