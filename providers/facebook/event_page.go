package facebook

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// event reads the page of an event.
func (s site) event(ctx context.Context, id string) (schema.Event, error) {
	if isShort(id) {
		number, err := s.expand(ctx, id)
		if err != nil {
			return schema.Event{}, err
		}
		id = number
	}
	res, err := s.http.Do(ctx, upstream.Get("events", id).With("_fb_noscript", "1"))
	if err != nil {
		return schema.Event{}, err
	}
	head := island.Read(res.Body)
	all := fragmentsOf(ctx, head, len(res.Body))
	main := slices.IndexFunc(all, func(f wire.Object[fragment]) bool { return f.V.Sentence != "" && string(f.V.ID) == id })
	if main < 0 {
		main = slices.IndexFunc(all, func(f wire.Object[fragment]) bool { return f.V.Sentence != "" && f.V.names(id) })
	}
	if main < 0 {
		if err := standsIn(head, res); err != nil {
			return schema.Event{}, err
		}
		if main = slices.IndexFunc(all, func(f wire.Object[fragment]) bool { return f.V.Sentence != "" }); main < 0 {
			return schema.Event{}, wire.Need(ctx, "event.day_time_sentence", false)
		}
		if !res.Moved {
			return schema.Event{}, wire.Same(ctx, "event", id, string(all[main].V.ID))
		}
		id = string(all[main].V.ID)
	}
	e := merge(all[main], all).event(id, head.Meta("og:description"))
	return e, wire.Need(ctx, "event.name", e.Name != "")
}

// fragment is one part of the data of an event: a page holds it in pieces, most of them with the event's number.
type fragment struct {
	ID          wire.Serial `json:"id"`
	Name        string      `json:"name"`
	Sentence    string      `json:"day_time_sentence"` // for people: only its presence counts
	Start       wire.Time   `json:"start_timestamp"`
	End         wire.Time   `json:"end_timestamp"` // 0 when the event has none
	Zone        string      `json:"tz_display_name"`
	Online      wire.Bool   `json:"is_online"`
	Canceled    wire.Bool   `json:"is_canceled"`
	URL         string      `json:"url"`
	Cover       *cover      `json:"cover_media_renderer"`
	Description *struct {
		Text string `json:"text"`
	} `json:"event_description"`
	Place      *place     `json:"event_place"`
	Hosts      []host     `json:"event_hosts_that_can_view_guestlist"`
	Going      *attending `json:"event_connected_users_going"`
	Interested *attending `json:"event_connected_users_interested"`
	Responded  *attending `json:"event_connected_users_public_responded"`
}

// names reports whether the address of f is that of an event. For one date of a series it has two numbers, in
// /events/{series}/?event_time_id={date} or /events/{series}/{date}/: the page of either may have the data of the other.
func (f fragment) names(event string) bool {
	link, err := links.Parse(f.URL, hosts...)
	if err != nil || link == nil || link.Segment(0) != "events" {
		return false
	}
	return slices.Contains(link.Segments, event) || link.Param("event_time_id") == event
}

type attending struct {
	Count wire.Count `json:"count"`
}

// cover is a photo, or the still of a video.
type cover struct {
	Photo struct {
		Photo shot `json:"photo"`
	} `json:"cover_photo"`
	Media []shot `json:"cover_media"`
	Video shot   `json:"cover_video"`
}

type shot struct {
	URI     string  `json:"uri"`
	Full    picture `json:"full_image"`
	Image   picture `json:"image"`
	Blurred picture `json:"blurred_image"`
}

func (s shot) uri() string { return cmp.Or(s.Full.URI, s.Image.URI, s.URI, s.Blurred.URI) }

type picture struct {
	URI string `json:"uri"`
}

func (c *cover) url() *string {
	if c == nil {
		return nil
	}
	uri := c.Photo.Photo.uri()
	for _, m := range c.Media {
		uri = cmp.Or(uri, m.uri())
	}
	return text.URL(cmp.Or(uri, c.Video.uri()))
}

type place struct {
	ID       wire.ID         `json:"id"`
	Name     string          `json:"name"`
	Location json.RawMessage `json:"location"` // nil when the place is only named; null when it is on no map
	Address  struct {
		Street string `json:"street"`
	} `json:"address"`
	City struct {
		Name string `json:"contextual_name"`
	} `json:"city"`
}

// words is nil for an event that is only online.
func (p *place) words() *string {
	if p == nil || p.ID == "" && p.Name == "Online event" {
		return nil
	}
	street := p.Address.Street
	if strings.Contains(strings.ToLower(p.Name), strings.ToLower(street)) {
		street = ""
	}
	return joined(p.Name, street, p.City.Name)
}

