package upstream

import "net/http"

// Still returns a copy of c, or a new client when c is nil, that does not follow redirects: for an upstream whose
// redirects are answers, or whose address contains a credential. Check then gets the redirect as the [Response].
func Still(c *http.Client) *http.Client {
	out := http.Client{}
	if c != nil {
		out = *c
	}
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}
