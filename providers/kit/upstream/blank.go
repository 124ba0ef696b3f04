package upstream

import (
	"net/http"
	"slices"
	"strings"
)

// shortest is the length from which a credential is blanked in answers: a shorter text may occur by chance.
const shortest = 8

// fields are the header fields in which upstreams accept credentials, besides Authorization.
var fields = []string{"Cookie", "X-Api-Key", "X-Goog-Api-Key", "X-Manager-Token"}

// blank removes the credentials that were sent from the answer: as they are, and as a URL, JSON and base64 write them.
func (c *Client) blank(res *Response) {
	n := c.needlesOf(res.secrets)
	if len(n.all) == 0 {
		return
	}
	res.Body = n.cut(res.Body)
	for _, values := range res.Header {
		for i, v := range values {
			if cut := n.cut([]byte(v)); len(cut) < len(v) {
				values[i] = string(cut)
			}
		}
	}
}

// needlesOf is [needlesOf] for the credentials of a request, which are mostly those of the request before: to make the
// needles takes longer than to look for them in a small answer (BenchmarkBlank). What is kept is a copy: a credential
// may be a part of a query, which names people.
func (c *Client) needlesOf(secrets []string) *needles {
	if last := c.needles.Load(); last != nil && slices.Equal(last.secrets, secrets) {
		return last
	}
	for i := range secrets {
		secrets[i] = strings.Clone(secrets[i])
	}
	n := needlesOf(secrets)
	c.needles.Store(n)
	return n
}

// secrets returns the credentials in a request.
func (c *Client) secrets(req *http.Request) []string {
	value := req.Header.Get("Authorization")
	_, token, found := strings.Cut(value, " ")
	if !found {
		token = value
	}
	out := []string{token}
	if _, password, ok := req.BasicAuth(); ok {
		out = append(out, password)
	}
	for _, name := range fields {
		for _, v := range c.cfg.Header[name] { // values that a read sets itself came from the upstream
			for part := range strings.SplitSeq(v, "; ") {
				_, cookie, _ := strings.Cut(part, "=")
				out = append(out, part, cookie)
			}
		}
	}
	if c.cfg.PathCredential != "" {
		out = append(out, c.cfg.PathCredential)
	}
	if len(c.cfg.Credentials) == 0 {
		return out
	}
	query := req.URL.Query()
	for _, name := range c.cfg.Credentials {
		out = append(append(out, query[name]...), req.Header.Values(name)...)
	}
	return out
}
