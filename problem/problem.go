// Package problem is the error type of socialdata: an RFC 9457 problem with a stable, machine-readable code.
//
//	if errors.Is(err, problem.NotFound) {
//		…
//	}
//	var p *problem.Error
//	if errors.As(err, &p) && p.Code == problem.RateLimited {
//		retryIn = p.RetryAfter
//	}
//
// Callers act on [Code], never on the text.
package problem

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// Code says what kind of problem it is. Codes are stable; texts are not. As an error it is a target for [errors.Is]:
// every *[Error] with that code matches it.
type Code string //nolint:errname // a code first: callers write problem.NotFound

// Error returns the code.
func (c Code) Error() string { return string(c) }

// The codes of the specification.
//
//nolint:errname // codes first: callers compare e.Code with problem.NotFound
const (
	InvalidRequest      Code = "invalid_request"      // 400: the request fails validation
	Unauthorized        Code = "unauthorized"         // 401: the key is missing, malformed, unknown or revoked
	InsufficientCredits Code = "insufficient_credits" // 402: the balance is too low; nothing is charged
	NotFound            Code = "not_found"            // 404: unknown platform, handle or id
	RateLimited         Code = "rate_limited"         // 429: the key's rate limit is hit
	InternalError       Code = "internal_error"       // 500: our fault
	PlatformUnavailable Code = "platform_unavailable" // 503: upstream error, or the platform lacks the operation
	UpstreamTimeout     Code = "upstream_timeout"     // 504: the upstream did not answer in time
)

// Codes lists every code, by status.
func Codes() []Code {
	return []Code{
		InvalidRequest, Unauthorized, InsufficientCredits, NotFound, RateLimited, InternalError,
		PlatformUnavailable, UpstreamTimeout,
	}
}

// Status returns the HTTP status of c.
func (c Code) Status() int {
	switch c {
	case InvalidRequest:
		return http.StatusBadRequest
	case Unauthorized:
		return http.StatusUnauthorized
	case InsufficientCredits:
		return http.StatusPaymentRequired
	case NotFound:
		return http.StatusNotFound
	case RateLimited:
		return http.StatusTooManyRequests
	case PlatformUnavailable:
		return http.StatusServiceUnavailable
	case UpstreamTimeout:
		return http.StatusGatewayTimeout
	case InternalError:
	}
	return http.StatusInternalServerError
}

// Title returns the short summary of c.
func (c Code) Title() string {
	switch c {
	case InvalidRequest:
		return "Invalid request"
	case Unauthorized:
		return "Unauthorized"
	case InsufficientCredits:
		return "Insufficient credits"
	case NotFound:
		return "Not found"
	case RateLimited:
		return "Rate limited"
	case PlatformUnavailable:
		return "Platform unavailable"
	case UpstreamTimeout:
		return "Upstream timeout"
	case InternalError:
	}
	return "Internal error"
}

// Type returns the URI that identifies c if there is no page that explains it.
func (c Code) Type() string { return "urn:socialdata:problem:" + string(c) }

// Error is a problem. As JSON it is the problem-details object of the specification.
type Error struct {
	Code   Code
	Detail string // for people; never contains a credential or an internal detail
	// Status overrides the status of Code when HTTP has a more specific one, such as 405; 0 means Code's.
	Status     int
	Type       string        // a URI that leads to an explanation of Code; "" means [Code.Type]
	RetryAfter time.Duration // when to retry; 0 when waiting does not help or the time is unknown
	RequestID  string        // the call that failed; set by the engine
	Call       string        // what was called, such as "Profile on github"; "" when it is unknown. Not in the JSON.
	Why        string        // the cause, for the embedding program; "" if Detail is complete. Not in the JSON.
	// Remembered reports that the problem, an absence, came from the cache. Age is then how old the entry is.
	Remembered bool
	Age        time.Duration
	cause      error
	told       *told
}

// Phrase is a part of a detail that each front end words differently. As an argument of [New] and [Wrap] it appears in
// Detail in its HTTP form.
type Phrase struct {
	HTTP    string // such as "GET /v1/github/posts"
	Go      string // such as "posts"
	Command string // such as "github posts"
	Tool    string // for tools of language models; "" means Command
}

// told holds the parts of a detail that front ends word differently.
type told struct {
	detail, inGo, format string
	args                 []any
}

// maxQuoted is the maximum length of a value that a detail quotes, in characters.
const maxQuoted = 100

