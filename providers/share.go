package providers

import "errors"

// ErrShare is the cause of an [ErrUnavailable] that applies to one account or one class of reads: it has used its share
// of an upstream's limit. It does not affect the upstream's health, or other callers who request the same.
var ErrShare = errors.New("the share of the limit is used up")

// ShareError is [ErrShare] for the reads of one account. A joined read of several accounts can be repeated for the
// others.
type ShareError struct {
	Account string // see [callctx.Caller]; it is not in the text
}

// Error returns the text of [ErrShare].
func (*ShareError) Error() string { return ErrShare.Error() }

// Unwrap returns [ErrShare].
func (*ShareError) Unwrap() error { return ErrShare }

// ErrBusy is the cause of an [ErrUnavailable] of the program itself: it has no memory for another answer. It does not
// affect the upstream's health.
var ErrBusy = errors.New("too many answers are in progress")

// ErrSpent is wrapped by the error of a read that is not made because the limit of its call is reached.
var ErrSpent = Cause("it costs more than one call may spend (setting max_credits)")
