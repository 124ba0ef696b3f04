package github

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	// Without sort and direction, the list is sorted by name.
	r := upstream.Get("users", handle, "repos").With("type", "owner").With("sort", "created").With("direction", "desc")
	return list(ctx, c, r, cursor, "repositories", repository.post)
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	repo, err := c.repository(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	p, public := repo.V.post(repo.Raw)
	if !public {
		return schema.Post{}, providers.ErrNotFound
	}
	return p, nil
}

// under returns the address of a part of the repository called name: owner/repo or a number.
func under(name string, part ...string) upstream.Request {
	root := "repos"
	if links.Digits(name) {
		root = "repositories"
	}
	return upstream.Get(append([]string{root, name}, part...)...)
}

// repository reads the repository that id names, which may be the id of one of its issues. A renamed repository comes
// under its new name, after a redirect.
func (c *client) repository(ctx context.Context, id string) (wire.Object[repository], error) {
	id, _, _ = strings.Cut(id, "#")
	var repo wire.Object[repository]
	res, err := c.http.Read(ctx, under(id), &repo)
	switch {
	case err != nil:
		return repo, err
	case links.Digits(id):
		err = wire.Same(ctx, "repository", id, string(repo.V.ID))
	case !res.Moved:
		err = wire.SameFold(ctx, "repository", id, repo.V.FullName)
	}
	return repo, err
}

// repository is the answer of GET /repos/{owner}/{repo}; in lists subscribers_count is absent.
// https://docs.github.com/rest/repos/repos#get-a-repository
type repository struct {
	ID          wire.Serial `json:"id"`
	FullName    string      `json:"full_name"`
	HTMLURL     string      `json:"html_url"`
	Owner       user        `json:"owner"`
	Description string      `json:"description"` // null or "" when never set
	Private     wire.Bool   `json:"private"`
	Topics      []string    `json:"topics"` // absent from old answers
	CreatedAt   wire.Time   `json:"created_at"`
	Stars       wire.Count  `json:"stargazers_count"`
	Forks       wire.Count  `json:"forks_count"`
	Subscribers wire.Count  `json:"subscribers_count"`
}

// post reports whether r is public. When that is unknown it returns an object that breaks the schema, so that the row
// counts as malformed and not as one to leave out.
func (r repository) post(raw json.RawMessage) (schema.Post, bool) {
	if r.Private.V == nil {
		return schema.Post{}, true
	}
	return schema.Post{
		Common:    schema.Common{ID: r.FullName, URL: text.URLOr(r.HTMLURL, site+r.FullName), Raw: raw},
		Author:    r.Owner.actor(),
		Text:      cmp.Or(strings.TrimSpace(r.Description), r.FullName),
		CreatedAt: r.CreatedAt.V,
		Engagement: schema.Engagement{
			Likes: r.Stars.V, Shares: r.Forks.V, Saves: r.Subscribers.V,
		},
		Hashtags: text.Each(r.Topics),
		Mentions: text.Mentions(r.Description),
	}, !r.Private.Is()
}
