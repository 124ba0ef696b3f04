package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// The errors that a provider returns: bare, and without what was asked.
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
	// ErrNotHere says that a source of limited sight does not see the thing, which may exist all the same: the next
	// source is asked, and if every one says so, nothing is found. It says nothing about the upstream's health. Give it
	// with [NotHere].
	ErrNotHere = errors.New("not seen by this source")
)

// Blame says what an error tells about the health of the upstream.
type Blame int

// The kinds of blame.
const (
	// BlameSubject counts once for each subject that was asked for: a 5xx, a refused credential, an answer that is not
	// of its kind.
	BlameSubject Blame = iota
	// BlameUpstream always counts: a broken connection, a time-out, the upstream's limits.
	BlameUpstream
	// BlameNobody never counts: a thing that is not there, a refused input, a log-in page for one handle.
	BlameNobody
)

// BlameOf tells what err says about the health of the upstream.
func BlameOf(err error) Blame {
	for _, kind := range []error{ErrNotFound, ErrInvalid, ErrUnsupported, ErrCursor, ErrNotHere, context.Canceled} {
		if err == nil || errors.Is(err, kind) {
			return BlameNobody
		}
	}
	if errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return BlameUpstream
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Blame
	}
	return BlameSubject
}

// Error is an error with words for the caller.
type Error struct {
	Kind       error         // one of the sentinels
	Detail     string        // may be shown to the caller: no credential, no internal
	RetryAfter time.Duration // when the upstream will answer again; 0 when not known
	Blame      Blame         // of an ErrUnavailable; see [BlameOf]
	Err        error         // the cause; may be nil. The log shows no more of it than [Loggable] does
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

// StatusError adds the HTTP status of the upstream's answer to the error that was made of it.
type StatusError struct {
	Status int
	Err    error
}

// Error returns the text of the error without the status: it usually tells it.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the status.
func (e *StatusError) Unwrap() error { return e.Err }

// UpstreamError says which provider failed at which operation. It is added once, above the providers, which return bare
// errors that never hold what was asked.
type UpstreamError struct {
	Provider string // the provider's Name
	Op       Op
	Err      error
}

// Error returns the provider, the operation and the cause.
func (e *UpstreamError) Error() string {
	return e.Provider + ": " + string(e.Op) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UpstreamError) Unwrap() error { return e.Err }

// MissingError says that a provider is not configured: it would serve an operation if settings were there that are not.
type MissingError struct {
	Provider string // the provider's Name
	Platform platform.ID
	Settings []string // by their names in [Provider] Missing
}

// Error names the settings in words: where they are set is known to the program, and not here.
func (e *MissingError) Error() string {
	var names []string
	for _, s := range e.Settings {
		if whose, name, named := strings.Cut(s, "."); named {
			s = name + " of " + whose
		}
		names = append(names, s)
	}
	word := "setting "
	if len(names) > 1 {
		word = "settings "
	}
	return "the provider " + e.Provider + " is not configured: missing the " + word + strings.Join(names, ", ")
}

// Qualified returns the settings, each as provider.setting: client_id of kick is "kick.client_id".
func (e *MissingError) Qualified() []string {
	names := make([]string, len(e.Settings))
	for i, s := range e.Settings {
		if !strings.Contains(s, ".") {
			s = string(e.Platform) + "." + s
		}
		names[i] = s
	}
	return names
}

// NotFound returns an [ErrNotFound] that tells the caller what is missing or who switched it off, such as "comments
// are disabled on this post".
func NotFound(detail string, args ...any) error {
	return &Error{Kind: ErrNotFound, Detail: fmt.Sprintf(detail, args...)}
}

// NotHere returns an [ErrNotHere] that tells the caller what this source does not see.
func NotHere(detail string, args ...any) error {
	return &Error{Kind: ErrNotHere, Detail: fmt.Sprintf(detail, args...)}
}

// Limited returns the [ErrUnavailable] of an upstream that is rate limiting us, for the given time.
func Limited(detail string, wait time.Duration) error {
	return &Error{Kind: ErrUnavailable, Detail: detail, RetryAfter: wait, Blame: BlameUpstream}
}

// Walled returns an [ErrUnavailable] that counts against nobody: the upstream answers this one subject with a page to log
// in, or a check.
func Walled(detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Blame: BlameNobody}
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
