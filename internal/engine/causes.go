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

// hostAndPath returns the host and the path of an upstream's URL, without its query.
func hostAndPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host + u.Path
}

// causesOf returns the causes of err that are not in said, in words for the program that embeds the engine.
func causesOf(err error, said string) string {
	switch e := err.(type) { //nolint:errorlint // it handles each link of the chain itself
	case nil:
		return ""
	case *problem.Error:
		return because(said, e.Detail, causesOf(e.Unwrap(), said))
	case *providers.UpstreamError:
		if inner := causesOf(e.Err, said); inner != "" {
			return e.Provider + ": " + inner
		}
		return ""
	case *providers.Error:
		return because(said, e.Detail, causesOf(e.Err, said))
	case *providers.MissingError:
		return because(said, e.Error(), "")
	case *providers.RequestError:
		return because(said, e.Address, causesOf(e.Err, said))
	case *url.Error:
		return because(said, hostAndPath(e.URL), causesOf(e.Err, said))
	case *net.OpError:
		return because(said, strings.TrimSpace(e.Op+" "+e.Net), causesOf(e.Err, said))
	case *net.DNSError:
		return e.Err
	case interface{ Unwrap() []error }:
		var parts []string
		for _, link := range e.Unwrap() {
			if part := causesOf(link, said); part != "" && !slices.Contains(parts, part) {
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
		return because(said, err.Error(), "")
	}
	_, isUpstream := errors.AsType[*providers.UpstreamError](inner)
	_, isProviders := errors.AsType[*providers.Error](inner)
	around, ends := strings.CutSuffix(err.Error(), inner.Error())
	if isUpstream || isProviders {
		return causesOf(inner, said)
	}
	if !ends {
		return err.Error()
	}
	return around + causesOf(inner, said)
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
