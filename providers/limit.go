package providers

import (
	"context"
	"time"
)

// Limit is one of an upstream's limits: so much in so much time. It is safe for concurrent use.
type Limit interface {
	// Name tells the limit apart from the provider's others, such as "searches".
	Name() string
	// State returns where the limit stands.
	State() LimitState
	// Share says how much of the limit the classes may use of which something is left for others.
	Share(Shares)
	// Save returns what is to be saved of the limit in place of saved, which is what all processes have saved of it, "" for
	// nothing. It is "" when there is nothing to save: the limit is not known, or shorter than a minute.
	Save(saved string) string
	// Restore takes over what is saved: what other processes have used counts from then on.
	Restore(saved string)
}

// LimitState is where a limit stands. Used and Left make up Limit.
type LimitState struct {
	Limit int64 // 0 when the upstream has not told it
	Used  int64
	Left  int64
	Reset time.Time // when it starts anew, or where it slides when the first of what was used comes back; zero when nothing is used
	// Unsaved is what this process has used since it was last saved.
	Unsaved int64
}

// Told reports whether it is known how large the limit is.
func (s LimitState) Told() bool { return s.Limit > 0 }

// Shares says in percent how much of a limit the reads of a class may use; the rest is left for others.
type Shares struct {
	Dear       int // reads that cost much of their limit, and those of a small one
	Background int // reads for which no caller waits
}

// DefaultShares leaves a fifth to the cheap reads of callers, and half to callers.
func DefaultShares() Shares { return Shares{Dear: 80, Background: 50} }

// Class is what a read is made for.
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

// ClassOf returns the class of the reads of ctx, [ClassCall] when none was given.
func ClassOf(ctx context.Context) Class {
	c, _ := ctx.Value(classKey{}).(Class)
	return c
}
