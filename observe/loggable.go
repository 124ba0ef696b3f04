package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Loggable returns what may be logged about any error of the engine. For a problem that is its code and its cause, for
// a provider's error what [providers.Loggable] returns: neither contains what was requested. Other errors come from
// stores, which do not get what was requested, and are returned in full.
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
	return fmt.Sprintf("%T", err) // it claims to be a problem or a provider's error, but cannot be read as one
}

// guarded reports whether the text of err may contain what was requested.
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

// Recovered returns what may be logged about the value of a panic: the text of a runtime error, and only the type of
// any other value.
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
