package twitch

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const schedulePage = "25" // Helix's maximum

// events lists a channel's scheduled broadcasts from now on, soonest first (D59).
func (c *client) events(ctx context.Context, q providers.EventsQuery, cursor string) (providers.Page[schema.Event], error) {
	if q.Handle == "" {
		return providers.Page[schema.Event]{}, providers.Invalid(
			"Twitch has events of channels: the channel must be given in the parameter handle")
	}
	return c.schedule(ctx, q.Handle, cursor)
}

func (c *client) schedule(ctx context.Context, handle, cursor string) (providers.Page[schema.Event], error) {
	var page providers.Page[schema.Event]
	u, err := c.named(ctx, handle)
	if err != nil {
		return page, err
	}
	var a scheduled
	err = c.read(ctx, upstream.Get("schedule").With("broadcaster_id", string(u.V.ID)).With("first", schedulePage), cursor, &a)
	if errors.Is(err, providers.ErrNotFound) { // the channel exists, and has no schedule
		return page, nil
	}
	if err != nil {
		return page, err
	}
	if err := wire.Same(ctx, "channel", string(u.V.ID), string(a.Data.BroadcasterID)); err != nil {
		return page, err
	}
	err = a.Data.Segments.Optional(ctx, "data.segments")
	if err != nil || a.Data.Segments.Len() == 0 {
		return page, err
	}
	host := u.V.actor()
	page.Items, err = wire.Items(ctx, "data.segments", a.Data.Segments, func(s segment, raw json.RawMessage) (schema.Event, bool) {
		return s.event(host, raw), !s.cancelled()
	})
	if err != nil {
		return page, err
	}
	page.Next, err = a.Pagination.next(ctx)
	return page, err
}

// scheduled is the answer of GET /schedule.
// https://dev.twitch.tv/docs/api/reference/#get-channel-stream-schedule
type scheduled struct {
	Data struct {
		Segments      wire.Rows[segment] `json:"segments"` // null when there are none
		BroadcasterID wire.Serial        `json:"broadcaster_id"`
	} `json:"data"`
	Pagination pagination `json:"pagination"`
}

// segment is one scheduled broadcast, or one date of a weekly series.
type segment struct {
	ID            wire.ID         `json:"id"`
	StartTime     wire.Time       `json:"start_time"`
	EndTime       wire.Time       `json:"end_time"`
	Title         string          `json:"title"`
	CanceledUntil json.RawMessage `json:"canceled_until"` // when it would have ended; null unless it is canceled
}

func (s segment) cancelled() bool { return s.CanceledUntil != nil && string(s.CanceledUntil) != "null" }

func (s segment) event(host schema.Actor, raw json.RawMessage) schema.Event {
	return schema.Event{
		Common:   schema.Common{ID: string(s.ID), URL: site + host.Handle + "/schedule", Raw: raw},
		Name:     s.Title,
		StartsAt: s.StartTime.V,
		EndsAt:   s.EndTime.V,
		Host:     &host,
		IsOnline: new(true),
	}
}
