package upstream

import "net/http"

// Still returns a copy of c, or a client of its own when c is nil, that follows no redirect: for an upstream whose redirects
// are answers, or whose address holds a credential. The redirect is then the [Response] that Check gets to see.
func Still(c *http.Client) *http.Client {
	out := http.Client{}
	if c != nil {
		out = *c
	}
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}
