package providertest

import (
	"bytes"
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
// an exchange without a query matches any. What is not there is answered 501 with a word of what was asked.
type manifest []exchange

type exchange struct {
	File    string `json:"file"`
	Request struct {
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"` // compared when present: a JSON value, or a string holding a form
	} `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`

	url  *url.URL
	body []byte
}

func load(t *testing.T) manifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "MANIFEST.json"))
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
			if e.body, err = os.ReadFile(filepath.Join("testdata", e.File)); err != nil {
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
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	status, header, body := http.StatusNotImplemented, http.Header{}, []byte(fmt.Sprintf("no exchange for %s %s %s", r.Method, r.URL, sent))
	for _, e := range m {
		if !e.matches(r, sent) {
			continue
		}
		status, body = e.Status, e.body
		if status == 0 {
			status = http.StatusOK
		}
		for k, v := range e.Headers {
			header.Set(k, v)
		}
		break
	}
	return &http.Response{
		Status: fmt.Sprint(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

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
