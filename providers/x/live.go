package x

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// live tells whether an account hosts a space now.
// https://docs.x.com/x-api/spaces/get-spaces-by-creator-ids
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	l, err := c.onAir(ctx, handle)
	if err != nil {
		return l, fmt.Errorf("x: live %q: %w", handle, err)
	}
	return l, nil
}

func (c *client) onAir(ctx context.Context, handle string) (schema.LiveStream, error) {
	u, err := c.who(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	r := upstream.Get("2", "spaces", "by", "creator_ids").With("user_ids", u.ID).
		With("space.fields", spaceFields).With("expansions", "host_ids").With("user.fields", authorFields)
	var raw json.RawMessage
	if _, err := c.http.JSON(ctx, r.On(c.spaces), &raw); err != nil {
		return schema.LiveStream{}, err
	}
	var a list[space]
	if err := (&upstream.Response{Body: raw}).JSON(&a); err != nil {
		return schema.LiveStream{}, err
	}
	if a.Data == nil {
		if err := a.absent(); err != nil {
			return schema.LiveStream{}, err
		}
	}
	for _, s := range a.Data {
		if s.V.State == "live" {
			return s.V.stream(a.Includes, u, s.Raw), nil
		}
	}
	if len(a.Data) > 0 { // one that is announced
		return a.Data[0].V.stream(a.Includes, u, a.Data[0].Raw), nil
	}
	return schema.LiveStream{
		Common: schema.Common{ID: u.ID, URL: "https://x.com/" + u.Username, Raw: raw},
		Host:   u.actor(),
	}, nil
}

// space is a live audio conversation.
// https://docs.x.com/x-api/fundamentals/data-dictionary#space
type space struct {
	ID           string     `json:"id"`
	State        string     `json:"state"` // "live", "scheduled" or "ended"
	Title        string     `json:"title"`
	Participants *int64     `json:"participant_count"`
	StartedAt    *time.Time `json:"started_at"`
	HostIDs      []string   `json:"host_ids"`
}

func (s space) stream(in includes, u user, raw []byte) schema.LiveStream {
	host := u
	if len(s.HostIDs) > 0 {
		if h := in.user(s.HostIDs[0]); h != nil {
			host = *h
		}
	}
	return schema.LiveStream{
		Common:    schema.Common{ID: s.ID, URL: "https://x.com/i/spaces/" + s.ID, Raw: raw},
		Host:      host.actor(),
		IsLive:    s.State == "live",
		Title:     text.NonEmpty(s.Title),
		Viewers:   s.Participants,
		StartedAt: s.StartedAt,
	}
}
