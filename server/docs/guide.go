package docs

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// part is a part of the guide, as listed in the contents.
type part struct{ ID, Name, Words string }

// Guide lists the parts before the operations.
func (site) Guide() []part {
	return []part{
		{"start", "Introduction", "introduction start first call base address"},
		{"authentication", "Authentication", "authentication bearer key token"},
		{"envelope", "Answers", "answers envelope data meta headers"},
		{"credits", "Credits", "credits price cost balance fresh enrich"},
		{"caching", "Caching", "caching cache lifetime etag fresh"},
		{"limits", "Rate limits", "rate limits 429 retry-after"},
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
func (site) First() string { return fill("curl", call{Target: Base + "/v1/mock/profile?handle=salma"}) }

// Walk returns the snippet that reads every page of a list.
func (site) Walk() string { return fill("walk", call{Target: Base + "/v1/mock/posts"}) }

// Repeat returns the snippet that repeats a call.
func (site) Repeat() string {
	return fill("repeat", call{Target: Base + "/v1/mock/profile?handle=salma"})
}

// Fan returns the snippet that searches several platforms.
func (site) Fan() string { return fill("fan", call{Target: Base}) }

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

// kept is the operations that have the same cache lifetime.
type kept struct {
	TTL        time.Duration
	Operations []Operation
}

// Lifetimes returns the operations by their cache lifetime, longest first, without those that are not cached.
func (s site) Lifetimes() []kept {
	var out []kept
	for _, o := range s.Operations {
		if o.TTL == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(k kept) bool { return k.TTL == o.TTL })
		if i < 0 {
			i, out = len(out), append(out, kept{TTL: o.TTL})
		}
		out[i].Operations = append(out[i].Operations, o)
	}
	slices.SortFunc(out, func(a, b kept) int { return cmp.Compare(b.TTL, a.TTL) })
	return out
}

// Explain returns when a problem with a code occurs, and what to do.
func (site) Explain(code problem.Code) []string {
	switch code {
	case problem.InvalidRequest:
		return []string{
			"The request is invalid: a parameter is missing, unknown, given twice, empty or malformed; the platform cannot " +
				"filter by it; a cursor belongs to another call; or the method is not GET (then the status is 405).",
			"Read detail, which names the parameter and what it must be, and correct the request. Repeating it unchanged does " +
				"not help.",
		}
	case problem.Unauthorized:
		return []string{
			"The key is missing, malformed, unknown or revoked. The answer is the same in every case, so that it never " +
				"reveals whether a key exists.",
			"Check the header Authorization: Bearer and the key; create a new key if it was revoked.",
		}
	case problem.InsufficientCredits:
		return []string{
			"The balance is below the highest possible price of this call. Nothing was charged and no platform was called.",
			"Ask the operator to grant credits to the account, or make a cheaper call: fresh and enrich cost more than a " +
				"plain call.",
		}
	case problem.NotFound:
		return []string{
			"There is no such platform, account or object, or its owner has hidden it: a private account, comments that are " +
				"off, a post without a transcript. detail says which.",
			"The answer is cached for a minute, so that calling again at once does not reach the platform. A route that does " +
				"not exist has the same code.",
		}
	case problem.RateLimited:
		return []string{
			"The rate limit of the key is reached, or the account has too many stored answers for Idempotency-Key.",
			"Wait as many seconds as retry_after and the header Retry-After say, then continue. Watch the header RateLimit to " +
				"slow down earlier.",
		}
	case problem.InternalError:
		return []string{
			"Something went wrong on our side. Nothing was charged.",
			"Retry later; if it happens again, report request_id: the log of the server has the cause under it.",
		}
	case problem.PlatformUnavailable:
		return []string{
			"The platform does not offer the operation, the server lacks a setting for it, or the platform failed, refused or " +
				"returned an answer that cannot be used. detail names the route and the reason.",
			"With Retry-After, retry after that time. Without it and with “does not offer” in detail, waiting does not help: " +
				"see the page Platforms.",
		}
	case problem.UpstreamTimeout:
		return []string{
			"The platform did not answer in time: a call has 15 seconds in total.",
			"Retry later. Nothing was charged.",
		}
	}
	return nil
}
