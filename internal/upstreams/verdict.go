package upstreams

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/providers"
)

// OnlyTimeouts reports whether every source that was called ran out of time.
func OnlyTimeouts(err error) bool {
	return errors.Is(err, providers.ErrTimeout) && !errors.Is(err, providers.ErrUnavailable)
}

// Detail returns the part of err's text that callers may see; or if that is empty.
func Detail(err error, or string) string {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Detail != "" {
		return e.Detail
	}
	return or
}

// Closed reports whether err means that an upstream was not asked, because it has failed too often lately or a limit is
// used up, and for how long it will not be; 0 if that is not known.
func Closed(err error) (wait time.Duration, closed bool) {
	e, ok := errors.AsType[*providers.Error](err)
	if ok && e.RetryAfter > 0 && e.Blame == providers.BlameNone {
		return e.RetryAfter, true
	}
	return 0, errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) ||
		errors.Is(err, providers.ErrShare)
}

// IsFinal reports whether err is an answer that no other source could improve: an absence, a refusal of the input or an
// invalid cursor.
func IsFinal(err error) bool {
	return errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrInvalid) || errors.Is(err, providers.ErrCursor)
}

// isFailure reports whether err is the upstream's failure, rather than an answer or the caller's mistake.
func isFailure(err error) bool {
	return err != nil && !errors.Is(err, providers.ErrNotHere) && !IsFinal(err)
}

// inContract reports whether err is an error of the contract of providers.
func inContract(err error) bool {
	for _, kind := range []error{
		providers.ErrNotFound, providers.ErrNotHere, providers.ErrUnavailable, providers.ErrTimeout, providers.ErrInvalid,
		providers.ErrCursor, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
