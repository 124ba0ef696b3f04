package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// Player is an [http.RoundTripper] that answers from recorded exchanges.
type Player struct {
	mu   sync.Mutex
	left map[string][]recorded // by request, in the order of recording
	all  []recorded
}

// recorded is an exchange that was recorded, and the path of the body of its answer.
type recorded struct {
	exchange
	url  *url.URL
	path string
}

// Play returns a transport that answers from the exchanges in dir and in the folders below it, each of which has a
// MANIFEST.json as [Record] writes it. It sends nothing.
//
// A request is answered if one with the same method, URL and body was recorded, in whatever order the parameters and the
// members of JSON are. If it was recorded several times, its answers come in the order of recording, the last one again
// and again. Otherwise RoundTrip fails with an error that names the nearest recorded requests. Requests that obtain
// access tokens, which are never recorded, are answered with an invented token.
func Play(dir string) (*Player, error) {
	p := &Player{left: map[string][]recorded{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != manifestName {
			return err
		}
		if err := p.load(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if len(p.all) == 0 {
		return nil, fmt.Errorf("replay: no exchange is recorded in %s", dir)
	}
	return p, nil
}

// load adds the exchanges of a manifest.
func (p *Player) load(manifest string) error {
	b, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var list []exchange
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	for i, e := range list {
		e.Request.Method, e.Status = cmp.Or(e.Request.Method, http.MethodGet), cmp.Or(e.Status, http.StatusOK)
		u, err := url.Parse(e.Request.URL)
		if err != nil {
			return err
		}
		if !filepath.IsLocal(e.File) {
			return fmt.Errorf("exchange %d: %q is not the name of a file below the manifest", i+1, e.File)
		}
		r := recorded{e, u, filepath.Join(filepath.Dir(manifest), e.File)}
		p.all = append(p.all, r)
		p.left[e.key()] = append(p.left[e.key()], r)
	}
	return nil
}

var (
	_ providers.Recorded = (*Player)(nil)
	_ upstream.Storing   = (*Player)(nil)
)

// Recorded implements [providers.Recorded].
func (p *Player) Recorded() {}

// Stores implements [upstream.Storing]: requests are compared without their credentials.
func (p *Player) Stores() {}

// token answers every request that obtains a token.
const token = `{"access_token":"token-of-a-replay","refresh_token":"token-of-a-replay","accessJwt":"token-of-a-replay",` +
	`"refreshJwt":"token-of-a-replay","token_type":"bearer","expires_in":3600}`

// RoundTrip implements [http.RoundTripper].
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	_, body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	hidden := upstream.ConfidentialOf(req, body)
	if hidden.Token {
		return respond(req, http.StatusOK, map[string]string{"content-type": "application/json"}, []byte(token)), nil
	}
	e := asked(req, body, hidden)
	found, ok := p.next(e.key())
	if !ok {
		return nil, providers.Walled("no answer to %s %s is recorded%s", e.Request.Method, e.Request.URL, p.nearest(e))
	}
	answer, err := os.ReadFile(found.path)
	if err != nil {
		return nil, providers.Unavailable(err, "a recorded answer cannot be read")
	}
	return respond(req, found.Status, found.Headers, answer), nil
}

// next returns the next exchange of a request.
func (p *Player) next(key string) (recorded, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.left[key]
	if len(left) == 0 {
		return recorded{}, false
	}
	if len(left) > 1 {
		p.left[key] = left[1:]
	}
	return left[0], true
}

func respond(req *http.Request, status int, headers map[string]string, body []byte) *http.Response {
	header := http.Header{}
	for name, value := range headers {
		header.Set(name, value)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// key returns the same text for the same request.
func (e exchange) key() string {
	address := e.Request.URL
	if u, err := url.Parse(address); err == nil {
		if q, err := url.ParseQuery(u.RawQuery); err == nil {
			u.RawQuery = q.Encode()
		}
		address = u.String()
	}
	body := e.Request.Body
	var value any
	if json.Unmarshal(body, &value) == nil {
		body, _ = json.Marshal(value) // it was JSON
	}
	return e.Request.Method + " " + address + "\n" + string(body)
}

// nearest returns up to three recorded requests to the host of e, the most similar first, as the end of a sentence.
func (p *Player) nearest(e exchange) string {
	u, err := url.Parse(e.Request.URL)
	if err != nil {
		return ""
	}
	var texts []string
	points := map[string]int{}
	for _, r := range p.all {
		text := r.Request.Method + " " + r.Request.URL
		if len(r.Request.Body) > 0 {
			text += " with " + string(r.Request.Body)
		}
		if r.url.Host == u.Host && points[text] == 0 {
			points[text] = 1 + similar(u, r.url)
			texts = append(texts, text)
		}
	}
	if texts == nil {
		return "; nothing of this host is"
	}
	slices.SortStableFunc(texts, func(a, b string) int { return points[b] - points[a] })
	return "; the nearest are " + strings.Join(texts[:min(3, len(texts))], ", ")
}

// similar returns how much two addresses have in common: each equal segment of the path counts more than all parameters.
func similar(a, b *url.URL) int {
	n := 0
	other := strings.Split(b.Path, "/")
	for i, segment := range strings.Split(a.Path, "/") {
		if i < len(other) && segment == other[i] {
			n += 100
		}
	}
	q := b.Query()
	for name, values := range a.Query() {
		if slices.Equal(values, q[name]) {
			n++
		}
	}
	return n
}
