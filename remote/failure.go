package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// errForeign is the cause of a problem that does not come from the service, but from something in between.
var errForeign = errors.New("remote: the answer is not the service's")

// failed returns the error of a call as a problem with the call's operation; nil for nil.
func failed(ctx context.Context, o *operation.Operation, call operation.Call, err error) error {
	if err == nil {
		return nil
	}
	p, ok := errors.AsType[*problem.Error](err)
	switch {
	case ctx.Err() != nil && (!ok || p.RequestID == ""):
		p = problem.Wrap(ctx.Err(), problem.UpstreamTimeout, "the caller stopped waiting%s",
			problem.Phrase{HTTP: " for " + o.RouteOf(call), Command: " for " + o.Name})
	case !ok:
		p = lost(err)
	}
	p.Call = o.Title(call)
	return p
}

// lost returns the problem of a call without an answer, or with a part of one.
func lost(err error) *problem.Error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.Wrap(err, problem.PlatformUnavailable, "the service closed the connection before its answer was complete")
	}
	p := problem.Wrap(err, problem.PlatformUnavailable, "the service did not answer")
	p.Why = err.Error()
	return p
}

// silent returns why a request was not answered, without its URL, which has the parameters.
func silent(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// refusal reads an answer that is not a success.
func refusal(resp *http.Response, body []byte) *problem.Error {
	p := new(problem.Error)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/problem+json" && json.Unmarshal(body, p) == nil && slices.Contains(problem.Codes(), p.Code) {
		if resp.Header.Get("X-Cache") == string(schema.Hit) {
			p.Remembered, p.Age = true, seconds(resp.Header.Get("X-Data-Age"))
		}
		return p
	}
	p = problem.Wrap(errForeign, codeOf(resp.StatusCode),
		"the server answered %d without a problem document; check its address",
		resp.StatusCode)
	p.RetryAfter, p.RequestID = pause(resp.Header.Get("Retry-After")), resp.Header.Get("X-Request-Id")
	if resp.StatusCode != p.Code.Status() {
		p.Status = resp.StatusCode
	}
	return p
}

// codeOf returns the most similar code for a status without a problem document. A 404 or 410 of something in between
// says nothing about what was requested.
func codeOf(status int) problem.Code {
	if status == http.StatusNotFound || status == http.StatusGone {
		return problem.PlatformUnavailable
	}
	for _, code := range problem.Codes() {
		if code.Status() == status {
			return code
		}
	}
	if status >= 400 && status < 500 {
		return problem.InvalidRequest
	}
	return problem.PlatformUnavailable
}

// pause parses the field Retry-After: seconds, or a date.
func pause(field string) time.Duration {
	if at, err := http.ParseTime(field); err == nil {
		return max(0, time.Until(at))
	}
	return seconds(field)
}

// seconds parses a whole number of seconds; 0 for anything else.
func seconds(field string) time.Duration {
	n, err := strconv.ParseUint(field, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
