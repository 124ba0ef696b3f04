package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// profile sends the query that the scripts of an account's page send, and reads the page if that is refused.
func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, _, err := s.account(ctx, handle)
	return p, err
}

// account reads an account, and reports whether it is private.
func (s site) account(ctx context.Context, handle string) (p schema.Profile, private bool, err error) {
	u, err := s.info(ctx, handle)
	if err != nil && elsewhere(err) {
		return s.onPage(ctx, handle)
	}
	if err != nil {
		return p, false, err
	}
	return u.V.profile(u.Raw), u.V.Private.Is(), nil
}

// onPage is account from the page of the account.
func (s site) onPage(ctx context.Context, handle string) (p schema.Profile, private bool, err error) {
	page, err := s.open(ctx, handle+"/")
	if err != nil {
		return p, false, err
	}
	if m := page.account; m != nil && m.Raw != nil {
		return m.V.profile(m.Raw), m.V.Private.Is(), wire.SameFold(ctx, "account", handle, m.V.Username)
	}
	if c := page.profiled; c != nil {
		return c.profile(), false, wire.SameFold(ctx, "account", handle, c.handle)
	}
	return p, false, page.lacks(ctx, "xig_user_by_username")
}

// info queries an account. One that does not exist is null.
func (s site) info(ctx context.Context, handle string) (u wire.Object[webUser], err error) {
	var a struct {
		Data struct {
			User json.RawMessage `json:"user"`
		} `json:"data"`
		faults
	}
	r := upstream.Get("api", "v1", "users", "web_profile_info/").With("username", handle)
	if _, err = s.http.Read(ctx, r, &a); err != nil {
		return u, err
	}
	if err := a.err(); err != nil {
		return u, err
	}
	if err := wire.Need(ctx, "data.user", len(a.Data.User) > 0); err != nil {
		return u, err
	}
	if isNull(a.Data.User) {
		return u, providers.NotFound("Instagram has no such account")
	}
	if err := wire.Decode(ctx, a.Data.User, &u); err != nil {
		return u, err
	}
	return u, wire.SameFold(ctx, "account", handle, u.V.Username)
}

// webUser is an account as the scripts of its page get it. It is not documented.
type webUser struct {
	ID         wire.Serial `json:"id"`
	Username   string      `json:"username"`
	FullName   string      `json:"full_name"`
	Biography  string      `json:"biography"`
	Picture    string      `json:"profile_pic_url"`
	PictureHD  string      `json:"profile_pic_url_hd"`
	Verified   bool        `json:"is_verified"`
	Private    wire.Bool   `json:"is_private"`
	External   string      `json:"external_url"`
	BioLinks   []bioLink   `json:"bio_links"`
	FollowedBy count       `json:"edge_followed_by"`
	Follows    count       `json:"edge_follow"`
	Timeline   struct {
		count
		Edges    wire.Rows[edge[item]] `json:"edges"` // often empty even if there are posts
		PageInfo pageInfo              `json:"page_info"`
	} `json:"edge_owner_to_timeline_media"`
}

type bioLink struct {
	URL string `json:"url"`
}

// count is a list of which only the length is given.
type count struct {
	Count wire.Count `json:"count"`
}

func (u webUser) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: profileURL(u.Username), Raw: raw},
		Handle:      u.Username,
		DisplayName: text.NonEmpty(u.FullName),
		Bio:         text.NonEmpty(u.Biography),
		AvatarURL:   text.URL(cmp.Or(u.PictureHD, u.Picture)),
		Verified:    u.Verified,
		Followers:   u.FollowedBy.Count.V,
		Following:   u.Follows.Count.V,
		PostsCount:  u.Timeline.Count.V,
		Links:       linksOf(u.External, u.BioLinks),
	}
}

// linksOf returns the addresses that an account shows, without Instagram's redirect.
func linksOf(external string, more []bioLink) []string {
	urls := []string{meta.Unwrap(external)}
	for _, l := range more {
		urls = append(urls, meta.Unwrap(l.URL))
	}
	return text.URLs(urls...)
}

// member is an account in the scripts of a page; within a post or a comment it has only the first fields.
type member struct {
	PK        wire.Serial `json:"pk"`
	ID        wire.Serial `json:"id"` // the same number, or that of the official API
	Username  string      `json:"username"`
	FullName  string      `json:"full_name"`
	Picture   string      `json:"profile_pic_url"`
	Verified  bool        `json:"is_verified"`
	Private   wire.Bool   `json:"is_private"`
	Biography string      `json:"biography"`
	External  string      `json:"external_url"`
	BioLinks  []bioLink   `json:"bio_links"`
	Followers wire.Count  `json:"follower_count"`
	Following wire.Count  `json:"following_count"`
	Posts     wire.Count  `json:"media_count"`
	Timeline  struct {
		Edges    wire.Rows[edge[node]] `json:"edges"` // on the account's page
		PageInfo pageInfo              `json:"page_info"`
	} `json:"polaris_ordered_timeline_connection"`
	Highlights struct {
		Edges wire.Rows[edge[highlight]] `json:"edges"`
	} `json:"lox_highlights_connection"`
}

func (m member) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(m.PK), URL: profileURL(m.Username), Raw: raw},
		Handle:      m.Username,
		DisplayName: text.NonEmpty(m.FullName),
		Bio:         text.NonEmpty(m.Biography),
		AvatarURL:   text.URL(m.Picture),
		Verified:    m.Verified,
		Followers:   m.Followers.V,
		Following:   m.Following.V,
		PostsCount:  m.Posts.V,
		Links:       linksOf(m.External, m.BioLinks),
	}
}

// actor converts the account within what it posted; nil when the site withholds it.
func (m *member) actor() schema.Actor {
	if m == nil {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: actorID(cmp.Or(m.PK, m.ID), m.Username), Handle: cmp.Or(m.Username, schema.UnknownActor().Handle),
		DisplayName: text.NonEmpty(m.FullName), AvatarURL: text.URL(m.Picture),
	}
}

// actorID returns the id of an account within what it posted, which may be all that is given of it.
func actorID(id wire.Serial, username string) string {
	if id == "" && username == "" {
		return schema.UnknownActor().ID
	}
	return string(id)
}

// profile converts the head of a page. It has no id, so the handle is used instead.
func (c *profileCard) profile() schema.Profile {
	raw, _ := schema.Marshal(c) // strings always marshal
	handle := strings.ToLower(c.handle)
	return schema.Profile{
		Common:      schema.Common{ID: handle, URL: profileURL(handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(c.name),
		Bio:         text.NonEmpty(c.bio),
		AvatarURL:   text.URL(c.Image),
		Followers:   c.followers,
		Following:   c.following,
		PostsCount:  c.posts,
	}
}

// ParseProfile converts an account as the scripts of its page get it, the user of web_profile_info, from any source.
// The error wraps [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var u webUser
	err := wire.Decode(ctx, raw, &u)
	return u.profile(raw), err
}
