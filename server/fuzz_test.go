package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

// operationAt returns the operation of a path, or nil.
func operationAt(path string) *operation.Operation {
	for _, o := range socialdata.Operations() {
		want, got := strings.Split(o.Path, "/"), strings.Split(path, "/")
		if strings.HasSuffix(o.Path, "...}") && len(got) > len(want) {
			got = got[:len(want)]
		}
		if len(got) == len(want) && !slices.ContainsFunc(got[1:], func(part string) bool { return part == "" }) &&
			fits(want, got) {
			return o
		}
	}
	return nil
}

// fits reports whether the parts of a path match those of a route, in which raw is not a platform.
func fits(want, got []string) bool {
	for i := range want {
		wild := strings.HasPrefix(want[i], "{")
		if !wild && want[i] != got[i] || want[i] == "{platform}" && got[i] == "raw" {
			return false
		}
	}
	return true
}

// checkHeaders reports header fields that do not agree with the description.
func (d *description) checkHeaders(tb testing.TB, o *operation.Operation, r reply) {
	tb.Helper()
	headers, _ := d.find("components", "headers").(map[string]any)
	response, _ := d.find("paths", describedPath(o), "get", "responses", strconv.Itoa(r.status)).(map[string]any)
	listed, says := response["headers"].(map[string]any)
	for name := range headers {
		value := r.header.Get(name)
		if value == "" {
			continue
		}
		if _, ok := listed[name]; says && !ok {
			tb.Errorf("%s: %s is not described for status %d", o.Name, name, r.status)
		}
		kind, _ := d.find("components", "headers", name, "schema", "type").(string)
		if n, err := strconv.ParseInt(value, 10, 64); kind == "integer" && (err != nil || n < 0) {
			tb.Errorf("%s: %s is %q", o.Name, name, value)
		}
	}
	if state := r.header.Get("X-Cache"); state != "HIT" && state != "MISS" {
		tb.Errorf("%s: X-Cache is %q", o.Name, state)
	}
	if age, err := strconv.Atoi(r.header.Get("X-Data-Age")); err != nil || age < 0 {
		tb.Errorf("%s: X-Data-Age is %q", o.Name, r.header.Get("X-Data-Age"))
	}
}

// FuzzHandler sends any request that net/http can read. The status, the headers and the body of every answer must agree
// with the API description.
func FuzzHandler(f *testing.F) {
	const key = "Authorization: Bearer KEY\r\n"
	for _, o := range socialdata.Operations() {
		f.Add("GET", pathTo(o, "salma"), key)
		f.Add("GET", pathTo(o, "not_found"), key+"If-None-Match: *\r\nAccept-Encoding: gzip\r\n")
		f.Add("HEAD", pathTo(o, "salma", "fresh", "true", "enrich", "arabic", "include_raw", "true"), key)
		f.Add("POST", pathTo(o, "salma"), key+"Content-Length: 3\r\n")
		f.Add("GET", pathTo(o, "sparse", "cursor", "forged"), key+"Idempotency-Key: 0123456789abcdef\r\n")
	}
	for _, w := range mock.Magic() {
		f.Add("GET", "/v1/mock/posts?handle="+w.Word, key)
	}
	f.Add("GET", "/v1/search?query=a&wait_s=1", key+"Accept: text/event-stream\r\n")
	f.Add("GET", "/v1/raw/mock/echo/%D8%B3%20x?a=1&a=2&fresh=true", key+"Range: bytes=0-1\r\n")
	f.Add("GET", "/v1/mock/profile?handle=%ff%fe%00;a=b&%zz", key+"Authorization: Basic x\r\n")
	f.Add("GET", "//v1/../v1/./me/%2e%2e%2f?", "Accept: */*;q=x\r\nExpect: 100-continue\r\n")
	f.Add("OPTIONS", "*", "Transfer-Encoding: chunked\r\n")
	f.Add("CONNECT", "a:443", "Upgrade: websocket\r\nConnection: Upgrade\r\n")

	released := make(chan struct{})
	close(released)
	e := enginetest.New(f, enginetest.Config{
		Credits: 1 << 50, Providers: mock.New(mock.Config{Slow: time.Millisecond, Release: released}),
		Options: []socialdata.Option{socialdata.WithTimeout(20 * time.Millisecond)},
	})
	srv, err := server.New(e.Open)
	if err != nil {
		f.Fatal(err)
	}
	doc := newDescription(f)
	f.Fuzz(func(t *testing.T, method, target, fields string) {
		text := method + " " + target + " HTTP/1.1\r\nHost: test.example\r\n" + strings.ReplaceAll(fields, "KEY", e.Secret) +
			"\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Skip("net/http answers this itself")
		}
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r.WithContext(t.Context()))
		got := reply{w.Code, w.Header(), w.Body.Bytes()}
		if got.header.Get("Content-Encoding") == "gzip" {
			got.body = unzip(t, got.body)
		}
		checkAnswer(t, doc, r, got)
	})
}

// checkAnswer checks an answer against the description of its path.
func checkAnswer(t *testing.T, doc *description, r *http.Request, got reply) {
	t.Helper()
	if got.header.Get("X-Request-Id") == "" || got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers are %v", got.header)
	}
	if got.status >= 400 && !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		checkProblem(t, doc, got)
	}
	o := operationAt(r.URL.Path)
	switch {
	case got.status == http.StatusMethodNotAllowed:
		if r.Method == http.MethodGet || r.Method == http.MethodHead || got.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s returned 405, Allow %q", r.Method, got.header.Get("Allow"))
		}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		if got.status < 400 || got.status >= 500 {
			t.Errorf("%s returned %d", r.Method, got.status)
		}
	case o == nil, got.status == http.StatusNotFound && r.URL.EscapedPath() != r.URL.Path: // an escaped path is no route
		if got.status != http.StatusNotFound && got.status != http.StatusUnauthorized && !isDocument(r.URL.Path) {
			t.Errorf("%s is no route and returned %d", r.URL.Path, got.status)
		}
	case got.header.Get("Content-Type") == "text/event-stream":
		if !o.Streams || !bytes.HasPrefix(got.body, []byte("event: ")) {
			t.Errorf("%s streams %.100s", o.Name, got.body)
		}
		doc.checkHeaders(t, o, got)
	default:
		doc.check(t, o, got)
		doc.checkHeaders(t, o, got)
	}
}

func isDocument(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/docs/") || strings.HasPrefix(path, "/schemas/") ||
		slices.Contains(append([]string{"/llms.txt", "/.well-known/api-catalog"}, documents...), path)
}

func checkProblem(t *testing.T, doc *description, got reply) {
	t.Helper()
	doc.validate(t, "a problem", []string{"components", "schemas", "Problem"}, got.body)
	var p problem.Error
	if err := json.Unmarshal(got.body, &p); err != nil || p.HTTPStatus() != got.status ||
		p.RequestID != got.header.Get("X-Request-Id") {
		t.Errorf("status %d with %s (%v)", got.status, got.body, err)
	}
	for _, field := range []string{"ETag", "Link", "Age"} {
		if got.header.Get(field) != "" {
			t.Errorf("a problem has %s", field)
		}
	}
}
