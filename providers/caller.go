package providers

import (
	"context"
	"errors"
)

// ErrShare is the cause of an [ErrUnavailable] that applies to one account or one class of reads: it has used its share
// of an upstream's limit. It does not affect the upstream's health, or other callers who request the same.
var ErrShare = errors.New("the share of the limit is used up")

// ShareError is [ErrShare] for the reads of one account. A joined read of several accounts can be repeated for the
// others.
type ShareError struct {
	Account string // see [Caller]; it is not in the text
}

// Error returns the text of [ErrShare].
func (*ShareError) Error() string { return ErrShare.Error() }

// Unwrap returns [ErrShare].
func (*ShareError) Unwrap() error { return ErrShare }

// ErrBusy is the cause of an [ErrUnavailable] of the program itself: it has no memory for another answer. It does not
// affect the upstream's health.
var ErrBusy = errors.New("too many answers are in progress")

// Caller identifies the account that a read is made for, as far as limits that are shared by callers require it.
type Caller struct {
	// Account is opaque: it is only compared, and neither shown nor logged.
	Account string
	// Keys is, for a joined read of several accounts, the number of keys that each of them has requested: the read
	// counts against the share of each in proportion. Nil is a read for Account alone. It is read-only.
	Keys map[string]int
	// Alone reports that there is no other account.
	Alone bool
	// Asked is called when a request has been sent to an upstream. It must be safe for concurrent use, and may be nil.
	Asked func()
}

type callerKey struct{}

// WithCaller returns a context for reads of c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a read: the zero Caller if it is unknown.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok && c != nil {
		return *c
	}
	return Caller{}
}
