package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// githubReads reads answers of GitHub's own API, with some other field names.
type githubReads struct{ *client }

func (c *client) github() providers.Provider {
	r := githubReads{c}
	return providers.Provider{
		Platform:  platform.GitHub,
		Profile:   r.profile,
		Followers: r.followers,
		Following: r.following,
		Posts:     r.posts,
		Post:      r.post,
		Trending:  r.trending,
		Notes:     map[providers.Op]string{providers.OpTrending: "repositories of the day, in all languages"},
	}
}

func (r githubReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	var u wire.Object[githubUser]
	if _, err = r.http.Read(ctx, upstream.Get("v1/github/user").Says("handle", handle), &u); err == nil {
		p, _ = u.V.profile(u.Raw)
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

func (r githubReads) followers(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return r.accounts(ctx, "followers", handle, cursor)
}

func (r githubReads) following(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return r.accounts(ctx, "following", handle, cursor)
}

func (r githubReads) accounts(ctx context.Context, what, handle, cursor string) (providers.Page[schema.Profile], error) {
	ask := upstream.Get("v1/github/user", what).Says("handle", handle).With("cursor", cursor)
	return list(ctx, r.client, ask, what, "cursor", githubUser.profile)
}

// posts reads repositories, newest first.
func (r githubReads) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/github/user/repositories").Says("handle", handle).With("type", "owner").
		With("sort", "created").With("direction", "desc").With("cursor", cursor)
	return list(ctx, r.client, ask, "repositories", "cursor", githubRepository.post)
}

func (r githubReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	if links.Digits(id) || strings.Contains(id, "#") {
		return p, providers.Unsupported("ScrapeCreators only finds repositories by owner/name")
	}
	var answer struct {
		Repository sole[githubRepository] `json:"repository"`
	}
	ask := upstream.Get("v1/github/repository").Says("url", "https://github.com/"+id)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		err = answer.Repository.check(ctx, "repository")
	}
	repo := answer.Repository
	if err == nil {
		err = wire.SameFold(ctx, "repository", id, repo.V.FullName)
	}
	if err == nil {
		var public bool
		if p, public = repo.V.post(repo.Raw); !public {
			err = providers.NotFound("the repository is not public")
		}
	}
	return p, err
}

// trending reads GitHub's own page of the day.
func (r githubReads) trending(ctx context.Context, _ providers.TrendingQuery, _ string) (providers.Page[schema.Post], error) {
	return list(ctx, r.client, upstream.Get("v1/github/trending/repositories"), "repositories", "", githubTrend.post)
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
