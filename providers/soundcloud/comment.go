package soundcloud

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads the track too: a comment's page is below the track's, and the owner may have closed the comments.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn__comments
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := object[track](ctx, c, "tracks", postID)
	var cs wire.Rows[comment]
	next := ""
	if err == nil {
		err = open(t.V)
	}
	if err == nil {
		cs, next, err = read[comment](ctx, c.http, pages("tracks", "soundcloud:tracks:"+t.V.id(), "comments"), cursor)
	}
	return made(ctx, cs, next, err, t.V.comment)
}

// open makes sure that the comments of t are: closed ones come as an empty list.
func open(t track) error {
	if no(t.Commentable) || no(t.RevealComments) {
		return providers.NotFound("comments are switched off on this track")
	}
	return nil
}

// comment is one of GET /tracks/{urn}/comments.
type comment struct {
	ID        wire.Serial `json:"id"`
	URN       string      `json:"urn"`
	Body      string      `json:"body"`
	CreatedAt wire.Time   `json:"created_at"`
	User      user        `json:"user"`
}

// comment always belongs.
func (t track) comment(c comment, raw json.RawMessage) (schema.Comment, bool) {
	n := id(c.URN, c.ID)
	return schema.Comment{
		Common:    schema.Common{ID: n, URL: t.url() + "/comment-" + n, Raw: raw},
		PostID:    t.id(),
		Author:    c.User.actor(),
		Text:      c.Body,
		CreatedAt: c.CreatedAt.V,
	}, true
}
