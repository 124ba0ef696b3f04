package docs

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// part is a part of the guide, as listed in the contents. Words find it in the search, besides its text.
type part struct{ ID, Name, Words string }

// Guide lists the parts before the operations.
func (site) Guide() []part {
	return []part{
		{"start", "Introduction", "introduction start quickstart first call base address"},
		{"authentication", "Authentication", "authentication bearer create key make key api key rotate revoke token 401"},
		{"clients", "Clients and exports", "clients sdk library golang python typescript javascript node npm pip command line cli csv export pandas mcp"},
		{"envelope", "Answers", "answers envelope data meta headers"},
		{"credits", "Credits", "credits price pricing prices cost billing balance fresh enrich"},
		{"caching", "Caching", "caching cache lifetime etag fresh"},
		{"limits", "Rate limits", "rate limits 429 retry-after quota throttling"},
		{"cursors", "Pages and cursors", "pages cursors next_cursor pagination"},
		{"idempotency", "Repeating safely", "repeating idempotency-key retry"},
		{"jobs", "Many platforms, jobs", "fan-out search jobs job_id stream"},
		{"monitors", "Changes", "monitors changes feed history stream watch alerts last-event-id webhook webhooks endpoint signature"},
		{"raw-routes", "Raw reads", "raw allow-list"},
		{"objects", "Objects and schemas", "objects json schema"},
		{"problems", "Problems", "problems errors codes status"},
	}
}

// First returns the snippet of the first call.
func (site) First() string { return fill("curl", Base+"/v1/mock/profile?handle=salma") }

// Walk returns the snippet that reads every page of a list.
func (site) Walk() string { return fill("walk", "") }

// Repeat returns the snippet that repeats a call.
func (site) Repeat() string {
	return fill("repeat", Base+"/v1/mock/profile?handle=salma")
}

// Fan returns the snippet that searches several platforms.
func (site) Fan() string { return fill("fan", Base) }

// Envelope returns the example of the first operation that lists something, with an empty list.
func (s site) Envelope() json.RawMessage {
	for _, o := range s.Operations {
		if !o.Paged() || o.Service || o.Example == nil {
			continue
		}
		var e struct {
			Data json.RawMessage `json:"data"`
			Meta json.RawMessage `json:"meta"`
		}
		if err := json.Unmarshal(o.Example, &e); err == nil {
			return json.RawMessage(`{"data":[],"meta":` + string(e.Meta) + `}`)
		}
	}
	return json.RawMessage(`{"data":[],"meta":{}}`)
}

// lifetimeRow is the operations that have the same cache lifetime.
type lifetimeRow struct {
	TTL        time.Duration
	Operations []Operation
}

// Lifetimes returns the operations by their cache lifetime, longest first, without those that are not cached.
func (s site) Lifetimes() []lifetimeRow {
	var out []lifetimeRow
	for _, o := range s.Operations {
		if o.TTL == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(k lifetimeRow) bool { return k.TTL == o.TTL })
		if i < 0 {
			i, out = len(out), append(out, lifetimeRow{TTL: o.TTL})
		}
		out[i].Operations = append(out[i].Operations, o)
	}
	slices.SortFunc(out, func(a, b lifetimeRow) int { return cmp.Compare(b.TTL, a.TTL) })
	return out
}
