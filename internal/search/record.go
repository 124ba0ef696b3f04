package search

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// stage is the state of a part. A part only moves forward: see [stage.rank].
type stage string

const (
	pending stage = "pending"
	found   stage = "found" // it has results and its charge is not decided: callers see it as pending
	failed  stage = "failed"
	paid    stage = "paid" // it has results, and is paid
)

// rank orders the stages. A charge outranks a failure: if two processes decide concurrently, the ledger is
// authoritative.
func (s stage) rank() int { return slices.Index([]stage{pending, found, failed, paid}, s) }

// goneFurther reports whether a part has moved further than the stored one. A part with results replaces one that only
// failed by running out of time, because its charge may be in progress, unless the failure has been reported.
func (p *part) goneFurther(stored *part, complete bool) bool {
	switch {
	case p.Stage == failed && p.TimedOut && stored.Stage == found:
		return false
	case p.Stage == found && stored.Stage == failed && stored.TimedOut:
		return !complete
	}
	return p.Stage.rank() > stored.Stage.rank()
}

// decided reports whether the stage is final.
func (s stage) decided() bool { return s == paid || s == failed }

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

// record is a search as it is stored: the state of each part, its charges, and what answers have returned.
type record struct {
	ID      string
	Account string
	Key     string    `json:",omitempty"` // the id of the key that began it
	Begun   time.Time `json:",omitzero"`
	Attempt string    // the id of the call that began it; another call with the same idempotency key is another attempt
	Keyed   bool      // it has an idempotency key
	Write   string    // different for every write

	Bound  string // what the cursor of its first answer is bound to
	Recent bool
	First  bool // of the first page
	Raw    bool
	Enrich bool
	Fresh  bool

	Parts []part
	Fee   fee
	Front []json.RawMessage // results that the previous page held back
	Seen  []uint64          // hashes of the URLs of earlier pages

	HeldBack  []uint64 // identities of results for the next page
	Next      nextPage
	Answered  bool  // the first answer has been given
	FirstTold int64 // credits in the first answer
	Told      int64 // credits in all answers
	// Tellings are the ids of the answers to polls that returned something.
	Tellings []string `json:",omitempty"`
	Complete bool     // an answer has said that nothing is pending

	Deadline time.Time // by which every part has ended
	Ended    time.Time // when every part had ended; zero before
}

// part is the part of a search that one platform answers.
type part struct {
	Platform platform.ID
	Stage    stage
	Due      account.Due
	Credits  int64 // charged

	From      []byte // the position of this page; nil is the first
	Place     []byte // the position of the platform's next page; nil when there is none
	Results   json.RawMessage
	FetchedAt time.Time
	Hit       bool
	HasText   bool // something could be enriched
	Spoilt    bool // something with text could not be
	TimedOut  bool // it failed by running out of time
	// Why is the reason of the failure, for callers; nil if it was abandoned or has not failed.
	Why   *schema.PlatformError `json:",omitempty"`
	Shown bool                  // its results were in an answer

	noted stage // the stage in the stored record, as far as this process knows; "" when there is none

	list []ranked // the decoded Results, if at hand; otherwise nil
}

// fee is the price of the enrichment of all parts.
type fee struct {
	Stage   stage
	Due     account.Due
	Credits int64
}

// clone returns a copy that can be changed without changing r.
func (r *record) clone() record {
	c := *r
	c.Parts = slices.Clone(r.Parts)
	return c
}

// join copies from mine the parts that have moved further there: r and mine are later states of the same record.
func (r *record) join(mine *record) {
	for i := range r.Parts {
		if mine.Parts[i].goneFurther(&r.Parts[i], r.Complete) {
			r.Parts[i] = r.Parts[i].become(mine.Parts[i])
		}
	}
	if mine.Fee.Stage.rank() > r.Fee.Stage.rank() {
		r.Fee = mine.Fee
	}
	if r.Ended.IsZero() {
		r.Ended = mine.Ended
	}
}

