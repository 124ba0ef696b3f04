package server

import (
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// bodyGrace is how long a connection stays open behind an answer for the rest of a body that nobody wants: closed at
// once, it could take the answer with it.
const bodyGrace = 500 * time.Millisecond

// serve gives a request its id, refuses what no route may see, answers a panic like any other fault of ours, and logs
// what all of it came to.
func (s *Server) serve(rw http.ResponseWriter, r *http.Request) {
	id := operation.NewRequestID()
	w := &response{ResponseWriter: rw, began: time.Now()}
	r = r.WithContext(operation.WithRequestID(r.Context(), id))
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	if tellsCache(r.URL.Path) {
		tellCache(h, "MISS", 0) // until something better is known
	}
	enter(r, working)
	defer s.finish(w, r)
	defer s.rescue(w, r)
	if h := s.mounted[r.URL.Path]; h != nil {
		s.lend(w, r, h)
		return
	}
	dropBody(w, r)
	switch {
	case r.Method == http.MethodConnect: // which has no path
		s.reads(w, r)
	case !strings.HasPrefix(r.URL.Path, "/") || odd(r.URL.EscapedPath()):
		s.unknown(w, r)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// lend lets a mounted handler answer, if there is room.
func (s *Server) lend(w *response, r *http.Request, h http.Handler) {
	if !s.calls.TryAcquire(1) {
		w.turnedAway = true
		s.fail(w, r, errBusy)
		return
	}
	defer s.calls.Release(1)
	h.ServeHTTP(w, r)
}

// dropBody leaves the body of a request unread: no route wants one, and whoever declares one may never send it. The
// connection ends with the answer, so that nothing can be hidden behind a body that others would measure otherwise.
func dropBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close") // net/http reads the body before it answers, unless this is set
	}
}

// endBody bounds how long net/http waits for the rest of a body behind the answer.
func endBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyGrace)) // else the web server's own holds
	}
}

// rescue answers a panic. What has been begun cannot be answered otherwise: it is cut off.
func (s *Server) rescue(w *response, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(v)
	}
	s.log.ErrorContext(r.Context(), "handler panicked", "request_id", requestID(r), "panic", v, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, problem.New(problem.InternalError, "something went wrong on our side"))
}

// finish ends a request.
func (s *Server) finish(w *response, r *http.Request) {
	endBody(w, r)
	s.record(w, r)
}

func requestID(r *http.Request) string { return operation.RequestID(r.Context()) }

// odd tells whether a path has segments that the mux would tidy away, or slashes in disguise.
func odd(escaped string) bool {
	low := strings.ToLower(escaped)
	for _, bad := range []string{"//", "/./", "/../", "%2f", "%5c", "%2e%2e", "%00"} {
		if strings.Contains(low, bad) {
			return true
		}
	}
	return strings.HasSuffix(low, "/.") || strings.HasSuffix(low, "/..")
}

// tellsCache tells whether every response of a path says how the cache was used (D61).
func tellsCache(path string) bool {
	return path == "/health" || path == "/v1" || strings.HasPrefix(path, "/v1/")
}

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

// response is what is known of a response while it is made.
type response struct {
	http.ResponseWriter
	began     time.Time
	status    int // 0 until it has begun
	bytes     int64
	operation string       // its name; "" when the request is for none
	platform  string       // "" when there is none, or none of that name
	key       string       // the id of the key that was shown; "" for none
	code      problem.Code // of a problem; else ""

	turnedAway bool // because the service was at its limit
	probe      bool // of an orchestrator, answered well
}

// Unwrap lets [http.ResponseController] find what lies below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}
