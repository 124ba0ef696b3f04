package server

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/problem"
)

// WithSandbox lets callers make calls fail, to test their retries: with the header "X-Sandbox: status=503; after=2s;
// times=3", this call of the key and route and the next two fail with that status. The call after them is served, even
// if it has the header too, so that a client may send the header with every retry. after is the Retry-After of the
// answers, none by default; times is 1 by default. A server without this option answers 400 to the header.
//
// key is in the pages of the documentation, for everyone who reads them: their calls that can be tried are made with it.
// It is the key of a sandbox that has nothing to protect, or "".
func WithSandbox(key string) Option {
	return option{"WithSandbox", func(c *config) error {
		c.sandbox, c.sandboxKey = &rehearsals{open: map[string]*rehearsal{}}, key
		return nil
	}}
}

// maxRehearsed is the maximum of times.
const maxRehearsed = 100

// rehearsal is what a header X-Sandbox asks for.
type rehearsal struct {
	code  problem.Code
	after time.Duration
	left  int // calls that are still to fail
}

// rehearsals are those of a server.
type rehearsals struct {
	mu   sync.Mutex
	open map[string]*rehearsal // by key and route
}

// rehearse returns the problem with which a call fails because of the header X-Sandbox, or because that header is not
// valid here.
func (s *Server) rehearse(r *http.Request, client *socialdata.Client, route string) error {
	given := strings.Join(r.Header["X-Sandbox"], "; ")
	if s.sandbox == nil {
		if given == "" {
			return nil
		}
		return problem.New(problem.InvalidRequest,
			"the header X-Sandbox is for a sandbox only: leave it out, or call a server that runs with serve --sandbox")
	}
	if key := client.Key(); key != nil {
		route = key.ID + " " + route
	}
	return s.sandbox.next(route, given)
}

// next returns the problem of a call at a key and route, with the header given.
func (a *rehearsals) next(at, given string) error {
	var asked *rehearsal
	if given != "" {
		var err error
		if asked, err = parseRehearsal(given); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.open[at]
	if now == nil {
		if asked == nil {
			return nil
		}
		now = asked
		a.open[at] = now
	}
	if now.left == 0 {
		delete(a.open, at)
		return nil
	}
	now.left--
	return problem.New(now.code, "the header X-Sandbox lets this call fail").After(now.after)
}

// parseRehearsal parses a header X-Sandbox. Its error is a problem for the caller.
func parseRehearsal(header string) (*rehearsal, error) {
	out, seen := &rehearsal{left: 1}, map[string]bool{}
	for part := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		var err error
		switch {
		case seen[name]:
			return nil, malformed("%q is given twice", name)
		case name == "status":
			out.code, err = codeOf(value)
		case name == "after":
			out.after, err = time.ParseDuration(value)
			if err != nil || out.after < 0 || out.after > 24*time.Hour {
				err = malformed("after is %q; it must be a duration up to 24h, such as 2s", value)
			}
		case name == "times":
			out.left, err = strconv.Atoi(value)
			if err != nil || out.left < 1 || out.left > maxRehearsed {
				err = malformed("times is %q; it must be a number from 1 to %d", value, maxRehearsed)
			}
		default:
			err = malformed("%q is not one of status, after and times", name)
		}
		if err != nil {
			return nil, err
		}
		seen[name] = true
	}
	if out.code == "" {
		return nil, malformed("status is missing")
	}
	return out, nil
}

// codeOf returns the code of problems with a status.
func codeOf(status string) (problem.Code, error) {
	var known []string
	for _, code := range problem.Codes() {
		text := strconv.Itoa(code.Status())
		if text == status {
			return code, nil
		}
		known = append(known, text)
	}
	return "", malformed("status is %q; it must be one of %s", status, strings.Join(known, ", "))
}

// malformed returns the problem of a header X-Sandbox that cannot be read.
func malformed(detail string, args ...any) error {
	return problem.New(problem.InvalidRequest, "the header X-Sandbox is malformed: "+detail+
		`; write it as "status=503; after=2s; times=1"`, args...)
}
