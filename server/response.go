package server

import (
	"cmp"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// response is what is known of a response while it is made.
type response struct {
	http.ResponseWriter
	began     time.Time
	status    int // 0 until it has begun
	bytes     int64
	route     string       // the pattern of the path; "" when there is no such route
	operation string       // its name; "" when the request is for none
	platform  string       // "" when there is none, or none of that name
	key       string       // the id of the key that was shown; "" for none
	code      problem.Code // of a problem; else ""

	turnedAway bool // because the service was at its limit
	probe      bool // of an orchestrator, answered well

	target string             // the platform or provider in the path; "" for none
	path   string             // of a raw read
	who    *socialdata.Client // of a request below /manage
	failed error              // of its handler
	leave  func()             // gives back what the request has taken a place of; nil when it has none
	lent   bool               // a mounted handler answers it
	values []string           // of header fields
	room   [20]string         // where values begins
}

// set sets a header field, whose name is in its canonical form. The values of all stand in one array, where
// [http.Header.Set] makes one for each and puts the name into that form.
func (w *response) set(name string, values ...string) {
	if w.values == nil {
		w.values = w.room[:0]
	}
	from := len(w.values)
	w.values = append(w.values, values...)
	w.Header()[name] = w.values[from:len(w.values):len(w.values)]
}

// vary adds one more request header to those that the answer depends on.
func (w *response) vary(name string) {
	switch before := w.Header()["Vary"]; len(before) {
	case 0:
		w.set("Vary", name)
	case 1:
		w.set("Vary", before[0], name)
	default: // whoever stands before us has said more
		w.Header().Add("Vary", name)
	}
}

// Unwrap lets [http.ResponseController] find what lies below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		if w.lent {
			w.done()
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
		if w.lent {
			w.done()
		}
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// done makes room for the next call.
func (w *response) done() {
	if w.leave != nil {
		w.leave()
		w.leave = nil
	}
}

// told returns what an observer may know of a request.
func (w *response) told(r *http.Request) Request {
	out := Request{
		Method: "_OTHER", Route: w.route, Operation: w.operation, Platform: w.platform,
		Status: cmp.Or(w.status, http.StatusOK), Code: w.code, Duration: time.Since(w.began),
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		out.Method = r.Method
	}
	return out
}

func requestID(r *http.Request) string { return operation.RequestID(r.Context()) }

// clip returns the beginning of a text that came from a caller: n bytes at most and three dots.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
