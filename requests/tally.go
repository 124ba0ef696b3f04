package requests

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/problem"
)

// Place is what usage is counted by.
type Place struct {
	Day                               int64  // UTC days since 1970
	Account, Key, Platform, Operation string // "" if a call has none
}

// Tally is a count at one place.
type Tally struct {
	Place
	What string // one of the words below
	N    int64
}

// What is counted. What upstreams were sent, and what happened in an hour, belongs to no account and no key. wordError is
// followed by the code of a problem, wordTook by the number of a bucket of durations.
const (
	wordPaid     = "paid"     // charges, from the ledger
	wordCredits  = "credits"  // charged, from the ledger
	wordRefunded = "refunded" // credits, from the ledger
	wordHits     = "hits"     // charges for cache hits, from the ledger
	wordFree     = "free"     // answers that cost nothing, from the log
	wordFailed   = "failed"   // problems, from the log
	wordDropped  = "dropped"  // calls that the log has lost
	wordSent     = "sent:"    // requests to the provider named next, from the engine
	wordVendor   = "vendor:"  // credits that the provider named next charged, from the engine
	wordError    = "error:"
	wordTook     = "took:"
	wordHour     = "hour:" // then the UTC hour, ":" and wordCalls, wordFailed or a word of a duration, from the log
	wordCalls    = "calls"
)

// DayOf returns the number of t's UTC day since 1970.
func DayOf(t time.Time) int64 {
	const day = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		return (s - day + 1) / day
	}
	return s / day
}

// Tallies sums counts. It is a plain map, and not safe for concurrent use.
type Tallies map[Place]map[string]int64

// Count counts a request of the log. A call that was charged is counted by its entry in the ledger; here, only its
// duration is counted.
func (t Tallies) Count(r *Request) {
	if r.Code == "" && r.Credits > 0 && r.Operation == "" {
		return
	}
	counts := t.at(r.place())
	switch {
	case r.Code != "":
		counts[wordFailed]++
		counts[wordError+r.Code]++
	case r.Credits == 0:
		counts[wordFree]++
	}
	// Of its hour: by platform that it was made, and whether it failed through no fault of the caller's; over all
	// platforms how long it took.
	hour, day := wordHour+strconv.Itoa(r.At.UTC().Hour())+":", DayOf(r.At)
	ofHour := t.at(Place{Day: day, Platform: r.Platform})
	ofHour[hour+wordCalls]++
	if r.Status >= http.StatusInternalServerError && !r.notOffered() {
		ofHour[hour+wordFailed]++
	}
	if r.Operation != "" && r.Took > 0 { // it says something about the service
		took := tookWord(bucket(r.Took))
		counts[took]++
		t.at(Place{Day: day})[hour+took]++
	}
}

// notOffered reports whether the call was refused because the service does not offer it on the platform: before a
// price was held and a provider was asked. That is not a failure of the platform.
func (r *Request) notOffered() bool {
	return r.Platform != "" && r.Code == string(problem.PlatformUnavailable) && r.Held == 0 && len(r.Providers) == 0
}

// Drop counts a request that the log has lost.
func (t Tallies) Drop(r *Request) { t.count(r.place(), wordDropped, 1) }

// Send counts requests to a provider and what it charged for them, in its own credits.
func (t Tallies) Send(at time.Time, platform, operation, provider string, sent Upstream) {
	of := Place{Day: DayOf(at), Platform: platform, Operation: operation}
	if sent.Requests != 0 {
		t.count(of, wordSent+provider, sent.Requests)
	}
	if sent.Credits != 0 {
		t.count(of, wordVendor+provider, sent.Credits)
	}
}

// Entry counts an entry of the ledger.
func (t Tallies) Entry(e *credits.Entry) {
	at := Place{DayOf(e.Time()), e.Account, e.Key, e.Platform, e.Operation}
	switch e.Kind {
	case credits.Charged:
		counts := t.at(at)
		counts[wordPaid]++
		counts[wordCredits] -= e.Amount
		if e.Cache == "HIT" {
			counts[wordHits]++
		}
	case credits.Refunded:
		t.count(at, wordRefunded, e.Amount)
	case credits.Granted, credits.Reversed: // not usage
	}
}

func (r *Request) place() Place { return Place{DayOf(r.At), r.Account, r.Key, r.Platform, r.Operation} }

func (t Tallies) count(at Place, what string, n int64) { t.at(at)[what] += n }

// at returns the counts of a place.
func (t Tallies) at(p Place) map[string]int64 {
	counts := t[p]
	if counts == nil {
		counts = map[string]int64{}
		t[p] = counts
	}
	return counts
}

// Add adds tallies to t.
func (t Tallies) Add(tallies []Tally) {
	for _, one := range tallies {
		t.count(one.Place, one.What, one.N)
	}
}

// forget removes counts of days before day.
func (t Tallies) forget(day int64) {
	for at := range t {
		if at.Day < day {
			delete(t, at)
		}
	}
}

// List returns t in a fixed order, so that transactions which write the same rows do not deadlock.
func (t Tallies) List() []Tally {
	var out []Tally
	for at, counts := range t {
		for what, n := range counts {
			out = append(out, Tally{at, what, n})
		}
	}
	slices.SortFunc(out, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.What, b.What))
	})
	return out
}

// Durations are counted in buckets, each a fifth longer than the previous one: perDoubling buckets for a factor of two,
// beginning with shortest.
const (
	perDoubling = 4
	shortest    = 10 * time.Microsecond
)

// bucket returns the number of the bucket of d.
func bucket(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	return int(math.Ceil(perDoubling * math.Log2(float64(d)/float64(shortest))))
}

// tookWords are the words of the buckets up to a day.
var tookWords = func() (words [140]string) {
	for i := range words {
		words[i] = wordTook + strconv.Itoa(i)
	}
	return words
}()

// tookWord returns the word for a bucket.
func tookWord(bucket int) string {
	if bucket < len(tookWords) {
		return tookWords[bucket]
	}
	return wordTook + strconv.Itoa(bucket)
}

// middle returns the duration in the middle of a bucket, which is within a tenth of any in it.
func middle(bucket int) time.Duration {
	return time.Duration(float64(shortest) * math.Exp2((float64(bucket)-0.5)/perDoubling))
}

// tookBucket returns the bucket that a word counts, if it counts durations.
func tookBucket(what string) (bucket int, ok bool) {
	number, ok := strings.CutPrefix(what, wordTook)
	if !ok {
		return 0, false
	}
	bucket, err := strconv.Atoi(number)
	return bucket, err == nil
}
