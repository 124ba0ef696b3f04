package mock

import (
	"math"

	"github.com/socialdata/socialdata/schema"
)

// audience returns where the followers of an account live: half of them in its country, fewer in each further one.
func (s *sandbox) audience(handle string) (schema.Audience, error) {
	return s.reach(handle).audience(), nil
}

// reach is an audience in the format of the sandbox platform.
type reach struct {
	UserID   string  `json:"user_id"`
	UserName string  `json:"user_name"`
	Link     string  `json:"link"`
	Fans     *int64  `json:"fans"`
	From     []share `json:"from"`
}

type share struct {
	Country *string `json:"country"` // null for the rest of the world
	Name    string  `json:"name"`
	Percent float64 `json:"percent"`
}

func (g *generator) reach(handle string) reach {
	u, start := g.user(handle), 0
	for i, h := range homes {
		if h.country == homeOf(handle).country {
			start = i
		}
	}
	r := reach{UserID: u.UserID, UserName: handle, Link: u.Link, Fans: u.Fans}
	for i, percent := range []float64{50, 20, 12.5, 7.5} {
		h := homes[(start+i*3)%len(homes)]
		r.From = append(r.From, share{&h.country, h.name, percent})
	}
	r.From = append(r.From, share{nil, "Other", 10})
	return r
}

func (r reach) audience() schema.Audience {
	a := schema.Audience{Common: common(r.UserID, r.Link, r), Handle: r.UserName}
	for _, c := range r.From {
		part := schema.AudienceCountry{Country: c.Country, Name: c.Name, Share: c.Percent / 100}
		if r.Fans != nil {
			part.Count = new(int64(math.Round(float64(*r.Fans) * c.Percent / 100)))
		}
		a.Countries = append(a.Countries, part)
	}
	return a
}
