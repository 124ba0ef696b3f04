package requests

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dimension is a field of [Place] by which usage is grouped.
type Dimension string

// The dimensions.
const (
	ByDay       Dimension = "day"
	ByAccount   Dimension = "account"
	ByKey       Dimension = "key"
	ByPlatform  Dimension = "platform"
	ByOperation Dimension = "operation"
)

// SumQuery selects usage. Fields that are zero do not restrict it.
type SumQuery struct {
	Account, Key, Platform, Operation string
	NoAccount                         bool        // only what belongs to no account: see Upstreams and Hours of [Rollup]
	Since, Until                      int64       // days as in [Place]; Until is exclusive
	By                                []Dimension // the dimensions to group by; the others are summed
}

func (q *SumQuery) selects(p Place) bool {
	return is(q.Account, p.Account) && (!q.NoAccount || p.Account == "") && is(q.Key, p.Key) && is(q.Platform, p.Platform) && is(q.Operation, p.Operation) &&
		p.Day >= q.Since && (q.Until == 0 || p.Day < q.Until)
}

// by returns p with only the dimensions that q groups by.
func (q *SumQuery) by(p Place) (out Place) {
	for _, d := range q.By {
		switch d {
		case ByDay:
			out.Day = p.Day
		case ByAccount:
			out.Account = p.Account
		case ByKey:
			out.Key = p.Key
		case ByPlatform:
			out.Platform = p.Platform
		case ByOperation:
			out.Operation = p.Operation
		}
	}
	return out
}

// Rollup is the usage of one group of a [SumQuery].
type Rollup struct {
	Place
	Calls    int64            // the sum of Paid, Free and Failed
	Paid     int64            // charges in the ledger: for a search of several platforms, one for each that answered
	Free     int64            // answers that cost nothing
	Failed   int64            // calls that ended with a problem
	Errors   map[string]int64 // of those, by the code of the problem
	Hits     int64            // those of Paid that the cache answered
	Credits  int64            // charged, from the ledger
	Refunded int64            // given back, from the ledger
	Dropped  int64            // calls that the log has lost, which may be missing in Free and Failed
	// Upstreams has what was sent to each provider, by name. It belongs to no account and no key; nil when there is none.
	Upstreams map[string]Upstream
	P50, P95  time.Duration // half, and 95 %, of calls were faster, within a tenth; 0 when none was measured
	// Hours has the calls of each UTC hour, with the day's 24 if q groups by day. It belongs to no account, no key and no
	// operation.
	Hours [24]Hour
}

// Hour is what the request log had of one hour.
type Hour struct {
	Calls    int64
	Failed   int64         // with a status of 500 or more, but for those of operations that the service does not offer
	P50, P95 time.Duration // as in [Rollup]; 0 where usage is grouped or selected by platform
}

// Upstream is what was sent to a provider.
type Upstream struct {
	Requests int64 // repeated ones included
	Credits  int64 // that it charged the operator for them, in its own credits
}

// Idle reports whether r has nothing of an account: only what was sent to upstreams.
func (r *Rollup) Idle() bool {
	return r.Calls == 0 && r.Credits == 0 && r.Refunded == 0 && r.Dropped == 0
}

// Group returns the name of r's group: its day such as 2026-11-23, or the field of its place. "" is for calls without
// one.
func (r *Rollup) Group(by Dimension) string {
	switch by {
	case ByDay:
		return time.Unix(r.Day*86_400, 0).UTC().Format(time.DateOnly)
	case ByAccount:
		return r.Account
	case ByKey:
		return r.Key
	case ByPlatform:
		return r.Platform
	case ByOperation:
		return r.Operation
	}
	return ""
}

// Milliseconds returns a duration in milliseconds, to the hundredth.
func Milliseconds(d time.Duration) float64 { return math.Round(float64(d)/1e4) / 100 }

// Rollups makes rollups of the result of [Store.Sums], in the order of their places.
func Rollups(sums []Tally) []Rollup {
	at, took := map[Place]*Rollup{}, map[Place]map[int]int64{}
	hours := map[Place]*[24]map[int]int64{} // how long the calls of each hour took
	for _, s := range sums {
		r := at[s.Place]
		if r == nil {
			r = &Rollup{Place: s.Place, Errors: map[string]int64{}}
			at[s.Place], took[s.Place], hours[s.Place] = r, map[int]int64{}, &[24]map[int]int64{}
		}
		if b, ok := tookBucket(s.What); ok {
			took[s.Place][b] += s.N
			continue
		}
		if hour, what, ok := ofHour(s.What); ok {
			r.Hours[hour].add(what, s.N, &hours[s.Place][hour])
			continue
		}
		r.add(s.What, s.N)
	}
	out := make([]Rollup, 0, len(at))
	for p, r := range at {
		r.Calls = r.Paid + r.Free + r.Failed
		r.P50, r.P95 = quantile(took[p], 50), quantile(took[p], 95)
		for i := range r.Hours {
			r.Hours[i].P50, r.Hours[i].P95 = quantile(hours[p][i], 50), quantile(hours[p][i], 95)
		}
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Rollup) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Operation, b.Operation))
	})
	return out
}

func (r *Rollup) add(what string, n int64) {
	switch what {
	case wordPaid:
		r.Paid += n
	case wordFree:
		r.Free += n
	case wordFailed:
		r.Failed += n
	case wordHits:
		r.Hits += n
	case wordCredits:
		r.Credits += n
	case wordRefunded:
		r.Refunded += n
	case wordDropped:
		r.Dropped += n
	default:
		if code, ok := strings.CutPrefix(what, wordError); ok {
			r.Errors[code] += n
		} else if provider, ok := strings.CutPrefix(what, wordSent); ok {
			r.sent(provider, Upstream{Requests: n})
		} else if provider, ok := strings.CutPrefix(what, wordVendor); ok {
			r.sent(provider, Upstream{Credits: n})
		}
	}
}

// ofHour returns the hour that a word counts, and what it counts of it.
func ofHour(word string) (hour int, what string, ok bool) {
	rest, ok := strings.CutPrefix(word, wordHour)
	if !ok {
		return 0, "", false
	}
	number, what, _ := strings.Cut(rest, ":")
	hour, err := strconv.Atoi(number)
	return hour, what, err == nil && hour >= 0 && hour < 24
}

// add adds a count to an hour, or to the durations of its calls.
func (h *Hour) add(what string, n int64, took *map[int]int64) {
	switch what {
	case wordCalls:
		h.Calls += n
	case wordFailed:
		h.Failed += n
	default:
		if b, ok := tookBucket(what); ok {
			if *took == nil {
				*took = map[int]int64{}
			}
			(*took)[b] += n
		}
	}
}

func (r *Rollup) sent(provider string, more Upstream) {
	if r.Upstreams == nil {
		r.Upstreams = map[string]Upstream{}
	}
	sum := r.Upstreams[provider]
	sum.Requests += more.Requests
	sum.Credits += more.Credits
	r.Upstreams[provider] = sum
}

// quantile returns the duration within which percent of 100 calls have ended.
func quantile(took map[int]int64, percent int64) time.Duration {
	var all, seen int64
	for _, n := range took {
		all += n
	}
	for _, b := range slices.Sorted(maps.Keys(took)) {
		if seen += took[b]; seen*100 >= all*percent {
			return middle(b)
		}
	}
	return 0
}
