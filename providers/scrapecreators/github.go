package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) github() providers.Provider {
	return providers.Provider{
		Platform:  platform.GitHub,
		Profile:   one(c, by("v1/github/user", "handle"), "", alone(githubUser.profile), sameAccount),
		Followers: githubAccounts(c, "followers"),
		Following: githubAccounts(c, "following"),
		Posts:     list(c, githubOwn, upstream.List{Rows: "repositories", Next: "cursor"}, rows(githubRepository.post), nil),
		Post:      one(c, githubRepo, "repository", githubPublic, sameRepository),
		Trending: list(c, fixed[providers.TrendingQuery]("v1/github/trending/repositories"),
			upstream.List{Rows: "repositories"}, rows(githubTrend.post), nil),
		Notes: map[providers.Op]string{providers.OpTrending: "repositories of the day, in all languages"},
	}
}

// githubRepo asks for a repository by its owner and name.
func githubRepo(_ context.Context, id string) (upstream.Request, error) {
	if links.Digits(id) || strings.Contains(id, "#") {
		return upstream.Request{}, providers.Unsupported("ScrapeCreators only finds repositories by owner/name")
	}
	return upstream.Get("v1/github/repository").Says("url", "https://github.com/"+id), nil
}

func githubPublic(_ context.Context, r wire.Object[githubRepository]) (schema.Post, error) {
	p, public := r.V.post(r.Raw)
	if !public {
		return p, providers.NotFound("the repository is not public")
	}
	return p, nil
}

// sameRepository is [samePost] on a platform that ignores case.
func sameRepository(ctx context.Context, id string, p schema.Post) error {
	return wire.SameFold(ctx, "repository", id, p.ID)
}

func githubAccounts(c *client, what string) func(context.Context, string, string) (providers.Page[schema.Profile], error) {
	return list(c, by("v1/github/user/"+what, "handle"), upstream.List{Rows: what, Next: "cursor"}, rows(githubUser.profile), nil)
}

// githubOwn asks for the repositories of an account, newest first.
func githubOwn(_ context.Context, handle string) (upstream.Request, error) {
	return upstream.Get("v1/github/user/repositories").Says("handle", handle).With("type", "owner").
		With("sort", "created").With("direction", "desc"), nil
}

// githubUser is an account; in lists only the first four fields are set.
type githubUser struct {
	ID        wire.Serial `json:"id"`
	Login     string      `json:"login"`
	Picture   string      `json:"avatar_url"`
	URL       string      `json:"url"` // of its page
	Name      string      `json:"name"`
	Bio       string      `json:"bio"`
	Blog      string      `json:"blog"` // often without a scheme
	XHandle   string      `json:"twitter_username"`
	Followers wire.Count  `json:"followers"`
	Following wire.Count  `json:"following"`
	Repos     wire.Count  `json:"public_repos"`
}

func (u githubUser) profile(raw json.RawMessage) (schema.Profile, bool) {
	urls := []string{u.Blog}
	if u.XHandle != "" {
		urls = append(urls, "https://x.com/"+u.XHandle)
	}
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: text.URLOr(u.URL, "https://github.com/"+u.Login), Raw: raw},
		Handle:      u.Login,
		DisplayName: text.NonEmpty(u.Name),
		Bio:         text.NonEmpty(u.Bio),
		AvatarURL:   text.URL(u.Picture),
		Followers:   u.Followers.V,
		Following:   u.Following.V,
		PostsCount:  u.Repos.V,
		Links:       text.URLs(urls...),
	}, true
}

type githubRepository struct {
	FullName    string     `json:"full_name"`
	URL         string     `json:"url"` // of its page
	Owner       githubUser `json:"owner"`
	Description string     `json:"description"`
	Private     wire.Bool  `json:"private"`
	Topics      []string   `json:"topics"`
	CreatedAt   wire.Time  `json:"created_at"`
	Stars       wire.Count `json:"stars_count"`
	Forks       wire.Count `json:"forks_count"`
}

// post reports whether r is public. A row for which that is unknown is malformed.
func (r githubRepository) post(raw json.RawMessage) (schema.Post, bool) {
	if r.Private.V == nil {
		return schema.Post{}, true
	}
	return schema.Post{
		Common: schema.Common{ID: r.FullName, URL: text.URLOr(r.URL, "https://github.com/"+r.FullName), Raw: raw},
		Author: schema.Actor{
			ID: string(r.Owner.ID), Handle: r.Owner.Login, AvatarURL: text.URL(r.Owner.Picture),
		},
		Text:       cmp.Or(strings.TrimSpace(r.Description), r.FullName),
		CreatedAt:  r.CreatedAt.V,
		Engagement: schema.Engagement{Likes: r.Stars.V, Shares: r.Forks.V},
		Hashtags:   text.Each(r.Topics),
		Mentions:   text.Mentions(r.Description),
	}, !r.Private.Is()
}

// githubTrend is a row of the page of trending repositories, whose owner only has a login.
type githubTrend struct {
	Owner       string     `json:"owner"`
	FullName    string     `json:"full_name"`
	URL         string     `json:"url"`
	Description string     `json:"description"`
	Stars       wire.Count `json:"stars_count"`
	Forks       wire.Count `json:"forks_count"`
}

func (t githubTrend) post(raw json.RawMessage) (schema.Post, bool) {
	return schema.Post{
		Common:     schema.Common{ID: t.FullName, URL: text.URLOr(t.URL, "https://github.com/"+t.FullName), Raw: raw},
		Author:     schema.Actor{ID: t.Owner, Handle: t.Owner},
		Text:       cmp.Or(strings.TrimSpace(t.Description), t.FullName),
		Engagement: schema.Engagement{Likes: t.Stars.V, Shares: t.Forks.V},
		Mentions:   text.Mentions(t.Description),
	}, true
}
