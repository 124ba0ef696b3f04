package providers

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Cause returns the cause of an error in words that may be logged. They are a constant: they never hold what was asked, nor
// anything that an upstream sent.
func Cause(words string) error { return &causeError{words} }

type causeError struct{ words string }

// Error returns the words.
func (c *causeError) Error() string { return c.words }

// LogValue implements [slog.LogValuer] with [Loggable].
func (e *Error) LogValue() slog.Value { return slog.StringValue(Loggable(e)) }

// LogValue implements [slog.LogValuer] with the provider, the operation and what is [Loggable] of the cause.
func (e *UpstreamError) LogValue() slog.Value {
	return slog.StringValue(e.Provider + ": " + string(e.Op) + ": " + Loggable(e.Err))
}

// Loggable returns what may be logged of an error of a provider, or of anything else that knows what was asked: its kind,
// the upstream's status and the class of its cause. Words that may come from a caller or an upstream are never in it: not
// [Error.Detail], no URL, and of an unknown error nothing but its
// type, unless it is an [slog.LogValuer] and says itself what may be logged.
func Loggable(err error) string {
	if err == nil {
		return ""
	}
	var parts []string
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			parts = append(parts, kind.Error())
			break
		}
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		parts = append(parts, "status "+strconv.Itoa(e.Status))
	}
	return strings.Join(append(parts, causes(nil, err)...), ": ")
}

// kinds are the sentinels of this package; the more particular first.
var kinds = []error{ErrUnsupported, ErrNotFound, ErrNotHere, ErrInvalid, ErrCursor, ErrTimeout, ErrUnavailable}

// plain are errors of the standard library whose words are fixed.
var plain = []error{
	context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
	os.ErrDeadlineExceeded, strconv.ErrSyntax, strconv.ErrRange,
}

// causes adds the classes of the innermost errors of err, each once.
func causes(classes []string, err error) []string {
	switch e := err.(type) { //nolint:errorlint // it looks at each link by itself
	case *Error:
		if e.Err == nil {
			return classes
		}
		return causes(classes, e.Err)
	case *json.SyntaxError, *json.UnmarshalTypeError, *net.DNSError, x509.HostnameError, x509.UnknownAuthorityError,
		x509.CertificateInvalidError:
	case interface{ Unwrap() []error }:
		for _, link := range e.Unwrap() {
			classes = causes(classes, link)
		}
		return classes
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return causes(classes, inner)
		}
	}
	if class := class(err); class != "" && !slices.Contains(classes, class) {
		classes = append(classes, class)
	}
	return classes
}

// class returns the class of one error; "" for a kind.
func class(err error) string {
	same := func(other error) bool { return err == other } //nolint:errorlint // err has no links
	switch e := err.(type) {                               //nolint:errorlint // err has no links
	case *causeError:
		return e.words
	case syscall.Errno:
		return e.Error()
	case *json.SyntaxError:
		return fmt.Sprintf("malformed JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("JSON of another type at byte %d", e.Offset)
	case slog.LogValuer:
		return e.LogValue().Resolve().String()
	case *net.DNSError:
		if e.IsNotFound {
			return "no such host"
		}
		return "the host's name cannot be looked up"
	}
	switch {
	case slices.ContainsFunc(kinds, same):
		return ""
	case slices.ContainsFunc(plain, same):
		return err.Error()
	}
	return fmt.Sprintf("%T", err)
}
