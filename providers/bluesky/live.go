package bluesky

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// live reads the live status in a profile.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	a, err := c.actor(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	l := schema.LiveStream{Common: schema.Common{ID: a.V.id(), URL: a.V.url(), Raw: a.Raw}, Host: a.V.actor()}
	if said := bytes.TrimSpace(a.V.Status); len(said) == 0 || string(said) == "null" {
		return l, nil
	}
	var s status
	if err := wire.Decode(ctx, a.V.Status, &s); err != nil {
		return schema.LiveStream{}, err
	}
	if l.IsLive, err = s.live(ctx, time.Now()); err != nil {
		return schema.LiveStream{}, err
	}
	if l.IsLive {
		s.describe(&l)
	}
	return l, nil
}

// status is the temporary status of an account.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
type status struct {
	URI    string `json:"uri"`
	Status string `json:"status"` // app.bsky.actor.status#live, or a later addition
	Record struct {
		CreatedAt wire.Time `json:"createdAt"`
	} `json:"record"`
	Embed struct {
		External struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
			Thumb string `json:"thumb"`
		} `json:"external"`
	} `json:"embed"`
	ExpiresAt wire.Time `json:"expiresAt"`
	Active    wire.Bool `json:"isActive"`
}

// live reports whether the account is live. It is not if the status has expired, even if Bluesky still marks it as
// active. It returns an error if that is unknown.
func (s status) live(ctx context.Context, now time.Time) (bool, error) {
	if err := wire.Need(ctx, "status.status", s.Status != ""); err != nil {
		return false, err
	}
	over := s.ExpiresAt.V != nil && !s.ExpiresAt.V.After(now)
	inactive := s.Active.V != nil && !*s.Active.V
	if s.Status != "app.bsky.actor.status#live" || over || inactive {
		return false, nil
	}
	return true, wire.Need(ctx, "status.isActive and status.expiresAt", s.Active.V != nil && s.ExpiresAt.V != nil)
}

// describe adds what the status states about the stream, which is on another site.
func (s status) describe(l *schema.LiveStream) {
	stream := s.Embed.External
	l.ID = cmp.Or(s.URI, l.ID)
	l.URL = text.URLOr(stream.URI, l.URL)
	l.Title = text.NonEmpty(stream.Title)
	l.ThumbnailURL = text.URL(stream.Thumb)
	l.StartedAt = s.Record.CreatedAt.V
}
