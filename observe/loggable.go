package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Loggable returns what may be logged of any error of the engine. Of a problem that is its code and its cause, of an error
// of a provider what [providers.Loggable] returns: neither holds what was asked. Other errors are of stores, which are not
// told what was asked, and are returned in their own words.
func Loggable(err error) string {
	if err == nil {
		return ""
	}
	if !guarded(err) {
		return err.Error()
	}
	switch e := err.(type) { //nolint:errorlint // it looks at each link by itself
	case *problem.Error:
		return joined(": ", string(e.Code), Loggable(e.Unwrap()))
	case slog.LogValuer:
		return e.LogValue().Resolve().String()
	case interface{ Unwrap() []error }:
		var parts []string
		for _, link := range e.Unwrap() {
			parts = append(parts, Loggable(link))
		}
		return joined("; ", parts...)
	case interface{ Unwrap() error }:
		return Loggable(e.Unwrap())
	}
	return fmt.Sprintf("%T", err) // it claims to be a problem or a provider's error, and does not say how
}

// guarded reports whether the words of err may hold what was asked.
func guarded(err error) bool {
	_, isProblem := errors.AsType[*problem.Error](err)
	_, isUpstream := errors.AsType[*providers.UpstreamError](err)
	_, isProviders := errors.AsType[*providers.Error](err)
	return isProblem || isUpstream || isProviders
}

func joined(separator string, parts ...string) string {
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// Recovered returns what may be logged of the value of a panic: the words of the runtime, and of any other value nothing
// but its type.
func Recovered(v any) string {
	switch v := v.(type) {
	case interface {
		error
		RuntimeError()
	}:
		return v.Error()
	case error:
		return providers.Loggable(v)
	}
	return fmt.Sprintf("%T", v)
}
