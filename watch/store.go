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
	// ErrAbsent means that there is no such monitor.
	ErrAbsent = errors.New("watch: there is no such monitor")
	// ErrLease means that the caller no longer owns a poll: its lease has expired and another has claimed it, or the
	// monitor was changed or ended meanwhile. Nothing was written.
	ErrLease = errors.New("watch: the poll belongs to another process")
	// ErrMembersFull means that the panels of the account have the maximum number of members.
	ErrMembersFull = errors.New("watch: the panels of the account have the maximum number of members")
	// ErrFull means that the account has the maximum number of monitors.
	ErrFull = errors.New("watch: the account has the maximum number of monitors")
)

// Claim is a monitor whose poll is due, owned by one process until Until.
type Claim struct {
	Monitor Monitor
	Due     time.Time // when the poll was due, which identifies it
	Lease   string
	Until   time.Time
}

// Poll is the result of a poll.
type Poll struct {
	Claim    Claim
	Progress Progress        // of the monitor after it
	Changes  []schema.Change // the store sets their Seq
	Samples  []Sample
}

// Sample is one value of a number at a time.
type Sample struct {
	Field string
	At    time.Time
	Value float64
}

// Since selects changes of an account, oldest first, or newest first if Newest is set.
type Since struct {
	Account string
	Monitor string    // "" for all
	Type    string    // "" for all
	From    time.Time // inclusive; zero for no limit
	After   int64     // only those with a larger Seq
	Newest  bool
	Limit   int
}

// Numbers selects the samples of one field of a monitor, oldest first.
type Numbers struct {
	Account, Monitor, Field string
	Since, Until            time.Time // from Since until before Until; zero for no limit
	Limit                   int       // maximum number; the latest are left out first
}

// Store stores monitors with their snapshots, the feed of their changes and the samples of their numbers.
// Implementations are safe for concurrent use, by several processes if the store is shared, and copy values in and out.
type Store interface {
	// Put makes a monitor, or gives the one with that account and name another definition, key and pause. If Ask
	// changes, the monitor starts over: its baseline is increased, its progress is reset, and a poll in progress cannot be
	// committed any more. Put returns the monitor as it is stored and whether it is new. It fails with ErrFull when the
	// account has most monitors already; 0 is no limit. NextAt of m is the first poll of a monitor that is new or starts
	// over. A definition with Processed set changes only that, and never lowers it; if there is no such monitor, it fails with
	// ErrAbsent. Of a panel it makes the members that are new ([Monitor.MemberOf]), gives the others its definition, key
	// and pause in the same way, and ends those that are not in m.Members, all or nothing. It fails with ErrMembersFull
	// when the panels of the account would have more than most times [MembersOf] members.
	Put(ctx context.Context, m Monitor, most int) (stored Monitor, made bool, err error)
	// Pause pauses or resumes the polls of a monitor, or of all members of a panel, from the next one on. When it is
	// resumed, a poll that was due meanwhile is due at next. It fails with ErrAbsent.
	Pause(ctx context.Context, account, name string, paused bool, next time.Time) (Monitor, error)
	// Monitor returns one monitor, or ErrAbsent.
	Monitor(ctx context.Context, account, name string) (Monitor, error)
	// Monitors returns up to limit monitors of an account whose names follow after, sorted by name; 0 is no limit. They
	// are the members of a panel, or with "" all monitors that are not a member of one.
	Monitors(ctx context.Context, account, panel, after string, limit int) ([]Monitor, error)
	// Coverage returns how many members of a panel are in each stage, and what they cost in a month such as 2026-01.
	Coverage(ctx context.Context, account, panel, month string) (Coverage, error)
	// End removes a monitor with its snapshot, its samples and its members, but not its changes. It fails with ErrAbsent.
	End(ctx context.Context, account, name string) error
	// SetFeed gives a monitor a feed with the hash of its token, unless it has one, or with "" removes its feed. It
	// returns the monitor as it is stored, and fails with ErrAbsent.
	SetFeed(ctx context.Context, account, name, hash string) (Monitor, error)
	// OfFeed returns the monitor whose feed has that hash, which is not "", or ErrAbsent.
	OfFeed(ctx context.Context, hash string) (Monitor, error)

	// Claim claims up to n monitors that are due at now, those due longest first, for lease. Of concurrent calls, only
	// one gets a monitor. A monitor whose lease has expired can be claimed again. Those that are due at the same time are
	// claimed in the order in which they were read last. If one is a member of a panel whose members are read together,
	// more of them that are due are claimed as well, as [PanelClaim] says, and are together one of the n.
	Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]Claim, error)
	// Commit writes the result of a poll, completely or not at all, and ends its lease: the progress, the changes with
	// their positions in the account's feed, and the samples. It leaves out changes whose id is in the feed already.
	// Earlier changes of objects that are gone ([Poll.Gone]) keep only that ([Forget]), and a monitor of one thing loses
	// its samples. It fails with ErrLease.
	Commit(ctx context.Context, p Poll) error

	// Changes returns a part of an account's feed.
	Changes(ctx context.Context, q Since) ([]schema.Change, error)
	// Samples returns samples of a number.
	Samples(ctx context.Context, q Numbers) ([]Sample, error)
	// Sweep removes what is older than l allows: changes, or only their content ([Bare]); the content of snapshots
	// ([Monitor.Expire]); samples. Of an account with more than l.Bytes, it removes the oldest changes. It handles at
	// most a few thousand rows and reports whether there are more.
	Sweep(ctx context.Context, l Limits) (more bool, err error)
	// Stored returns how much is stored, by kind and platform, like [privacy.SumStored].
	Stored(ctx context.Context) ([]privacy.Stored, error)
	// Erase removes what contains s: the monitors that watch it, with their samples and changes; and from other
	// monitors the followed items and the changes that contain it, with their deliveries. Polls in progress cannot be
	// committed any more, and are repeated.
	privacy.Eraser
	Outbox
}
