package read

import (
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read/batch"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Query is a read that has been checked and priced. It is made by a plan for one call, and afterwards only that call
// changes it, to note which entry answers it.
type Query struct {
	Row      *Row
	Platform platform.ID
	In       operation.Args
	Bound    string // what its cursors are bound to
	Raw      bool   // the raw of each object is requested
	Fresh    bool   // the cache is skipped
	Within   bool   // only an entry younger than MaxAge may answer it
	MaxAge   time.Duration
	Stale    time.Duration // how far past its lifetime an entry may answer when the upstream fails; 0 is never
	Enrich   bool
	Typed    bool          // the answer is for a caller in this process, who gets a Go value if possible
	Quote    credits.Quote // the highest possible price of a page
	Most     int64         // maximum price in credits; 0 is no limit
	Pages    int           // how many pages are read at most

	base    int64 // of a plain read
	plain   bool  // skipping an entry that is older than MaxAge costs nothing
	skipped bool  // there was an entry older than MaxAge; set by the read
	late    bool  // the upstream failed, and an entry answers; set by the read

	pasted map[string]string   // how the caller wrote identifiers, if not in canonical form
	from   []*upstreams.Source // the sources that may serve it, first choice first
	at     cursor.Cursor       // position of the walk; zero for the first page
	key    string              // of the cache entry
	list   string              // the key of the first page
	until  cursor.Until        // where the walk ends
	member *batch.Member       // of the call with many keys that q is a part of; else nil
}

// Probed returns the platforms in the parameter platforms other than the call's own, each once, in order. An unknown
// one is an invalid_request problem.
func (p *Planner) Probed(q *Query) ([]platform.ID, error) {
	var out []platform.ID
	list := q.In.Get("platforms")
	if list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		id := platform.ID(strings.TrimSpace(word))
		if !p.platforms.Has(id) {
			return nil, p.NoPlatform(problem.InvalidRequest, `parameter "platforms": `, word)
		}
		if id != q.Platform && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Total returns the highest possible price of all pages.
func (q *Query) Total() int64 { return int64(max(1, q.Pages))*q.Quote.Base + q.Quote.Enrich }

// ContinueAt makes q the read of the page that a cursor points to.
func (q *Query) ContinueAt(at *cursor.Cursor) error {
	q.at = *at
	q.key = q.list + "|" + at.Text()
	return q.stick()
}

// stick leaves only the provider that issued the cursor, if there is one: a walk never switches upstream.
func (q *Query) stick() error {
	if q.at.Provider == "" || q.from == nil {
		return nil
	}
	if q.from = q.issuers(&q.at); q.from != nil {
		return nil
	}
	return problem.New(problem.InvalidRequest,
		"parameter \"cursor\": the upstream that issued it is no longer configured; start again without it")
}

// issuers returns the sources that may read the page at a place: all that serve the operation, or the one that issued
// the cursor.
func (q *Query) issuers(at *cursor.Cursor) []*upstreams.Source {
	if at.Provider == "" {
		return q.from
	}
	for i, s := range q.from {
		if s.Provider.Name == at.Provider {
			return q.from[i : i+1 : i+1]
		}
	}
	return nil
}

// ages reads the age limits of the answer.
func (q *Query) ages(in operation.Args) {
	q.MaxAge = in.Seconds("max_age_s", -1)
	q.Within, q.Stale = q.MaxAge >= 0, in.Seconds("stale_if_error_s", 0)
}

// Younger makes q skip entries that are older than age. Unlike the limit of a caller, this does not change the price
// (D113).
func (q *Query) Younger(age time.Duration) { q.Within, q.MaxAge, q.plain = true, age, true }

// price sets the price of q. With an age limit it is the price of a fresh read, unless an entry answers q.
func (q *Query) price(base int64) {
	q.base, q.Quote = base, credits.Price(base, q.Fresh || q.Within, q.Enrich)
}

// anew reports whether an existing entry was skipped, which costs as much as a fresh read.
func (q *Query) anew() bool { return (q.Fresh || q.skipped && !q.plain) && !q.late }

// Platforms is where a caller finds what each platform serves.
var Platforms = problem.Phrase{HTTP: "GET /v1/platforms", Go: "Client.Platforms", Command: "socialdata platforms", Tool: "the tool platforms"}

// NoPlatform returns the problem for a word that is not a platform, with a similar one that may have been meant. where
// names the place of the word; "" for the platform of the call.
func (p *Planner) NoPlatform(code problem.Code, where, word string) error {
	return problem.New(code, "%sthere is no platform %q%s; %s lists them",
		where, word, problem.DidYouMean(p.platforms.Meant(word), p.platforms.Names()), Platforms)
}
