package x

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// live returns the space that an account is hosting now.
// https://docs.x.com/x-api/spaces/get-spaces-by-creator-ids
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	u, err := c.who(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	r := upstream.Get("2", "spaces", "by", "creator_ids").With("user_ids", string(u.ID)).
		With("space.fields", spaceFields).With("expansions", "host_ids").With("user.fields", authorFields)
	var a wire.Object[list[space]]
	if _, err := c.http.Read(ctx, r.On(c.spaces), &a); err != nil {
		return schema.LiveStream{}, err
	}
	if err := a.V.check(ctx); err != nil {
		return schema.LiveStream{}, err
	}
	s, err := current(ctx, a.V.Data)
	if err != nil {
		return schema.LiveStream{}, err
	}
	if s.Raw == nil {
		return schema.LiveStream{
			Common: schema.Common{ID: string(u.ID), URL: "https://x.com/" + u.Username, Raw: a.Raw},
			Host:   u.actor(),
		}, nil
	}
	return s.V.stream(a.V.Includes, u, s.Raw), nil
}

// current returns the live space, or else the first that is scheduled or has ended. It returns an error if no space is
// known to be live but the state of one is unknown.
func current(ctx context.Context, spaces wire.Rows[space]) (first wire.Object[space], err error) {
	known := spaces.Lost() == 0
	for _, s := range spaces.All() {
		switch s.V.State {
		case "live":
			return s, nil
		case "scheduled", "ended", "canceled":
		default:
			known = false
		}
		if first.Raw == nil {
			first = s
		}
	}
	return first, wire.Need(ctx, "data[].state", known)
}

// space is a live audio conversation.
// https://docs.x.com/x-api/fundamentals/data-dictionary#space
type space struct {
	ID           wire.ID       `json:"id"`
	State        string        `json:"state"` // "live", "scheduled" or "ended"
	Title        string        `json:"title"`
	Participants wire.Count    `json:"participant_count"`
	StartedAt    wire.Time     `json:"started_at"`
	HostIDs      []wire.Serial `json:"host_ids"`
}

func (s space) stream(in includes, u user, raw json.RawMessage) schema.LiveStream {
	host := u
	if len(s.HostIDs) > 0 {
		if h := in.user(s.HostIDs[0]); h != nil {
			host = *h
		}
	}
	return schema.LiveStream{
		Common:    schema.Common{ID: string(s.ID), URL: "https://x.com/i/spaces/" + string(s.ID), Raw: raw},
		Host:      host.actor(),
		IsLive:    s.State == "live",
		Title:     text.NonEmpty(s.Title),
		Viewers:   s.Participants.V,
		StartedAt: s.StartedAt.V,
	}
}
