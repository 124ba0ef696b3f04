package providers

import (
	"context"
	"time"
)

// Limit is one of an upstream's limits: a number of reads or units per window. It is safe for concurrent use.
type Limit interface {
	// Name returns a name that is unique among the provider's limits, such as "searches".
	Name() string
	// State returns the current state of the limit.
	State() LimitState
	// Share sets the shares of the limit that the classes may use.
	Share(Shares)
	// Save returns what to save for the limit, given saved, which all processes have saved so far, "" for nothing. It
	// returns "" if there is nothing to save: the limit is unknown, or its window is shorter than a minute.
	Save(saved string) string
	// Restore applies saved data: the usage of other processes counts from then on.
	Restore(saved string)
}

// LimitState is the state of a limit. Used and Left add up to Limit.
type LimitState struct {
	Limit int64 // 0 if the upstream has not announced it
	Used  int64
	Left  int64
	Reset time.Time // when the limit resets, or when the first usage leaves a sliding window; zero when unused
	// Unsaved is the usage of this process since the last save.
	Unsaved int64
}

// Told reports whether the size of the limit is known.
func (s LimitState) Told() bool { return s.Limit > 0 }

// Shares are the percentages of a limit that classes of reads may use; the rest is reserved for others.
type Shares struct {
	Dear       int // expensive reads: those with a high cost, and those against a small limit
	Background int // reads that no caller waits for
}

// DefaultShares reserves a fifth for callers' cheap reads, and half for callers.
func DefaultShares() Shares { return Shares{Dear: 80, Background: 50} }

// Class is the purpose of a read.
type Class int

// The classes of reads.
const (
	ClassCall       Class = iota // a caller waits for it
	ClassBackground              // no caller waits for it: a monitor, an export
)

type classKey struct{}

// WithClass returns a context whose reads are of that class.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassOf returns the class of the reads of ctx, [ClassCall] by default.
func ClassOf(ctx context.Context) Class {
	c, _ := ctx.Value(classKey{}).(Class)
	return c
}
