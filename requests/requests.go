// Package requests is the request log and what it adds up to: who called what, how that ended, and the usage of each day. It
// never knows what was asked.
//
// A [Store] keeps both. [Memory] forgets them when the process ends; store/sqlite and contrib/postgres keep them. The log
// holds the last calls, within [Bounds]. Usage is added up by day, account, key, platform and operation ([Rollup]): what was
// paid comes from the books, each entry exactly once ([Fold]), what was free or failed comes from the log.
package requests

import (
	"context"
	"errors"
	"time"
)

// Request is what one call came to.
type Request struct {
	Seq       int64 // grows along the log of a [Store], which gives it
	At        time.Time
	ID        string // of the request
	Account   string // "" for none
	Key       string // id of the key
	Operation string // "" where the call was refused before it was read
	Platform  string // of a read, or the provider of a raw one; else ""
	Status    int    // of HTTP
	Code      string // of a problem; "" for an answer
	Cache     string // of an answer
	Credits   int64  // charged
	Took      time.Duration
	Providers []string // that were asked, each once, in order; nil for none
}

// Query selects requests. Fields that are zero select any.
type Query struct {
	Account, Key, Operation, Platform, ID string
	Status                                int
	After                                 int64 // only requests with a larger Seq
	Before                                int64 // only requests with a smaller Seq
	Limit                                 int   // at most so many; 0 is no bound
}

// Selects reports whether q selects r, but for its Limit.
func (q *Query) Selects(r *Request) bool {
	return (q.Before == 0 || r.Seq < q.Before) && r.Seq > q.After &&
		(q.Status == 0 || q.Status == r.Status) && is(q.Account, r.Account) && is(q.Key, r.Key) &&
		is(q.Operation, r.Operation) && is(q.Platform, r.Platform) && is(q.ID, r.ID)
}

func is(want, got string) bool { return want == "" || want == got }

// Bounds are how much a [Store] keeps. A zero field stands for the value in its comment.
type Bounds struct {
	Most int           // requests of the log: [Most]
	Life time.Duration // of each request: [Life]
	Days int           // of usage: [Days]
}

// The bounds of what is kept unless others are set.
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

// ErrFolded says that others have folded entries of the account meanwhile.
var ErrFolded = errors.New("requests: folded by others meanwhile")

// Store keeps the request log and the usage. Implementations are safe for concurrent use, by several processes where the
// database is.
type Store interface {
	// Add adds requests to the log, in their order and at most [AtOnce], and tallies to the usage: both or nothing.
	Add(ctx context.Context, added []Request, tallies []Tally) error
	// List returns the requests that q selects, newest first.
	List(ctx context.Context, q Query) ([]Request, error)
	// Trim removes what is beyond b at now. Up to a batch of the log more may stay.
	Trim(ctx context.Context, b Bounds, now time.Time) error

	// Folded returns the number of the account's last entry that is part of its usage; 0 for none.
	Folded(ctx context.Context, account string) (seq int64, err error)
	// Fold adds tallies of the entries of account after number after and up to number through: all of it or nothing. It
	// fails with [ErrFolded] unless Folded is after.
	Fold(ctx context.Context, account string, after, through int64, tallies []Tally) error
	// Sums returns the tallies that q selects, added up by q.By: the other fields of their place are zero. Their order is
	// not specified.
	Sums(ctx context.Context, q SumQuery) ([]Tally, error)
}

// AtOnce is how many requests [Store.Add] takes.
const AtOnce = 1000
