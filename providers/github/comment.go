package github

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// comments reads those of a repository, newest first, or of one issue (owner/repo#123), which GitHub lists oldest
// first and cannot sort.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	name, issue, one := strings.Cut(postID, "#")
	r := upstream.Get("repos", name, "issues/comments").With("sort", "created").With("direction", "desc")
	if one {
		r = upstream.Get("repos", name, "issues", issue, "comments")
	}
	var cs []upstream.Object[comment]
	next, err := c.page(ctx, r, cursor, &cs)
	if err != nil {
		return providers.Page[schema.Comment]{}, fmt.Errorf("github: comments of %q: %w", postID, err)
	}
	page := providers.Page[schema.Comment]{Next: next}
	for _, o := range cs {
		page.Items = append(page.Items, o.V.comment(postID, o.Raw))
	}
	return page, nil
}

// comment is one of GET /repos/{owner}/{repo}/issues/comments.
// https://docs.github.com/rest/issues/comments#list-issue-comments-for-a-repository
type comment struct {
	ID        int64      `json:"id"`
	HTMLURL   string     `json:"html_url"`
	User      *user      `json:"user"` // null when the account was deleted
	Body      string     `json:"body"` // Markdown
	CreatedAt *time.Time `json:"created_at"`
	Reactions *struct {
		Up *int64 `json:"+1"`
	} `json:"reactions"`
}

func (c comment) comment(postID string, raw []byte) schema.Comment {
	out := schema.Comment{
		Common:    schema.Common{ID: strconv.FormatInt(c.ID, 10), URL: c.HTMLURL, Raw: raw},
		PostID:    repositoryOf(c.HTMLURL, postID),
		Author:    c.User.actor(),
		Text:      c.Body,
		CreatedAt: c.CreatedAt,
	}
	if c.Reactions != nil {
		out.Likes = c.Reactions.Up
	}
	return out
}

// repositoryOf gives a comment's post as GitHub writes it: postID has lost its case on the way, the comment's URL has
// not.
func repositoryOf(htmlURL, postID string) string {
	name, _, _ := strings.Cut(postID, "#")
	path := strings.TrimPrefix(htmlURL, "https://github.com/")
	if len(path) > len(name) && strings.EqualFold(path[:len(name)], name) {
		return path[:len(name)] + postID[len(name):]
	}
	return postID
}
