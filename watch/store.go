package watch

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// The errors of a [Store].
var (
	// ErrAbsent says that there is no such monitor.
	ErrAbsent = errors.New("watch: there is no such monitor")
	// ErrLease says that a poll is not the caller's any more: its lease has run out and another has taken it, or the monitor
	// was changed or ended meanwhile. Nothing was written.
	ErrLease = errors.New("watch: the poll belongs to another")
	// ErrFull says that the account has as many monitors as it may have.
	ErrFull = errors.New("watch: the account has as many monitors as it may have")
)

// Claim is a monitor whose poll is due, taken by one process until Until.
type Claim struct {
	Monitor Monitor
	Due     time.Time // when the poll was due, which names it
	Lease   string
	Until   time.Time
}

// Poll is what a poll came to.
type Poll struct {
	Claim    Claim
	Progress Progress        // of the monitor after it
	Changes  []schema.Change // their Seq is the store's to give
	Samples  []Sample
}

// Sample is a number of a monitor's object.
type Sample struct {
	Field string
	At    time.Time
	Value float64
}

// Since selects changes of an account, oldest first.
type Since struct {
	Account string
	Monitor string    // "" for all
	Type    string    // "" for all
	From    time.Time // not before; zero for no bound
	After   int64     // only those with a larger Seq
	Limit   int
}

// Numbers selects the samples of one field of a monitor, oldest first.
type Numbers struct {
	Account, Monitor, Field string
	Since, Until            time.Time // from Since on and before Until; zero for no bound
	Limit                   int       // at most so many; the latest are left out first
}

// Store keeps monitors with their snapshots, the feed of their changes and the samples of their numbers. Implementations are
// safe for concurrent use, by several processes where the store is shared; values are copied in and out.
type Store interface {
	// Put makes a monitor, or gives the one of that account and name another definition: its key, its pause and what it asks.
	// Another question begins anew: its baseline grows by one, its progress is forgotten, and a poll that is under way is not
	// taken any more. Put returns the monitor as it stands and whether it is new. It fails with ErrFull when the account has
	// most monitors already; 0 is no bound. NextAt of m is when a new monitor, or one that asks another question, polls first.
	// A definition with Heard set changes nothing but that, which never goes back; it makes no monitor, but fails with ErrAbsent.
	Put(ctx context.Context, m Monitor, most int) (stands Monitor, made bool, err error)
	// Pause stops or resumes the polls of a monitor, from the next on. It fails with ErrAbsent.
	Pause(ctx context.Context, account, name string, paused bool, next time.Time) (Monitor, error)
	// Monitor returns one monitor, or ErrAbsent.
	Monitor(ctx context.Context, account, name string) (Monitor, error)
	// Monitors returns the monitors of an account, by name, those behind after, at most limit of them; 0 is no bound.
	Monitors(ctx context.Context, account, after string, limit int) ([]Monitor, error)
	// End removes a monitor with its snapshot and its samples; its changes stay. It fails with ErrAbsent.
	End(ctx context.Context, account, name string) error

	// Claim takes at most n monitors that are due at now, those due longest first, for lease. Of any number of concurrent
	// calls one gets each. A lease that has run out is nobody's.
	Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]Claim, error)
	// Commit writes what a poll came to, all or nothing, and ends its lease: the progress, the changes with their places in
	// the account's feed, and the samples. A change whose id is in the feed already is left out. Of what is gone ([Poll.Gone])
	// the monitor's earlier changes say that alone ([Forget]), and a monitor of one thing loses its samples. It fails with ErrLease.
	Commit(ctx context.Context, p Poll) error

	// Changes returns a part of an account's feed.
	Changes(ctx context.Context, q Since) ([]schema.Change, error)
	// Samples returns numbers.
	Samples(ctx context.Context, q Numbers) ([]Sample, error)
	// Sweep removes what is older than l allows: changes, or their content alone ([Bare]); the content of snapshots
	// ([Monitor.Expire]); samples. It goes through at most a few thousand rows and reports whether there was more.
	Sweep(ctx context.Context, l Limits) (more bool, err error)
	// Kept returns how much is kept, by kind and platform, as [privacy.SumKept] puts it.
	Kept(ctx context.Context) ([]privacy.Kept, error)
	// Erase removes what holds s: the monitors that ask about it, with their samples and changes; of others the followed
	// items and the changes that hold it, with the deliveries of those. Polls that are under way are taken no more, and are
	// made again.
	privacy.Eraser
	Outbox
}
