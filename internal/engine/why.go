package engine

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// why returns the causes of err that are not in said, in words for the program that embeds the engine. It leaves out
// the URL, which is long and may contain what was requested.
func why(err error, said string) string {
	switch e := err.(type) { //nolint:errorlint // it handles each link of the chain itself
	case nil:
		return ""
	case *problem.Error:
		return because(said, e.Detail, why(e.Unwrap(), said))
	case *providers.UpstreamError:
		if inner := why(e.Err, said); inner != "" {
			return e.Provider + ": " + inner
		}
		return ""
	case *providers.Error:
		return because(said, e.Detail, why(e.Err, said))
	case *providers.MissingError:
		return because(said, e.Error(), "")
	case *url.Error:
		return why(e.Err, said)
	case *net.OpError:
		return because(said, strings.TrimSpace(e.Op+" "+e.Net), why(e.Err, said))
	case *net.DNSError:
		return e.Err
	case interface{ Unwrap() []error }:
		var parts []string
		for _, link := range e.Unwrap() {
			if part := why(link, said); part != "" && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, "; ")
	}
	return wrapped(err, said)
}

// wrapped returns the text of err and its cause. If the cause is a provider's error, the text of err contains the URL
// and is left out.
func wrapped(err error, said string) string {
	inner := errors.Unwrap(err)
	if inner == nil {
		return err.Error()
	}
	_, isUpstream := errors.AsType[*providers.UpstreamError](inner)
	_, isProviders := errors.AsType[*providers.Error](inner)
	around, ends := strings.CutSuffix(err.Error(), inner.Error())
	if isUpstream || isProviders {
		return why(inner, said)
	}
	if !ends {
		return err.Error()
	}
	return around + why(inner, said)
}

// because joins a detail with its cause, without what was said already.
func because(said, detail, cause string) string {
	switch {
	case detail == "" || strings.Contains(said, detail):
		return cause
	case cause == "":
		return detail
	}
	return detail + ": " + cause
}
