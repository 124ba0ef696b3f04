// Package replay sends upstream requests elsewhere than to the platforms. [Record] writes exchanges to a folder, and
// [Play] answers from it, for tests without a network. [New] sends to a recorder: a request for https://HOST/PATH goes
// to BASE/HOST/PATH. One transport points every provider at captured answers, or at a team's own recording proxy.
package replay

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// Transport is an [http.RoundTripper] that sends every request to a recorder.
type Transport struct {
	base *url.URL
	next http.RoundTripper
}

// New returns a transport for the recorder at base, such as "http://127.0.0.1:9000". Requests are sent by next; nil
// means a transport of its own.
func New(base string, next http.RoundTripper) (*Transport, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("replay: the address of the recorder is not an http URL") // it may contain a password
	}
	if next == nil {
		next = &http.Transport{MaxIdleConnsPerHost: 16}
	}
	return &Transport{u, next}, nil
}

var _ providers.Recorded = (*Transport)(nil)

// Recorded implements [providers.Recorded].
func (t *Transport) Recorded() {}

// Unwrap returns the transport that sends the requests. It carries the responses that are kept for 304s.
func (t *Transport) Unwrap() http.RoundTripper { return t.next }

// RoundTrip sends r to the recorder. A Location in the response that points into the recorder is converted back to the
// original URL, so that redirects are checked as for the real host.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	path := "/" + r.URL.Host + r.URL.EscapedPath()
	u, err := url.Parse(t.base.String() + path)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	u.RawQuery = r.URL.RawQuery
	sent.URL, sent.Host = u, u.Host
	res, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(res.Header.Get("Location"), t.base.String()+"/"); ok {
		res.Header.Set("Location", "https://"+rest)
	}
	res.Request = r
	return res, nil
}
