package mock

import (
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func (s *sandbox) event(id string) (schema.Event, error) {
	return s.gathering(id).event(), nil
}

func eventsKey(q providers.EventsQuery) []string { return []string{q.Handle, slug(q.Place)} }

// events lists the events of a host or at a place: upcoming ones, soonest first, and then past ones.
func (s *sandbox) events(q providers.EventsQuery) (series[schema.Event], error) {
	of := q.Handle
	if q.Place != "" {
		of = place + slug(q.Place)
	}
	l := series[schema.Event]{n: length("event", of), at: func(i int) schema.Event {
		return s.gathering(child(of, "event", i+1)).event()
	}}
	if q.Time != "" {
		l.keep = func(e schema.Event) bool { return (q.Time == "upcoming") == e.StartsAt.After(s.epoch) }
	}
	return l, nil
}

// eventsSearch finds events of many hosts.
func (s *sandbox) eventsSearch(query string) (series[schema.Event], error) {
	host := people("events", query)
	return series[schema.Event]{n: length("events", query), at: func(i int) schema.Event {
		return s.gathering(child(host(i), "event", 1+i%30)).event()
	}}, nil
}

// place is the prefix of a place that is used like a handle: at.riyadh-event-1.
const place = "at."

// gathering is an event in the format of the sandbox platform.
type gathering struct {
	GatheringID string   `json:"gathering_id"`
	Link        string   `json:"link"`
	Name        string   `json:"name"`
	About       *string  `json:"about"`
	Begins      int64    `json:"begins"` // Unix seconds
	Ends        *int64   `json:"ends"`   // Unix seconds
	Where       *string  `json:"where"`  // null for an online event
	Host        *account `json:"host"`
	Cover       *string  `json:"cover"`
	Coming      *int64   `json:"coming"`
	Maybe       *int64   `json:"maybe"`
	Online      *bool    `json:"online"`
}

const upcoming = 15 // upcoming events of every host

func (g *generator) gathering(id string) gathering {
	d, by := roll("event", id), owner(id)
	_, n := origin(id)
	city, here := strings.CutPrefix(by, place)
	if here {
		by = person(d.below(cast))
	}
	home := homeOf(by)
	begins := g.ago(-time.Duration(n) * 36 * time.Hour)
	if n > upcoming {
		begins = g.ago(time.Duration(n-upcoming) * 36 * time.Hour)
	}
	online := d.often(25) && !here
	out := gathering{
		GatheringID: id,
		Link:        g.page("events", id),
		Name:        pick(d, gatherings[home.lang]),
		About:       hide(d, 20, pick(d, sentences[home.lang])+"\n\n"+pick(d, pitches[home.lang])),
		Begins:      begins,
		Ends:        hide(d, 30, begins+int64(d.between(1, 6))*3600),
		Host:        hide(d, 8, g.account(by)),
		Cover:       hide(d, 15, g.file("covers", id+".jpg")),
		Coming:      hide(d, 15, d.count(4)),
		Maybe:       hide(d, 25, d.count(4)),
		Online:      hide(d, 20, online),
	}
	switch {
	case here:
		out.Where = new(nameOfPlace(city))
	case !online:
		out.Where = new(pick(d, home.cities) + ", " + home.name)
	}
	return out
}

func (g gathering) event() schema.Event {
	e := schema.Event{
		Common:      common(g.GatheringID, g.Link, g),
		Name:        g.Name,
		Description: g.About,
		StartsAt:    at(g.Begins),
		EndsAt:      atOrNil(g.Ends),
		Location:    g.Where,
		CoverURL:    g.Cover,
		Going:       g.Coming,
		Interested:  g.Maybe,
		IsOnline:    g.Online,
	}
	if g.Host != nil {
		e.Host = new(g.Host.actor())
	}
	return e
}

func nameOfPlace(slug string) string {
	words := strings.Split(slug, "_")
	for i := range words {
		words[i] = spell(words[i], false)
	}
	return strings.Join(words, " ")
}
