// Package requests has the request log and the usage: which key called which operation and with what result, and daily
// sums of that. It never contains the parameters of a call.
//
// A [Store] stores both. [Memory] forgets them when the process ends; store/sqlite and contrib/postgres are durable.
// The log has the last calls, within [Bounds]. Usage is counted by day, account, key, platform and operation
// ([Rollup]): what was paid comes from the ledger, each entry exactly once ([Fold]); what was free or failed comes from
// the log.
package requests

import (
	"context"
	"errors"
	"time"
)

// Request is one call with its result.
type Request struct {
	Seq       int64 // assigned by the [Store], increasing
	At        time.Time
	ID        string        // of the request
	Account   string        // "" for none
	Key       string        // id of the key
	Source    string        // where it came from, a [github.com/socialdata/socialdata/schema.CallSource]
	Operation string        // "" if the call was refused before its operation was known
	Platform  string        // of a read, or the provider of a raw one; otherwise ""
	Status    int           // of the HTTP response
	Code      string        // of a problem; "" for an answer
	Detail    string        // of a problem, without the values of the call; "" for an answer
	Upstream  int           // HTTP status of the upstream's answer that the problem is about, for operators; 0 for none
	Cache     string        // of an answer
	Held      int64         // the most credits that it could have cost, which were held meanwhile; 0 for none
	Credits   int64         // charged
	Took      time.Duration // 0 for a stream of changes, which lasts as long as its caller wants
	Providers []Provider    // those that were asked, each once, in order; nil for none
}

// Provider is a provider that was asked for a call.
type Provider struct {
	Name   string
	Calls  int           // how often it was called; 0 if it was passed over
	Took   time.Duration // all of its calls together, including those at the same time
	Status int           // HTTP status of the upstream's answer to the last call that found nothing, for operators; 0 for none
	Cause  string        // why that found nothing, or why the provider was passed over, for operators; "" if all calls did
}

// Query selects requests. Fields that are zero do not restrict it.
type Query struct {
	Account, Key, Operation, Platform, ID string
	Status                                int
	After                                 int64 // only requests with a larger Seq
	Before                                int64 // only requests with a smaller Seq
	Limit                                 int   // maximum number; 0 is no limit
}

// Selects reports whether q selects r, regardless of Limit.
func (q *Query) Selects(r *Request) bool {
	return (q.Before == 0 || r.Seq < q.Before) && r.Seq > q.After &&
		(q.Status == 0 || q.Status == r.Status) && is(q.Account, r.Account) && is(q.Key, r.Key) &&
		is(q.Operation, r.Operation) && is(q.Platform, r.Platform) && is(q.ID, r.ID)
}

func is(want, got string) bool { return want == "" || want == got }

// Bounds limit what a [Store] keeps. A field that is zero means the default in its comment.
type Bounds struct {
	Most int           // requests in the log: [Most]; below 0 there is no log, and usage only has what was paid
	Life time.Duration // of each request: [Life]
	Days int           // of usage: [Days]
}

// The default limits.
const (
	Most = 100_000
	Life = 7 * 24 * time.Hour
	Days = 400
)

// Filled returns b with its defaults.
func (b Bounds) Filled() Bounds {
	if b.Most == 0 {
		b.Most = Most
	}
	if b.Life == 0 {
		b.Life = Life
	}
	if b.Days == 0 {
		b.Days = Days
	}
	return b
}

// ErrFolded means that entries of the account were folded by another process meanwhile.
var ErrFolded = errors.New("requests: folded by others meanwhile")

// Store stores the request log and the usage. Implementations are safe for concurrent use, by several processes if the
// database is shared.
type Store interface {
	// Add adds requests to the log, in order and at most [AtOnce], and tallies to the usage: both or nothing.
	Add(ctx context.Context, added []Request, tallies []Tally) error
	// List returns the requests that q selects, newest first.
	List(ctx context.Context, q Query) ([]Request, error)
	// Trim removes what exceeds b at now. Up to a batch of the log more may remain.
	Trim(ctx context.Context, b Bounds, now time.Time) error

	// Folded returns the number of the account's last entry that is in its usage; 0 for none.
	Folded(ctx context.Context, account string) (seq int64, err error)
	// Fold adds tallies of the account's entries after number after, up to number through: all of them or nothing. It
	// fails with [ErrFolded] unless Folded returns after.
	Fold(ctx context.Context, account string, after, through int64, tallies []Tally) error
	// Sums returns the tallies that q selects, grouped by q.By: the other fields of their place are zero. Their order
	// is not specified.
	Sums(ctx context.Context, q SumQuery) ([]Tally, error)
}

// AtOnce is how many requests [Store.Add] accepts.
const AtOnce = 1000
