package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// events reads the events of a Page, or those on Facebook's page of a place.
// https://docs.scrapecreators.com/v1/facebook/profile/events
// https://docs.scrapecreators.com/v1/facebook/events
func (r facebookReads) events(
	ctx context.Context, q providers.EventsQuery, cursor string,
) (page providers.Page[schema.Event], err error) {
	if q.Handle != "" {
		ask := upstream.Get("v1/facebook/profile/events").Says("url", facebookAccount(q.Handle)).With("cursor", cursor)
		at := upstream.List{Rows: "events", Next: "cursor", More: "has_next_page"}
		return upstream.Page(ctx, r.http, ask, at, facebookEvent.event)
	}
	link, err := links.Parse(q.Place, "facebook.com", ".facebook.com")
	if err != nil || link == nil || link.Segment(0) != "events" || link.Segment(1) != "explore" {
		return page, providers.Invalid(
			"a place is given by its page of events on Facebook, as in facebook.com/events/explore/riyadh/110944518935123")
	}
	ask := upstream.Get("v1/facebook/events").Says("url", facebookSite+strings.Join(link.Segments, "/")).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, facebookFound, facebookEvent.event)
}

// facebookEvent is a single event, or one in one of three kinds of list, which have some fields and names of their own.
type facebookEvent struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Starts      wire.Time   `json:"start_timestamp"`
	Start       wire.Time   `json:"start_time"`
	Ends        wire.Time   `json:"end_timestamp"`
	End         wire.Time   `json:"end_time"`
	Location    string      `json:"location_name"`
	Address     string      `json:"address"`
	City        string      `json:"city"`
	Place       struct {
		Name string `json:"contextual_name"`
	} `json:"event_place"`
	Hosts   []facebookMaker `json:"hosts"`
	Creator facebookMaker   `json:"event_creator"`
	Online  wire.Bool       `json:"is_online"`
	Picture string          `json:"cover_photo_url"`
	Cover   struct {
		Photo struct {
			Image facebookImage `json:"image"`
		} `json:"photo"`
		Image facebookImage `json:"eventImage"`
	} `json:"cover_photo"`
	Going      wire.Count `json:"going_count"`
	Interested wire.Count `json:"interested_count"`
	Social     struct {
		Going      wire.Count `json:"going_count"`
		Interested wire.Count `json:"interested_count"` // may be rounded
	} `json:"social_context"`
}

type facebookImage struct {
	URI string `json:"uri"`
}

// event converts e. It always reports true.
func (e facebookEvent) event(raw json.RawMessage) (schema.Event, bool) {
	out := schema.Event{
		Common:      schema.Common{ID: string(e.ID), URL: facebookSite + "events/" + string(e.ID) + "/", Raw: raw},
		Name:        e.Name,
		Description: text.NonEmpty(e.Description),
		StartsAt:    cmp.Or(e.Starts.V, e.Start.V),
		EndsAt:      cmp.Or(e.Ends.V, e.End.V),
		Location:    text.NonEmpty(cmp.Or(e.Location, e.Place.Name, e.Address, e.City)),
		CoverURL:    text.URL(cmp.Or(e.Picture, e.Cover.Photo.Image.URI, e.Cover.Image.URI)),
		Going:       cmp.Or(e.Going.V, e.Social.Going.V),
		Interested:  cmp.Or(e.Interested.V, e.Social.Interested.V),
		IsOnline:    e.Online.V,
	}
	for _, host := range append(e.Hosts, e.Creator) {
		if host.ID != "" {
			out.Host = new(host.actor())
			break
		}
	}
	return out, true
}

// https://docs.scrapecreators.com/v1/facebook/event/details
func facebookEventByID(_ context.Context, id string) (upstream.Request, error) {
	if !links.Digits(id) {
		return upstream.Request{}, providers.Unsupported("this source does not resolve short addresses")
	}
	return upstream.Get("v1/facebook/event/details").Says("id", id), nil
}

func sameEvent(ctx context.Context, id string, e schema.Event) error {
	return wire.Same(ctx, "event", id, e.ID)
}
