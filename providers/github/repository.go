package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	// Without sort and direction the list is by name.
	r := upstream.Get("users", handle, "repos").With("type", "owner").With("sort", "created").With("direction", "desc")
	var repos []upstream.Object[repository]
	next, err := c.page(ctx, r, cursor, &repos)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("github: posts of %q: %w", handle, err)
	}
	page := providers.Page[schema.Post]{Next: next}
	for _, r := range repos {
		if !r.V.Private {
			page.Items = append(page.Items, r.V.post(r.Raw))
		}
	}
	return page, nil
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	r := upstream.Get("repos", id)
	if links.Digits(id) {
		r = upstream.Get("repositories", id)
	}
	var repo upstream.Object[repository]
	if _, err := c.http.JSON(ctx, r, &repo); err != nil {
		return schema.Post{}, fmt.Errorf("github: post %q: %w", id, err)
	}
	if repo.V.Private {
		return schema.Post{}, fmt.Errorf("github: post %q: %w", id, providers.ErrNotFound)
	}
	return repo.V.post(repo.Raw), nil
}

// repository is the answer of GET /repos/{owner}/{repo}; in lists subscribers_count is absent.
// https://docs.github.com/rest/repos/repos#get-a-repository
type repository struct {
	FullName    string     `json:"full_name"`
	HTMLURL     string     `json:"html_url"`
	Owner       *user      `json:"owner"`
	Description string     `json:"description"` // null or "" when never set
	Private     bool       `json:"private"`
	Topics      []string   `json:"topics"`
	CreatedAt   *time.Time `json:"created_at"`
	Stars       *int64     `json:"stargazers_count"`
	Forks       *int64     `json:"forks_count"`
	Subscribers *int64     `json:"subscribers_count"`
}

func (r repository) post(raw []byte) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: r.FullName, URL: "https://github.com/" + r.FullName, Raw: raw},
		Author:    r.Owner.actor(),
		Text:      strings.TrimSpace(r.Description),
		CreatedAt: r.CreatedAt,
		Engagement: schema.Engagement{
			Likes: r.Stars, Shares: r.Forks, Saves: r.Subscribers,
		},
		Hashtags: r.Topics,
		Mentions: text.Mentions(r.Description),
	}
	if page := text.URL(r.HTMLURL); page != nil {
		p.URL = *page
	}
	if p.Text == "" {
		p.Text = r.FullName
	}
	return p
}
