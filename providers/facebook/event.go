package facebook

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const eventFields = "id,name,description,start_time,end_time,timezone,place,cover,owner,attending_count," +
	"interested_count,is_online,is_canceled,is_draft,event_times,ticket_uri,type"

func (c *client) event(ctx context.Context, id string) (schema.Event, error) {
	if isShort(id) {
		return schema.Event{}, providers.Unsupported("the Graph API does not resolve short addresses")
	}
	r := upstream.Get(id).With("fields", eventFields)
	return upstream.One(ctx, c.events, r, "", wire.As(gathering.event), upstream.About[schema.Event]("event", id))
}

// eventsOf reads the events of a Page.
func (c *client) eventsOf(
	ctx context.Context, q providers.EventsQuery, cursor string,
) (out providers.Page[schema.Event], err error) {
	if q.Handle == "" {
		return out, errHost
	}
	r := upstream.Get(q.Handle, "events").With("fields", eventFields).With("time_filter", q.Time)
	return pageOf(ctx, c.events, r, cursor, func(e gathering, raw json.RawMessage) (schema.Event, bool) {
		if !e.Draft.Is() && !e.Draft.Not() {
			return schema.Event{}, true // it is unknown whether it belongs
		}
		return e.event(raw), !e.Draft.Is()
	})
}

var errHost = providers.Unsupported("this source only has the events of a Page: it must be given in the parameter handle")

// gathering is an event.
type gathering struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Start       wire.Time   `json:"start_time"` // of the first date, when there are several
	End         wire.Time   `json:"end_time"`
	Online      wire.Bool   `json:"is_online"`
	Draft       wire.Bool   `json:"is_draft"`
	Canceled    wire.Bool   `json:"is_canceled"`
	Going       wire.Count  `json:"attending_count"`
	Interested  wire.Count  `json:"interested_count"`
	Owner       maker       `json:"owner"`
	Cover       struct {
		Source string `json:"source"`
	} `json:"cover"`
	Place struct {
		Name     string `json:"name"`
		Location struct {
			Street  string `json:"street"`
			City    string `json:"city"`
			Country string `json:"country"`
		} `json:"location"`
	} `json:"place"`
}

func (g gathering) event(raw json.RawMessage) schema.Event {
	e := schema.Event{
		Common:      schema.Common{ID: string(g.ID), URL: eventURL(string(g.ID)), Raw: raw},
		Name:        g.Name,
		Description: called(text.NonEmpty(g.Description), g.Canceled),
		StartsAt:    g.Start.V,
		EndsAt:      g.End.V,
		Location:    joined(g.Place.Name, g.Place.Location.Street, g.Place.Location.City, g.Place.Location.Country),
		CoverURL:    text.URL(g.Cover.Source),
		Going:       g.Going.V,
		Interested:  g.Interested.V,
		IsOnline:    g.Online.V,
	}
	if g.Owner.ID != "" {
		e.Host = new(g.Owner.actor(schema.Actor{}))
	}
	return e
}

// canceled is Facebook's word for a cancelled event.
const canceled = "Canceled"

// called returns the description of an event, with a first line that says so if the event is cancelled.
func called(description *string, off wire.Bool) *string {
	switch {
	case !off.Is():
		return description
	case description == nil:
		return new(canceled)
	}
	return new(canceled + "\n" + *description)
}

func eventURL(id string) string { return siteURL + "events/" + id + "/" }

// joined joins the parts of a place that are not empty, each once, in one line.
func joined(parts ...string) *string {
	return text.NonEmpty(strings.Join(text.Each(parts), ", "))
}
