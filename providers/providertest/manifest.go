package providertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// manifest plays the upstream from testdata/MANIFEST.json. A request must match method, host, path and query exactly;
// an exchange without a query matches any. A request without an exchange is answered with 501 and a description of it.
type manifest []exchange

type exchange struct {
	File    string `json:"file"`
	Request struct {
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"` // compared if present: a JSON value, or a string that contains a form
	} `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`

	url  *url.URL
	body []byte
}

func load(t *testing.T, dir string) manifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		e := &m[i]
		if e.url, err = url.Parse(e.Request.URL); err != nil {
			t.Fatal(err)
		}
		if e.File != "" {
			if e.body, err = os.ReadFile(filepath.Join(dir, e.File)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// RoundTrip implements [http.RoundTripper].
func (m manifest) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	at, sent, err := m.find(r)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		return respond(r, http.StatusNotImplemented, nil, []byte(fmt.Sprintf("no exchange for %s %s %s", r.Method, r.URL, sent))), nil
	}
	return respond(r, m[at].status(), m[at].Headers, m[at].body), nil
}

// logging logs the requests that next has no exchange for: an error of the provider says nothing of a request.
type logging struct {
	t    *testing.T
	next manifest
}

// RoundTrip implements [http.RoundTripper].
func (l logging) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusNotImplemented {
		body, _ := io.ReadAll(res.Body)
		res.Body = io.NopCloser(bytes.NewReader(body))
		l.t.Logf("MANIFEST.json: %s", body)
	}
	return res, err
}

// find returns the index of the exchange for r, negative if there is none, and the body of r.
func (m manifest) find(r *http.Request) (at int, sent []byte, err error) {
	if r.Body != nil {
		if sent, err = io.ReadAll(r.Body); err != nil {
			return 0, nil, err
		}
	}
	at = -1
	for i, e := range m {
		if e.matches(r, sent) && (at < 0 || e.specific() > m[at].specific()) {
			at = i
		}
	}
	return at, sent, nil
}

// specific returns how many parts of a request e states besides its address: of two exchanges that match, the more
// specific one answers, and of two equal ones the first.
func (e exchange) specific() int {
	n := 0
	if e.url.RawQuery != "" {
		n++
	}
	if len(e.Request.Body) > 0 {
		n++
	}
	return n
}

func respond(r *http.Request, status int, headers map[string]string, body []byte) *http.Response {
	header := http.Header{}
	for k, v := range headers {
		header.Set(k, v)
	}
	return &http.Response{
		Status: fmt.Sprint(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}

func (e exchange) status() int { return cmp.Or(e.Status, http.StatusOK) }

func (e exchange) matches(r *http.Request, sent []byte) bool {
	method := e.Request.Method
	if method == "" {
		method = http.MethodGet
	}
	if r.Method != method || r.URL.Host != e.url.Host || r.URL.EscapedPath() != e.url.EscapedPath() {
		return false
	}
	if e.url.RawQuery != "" && r.URL.Query().Encode() != e.url.Query().Encode() {
		return false
	}
	if len(e.Request.Body) == 0 {
		return true
	}
	var form string
	if json.Unmarshal(e.Request.Body, &form) == nil {
		return form == string(sent)
	}
	var want, got any
	if json.Unmarshal(e.Request.Body, &want) != nil || json.Unmarshal(sent, &got) != nil {
		return false
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	return bytes.Equal(a, b)
}
