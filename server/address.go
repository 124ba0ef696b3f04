package server

import (
	"fmt"
	"net/http"
	"net/url"
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

// addressOf returns the address of the server as the caller of r writes it, without a slash at its end: scheme, host
// and the prefix under which the handler is mounted. It consists of letters, digits and -._~:/[] only: it is "" when
// the host has any other character, and a prefix with one is left out.
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

// WithPublicURL sets the address under which callers reach the server, such as https://api.example.com, without the
// path of a route. The type of a problem then leads to the section of /docs that explains its code; without it the type
// is a URN. It never follows the Host header of a request, which anyone can choose.
func WithPublicURL(address string) Option {
	return option{"WithPublicURL", func(c *config) error {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" {
			return fmt.Errorf("%q must be an http or https address without a query, such as https://api.example.com", address)
		}
		c.public = strings.TrimSuffix(u.String(), "/")
		return nil
	}}
}

// explained returns the address of the section of the documentation that explains a code; "" when the address of the
// server is not configured.
func (c *config) explained(code problem.Code) string {
	if c.public == "" {
		return ""
	}
	return c.public + "/docs#" + string(code)
}

// maxPath limits how much of a path is quoted: a path may be as long as a request.
const maxPath = 200
