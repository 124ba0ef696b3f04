package bluesky

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/schema"
)

// live reads the live badge of a profile.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	a, err := c.actor(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, fmt.Errorf("bluesky: live %q: %w", handle, err)
	}
	return a.V.live(time.Now(), a.Raw), nil
}

// status is what an account says it is doing, for a while.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
type status struct {
	URI    string `json:"uri"`
	Status string `json:"status"`
	Record loose[struct {
		CreatedAt loose[string] `json:"createdAt"`
	}] `json:"record"`
	Embed loose[struct {
		External struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
			Thumb string `json:"thumb"`
		} `json:"external"`
	}] `json:"embed"`
	ExpiresAt string `json:"expiresAt"`
	Active    bool   `json:"isActive"`
}

// live tells that nothing is on air where the status has run out, whatever Bluesky still says of it.
func (a actor) live(now time.Time, raw []byte) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: a.DID, URL: a.url(), Raw: raw},
		Host:   a.actor(),
	}
	s := a.Status.V
	if s == nil || s.Status != "app.bsky.actor.status#live" || !s.Active {
		return l
	}
	if end, err := time.Parse(time.RFC3339, s.ExpiresAt); err != nil || !end.After(now) {
		return l
	}
	l.IsLive = true
	l.ID = cmp.Or(s.URI, a.DID)
	stream := s.Embed.V.External
	l.Title = text.NonEmpty(stream.Title)
	l.ThumbnailURL = text.URL(stream.Thumb)
	if u := text.URL(stream.URI); u != nil {
		l.URL = *u
	}
	if t, err := time.Parse(time.RFC3339, s.Record.V.CreatedAt.V); err == nil {
		l.StartedAt = new(t.UTC())
	}
	return l
}