// Quote returns text in quotes, cut to 100 characters, as [New] writes it for %q.
func Quote(text string) string { return fmt.Sprintf("%q", quotable(text)) }

// quotable is an argument of a detail: %q quotes at most maxQuoted characters of it, and every other verb all of it.
type quotable string

// Format implements [fmt.Formatter].
func (q quotable) Format(f fmt.State, verb rune) {
	text := string(q)
	if verb == 'q' && utf8.RuneCountInString(text) > maxQuoted {
		text = string([]rune(text)[:maxQuoted-1]) + "…"
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}

// New returns a problem. Detail is formatted with args as by [fmt.Sprintf], but a text that %q quotes is cut to 100
// characters: it may be a caller's.
func New(code Code, detail string, args ...any) *Error {
	e := &Error{Code: code}
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = quotable(text)
		}
	}
	if slices.ContainsFunc(args, func(arg any) bool { _, ok := arg.(Phrase); return ok }) {
		e.told = &told{format: detail, args: args}
		detail = e.told.in(func(p Phrase) string { return p.HTTP })
		e.told.detail, e.told.inGo = detail, e.told.in(func(p Phrase) string { return p.Go })
	} else if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	e.Detail = detail
	return e
}

// in returns the detail with the form of each phrase that of selects.
func (t *told) in(of func(Phrase) string) string {
	args := slices.Clone(t.args)
	for i := range args {
		if p, ok := args[i].(Phrase); ok {
			args[i] = of(p)
		}
	}
	return fmt.Sprintf(t.format, args...)
}

// DetailIn returns Detail with the form of each [Phrase] that of selects.
func (e *Error) DetailIn(of func(Phrase) string) string {
	if e.told == nil || e.Detail != e.told.detail && e.Detail != e.told.inGo {
		return e.Detail
	}
	return e.told.in(of)
}

// InGo returns e with its Detail in the Go form, for a program that calls methods and knows no routes. As JSON it has
// the HTTP form all the same.
func (e *Error) InGo() *Error {
	own := *e
	own.Detail = e.DetailIn(func(p Phrase) string { return p.Go })
	return &own
}

// Wrap returns a problem with a cause, which [errors.Is] and [errors.As] can find and which is never part of the JSON.
func Wrap(cause error, code Code, detail string, args ...any) *Error {
	e := New(code, detail, args...)
	e.cause = cause
	return e
}

// After sets when to retry, and returns e.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// Error returns what was called, the code, the detail in its Go form, and the cause.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.DetailIn(func(p Phrase) string { return p.Go })
	if e.Call != "" {
		text = e.Call + ": " + text
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Is reports whether target is the code of e. A nil Error has none.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && e != nil && code == e.Code
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error {
	if e == nil { // such as the problem of an item of a batch that has none
		return nil
	}
	return e.cause
}

// HTTPStatus returns the HTTP status of the response.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Status()
}

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, so that a caller who waits that long is never too
// early.
func (e *Error) RetryAfterSeconds() int64 {
	return int64(math.Ceil(e.RetryAfter.Seconds()))
}

// wire is the problem-details object.
// https://www.rfc-editor.org/rfc/rfc9457#section-3.1
type wire struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Detail     string `json:"detail"`
	Code       Code   `json:"code"`
	RequestID  string `json:"request_id"`
	RetryAfter *int64 `json:"retry_after,omitempty"`
}

// MarshalJSON returns the problem-details object, with <, > and & unescaped: an encoder that is configured not to
// escape them cannot undo it.
func (e *Error) MarshalJSON() ([]byte, error) {
	detail := e.DetailIn(func(p Phrase) string { return p.HTTP })
	w := wire{cmp.Or(e.Type, e.Code.Type()), e.Code.Title(), e.HTTPStatus(), detail, e.Code, e.RequestID, nil}
	if e.RetryAfter > 0 || e.Code == RateLimited {
		s := e.RetryAfterSeconds()
		w.RetryAfter = &s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(w)
	return b.Bytes(), err
}

// UnmarshalJSON parses a problem-details object, so that a client of the HTTP API gets the same error value.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("problem: %w", err)
	}
	*e = Error{Code: w.Code, Detail: w.Detail, RequestID: w.RequestID}
	if w.Type != w.Code.Type() {
		e.Type = w.Type
	}
	if w.Status != w.Code.Status() {
		e.Status = w.Status
	}
	if w.RetryAfter != nil {
		e.RetryAfter = time.Duration(*w.RetryAfter) * time.Second
	}
	return nil
}
