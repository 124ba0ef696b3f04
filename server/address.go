package server

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/problem"
)

const forwardedProto = "X-Forwarded-Proto"

var (
	plainHost   = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`)
	plainPrefix = regexp.MustCompile(`^(?:/[A-Za-z0-9._~-]+)+$`)
)

const maxHost = 262 // a domain name and a port

// addressOf returns the address of the server as the caller of r writes it, without a slash at its end: scheme, host and
// the prefix under which the handler is mounted. It holds letters, digits and -._~:/[] only: it is "" when the host
// holds anything else, and such a prefix is left out.
func addressOf(r *http.Request) string {
	if len(r.Host) > maxHost || !plainHost.MatchString(r.Host) {
		return ""
	}
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get(forwardedProto), "https") {
		scheme = "https"
	}
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	prefix, mounted := strings.CutSuffix(asked, r.URL.EscapedPath())
	if !mounted || len(prefix) > maxPath || !plainPrefix.MatchString(prefix) {
		prefix = ""
	}
	return scheme + "://" + r.Host + prefix
}

// explained returns the address of the part of the documentation that explains a code; "" when there is no telling.
func explained(r *http.Request, code problem.Code) string {
	address := addressOf(r)
	if address == "" {
		return ""
	}
	return address + "/docs#" + string(code)
}

// maxPath is how much of a path is told again: it may be as long as a request may be.
const maxPath = 200
