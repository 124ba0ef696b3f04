package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// The errors that a provider returns, without prefixes and without anything from the request.
var (
	// ErrNotFound means that the thing does not exist, or that its owner has disabled or hidden it. It is final, and
	// counts as a healthy answer. Create it with [NotFound].
	ErrNotFound = errors.New("not found")
	// ErrUnavailable means that the upstream failed, refused our credential, is rate limiting us, or sent an invalid
	// answer.
	ErrUnavailable = errors.New("upstream unavailable")
	// ErrTimeout means that the upstream did not answer in time.
	ErrTimeout = errors.New("upstream timeout")
	// ErrInvalid means that the caller's input cannot be used. Create it with [Invalid].
	ErrInvalid = errors.New("invalid input")
	// ErrUnsupported is the cause of an [ErrUnavailable] that does not affect the upstream's health: it serves the
	// operation, but not for this input or not for our kind of access. Another provider may. Create it with
	// [Unsupported].
	ErrUnsupported = errors.New("not served for this input")
	// ErrCursor means that the upstream no longer knows the cursor.
	ErrCursor = errors.New("cursor expired")
	// ErrNotHere means that a source that cannot see everything does not see the thing, which may exist nevertheless:
	// the next source is tried, and if all of them return this error, the thing is not found. It does not affect the
	// upstream's health. Create it with [NotHere].
	ErrNotHere = errors.New("not seen by this source")
)

// Blame is the effect of an error on the health of the upstream.
type Blame int

// The kinds of blame.
const (
	// BlameSubject counts once for each subject of a request: a 5xx, a refused credential, an answer of the wrong kind.
	BlameSubject Blame = iota
	// BlameUpstream always counts: a broken connection, a time-out, a rate limit of the upstream.
	BlameUpstream
	// BlameNone never counts: a missing thing, a refused input, a login page for one handle.
	BlameNone
)

// BlameOf returns the effect of err on the health of the upstream.
func BlameOf(err error) Blame {
	for _, kind := range []error{ErrNotFound, ErrInvalid, ErrUnsupported, ErrCursor, ErrNotHere, context.Canceled} {
		if err == nil || errors.Is(err, kind) {
			return BlameNone
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

// Error is an error with a message for the caller.
type Error struct {
	Kind       error         // one of the sentinel errors
	Detail     string        // may be shown to the caller: it contains no credentials and no internals
	RetryAfter time.Duration // when the upstream will answer again; 0 if unknown
	Blame      Blame         // for an ErrUnavailable; see [BlameOf]
	Err        error         // the cause; may be nil. Only its [Loggable] text is logged
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

// RequestError adds to an error which request to the upstream failed, and the HTTP status of the answer.
type RequestError struct {
	// Address is the host and the path of the request, without credentials and without its query. It is for the program
	// that embeds the engine: its text is in no answer and in no log.
	Address string
	Status  int // 0 if there was no answer, or a success that cannot be read
	Err     error
}

// Error returns the text of the error, which usually contains the status already.
func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the request.
func (e *RequestError) Unwrap() error { return e.Err }

// UpstreamError adds the provider and the operation to an error. The engine adds it once to the errors of providers,
// which never contain anything from the request.
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

// MissingError means that a provider is not configured: it could serve the operation with settings that are missing.
type MissingError struct {
	Provider string // the provider's Name
	Platform platform.ID
	Settings []string // names as in Missing of [Provider]
}

// Error names the settings in words: only the program knows where they are set.
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

// NotFound returns an [ErrNotFound] with a message for the caller about what is missing or disabled, such as "comments
// are disabled on this post".
func NotFound(detail string, args ...any) error {
	return &Error{Kind: ErrNotFound, Detail: fmt.Sprintf(detail, args...)}
}

// NotHere returns an [ErrNotHere] with a message for the caller about what this source does not see.
func NotHere(detail string, args ...any) error {
	return &Error{Kind: ErrNotHere, Detail: fmt.Sprintf(detail, args...)}
}

// Limited returns an [ErrUnavailable] for an upstream that is rate limiting us for the given time.
func Limited(detail string, wait time.Duration) error {
	return &Error{Kind: ErrUnavailable, Detail: detail, RetryAfter: wait, Blame: BlameUpstream}
}

// Walled returns an [ErrUnavailable] that does not affect the health of platform or provider: the upstream answers
// requests for this subject with a login page, or a captcha.
func Walled(detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Blame: BlameNone}
}

// Invalid returns an [ErrInvalid] with a message for the caller about the required form of the input.
func Invalid(detail string, args ...any) error {
	return &Error{Kind: ErrInvalid, Detail: fmt.Sprintf(detail, args...)}
}

// Unavailable returns an [ErrUnavailable] with a cause. The detail may be shown to the caller.
func Unavailable(cause error, detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Err: cause}
}

// Unreadable returns an [ErrUnavailable] for an answer of the wrong kind: it cannot be decoded, or lacks a required
// part. The cause may be nil.
func Unreadable(cause error) error {
	return &Error{Kind: ErrUnavailable, Detail: "the upstream's answer cannot be read", Err: cause}
}

// Unsupported returns an [ErrUnavailable] with the cause [ErrUnsupported] and a message for the caller about what this
// upstream cannot serve.
func Unsupported(detail string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Detail: fmt.Sprintf(detail, args...), Err: ErrUnsupported}
}
