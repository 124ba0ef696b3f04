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

// stage is how far a part has come. A part only ever goes forward: see [stage.rank].
type stage string

const (
	pending stage = "pending"
	found   stage = "found" // its results are there and its charge is not decided: callers are told that it is pending
	failed  stage = "failed"
	paid    stage = "paid" // its results are there, and paid
)

// rank orders the stages. What has been charged outranks a failure: two processes may have decided at once, and the
// ledger is right.
func (s stage) rank() int { return slices.Index([]stage{pending, found, failed, paid}, s) }

// goneFurther reports whether a part has come further than the stored one. What was found wins over a part that was given
// up for its time alone, for its charge may be on its way; unless that has been told.
func (p *part) goneFurther(stored *part, complete bool) bool {
	switch {
	case p.Stage == failed && p.TimedOut && stored.Stage == found:
		return false
	case p.Stage == found && stored.Stage == failed && stored.TimedOut:
		return !complete
	}
	return p.Stage.rank() > stored.Stage.rank()
}

// decided tells whether nothing more will come of it.
func (s stage) decided() bool { return s == paid || s == failed }

// public is what callers are told.
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

// record is a search as it is stored: how far each part has come, what it was charged, and what answers have told.
type record struct {
	ID      string
	Account string
	Attempt string // the call that began it; another one under the same idempotency key is another attempt
	Keyed   bool   // it was made under an idempotency key
	Write   string // another one at every write

	Bound  string // what the cursor of its first answer is bound to
	Recent bool
	First  bool // of the first page
	Raw    bool
	Enrich bool
	Fresh  bool

	Parts []part
	Fee   fee
	Front []json.RawMessage // results that the page before held back
	Seen  []uint64          // URLs of the pages before, hashed

	HeldBack  []uint64 // identities of results that wait for the next page
	Next      nextPage
	Answered  bool  // the first answer has been given
	FirstTold int64 // credits in the first answer
	Told      int64 // credits in all answers
	// Tellings are the ids of the answers to polls that have told something.
	Tellings []string `json:",omitempty"`
	Complete bool     // an answer has said that nothing is pending

	Deadline time.Time // when every part is at its end, however it ends
	Ended    time.Time // when every part was; zero before
}

// part is one platform's share of a search.
type part struct {
	Platform platform.ID
	Stage    stage
	Due      account.Due
	Credits  int64 // charged

	From      []byte // the place of this page; nil is the first
	Place     []byte // the place of the platform's next page; nil when there is none
	Results   json.RawMessage
	FetchedAt time.Time
	Hit       bool
	HasText   bool // something could be enriched
	Spoilt    bool // something could not be, which has text
	TimedOut  bool // it failed by running out of time
	// Why it failed, for callers; nil where it was given up, or has not failed.
	Why   *schema.PlatformError `json:",omitempty"`
	Shown bool                  // its results have been in an answer

	noted stage // the stage in the stored record, as far as this process knows; "" when there is none

	list []ranked // what Results decodes to, where that is at hand; nil where it is to be decoded
}

// fee is what the enrichment of all parts together costs.
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

// join takes over from mine what has come further there: the two go back to one record, and have gone on apart.
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

// keep takes over from now what has happened to the parts since before, while r was written.
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

// become returns what is known of the part now, with what is stored and told of p.
func (p *part) become(now part) part {
	now.Shown, now.noted = p.Shown, p.noted
	return now
}

// written notes that the record is stored as it is.
func (r *record) written() {
	for i := range r.Parts {
		r.Parts[i].noted = r.Parts[i].Stage
	}
}

// unwritten reports whether something has happened to a part that is not stored.
func (r *record) unwritten() bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.noted != p.Stage })
}

// payable reports whether a part may be charged: its results are there, and they are stored if the search can be asked
// for again.
func (r *record) payable(p *part) bool {
	return p.Stage == found && (p.noted == found || !r.Keyed && !r.Answered)
}

