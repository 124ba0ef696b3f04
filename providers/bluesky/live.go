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

// live reads the live badge of a profile.
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
	err = wire.Decode(ctx, a.V.Status, &s)
	if err == nil {
		l.IsLive, err = s.live(ctx, time.Now())
	}
	if err != nil {
		return schema.LiveStream{}, err
	}
	if l.IsLive {
		s.describe(&l)
	}
	return l, nil
}

// status is what an account says it is doing, for a while.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
type status struct {
	URI    string `json:"uri"`
	Status string `json:"status"` // app.bsky.actor.status#live, and whatever else comes to be known
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

// live tells whether the account is on air: not where the status has run out, whatever Bluesky still says of it. It
// fails where that cannot be told.
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

// describe adds what the badge says of the stream, which is elsewhere.
func (s status) describe(l *schema.LiveStream) {
	stream := s.Embed.External
	l.ID = cmp.Or(s.URI, l.ID)
	l.URL = text.URLOr(stream.URI, l.URL)
	l.Title = text.NonEmpty(stream.Title)
	l.ThumbnailURL = text.URL(stream.Thumb)
	l.StartedAt = s.Record.CreatedAt.V
}
