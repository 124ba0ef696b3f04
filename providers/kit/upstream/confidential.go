package upstream

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Storing is implemented by an [http.RoundTripper] that stores exchanges, such as that of replay.Record. A [Client] that
// sends by it adds to each request what [ConfidentialOf] returns.
type Storing interface{ Stores() }

// Confidential is what must not be stored of a request and its answer.
type Confidential struct {
	// Token reports that the request obtains one of our tokens: nothing of it or of its answer may be stored.
	Token bool

	names   []string // the query parameters that carry credentials
	secrets []string
}

type confidentialKey struct{}

// usual are the names of parameters in which requests carry credentials.
var usual = []string{
	"access_token", "api_key", "apikey", "client_id", "client_secret", "key", "oauth_token", "password", "refresh_token",
	"secret", "token",
}

// ConfidentialOf returns what is confidential in a request with a body. If no [Client] has made the request, that is
// what is in the usual header fields and parameters.
func ConfidentialOf(r *http.Request, body []byte) Confidential {
	if c, ok := r.Context().Value(confidentialKey{}).(Confidential); ok {
		return c
	}
	other := Client{cfg: Config{Header: r.Header, Credentials: usual}}
	out := Confidential{names: usual, secrets: other.secrets(r)}
	form, _ := url.ParseQuery(string(body)) // nothing in it if it is not a form
	var members map[string]any
	if json.Unmarshal(body, &members) == nil {
		form = url.Values{}
		for name, value := range members {
			if text, ok := value.(string); ok {
				form.Set(name, text)
			}
		}
	}
	for _, name := range usual {
		out.secrets = append(out.secrets, form[name]...)
	}
	out.Token = form.Has("grant_type") || form.Has("client_secret") || form.Has("password")
	return out
}

// Blank returns b without the credentials: as they are, and as a URL, JSON and base64 write them.
func (c Confidential) Blank(b []byte) []byte { return needlesOf(c.secrets).cut(b) }

// BlankURL returns u without the credentials. The value of a parameter that carries one is empty, however short the
// credential is.
func (c Confidential) BlankURL(u *url.URL) *url.URL {
	out := *u
	out.User, out.Fragment = nil, ""
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		if name, _, found := strings.Cut(pair, "="); found && slices.Contains(c.names, name) {
			pairs[i] = name + "="
		}
	}
	out.RawQuery = strings.Join(pairs, "&")
	blanked, err := url.Parse(string(c.Blank([]byte(out.String()))))
	if err != nil { // part of an escape was a credential
		out.Path, out.RawPath, out.RawQuery = "/", "", ""
		return &out
	}
	return blanked
}

// confide returns ctx with what is confidential in req.
func (c *Client) confide(ctx context.Context, r Request, req *http.Request) context.Context {
	return context.WithValue(ctx, confidentialKey{}, Confidential{r.Token, c.cfg.Credentials, c.secrets(req)})
}

// stores reports whether a transport, or one that it wraps, stores exchanges.
func stores(t http.RoundTripper) bool {
	for t != nil {
		if _, ok := t.(Storing); ok {
			return true
		}
		wrapper, ok := t.(interface{ Unwrap() http.RoundTripper })
		if !ok {
			return false
		}
		t = wrapper.Unwrap()
	}
	return false
}