// any tells whether a part is in that stage.
func (r *record) any(s stage) bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == s })
}

// partsOpen tells whether some part is not decided.
func (r *record) partsOpen() bool { return r.any(pending) || r.any(found) }

// open tells whether anything is not decided: a part, or the enrichment.
func (r *record) open() bool { return r.partsOpen() || !r.Fee.Stage.decided() }

// spoilt tells whether something that was paid for could not be enriched.
func (r *record) spoilt() bool {
	return slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == paid && p.Spoilt })
}

// feeIsEarned tells whether the enrichment is charged, once all parts are decided: when something that was paid for had
// text, and all of it could be enriched.
func (r *record) feeIsEarned() bool {
	text := slices.ContainsFunc(r.Parts, func(p part) bool { return p.Stage == paid && p.HasText })
	return text && !r.spoilt()
}

// charged returns what the search has come to so far, in credits.
func (r *record) charged() int64 {
	sum := r.Fee.Credits
	for i := range r.Parts {
		sum += r.Parts[i].Credits
	}
	return sum
}

// shown returns the parts whose results have been in an answer.
func (r *record) shown() []part {
	return r.which(func(p part) bool { return p.Stage == paid && p.Shown })
}

// unshown returns those whose results have not.
func (r *record) unshown() []part {
	return r.which(func(p part) bool { return p.Stage == paid && !p.Shown })
}

func (r *record) which(keep func(part) bool) []part {
	return slices.DeleteFunc(slices.Clone(r.Parts), func(p part) bool { return !keep(p) })
}

// show marks the results of all that is paid as answered.
func (r *record) show() {
	for i := range r.Parts {
		if r.Parts[i].Stage == paid {
			r.Parts[i].Shown = true
		}
	}
}

// giveUp lets every part in that stage fail.
func (r *record) giveUp(s stage, timedOut bool) {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == s {
			p.fail(timedOut)
		}
	}
}

// fail drops what was found: nobody is told, and nobody pays.
func (p *part) fail(timedOut bool) {
	p.Stage, p.Results, p.list, p.Place, p.TimedOut, p.Why = failed, nil, nil, nil, timedOut, nil
}

// why returns why the part has failed.
func (p *part) why() schema.PlatformError {
	switch {
	case p.Why != nil:
		return *p.Why
	case p.TimedOut:
		return schema.PlatformError{Code: problem.UpstreamTimeout, Detail: string(p.Platform) + " did not answer in time"}
	}
	return schema.PlatformError{Code: problem.PlatformUnavailable, Detail: string(p.Platform) + " is not available"}
}

// end notes when the last part came to its end.
func (r *record) end(now time.Time) {
	if r.Ended.IsZero() && !r.any(pending) {
		r.Ended = now
	}
}

// allFailed is the problem of a search in which no platform answered.
func (r *record) allFailed() error {
	code, ids := problem.UpstreamTimeout, make([]platform.ID, 0, len(r.Parts))
	for i := range r.Parts {
		ids = append(ids, r.Parts[i].Platform)
		if !r.Parts[i].TimedOut {
			code = problem.PlatformUnavailable
		}
	}
	return problem.New(code, "no platform answered the search: %s", joinIDs(ids))
}

// without leaves out what is held back for the next page.
func (r *record) without(results []ranked) []ranked {
	return slices.DeleteFunc(results, func(x ranked) bool { return slices.Contains(r.HeldBack, x.identity()) })
}

// urls returns the URLs of the pages before and of this one, hashed: all of this one, whatever their number.
func (r *record) urls() []uint64 {
	var page []uint64
	for _, p := range r.which(func(p part) bool { return p.Stage == paid }) {
		for _, x := range p.ranked(0) {
			page = append(page, cursor.Hash(x.url))
		}
	}
	return append(slices.Clone(cursor.KeepLast(r.Seen, max(0, maxURLs-len(page)))), page...)
}
