package server

import (
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

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
	w.set("X-Request-Id", id)
	w.set("X-Content-Type-Options", "nosniff")
	if tellsCache(r.URL.Path) {
		tellCache(w, "MISS", 0) // until something better is known
	}
	enter(r, working)
	defer s.finish(w, r)
	defer s.rescue(w, r)
	if at, h := s.mountedAt(r.URL.Path); h != nil {
		w.route = at
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
		if path, ok := strings.CutPrefix(r.URL.Path, "/v1/"); ok {
			s.api(w, r, path)
			return
		}
		s.mux.ServeHTTP(w, r)
	}
}

// mountedAt returns the handler that is mounted at path, or nearest above it.
func (s *Server) mountedAt(path string) (nearest string, h http.Handler) {
	if h = s.mounted[path]; h != nil {
		return path, h
	}
	for at, below := range s.mounted {
		if strings.HasSuffix(at, "/") && strings.HasPrefix(path, at) && len(at) > len(nearest) {
			nearest, h = at, below
		}
	}
	return nearest, h
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
	s.observe(r.Context(), w.told(r))
}

func requestID(r *http.Request) string { return operation.RequestID(r.Context()) }

// odd tells whether a path has segments that the mux would tidy away, or slashes in disguise.
func odd(escaped string) bool {
	if !strings.Contains(escaped, "%") && !strings.Contains(escaped, "//") && !strings.Contains(escaped, "/.") {
		return false
	}
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
	route     string       // the pattern of the path; "" when there is no such route
	operation string       // its name; "" when the request is for none
	platform  string       // "" when there is none, or none of that name
	key       string       // the id of the key that was shown; "" for none
	code      problem.Code // of a problem; else ""

	turnedAway bool // because the service was at its limit
	probe      bool // of an orchestrator, answered well

	target string              // the platform or provider in the path; "" for none
	path   string              // of a raw read
	atWork *semaphore.Weighted // what the call has taken a place of; nil when it has none
	share  func()              // gives back the place of its account; nil when it has none
	values []string            // of header fields
	room   [20]string          // where values begins
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
