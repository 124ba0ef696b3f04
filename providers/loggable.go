package providers

import (
	"context"
	"crypto/tls"
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

// Cause returns a cause with a text that may be logged. The text must be a constant, so that it never contains anything
// from a request or an upstream.
func Cause(words string) error { return &causeError{words} }

type causeError struct{ words string }

// Error returns the text.
func (c *causeError) Error() string { return c.words }

// LogValue implements [slog.LogValuer] with [Loggable].
func (e *Error) LogValue() slog.Value { return slog.StringValue(Loggable(e)) }

// LogValue implements [slog.LogValuer] with the provider, the operation and the [Loggable] text of the cause.
func (e *UpstreamError) LogValue() slog.Value {
	return slog.StringValue(e.Provider + ": " + string(e.Op) + ": " + Loggable(e.Err))
}

// Loggable returns the part of an error that may be logged, for errors of providers and others that may contain
// something from a request: its kind, the upstream's status and the class of its cause. It never contains text of a
// caller or an upstream: no [Error.Detail], no URL, and of an unknown error only its type, unless it is an
// [slog.LogValuer] and provides its own text.
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
	if e, ok := errors.AsType[*RequestError](err); ok && e.Status != 0 {
		parts = append(parts, "status "+strconv.Itoa(e.Status))
	}
	return strings.Join(append(parts, causes(nil, err)...), ": ")
}

// kinds are the sentinel errors of this package, more specific ones first.
var kinds = []error{ErrUnsupported, ErrNotFound, ErrNotHere, ErrInvalid, ErrCursor, ErrTimeout, ErrUnavailable}

// plain are errors of the standard library with constant texts.
var plain = []error{
	context.Canceled, context.DeadlineExceeded, io.ErrClosedPipe, net.ErrClosed, os.ErrDeadlineExceeded,
	strconv.ErrSyntax, strconv.ErrRange,
}

// causes appends the classes of the innermost errors of err, each once.
func causes(classes []string, err error) []string {
	switch e := err.(type) { //nolint:errorlint // it unwraps each error itself
	case *Error:
		if e.Err == nil {
			return classes
		}
		return causes(classes, e.Err)
	case *json.SyntaxError, *json.UnmarshalTypeError, *net.DNSError, x509.HostnameError, x509.UnknownAuthorityError,
		x509.CertificateInvalidError:
	case *net.OpError:
		if e.Op == "proxyconnect" { // net/http cannot use the proxy of its environment
			return append(classes, "the proxy cannot be used", strings.Join(causes(nil, e.Err), ": "))
		}
		return causes(classes, e.Err)
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
	same := func(other error) bool { return err == other } //nolint:errorlint // err wraps nothing
	switch e := err.(type) {                               //nolint:errorlint // err wraps nothing
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
		return "the host name cannot be resolved"
	case x509.HostnameError:
		return "the certificate is for another host name"
	case x509.UnknownAuthorityError:
		return "the certificate is signed by an unknown authority"
	case x509.CertificateInvalidError:
		if e.Reason == x509.Expired {
			return "the certificate has expired or is not valid yet"
		}
		return "the certificate is invalid"
	case tls.RecordHeaderError:
		return "the answer is not TLS"
	}
	switch {
	case same(io.EOF):
		return "the connection was closed"
	case same(io.ErrUnexpectedEOF):
		return "answer ended too early"
	case slices.ContainsFunc(kinds, same):
		return ""
	case slices.ContainsFunc(plain, same):
		return err.Error()
	}
	return fmt.Sprintf("%T", err)
}