// keep copies from now what has changed in the parts since before, while r was written.
func (r *record) keep(before, now *record) {
	for i := range r.Parts {
		if now.Parts[i].Stage != before.Parts[i].Stage {
			r.Parts[i] = r.Parts[i].become(now.Parts[i])
		}
	}
	if now.Fee.Stage != before.Fee.Stage {
		r.Fee = now.Fee
	}
	if r.Ended.IsZero() {
		r.Ended = now.Ended
	}
}

// become returns now with the stored and answered state of p.
func (p *part) become(now part) part {
	now.Shown, now.noted = p.Shown, p.noted
	return now
}

// written notes that the current record is stored.
func (r *record) written() {
	for i := range r.Parts {
		r.Parts[i].noted = r.Parts[i].Stage
	}
}

// unwritten reports whether a change of a part is not stored yet.
func (r *record) unwritten() bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.noted != p.Stage })
}

// payable reports whether a part may be charged: it has results, and they are stored if the search can be continued.
func (r *record) payable(p *part) bool {
	return p.Stage == found && (p.noted == found || !r.Keyed && !r.Answered)
}

// indexes returns the indexes of the parts for which is returns true.
func (r *record) indexes(is func(*part) bool) (parts []int) {
	for i := range r.Parts {
		if is(&r.Parts[i]) {
			parts = append(parts, i)
		}
	}
	return parts
}

// any reports whether a part is in that stage.
func (r *record) any(s stage) bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == s })
}

// partsOpen reports whether some part is not decided.
func (r *record) partsOpen() bool { return r.any(pending) || r.any(found) }

// open reports whether anything is not decided: a part, or the enrichment.
func (r *record) open() bool { return r.partsOpen() || !r.Fee.Stage.decided() }

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
	sum := r.Fee.Credits
	for i := range r.Parts {
		sum += r.Parts[i].Credits
	}
	return sum
}

// shown returns the parts whose results were in an answer.
func (r *record) shown() []part {
	return r.which(func(p part) bool { return p.Stage == paid && p.Shown })
}

// unshown returns the parts whose results were not.
func (r *record) unshown() []part {
	return r.which(func(p part) bool { return p.Stage == paid && !p.Shown })
}

func (r *record) which(keep func(part) bool) []part {
	return slices.DeleteFunc(slices.Clone(r.Parts), func(p part) bool { return !keep(p) })
}

// show marks the results of all paid parts as answered.
func (r *record) show() {
	for i := range r.Parts {
		if r.Parts[i].Stage == paid {
			r.Parts[i].Shown = true
		}
	}
}

// giveUp fails every part in that stage.
func (r *record) giveUp(s stage, timedOut bool) {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == s {
			p.fail(timedOut)
		}
	}
}

// fail drops the results of a part, which are not returned and not charged.
func (p *part) fail(timedOut bool) {
	p.Stage, p.Results, p.list, p.Place, p.TimedOut, p.Why = failed, nil, nil, nil, timedOut, nil
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

// end notes the time when the last part has ended.
func (r *record) end(now time.Time) {
	if r.Ended.IsZero() && !r.any(pending) {
		r.Ended = now
	}
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

// without returns results without those held back for the next page.
func (r *record) without(results []ranked) []ranked {
	return slices.DeleteFunc(results, func(x ranked) bool { return slices.Contains(r.HeldBack, x.identity()) })
}

// urls returns the hashes of the URLs of earlier pages and of this one: all of this one, whatever their number.
func (r *record) urls() []uint64 {
	var page []uint64
	for _, p := range r.which(func(p part) bool { return p.Stage == paid }) {
		for _, x := range p.results() {
			page = append(page, cursor.Hash(x.url))
		}
	}
	return append(slices.Clone(cursor.KeepLast(r.Seen, max(0, maxURLs-len(page)))), page...)
}
