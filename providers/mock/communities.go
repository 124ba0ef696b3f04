package mock

import (
	"cmp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func (s *sandbox) community(id string) (schema.Profile, error) {
	return s.club(id).profile(), nil
}

func communityPostsKey(q providers.CommunityPostsQuery) []string { return []string{q.ID} }

// communityPosts lists the posts of many accounts in a community: newest first, or most liked first.
func (s *sandbox) communityPosts(q providers.CommunityPostsQuery) (series[schema.Post], error) {
	member := people("community", q.ID)
	l := series[schema.Post]{n: length("community", q.ID), at: func(i int) schema.Post {
		return s.item(child(member(i), "post", i+1)).post() // a larger number is an older post
	}}
	if q.Sort == "top" {
		l.sort = func(a, b schema.Post) int { return cmp.Compare(likes(b), likes(a)) }
	}
	return l, nil
}

func likes(p schema.Post) int64 {
	if p.Engagement.Likes == nil {
		return -1
	}
	return *p.Engagement.Likes
}

// club is a community in the format of the sandbox platform.
type club struct {
	ClubID  string   `json:"club_id"`
	Link    string   `json:"link"`
	Title   string   `json:"title"`
	About   *string  `json:"about"`
	Icon    *string  `json:"icon"`
	Members *int64   `json:"members"`
	Rules   []string `json:"rules"`
	Closed  bool     `json:"closed"`
	Founded int64    `json:"founded"` // Unix seconds
}

func (g *generator) club(id string) club {
	d := roll("community", id)
	lang := pick(d, []string{"ar", "en"})
	return club{
		ClubID:  id,
		Link:    g.page("communities", id),
		Title:   strings.TrimSpace(nameOf(id) + " " + pick(d, emoji)),
		About:   hide(d, 15, "#"+pick(d, tags[lang])+" — "+pick(d, hobbies[lang])),
		Icon:    hide(d, 20, g.file("icons", id+".png")),
		Members: hide(d, 5, d.count(6)),
		Rules:   []string{pick(d, remarks[lang]), pick(d, remarks[lang])},
		Closed:  d.often(20),
		Founded: g.ago(time.Duration(d.between(100, 4000)) * 24 * time.Hour),
	}
}

// profile returns a community as an account, because the schema has no type for communities.
func (c club) profile() schema.Profile {
	return schema.Profile{
		Common:      common(c.ClubID, c.Link, c),
		Handle:      c.ClubID,
		DisplayName: &c.Title,
		Bio:         c.About,
		AvatarURL:   c.Icon,
		Followers:   c.Members,
	}
}
