package providers

import (
	"context"
	"errors"
)

// ErrShare is the cause of an [ErrUnavailable] that holds for one account or one class of reads alone: it has taken its
// share of an upstream's limit. It says nothing about the upstream, and nothing to others who ask the same.
var ErrShare = errors.New("the share of the limit is used up")

// ShareError is [ErrShare] for the reads of one account. A read that is made for several accounts may be made again for
// the others.
type ShareError struct {
	Account string // see [Caller]; it is not in the text
}

// Error is that of [ErrShare].
func (*ShareError) Error() string { return ErrShare.Error() }

// Unwrap returns [ErrShare].
func (*ShareError) Unwrap() error { return ErrShare }

// ErrBusy is the cause of an [ErrUnavailable] that is the program's own: it has no memory for one more answer. It says
// nothing about the upstream.
var ErrBusy = errors.New("too many answers are at work")

// Caller is for whom a read is made, as far as those need to know who share a limit among callers.
type Caller struct {
	// Account is opaque: it is compared with others, and neither shown nor logged.
	Account string
	// Keys is, of one read for several accounts, how many keys each of them has asked for: the read counts in such parts
	// against what each may use of a limit. Nil is a read for Account alone. It is read-only.
	Keys map[string]int
	// Alone reports that there is no other account.
	Alone bool
	// Asked is called when an upstream has been asked, by several goroutines at once. It may be nil.
	Asked func()
}

type callerKey struct{}

// WithCaller returns a context whose reads are made for c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns for whom a read is made: the zero Caller when no account is known.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok && c != nil {
		return *c
	}
	return Caller{}
}
