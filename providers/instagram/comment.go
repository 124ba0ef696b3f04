package instagram

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads the comments on a post's page, or in the answer for a post. The rest is for members only.
func (s site) comments(ctx context.Context, postID, cursor string) (page providers.Page[schema.Comment], err error) {
	if cursor != "" {
		return page, providers.ErrCursor // there is only one page
	}
	k, err := keyOf(postID)
	if err != nil {
		return page, err
	}
	page.Items, err = s.commentsOnPage(ctx, k)
	if !elsewhere(err) {
		return page, err
	}
	items, failed := s.commentsInAnswer(ctx, k)
	if failed != nil && elsewhere(failed) {
		return page, err // page names what is missing
	}
	page.Items = items
	return page, failed
}

func (s site) commentsOnPage(ctx context.Context, k key) ([]schema.Comment, error) {
	p, err := s.postPage(ctx, k)
	if err != nil {
		return nil, err
	}
	return p.comments(ctx, k)
}

func (s site) commentsInAnswer(ctx context.Context, k key) ([]schema.Comment, error) {
	i, err := s.query(ctx, k)
	if err != nil {
		return nil, err
	}
	return i.V.remarks(ctx, k)
}

var errSilenced = providers.NotFound("comments are disabled on this post")

// comments returns the comments on a page. If the page has no list of them, the post itself must say that there are
// none.
func (p *page) comments(ctx context.Context, k key) ([]schema.Comment, error) {
	if p.media == nil {
		return nil, p.lacks(ctx, "xig_polaris_media")
	}
	list, name := p.media.V.Comments.Edges, "comments_connection.edges"
	switch post := p.media.V.Post; {
	case post.V.NoComments.Is():
		return nil, errSilenced
	case list.Len()+list.Lost() > 0:
	case post.Raw == nil: // check for the login gate before an empty list
		return nil, p.gated(ctx)
	case list.Odd():
		return nil, list.Check(ctx, name)
	default:
		return nil, wire.Witness{Count: post.V.Comments.V}.Check(ctx, name)
	}
	return wire.Items(ctx, name, list, func(e edge[remark], _ json.RawMessage) (schema.Comment, bool) {
		return e.Node.V.comment(k, e.Node.Raw), true
	})
}

// remark is a comment on the page of a post.
type remark struct {
	PK        wire.Serial `json:"pk"`
	Text      string      `json:"text"`
	CreatedAt wire.Time   `json:"created_at"`
	Likes     wire.Count  `json:"comment_like_count"`
	User      *member     `json:"user"`
}

func (r remark) comment(k key, raw json.RawMessage) schema.Comment {
	return schema.Comment{
		Common:    schema.Common{ID: string(r.PK), URL: commentURL(k, r.PK), Raw: raw},
		PostID:    k.number,
		Author:    r.User.actor(),
		Text:      r.Text,
		CreatedAt: r.CreatedAt.V,
		Likes:     r.Likes.V,
	}
}

func commentURL(k key, id wire.Serial) string {
	return postURL(k.code, false) + "c/" + string(id) + "/"
}

// remarks are the comments beside a post in the older of the site's queries.
type remarks struct {
	count
	Edges wire.Rows[edge[olderRemark]] `json:"edges"`
}

// olderRemark is one of remarks.
type olderRemark struct {
	ID        wire.Serial `json:"id"`
	Text      string      `json:"text"`
	CreatedAt wire.Time   `json:"created_at"`
	LikedBy   count       `json:"edge_liked_by"`
	Owner     *holder     `json:"owner"`
}

// remarks returns the top-level comments if the answer has a list of them, else all that it has.
func (i item) remarks(ctx context.Context, k key) ([]schema.Comment, error) {
	if i.NoComments.Is() {
		return nil, errSilenced
	}
	name, list := "edge_media_to_parent_comment.edges", i.Parents
	if !list.Edges.Here() {
		name, list = "edge_media_to_comment.edges", i.Comments
	}
	if err := list.Edges.Check(ctx, name); err != nil {
		return nil, err
	}
	if err := (wire.Witness{Rows: list.Edges.Len(), Count: list.Count.V}).Check(ctx, name); err != nil {
		return nil, err
	}
	return wire.Items(ctx, name, list.Edges, func(e edge[olderRemark], _ json.RawMessage) (schema.Comment, bool) {
		r := e.Node.V
		return schema.Comment{
			Common:    schema.Common{ID: string(r.ID), URL: commentURL(k, r.ID), Raw: e.Node.Raw},
			PostID:    k.number,
			Author:    r.Owner.actor(),
			Text:      r.Text,
			CreatedAt: r.CreatedAt.V,
			Likes:     r.LikedBy.Count.V,
		}, true
	})
}
