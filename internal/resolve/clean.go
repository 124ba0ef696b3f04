package resolve

import (
	"net/url"
	"slices"
	"strings"
)

// mostParams is how many query parameters are checked one by one. No real address has as many.
const mostParams = 16

// clean returns u without the parts that do not change what it identifies: tracking parameters, a fragment, the host of
// a mobile site.
func (s *site) clean(u *url.URL, all []thing) string {
	c := *u
	country := s.pool.Country(s.id, all[0].subject, u.String())
	same := func() bool {
		subject, id, ok := s.p.Names(&c)
		return ok && subject == all[0].subject && id == all[0].id && slices.Equal(s.things(&c, subject, id), all) &&
			(country == "" || s.pool.Country(s.id, subject, c.String()) == country)
	}
	host := strings.ToLower(c.Host)
	c.Host = bare(host)
	if c.Host != host && !same() {
		c.Host = host
	}
	if c.RawQuery == "" && c.Fragment == "" {
		return c.String()
	}
	c.RawQuery, c.Fragment, c.RawFragment = "", "", ""
	if same() {
		return c.String()
	}
	c.RawQuery = u.RawQuery
	if u.Fragment != "" && !same() {
		c.Fragment, c.RawFragment = u.Fragment, u.RawFragment
		if c.RawQuery = ""; same() {
			return c.String()
		}
	}
	parts := strings.Split(u.RawQuery, "&")
	// The last one stays: without any parameter it is a different thing, as checked above.
	for i := 0; i < len(parts) && len(parts) > 1 && len(parts) <= mostParams; {
		c.RawQuery = strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "&")
		if same() {
			parts = slices.Delete(parts, i, i+1)
		} else {
			i++
		}
	}
	c.RawQuery = strings.Join(parts, "&")
	return c.String()
}

// bare returns a host without a prefix for a mobile or country version.
func bare(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	for _, p := range [...]string{"www.m.", "m.", "mobile.", "old.", "amp."} {
		if rest, ok := strings.CutPrefix(host, p); ok && strings.Contains(rest, ".") {
			return rest
		}
	}
	return host
}
