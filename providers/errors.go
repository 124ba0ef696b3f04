package providers

import (
	"errors"
	"fmt"
	"time"
)

// The errors that a provider returns, each wrapped with what was asked.
var (
	// ErrNotFound says that the thing does not exist, or that its owner has switched it off or hidden it. It is
	// final, and counts as a healthy answer. Give it with [NotFound].
	ErrNotFound = errors.New("not found")
	// ErrUnavailable says that the upstream failed, refused our credential or our pace, or answered nonsense.
	ErrUnavailable = errors.New("upstream unavailable")
	// ErrTimeout says that the upstream did not answer in time.
	ErrTimeout = errors.New("upstream timeout")
	// ErrInvalid says that the caller's input cannot be used. Give it with [Invalid].
	ErrInvalid = errors.New("invalid input")
	// ErrUnsupported is the cause of an [ErrUnavailable] that says nothing about the upstream's health: it serves the
	// operation, but not for this input or not for our kind of access. Another provider may. Give it with [Unsupported].
	ErrUnsupported = errors.New("not served for this input")
	// ErrCursor says that the upstream no longer knows the cursor.
	ErrCursor = errors.New("cursor expired")
)

// Error is an error with words for the caller.
type Error struct {
	Kind       error         // one of the sentinels
	Detail     string        // may be shown to the caller: no credential, no internal
	RetryAfter time.Duration // when the upstream will answer again; 0 when not known
	Err        error         // the cause, for the log; may be nil
}

// Error returns the kind, the detail and the cause.
func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// NotFound returns an [ErrNotFound] that tells the caller what is missing or who switched it off, such as "comments
// are disabled on this post".
func NotFound(detail string, args ...any) error {
	return &Error{Kind: ErrNotFound, Detail: fmt.Sprintf(detail, args...)}
}

// Invalid returns an [ErrInvalid] that tells the caller what the input must be.
func Invalid(detail string, args ...any) error {
	return &Error{Kind: ErrInvalid, Detail: fmt.Sprintf(detail, args...)}
}

// Unavailable returns an [ErrUnavailable] with a cause. The detail may be shown to the caller.
func Unavailable(cause error, detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Err: cause}
}

// Unreadable returns an [ErrUnavailable] for an answer that is not of its kind: it cannot be decoded, or lacks what makes
// it one. The cause may be nil.
func Unreadable(cause error) error {
	return &Error{Kind: ErrUnavailable, Detail: "the upstream's answer cannot be read", Err: cause}
}

// Unsupported returns an [ErrUnavailable] with the cause [ErrUnsupported], which tells the caller what this upstream
// cannot serve.
func Unsupported(detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Err: ErrUnsupported}
}
