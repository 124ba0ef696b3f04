package server

import (
	"cmp"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/problem"
)

// response is a response and what is known of its request.
type response struct {
	http.ResponseWriter
	began     time.Time
	status    int // 0 until the answer has begun
	bytes     int64
	route     string       // the pattern of the path; "" for an unknown path
	operation string       // its name; "" when the request is for none
	platform  string       // "" when there is none, or no platform has the name
	key       string       // the id of the key that was shown; "" for none
	code      problem.Code // of a problem; else ""

	turnedAway bool // the service was at its limit
	probe      bool // a probe of an orchestrator with a good answer

	target   string             // the platform or provider in the path; "" for none
	path     string             // of a raw read
	who      *socialdata.Client // of a request below /manage
	failed   error              // the error of its handler
	releases [3]func()          // release the slots of the request; nil for none
	mounted  bool               // a mounted handler answers it
	admitted bool               // the call has a valid key and a slot, so that a problem says what was charged
	values   []string           // the values of header fields
	buffer   [20]string         // the initial array of values
}

// set sets a header field, whose name must be in its canonical form. All values are in one array: with
// [http.Header.Set], which allocates one for each and changes the name to the canonical form, the handler takes a tenth
// longer and 14 more allocations (BenchmarkHandler).
func (w *response) set(name, value string) {
	w.values = append(w.values, value)
	n := len(w.values)
	w.Header()[name] = w.values[n-1 : n : n]
}

// vary adds a request header to those on which the answer depends.
func (w *response) vary(name string) {
	h, from := w.Header(), len(w.values)
	w.values = append(append(w.values, h["Vary"]...), name)
	h["Vary"] = w.values[from:len(w.values):len(w.values)]
}

// Unwrap lets [http.ResponseController] find the response below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		if w.mounted {
			w.done()
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
		if w.mounted {
			w.done()
		}
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// done releases the slot of the request.
func (w *response) done() {
	for i, release := range w.releases {
		if release != nil {
			release()
			w.releases[i] = nil
		}
	}
}

// releaseLater makes done call release, which releases a slot of the request: at most one for each of its account, the
// sandbox and all calls.
func (w *response) releaseLater(release func()) {
	w.releases[slices.IndexFunc(w.releases[:], func(taken func()) bool { return taken == nil })] = release
}

// observed returns what an observer receives.
func (w *response) observed(r *http.Request, took time.Duration) Request {
	out := Request{
		Method: "_OTHER", Route: w.route, Operation: w.operation, Platform: w.platform,
		Status: cmp.Or(w.status, http.StatusOK), Code: w.code, Duration: took,
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		out.Method = r.Method
	}
	return out
}

func requestID(r *http.Request) string { return callctx.Of(r.Context()).ID }

// clip returns the beginning of a caller's text: n bytes at most and three dots.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