type host struct {
	ID      wire.ID  `json:"id"` // a number, or for people an id that begins with pfbid
	Name    string   `json:"name"`
	URL     string   `json:"url"`
	Picture *picture `json:"profile_picture"`
}

func (h host) actor() *schema.Actor {
	if h.ID == "" {
		return nil
	}
	a := &schema.Actor{ID: string(h.ID), Handle: string(h.ID), DisplayName: text.NonEmpty(h.Name)}
	if link, err := links.Parse(h.URL, hosts...); err == nil && link != nil && len(link.Segments) > 0 {
		if a.Handle = path.Base(strings.Join(link.Segments, "/")); a.Handle == "profile.php" {
			a.Handle = cmp.Or(link.Param("id"), a.ID)
		}
	}
	if h.Picture != nil {
		a.AvatarURL = text.URL(h.Picture.URI)
	}
	return a
}

// marks are field names: an object that is part of an event has at least one of them.
var marks = []string{
	"day_time_sentence", "end_timestamp", "event_description", "event_place", "event_hosts_that_can_view_guestlist",
	"event_connected_users_going", "event_connected_users_interested", "event_connected_users_public_responded",
}

// fragmentsOf returns the parts of events in a page, both of its own event and of others that it suggests.
func fragmentsOf(ctx context.Context, head *island.Page, size int) []wire.Object[fragment] {
	var all []wire.Object[fragment]
	for raw := range objectsWith(head, size, marks...) {
		var f wire.Object[fragment]
		if wire.Decode(ctx, raw, &f) == nil {
			all = append(all, f)
		}
	}
	return all
}

// objectsWith visits the objects in the scripts of a page, nested ones included, that have a member with one of names.
// Its cost is bounded by the size of the page, even if the page is nothing but braces.
func objectsWith(page *island.Page, size int, names ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		budget, more := 32*size, true
		visit := func(raw json.RawMessage) bool {
			if budget -= len(raw); budget < 0 || !more {
				return false
			}
			if has(raw, names) {
				more = yield(raw)
			}
			return more
		}
		for _, s := range page.Scripts {
			for object := range island.Objects(s.Body) {
				if !visit(object) {
					continue
				}
				island.Find(object, func(_ string, v island.Value) bool {
					if v.Is('{') {
						return visit(v.Bytes())
					}
					return v.Is('[') && budget > 0 && more
				})
			}
		}
	}
}

// has reports whether an object has a member with one of names.
func has(object []byte, names []string) (found bool) {
	island.Find(object, func(name string, _ island.Value) bool {
		found = found || slices.Contains(names, name)
		return false
	})
	return found
}

// whole is an event assembled from its parts.
type whole struct {
	fragment
	raw json.RawMessage
}

// merge completes main with parts from elsewhere in the page: those with its number, else those with none. An end
// without a number must be beside the same start time.
func merge(main wire.Object[fragment], all []wire.Object[fragment]) whole {
	w := whole{main.V, main.Raw}
	if w.Place != nil && w.Place.Location == nil {
		w.Place = nil // the full place is elsewhere, and has a location, which may be null
	}
	for _, f := range all {
		if f.V.ID == w.ID {
			w.take(f.V)
			if f.V.Canceled.Is() {
				w.Canceled = f.V.Canceled
			}
		}
	}
	for _, f := range all {
		if f.V.ID != "" || f.V.Sentence != "" {
			continue
		}
		if f.V.Zone == "" || f.V.Start.V == nil || w.Start.V == nil || !f.V.Start.V.Equal(*w.Start.V) {
			f.V.End = wire.Time{} // it may belong to another event
		}
		w.take(f.V)
	}
	if w.Place == nil {
		w.Place = main.V.Place
	}
	return w
}

func pictured(hosts []host) bool { return len(hosts) > 0 && hosts[0].Picture != nil }

// take completes w with another part of the same event.
func (w *whole) take(f fragment) {
	if w.Place == nil && f.Place != nil && f.Place.Location != nil {
		w.Place = f.Place
	}
	if w.Description == nil {
		w.Description = f.Description
	}
	if len(f.Hosts) > 0 && (len(w.Hosts) == 0 || pictured(f.Hosts) && !pictured(w.Hosts)) {
		w.Hosts = f.Hosts
	}
	w.Going = cmp.Or(w.Going, f.Going)
	w.Interested = cmp.Or(w.Interested, f.Interested)
	w.Responded = cmp.Or(w.Responded, f.Responded)
	w.Cover = cmp.Or(w.Cover, f.Cover)
	if w.End.V == nil {
		w.End = f.End
	}
	if w.Online.V == nil {
		w.Online = f.Online
	}
}

