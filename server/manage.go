package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/problem"
)

// managePath is the path below which accounts manage what is their own.
const managePath = "/manage/"

// Managing answers a request below /manage. who is the client of the key that the request shows, which carries the mark
// Manage: who.Key().Account is the account whose own may be seen and changed, and no other. The body of the request has
// arrived, and is within [Limits]. An error is written as a problem, as those of the API are; it is returned before
// anything has been written.
type Managing func(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error

// WithManaging answers the requests that fit pattern, such as "PUT /manage/monitors/{name}", with h. The pattern is one of
// [http.ServeMux] with a method, and a path below /manage/.
//
// Who shows no key, or one without the mark Manage (keys.Key), is answered 401. Such a request counts against the
// rate limit of the key and within [Limits] as any call. Without this option, there is nothing below /manage.
func WithManaging(pattern string, h Managing) Option {
	return option{"WithManaging", func(c *config) error {
		method, path, _ := strings.Cut(pattern, " ")
		switch {
		case method == "" || !strings.HasPrefix(path, managePath) || path == managePath:
			return fmt.Errorf("%q is not a method and a path below %s, such as PUT %sthings/{name}", pattern, managePath, managePath)
		case h == nil:
			return fmt.Errorf("the handler of %q is nil: leave the option out", pattern)
		}
		if c.managed == nil {
			c.managed = http.NewServeMux()
		}
		return register(c.managed, pattern, h)
	}}
}

// register adds h to mux, which panics on patterns that it cannot have.
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

// manages reports whether a path is one of those that manage something.
func (s *Server) manages(path string) bool {
	return s.managed != nil && strings.HasPrefix(path, managePath)
}

var errMayNotManage = problem.New(problem.Unauthorized,
	`a valid API key that manages its account is required; send it in the header "Authorization: Bearer API_KEY"`)

// manage answers a request below /manage. This is the one place that demands the mark Manage of a key (D95).
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
	s.managed.ServeHTTP(w, r)
	if w.failed != nil {
		s.fail(w, r, w.failed)
	}
}

// mayManage finds out who makes a request and admits it. The key is looked at before the body, which comes before the
// request takes a place: who sends slowly keeps no one out. The 401 is one and the same whatever the key lacks (D29).
func (s *Server) mayManage(w *response, r *http.Request) error {
	client, err := s.authenticate(r)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.Unauthorized || err == nil && !client.Key().Manage {
		dropBody(w, r)
		return errMayNotManage
	}
	if err == nil {
		err = s.takeBody(w, r)
	}
	if err == nil {
		err = s.admit(w, client.Key())
	}
	if err == nil {
		w.who = client
		err = limit(w, r, client)
	}
	return err
}

// unmanaged refuses a request that no handler of [WithManaging] answers.
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
		Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only " + strings.Join(allowed, ", ") + " is allowed here",
	})
}
