package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/socialdata/socialdata/internal/redact"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

const (
	manifestName = "MANIFEST.json"
	// maxRecorded is the maximum length of an answer, in bytes.
	maxRecorded = 64 << 20
)

// exchange is an element of a manifest.
type exchange struct {
	File    string `json:"file"` // of the body of the answer, beside the manifest
	Request struct {
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body,omitempty"` // JSON, or a string with any other body
	} `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // by lower-case name
}

// Recorder is an [http.RoundTripper] that writes what it sends and receives to files.
type Recorder struct {
	dir  string
	next http.RoundTripper
	hide *redact.Redactor

	mu  sync.Mutex
	n   int   // exchanges in the manifest
	end int64 // where the list in the manifest ends
}

// Record returns a transport that sends requests by next and writes each exchange to dir: the body of the answer to a
// file of its own, and the rest to MANIFEST.json. [Play] answers from such a folder. Exchanges are added to those that
// the folder already has; no other recorder may use it at the same time.
//
// No credential reaches a file. Those that a provider sends are blanked by the code that blanks them in answers, those
// in requests of other clients where they usually are: in header fields, and in parameters such as access_token. Header
// fields of requests and Set-Cookie are not recorded, and neither are the requests that obtain access tokens. hide is
// blanked in the bodies of answers, with the rules of [socialdata.WithRedaction].
//
// [socialdata.WithRedaction]: https://pkg.go.dev/github.com/socialdata/socialdata#WithRedaction
func Record(dir string, next http.RoundTripper, hide ...privacy.Redaction) (*Recorder, error) {
	if next == nil {
		return nil, errors.New("replay: Record has no transport to send requests by: pass one, such as providers.Transport()")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	r := &Recorder{
		dir: dir, next: next,
		hide: redact.New(slices.Contains(hide, privacy.Emails), slices.Contains(hide, privacy.Phones)),
	}
	b, err := os.ReadFile(r.manifest())
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var before []exchange
	if err := json.Unmarshal(b, &before); err != nil {
		return nil, fmt.Errorf("replay: %s: %w", r.manifest(), err)
	}
	if r.n = len(before); r.n > 0 {
		r.end = int64(len(bytes.TrimRight(b, "]\n\r\t ")))
	}
	return r, nil
}

var _ upstream.Storing = (*Recorder)(nil)

// Stores implements [upstream.Storing].
func (r *Recorder) Stores() {}

// Unwrap returns the transport that sends the requests.
func (r *Recorder) Unwrap() http.RoundTripper { return r.next }

func (r *Recorder) manifest() string { return filepath.Join(r.dir, manifestName) }

// RoundTrip sends a request, and writes the exchange before it returns. A request that fails is not recorded.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	res, err := r.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	received, err := io.ReadAll(io.LimitReader(res.Body, maxRecorded+1))
	_ = res.Body.Close() // read, or of no use any more
	if err != nil {
		return nil, err
	}
	if len(received) > maxRecorded {
		return nil, providers.Unavailable(nil, "the answer is too long to be recorded")
	}
	res.Body, res.Request = io.NopCloser(bytes.NewReader(received)), req
	hidden := upstream.ConfidentialOf(req, body)
	if hidden.Token {
		return res, nil
	}
	if err := r.write(asked(req, body, hidden), res, hidden.Blank(received), hidden); err != nil {
		return nil, providers.Unavailable(err, "the answer cannot be recorded")
	}
	return res, nil
}

// readBody returns a request with the same body as req, and that body.
func readBody(req *http.Request) (*http.Request, []byte, error) {
	if req.Body == nil {
		return req, nil, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // it was read
	if err != nil {
		return nil, nil, err
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	return out, body, nil
}

// asked returns the exchange of a request, without its answer.
func asked(req *http.Request, body []byte, hidden upstream.Confidential) exchange {
	var e exchange
	e.Request.Method, e.Request.URL = req.Method, hidden.BlankURL(req.URL).String()
	if len(body) == 0 {
		return e
	}
	shown := hidden.Blank(body)
	if !json.Valid(shown) || shown[0] == '"' { // a string in a manifest is the body itself
		shown, _ = json.Marshal(string(shown)) // a string
	}
	e.Request.Body = shown
	return e
}

// unrecorded are the fields that belong to a connection or to a caller, or that the recorded body makes wrong.
var unrecorded = []string{
	"Connection", "Content-Encoding", "Content-Length", "Date", "Set-Cookie", "Transfer-Encoding",
}

// write writes an exchange with its answer.
func (r *Recorder) write(e exchange, res *http.Response, body []byte, hidden upstream.Confidential) error {
	e.Status, e.Headers = res.StatusCode, map[string]string{}
	for name, values := range res.Header {
		if !slices.Contains(unrecorded, name) {
			e.Headers[strings.ToLower(name)] = string(hidden.Blank([]byte(strings.Join(values, ", "))))
		}
	}
	if json.Valid(body) {
		body, _ = r.hide.JSON(body, nil)
	} else {
		text, _ := r.hide.Text(string(body), false)
		body = []byte(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.File = fmt.Sprintf("%s-%05d%s", strings.Map(inName, res.Request.URL.Host), r.n+1, extension(res.Header, body))
	if err := os.WriteFile(filepath.Join(r.dir, e.File), body, 0o600); err != nil {
		return err
	}
	return r.add(e)
}

// add adds an exchange to the manifest, which is complete after every write.
func (r *Recorder) add(e exchange) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	before := ",\n"
	if r.n == 0 {
		before = "[\n"
	}
	f, err := os.OpenFile(r.manifest(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(before+string(text)+"\n]\n"), r.end)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	r.n++
	r.end += int64(len(before) + len(text))
	return nil
}

// inName replaces the characters of a host that may not be part of the name of a file.
func inName(c rune) rune {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' {
		return c
	}
	return '-'
}

// extension returns the extension of a file with the body of an answer.
func extension(h http.Header, body []byte) string {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // "" is like text
	switch {
	case json.Valid(body):
		return ".json"
	case strings.HasSuffix(kind, "html"):
		return ".html"
	case strings.HasSuffix(kind, "xml"):
		return ".xml"
	case kind == "text/vtt":
		return ".vtt"
	}
	return ".txt"
}
