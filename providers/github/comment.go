package github

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads the comments of a repository, newest first, or of one issue (owner/repo#123), which GitHub lists
// oldest first and cannot sort.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	name, issue, one := strings.Cut(postID, "#")
	r := under(name, "issues/comments").With("sort", "created").With("direction", "desc")
	if one {
		r = under(name, "issues", issue, "comments")
	}
	return list(ctx, c, r, cursor, "comments", func(c comment, raw json.RawMessage) (schema.Comment, bool) {
		return c.comment(postID, raw), true
	})
}

// comment is an element of GET /repos/{owner}/{repo}/issues/comments.
// https://docs.github.com/rest/issues/comments#list-issue-comments-for-a-repository
type comment struct {
	ID        wire.Serial `json:"id"`
	HTMLURL   string      `json:"html_url"`
	User      *user       `json:"user"` // null when the account was deleted
	Body      string      `json:"body"` // Markdown
	CreatedAt wire.Time   `json:"created_at"`
	Reactions struct {
		Up wire.Count `json:"+1"`
	} `json:"reactions"` // absent from old answers
}

func (c comment) comment(postID string, raw json.RawMessage) schema.Comment {
	return schema.Comment{
		Common:    schema.Common{ID: string(c.ID), URL: text.URLOr(c.HTMLURL, pageOf(postID)), Raw: raw},
		PostID:    repositoryOf(c.HTMLURL, postID),
		Author:    c.User.actor(),
		Text:      c.Body,
		CreatedAt: c.CreatedAt.V,
		Likes:     c.Reactions.Up.V,
	}
}

// repositoryOf returns a comment's post as GitHub writes it, taken from the comment's URL: postID has been lower-cased,
// or is a number.
func repositoryOf(htmlURL, postID string) string {
	asked, _, _ := strings.Cut(postID, "#")
	link, err := links.Parse(htmlURL, "github.com")
	if err != nil || link == nil || len(link.Segments) < 2 {
		return postID
	}
	if name := link.Segment(0) + "/" + link.Segment(1); links.Digits(asked) || strings.EqualFold(name, asked) {
		return name + postID[len(asked):]
	}
	return postID
}

// pageOf returns the web page of a repository, or of its issue.
func pageOf(postID string) string {
	name, issue, one := strings.Cut(postID, "#")
	if one {
		return site + name + "/issues/" + issue
	}
	return site + name
}
