package soundcloud

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// comments reads the track too: a comment's page is below the track's, and the owner may have closed the comments.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn__comments
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := object[track](ctx, c, "tracks", postID)
	var cs []upstream.Object[comment]
	next := ""
	if err == nil {
		err = open(t.V)
	}
	if err == nil {
		cs, next, err = read[comment](ctx, c.http, pages("tracks", "soundcloud:tracks:"+t.V.id(), "comments"), cursor)
	}
	if err != nil {
		return providers.Page[schema.Comment]{}, fmt.Errorf("soundcloud: comments of %q: %w", postID, err)
	}
	return providers.Page[schema.Comment]{Items: convert(cs, t.V.comment), Next: next}, nil
}

// open makes sure that the comments of t are: closed ones come as an empty list.
func open(t track) error {
	if t.quiet() {
		return providers.NotFound("comments are switched off on this track")
	}
	return nil
}

// comment is one of GET /tracks/{urn}/comments.
type comment struct {
	ID        upstream.ID `json:"id"`
	URN       string      `json:"urn"`
	Body      string      `json:"body"`
	CreatedAt string      `json:"created_at"`
	User      user        `json:"user"`
}

func (c comment) id() string { return id(c.URN, c.ID) }

func (t track) comment(c comment, raw []byte) schema.Comment {
	return schema.Comment{
		Common:    schema.Common{ID: c.id(), URL: t.url() + "/comment-" + c.id(), Raw: raw},
		PostID:    t.id(),
		Author:    c.User.actor(),
		Text:      c.Body,
		CreatedAt: date(c.CreatedAt),
	}
}
