package search

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// stage is the state of a part.
type stage string

const (
	pending stage = "pending"
	found   stage = "found" // it has results that are not paid yet: callers see it as pending
	failed  stage = "failed"
	paid    stage = "paid" // it has results, and is paid: never stored, the charges of the call have it
)

// public returns the state that callers see.
func (s stage) public() schema.PlatformState {
	switch s {
	case paid:
		return schema.OK
	case failed:
		return schema.Failed
	default:
		return schema.Pending
	}
}

// record is a search as it is stored in the record of its call: what each part has found. The charges of the call say
// what of it is paid: see [record.paidBy].
type record struct {
	ID    string
	Key   string    `json:",omitempty"` // the id of the key that began it
	Begun time.Time `json:",omitzero"`

	Bound  string // what its cursor is bound to
	Recent bool
	Fresh  bool

	Parts []part
	Seen  []uint64 // hashes of the URLs of earlier pages

	Deadline time.Time // by which every part has ended
	Ended    time.Time // when every part had ended; zero before

	fee part // the enrichment of all parts, whose name is [enrichment]
}

// part is the part of a search that one platform answers.
type part struct {
	Platform platform.ID
	Stage    stage

	Place     []byte // the position of the platform's next page; nil when there is none
	Results   json.RawMessage
	FetchedAt time.Time
	Hit       bool
	HasText   bool // something could be enriched
	Spoilt    bool // something with text could not be
	TimedOut  bool // it failed by running out of time
	// Why is the reason of the failure, for callers; nil if it was abandoned or has not failed.
	Why *schema.PlatformError `json:",omitempty"`

	price   int64    // credits
	credits int64    // charged
	list    []ranked // the decoded Results, if at hand; otherwise nil
}

// paidBy returns a copy of the record with the stages that the charges of its call give its parts: what is paid, and
// what has failed because it will not be.
func (r *record) paidBy(charges []calls.Charge) *record {
	c := *r
	c.Parts, c.fee = slices.Clone(r.Parts), part{Stage: failed}
	for _, ch := range charges {
		if ch.Name == enrichment {
			c.fee.Stage = pending
			c.fee.paidBy(ch)
		}
		for i := range c.Parts {
			if string(c.Parts[i].Platform) == ch.Name {
				c.Parts[i].paidBy(ch)
			}
		}
	}
	return &c
}

func (p *part) paidBy(ch calls.Charge) {
	switch {
	case p.Stage == failed:
	case ch.Paid():
		p.Stage, p.credits = paid, ch.Credits
	case !ch.Open():
		p.fail(p.Stage == pending)
	}
}

// any reports whether a part is in that stage.
func (r *record) any(s stage) bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == s })
}

// partsOpen reports whether some part is not decided.
func (r *record) partsOpen() bool { return r.any(pending) || r.any(found) }

// open reports whether anything is not decided: a part, or the enrichment.
func (r *record) open() bool { return r.partsOpen() || r.fee.Stage == pending }

// spoilt reports whether something that was paid for could not be enriched.
func (r *record) spoilt() bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == paid && p.Spoilt })
}

// feeIsEarned reports whether the enrichment is charged, once all parts are decided: if something that was paid for has
// text, and all of it could be enriched.
func (r *record) feeIsEarned() bool {
	text := slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == paid && p.HasText })
	return text && !r.spoilt()
}

// charged returns the credits charged so far.
func (r *record) charged() int64 {
	sum := r.fee.credits
	for i := range r.Parts {
		sum += r.Parts[i].credits
	}
	return sum
}

// paid returns the parts that are paid.
func (r *record) paid() []part {
	return slices.DeleteFunc(slices.Clone(r.Parts), func(p part) bool { return p.Stage != paid })
}

// fail drops the results of a part, which are not returned and not charged.
func (p *part) fail(timedOut bool) {
	p.Stage, p.Results, p.list, p.Place, p.TimedOut = failed, nil, nil, nil, p.TimedOut || timedOut
}

// why returns the reason of the failure of the part.
func (p *part) why() schema.PlatformError {
	switch {
	case p.Why != nil:
		return *p.Why
	case p.TimedOut:
		return schema.PlatformError{Code: problem.UpstreamTimeout, Detail: string(p.Platform) + " did not answer in time"}
	}
	return schema.PlatformError{Code: problem.PlatformUnavailable, Detail: string(p.Platform) + " is not available"}
}

// allFailed is the problem of a search in which no platform answered. Parts that are still pending have timed out.
func (r *record) allFailed() error {
	code, ids := problem.UpstreamTimeout, make([]platform.ID, 0, len(r.Parts))
	for i := range r.Parts {
		ids = append(ids, r.Parts[i].Platform)
		if p := &r.Parts[i]; p.Stage != pending && !p.TimedOut {
			code = problem.PlatformUnavailable
		}
	}
	p := problem.New(code, "no platform answered the search: %s", joinIDs(ids))
	if code == problem.PlatformUnavailable { // a time-out has no Retry-After: see the description
		p = p.After(time.Second)
	}
	return p
}

// urls returns the hashes of the URLs of earlier pages and of this one: all of this one, whatever their number.
func (r *record) urls() []uint64 {
	var page []uint64
	for _, p := range r.paid() {
		for _, x := range p.results() {
			page = append(page, cursor.Hash(x.url))
		}
	}
	return append(slices.Clone(cursor.KeepLast(r.Seen, max(0, maxURLs-len(page)))), page...)
}
