package soundcloud

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads the track as well: a comment's address begins with the track's, and the owner may have disabled
// comments.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn__comments
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := object[track](ctx, c, "tracks", postID)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if err := open(t.V); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	cs, err := read[comment](ctx, c.http, pages("tracks", "soundcloud:tracks:"+t.V.id(), "comments"), cursor)
	return made(ctx, cs, err, t.V.comment)
}

// open returns an error if the comments of t are disabled: SoundCloud then returns an empty list.
func open(t track) error {
	if no(t.Commentable) || no(t.RevealComments) {
		return providers.NotFound("comments are disabled on this track")
	}
	return nil
}

// comment is an element of GET /tracks/{urn}/comments.
type comment struct {
	ID        wire.Serial `json:"id"`
	URN       string      `json:"urn"`
	Body      string      `json:"body"`
	CreatedAt wire.Time   `json:"created_at"`
	User      user        `json:"user"`
}

// comment converts c, a comment on t. It always reports true.
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
