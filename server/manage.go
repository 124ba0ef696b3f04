package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/problem"
)

// managePath is the path below which accounts manage their own settings.
const managePath = "/manage/"

// Managing answers a request below /manage. who is the client of the request's key, which has the mark Manage: the
// handler may read and change the data of the account who.Key().Account and of no other. The body of the request has
// been received, within [Limits]. An error is answered as a problem, like those of the API; a handler that has begun to
// answer must not return one.
type Managing func(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error

// WithManaging answers the requests that fit pattern, such as "PUT /manage/monitors/{name}", with h. pattern is one of
// [http.ServeMux] with a method, and a path below /manage/.
//
// A request with an Idempotency-Key is handled once. A repetition within a day gets the same answer, except that a
// member "secret" of the object is null, because secrets are not stored.
//
// A request without a key, or with one without the mark Manage (keys.Key), is answered 401. Requests count against the
// rate limit of the key and within [Limits] like calls. By default there is nothing below /manage.
func WithManaging(pattern string, h Managing) Option {
	return option{"WithManaging", func(c *config) error {
		method, path, _ := strings.Cut(pattern, " ")
		switch {
		case method == "" || !strings.HasPrefix(path, managePath) || path == managePath:
			return fmt.Errorf("%q is not a method and a path below %s, such as PUT %sthings/{name}", pattern, managePath,
				managePath)
		case h == nil:
			return fmt.Errorf("the handler of %q is nil: leave the option out", pattern)
		}
		if c.managed == nil {
			c.managed = http.NewServeMux()
		}
		return register(c.managed, pattern, h)
	}}
}

// register adds h to mux. It returns the panic of an invalid pattern as an error.
func register(mux *http.ServeMux, pattern string, h Managing) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%q cannot be served: %v", pattern, v)
		}
	}()
	mux.Handle(pattern, h)
	return nil
}

// ServeHTTP implements [http.Handler] for [Server.manage] alone.
func (h Managing) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := rw.(*response)
	w.failed = h(w, r, w.who)
}

// manages reports whether a handler of [WithManaging] serves a path.
func (s *Server) manages(path string) bool {
	return s.managed != nil && strings.HasPrefix(path, managePath) && path != managePath+"openapi.json"
}

var errMayNotManage = problem.New(problem.Unauthorized,
	`a valid API key that manages its account is required; send it in the header "Authorization: Bearer API_KEY"`)

// manage answers a request below /manage. This is the only place that requires the mark Manage of a key (D95).
func (s *Server) manage(w *response, r *http.Request) {
	defer w.done()
	if err := s.mayManage(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	_, pattern := s.managed.Handler(r)
	method, path, _ := strings.Cut(pattern, " ")
	if method == "" {
		s.unmanaged(w, r)
		return
	}
	w.route = path
	w.set("Cache-Control", "no-store")
	if w.failed = s.rehearse(r, w.who, pattern); w.failed == nil {
		s.change(w, r)
	}
	if w.failed != nil {
		s.fail(w, r, w.failed)
	}
}

// change calls the handler of a request below /manage, once for each Idempotency-Key.
func (s *Server) change(w *response, r *http.Request) {
	given, wants := r.Header["Idempotency-Key"]
	if !wants || r.Method == http.MethodGet || r.Method == http.MethodHead || s.takesFile(r) {
		s.managed.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.failed = problem.Wrap(err, problem.InvalidRequest, "the body of the request is incomplete; send it again")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var live *storedAnswer
	key := cmp.Or(strings.Join(given, ", "), " ") // an empty value is as invalid as a space
	b, replayed, err := socialdata.FrontEnd(w.who).Once(r.Context(), key, r.Method+" "+r.URL.RequestURI()+"\n"+string(body),
		func(context.Context) ([]byte, error) {
			live = &storedAnswer{header: w.Header()}
			s.hold(w, r, live)
			if w.failed != nil {
				return nil, w.failed
			}
			return json.Marshal(live.public())
		})
	if err == nil && replayed {
		live = &storedAnswer{header: w.Header()}
		if err = json.Unmarshal(b, live); err == nil {
			w.set("X-Idempotent-Replay", "true")
		}
	}
	if w.failed = err; err == nil {
		live.write(w)
	}
}

// hold calls the handler of r with live as its response.
func (s *Server) hold(w *response, r *http.Request, live *storedAnswer) {
	under := w.ResponseWriter
	defer func() { w.ResponseWriter, w.status, w.bytes = under, 0, 0 }() // a panic is answered on the connection itself
	w.ResponseWriter = live
	s.managed.ServeHTTP(w, r)
}

// storedAnswer is an answer below /manage. A member "secret" of its object is only returned to the first reader.
type storedAnswer struct {
	Status int
	Type   string
	Body   []byte
	header http.Header
}

// Header, WriteHeader and Write implement [http.ResponseWriter].
func (k *storedAnswer) Header() http.Header { return k.header }

func (k *storedAnswer) WriteHeader(status int) { k.Status = cmp.Or(k.Status, status) }

func (k *storedAnswer) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	k.Body = append(k.Body, b...)
	return len(b), nil
}

// public returns what may be stored: everything but the secret.
func (k *storedAnswer) public() storedAnswer {
	out := storedAnswer{Status: k.Status, Type: k.header.Get("Content-Type"), Body: k.Body}
	var members map[string]json.RawMessage
	if json.Unmarshal(k.Body, &members) == nil && members["secret"] != nil {
		members["secret"] = json.RawMessage("null")
		out.Body, _ = json.Marshal(members) // it was JSON
	}
	return out
}

func (k *storedAnswer) write(w http.ResponseWriter) {
	if k.Type != "" {
		w.Header().Set("Content-Type", k.Type)
	}
	w.WriteHeader(cmp.Or(k.Status, http.StatusOK))
	_, _ = w.Write(k.Body) // fails if the caller is gone, who can repeat the request
}

// mayManage authenticates a request and admits it. It checks the key before it reads the body, and admits the request
// after that, so that a caller who sends slowly keeps no slot. The 401 is the same whatever is wrong with the key
// (D29).
func (s *Server) mayManage(w *response, r *http.Request) error {
	if s.forOperator(r.URL.Path) {
		return s.operates(w, r)
	}
	client, err := s.authenticate(r)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.Unauthorized || err == nil &&
		!client.Key().Manage {
		dropBody(w, r)
		return errMayNotManage
	}
	switch {
	case err != nil:
	case s.takesFile(r):
		err = s.admitFile(w, r, client)
	default:
		if err = takeBody(w, r, &s.limits); err == nil {
			err = s.inFlight.admit(r.Context(), w, client.Key())
		}
	}
	if err == nil {
		w.who = client
		err = limit(w, r, client)
	}
	return err
}

// operates admits a request of the operator, who has no rate limit.
func (s *Server) operates(w *response, r *http.Request) error {
	err := s.mayOperate(r)
	if err != nil {
		dropBody(w, r)
		return err
	}
	if err = takeBody(w, r, &s.limits); err == nil {
		err = s.inFlight.admit(r.Context(), w, nil)
	}
	w.who = s.client
	return err
}

// unmanaged answers a request for which there is no handler of [WithManaging].
func (s *Server) unmanaged(w *response, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.managed.Handler(other); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		s.unknown(w, r)
		return
	}
	w.set("Allow", strings.Join(allowed, ", "))
	s.fail(w, r, &problem.Error{
		Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only " + strings.Join(allowed, ", ") +
			" is allowed here",
	})
}