// event converts w. When the page has only the number of responses, the sentence in the head has the number of people
// interested.
func (w whole) event(id, sentence string) schema.Event {
	e := schema.Event{
		Common:   schema.Common{ID: id, URL: siteAddress(w.URL, eventURL(id)), Raw: w.raw},
		Name:     w.Name,
		StartsAt: w.Start.V,
		EndsAt:   w.End.V,
		Location: w.Place.words(),
		CoverURL: w.Cover.url(),
		IsOnline: w.Online.V,
	}
	if w.Description != nil {
		e.Description = text.NonEmpty(w.Description.Text)
	}
	e.Description = called(e.Description, w.Canceled)
	if len(w.Hosts) > 0 {
		e.Host = w.Hosts[0].actor()
	}
	e.Going, e.Interested = w.people(sentence)
	return e
}

func (w whole) people(sentence string) (going, interested *int64) {
	if w.Going != nil {
		going = w.Going.Count.V
	}
	if w.Interested != nil {
		interested = w.Interested.Count.V
	}
	if going != nil || interested != nil || w.Responded == nil {
		return going, interested
	}
	number := numberBefore(sentence, "people interested", "person interested", "interested")
	interested = text.Count(number)
	responded := w.Responded.Count.V
	if responded == nil || interested == nil || rounded(number) || *responded < *interested {
		return nil, interested
	}
	return new(*responded - *interested), interested
}

// numberBefore returns the word before the first of phrases that s holds.
func numberBefore(s string, phrases ...string) string {
	for _, phrase := range phrases {
		if before, _, found := strings.Cut(s, " "+phrase); found {
			words := strings.Fields(before)
			if len(words) == 0 {
				return ""
			}
			return words[len(words)-1]
		}
	}
	return ""
}

// rounded reports whether a number is written with a unit, as in 2K.
func rounded(number string) bool { return strings.ContainsAny(strings.ToUpper(number), "KMB+") }

// events reads the list of a Page's events, as much of it as its page shows.
func (s site) events(
	ctx context.Context, q providers.EventsQuery, cursor string,
) (out providers.Page[schema.Event], err error) {
	if q.Handle == "" {
		return out, errHost
	}
	if cursor != "" {
		return out, providers.ErrCursor // there is only one page
	}
	tab := "upcoming_hosted_events"
	if q.Time == "past" {
		tab = "past_hosted_events"
	}
	r := upstream.Get(q.Handle, tab)
	if links.Digits(q.Handle) {
		r = upstream.Get("profile.php").With("id", q.Handle).With("sk", tab)
	}
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return out, err
	}
	head := island.Read(res.Body)
	list := eventsIn(ctx, head)
	if !list.Edges.Here() {
		if err := standsIn(head, res); err != nil {
			return out, err
		}
	}
	out.Items, err = wire.Items(ctx, "pageItems.edges", list.Edges, func(e edge, _ json.RawMessage) (schema.Event, bool) {
		f := e.Node.Node
		return whole{f.V, f.Raw}.event(string(f.V.ID), ""), true
	})
	if err != nil {
		return out, err
	}
	err = wire.Witness{Rows: list.Edges.Len(), Count: list.Count.V}.Check(ctx, "pageItems.edges")
	if err != nil {
		return providers.Page[schema.Event]{}, err
	}
	return out, nil
}

// collection is the list of a Page's events.
type collection struct {
	Edges wire.Rows[edge] `json:"edges"`
	Count wire.Count      `json:"count"`
}

type edge struct {
	Node struct {
		Node wire.Object[fragment] `json:"node"`
	} `json:"node"`
}

// eventsIn returns the list of events in a page. Facebook writes lists of pictures and people in the same form. Those
// are skipped, and an empty list counts only if there is no other.
func eventsIn(ctx context.Context, head *island.Page) collection {
	var found collection
	others := false
	find(head, func(name string, v island.Value) bool {
		if name != "pageItems" || !v.Is('{') {
			return true
		}
		var c collection
		if wire.Decode(ctx, v.Bytes(), &c) != nil || !c.Edges.Here() {
			return false
		}
		switch {
		case c.holdsEvents():
			if found.Edges.Len() == 0 {
				found = c
			}
		case c.Edges.Len()+c.Edges.Lost() > 0:
			others = true
		case !found.Edges.Here():
			found = c
		}
		return false
	})
	if others && found.Edges.Len() == 0 {
		return collection{}
	}
	return found
}

func (c collection) holdsEvents() bool {
	for _, e := range c.Edges.All() {
		if f := e.V.Node.Node.V; f.Sentence != "" || strings.Contains(f.URL, "/events/") {
			return true
		}
	}
	return false
}
