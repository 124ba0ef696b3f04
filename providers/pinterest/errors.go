package pinterest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// errRefused means that Pinterest refuses our parameters. Who is at fault depends on what was sent.
var errRefused = providers.Cause("pinterest: bad request")

// blameCursor returns [providers.ErrCursor] instead of errRefused if a cursor was sent.
func blameCursor(err error, cursor string) error {
	if cursor != "" && errors.Is(err, errRefused) {
		return providers.ErrCursor
	}
	return err
}

// checkOfficial handles the refusals of the official API, which only sees what belongs to the token's account: what it
// does not find or may not show may exist nevertheless.
// https://developers.pinterest.com/docs/reference/error-codes/
func checkOfficial(res *upstream.Response) error {
	account := strings.HasSuffix(res.URL.Path, "/user_account")
	switch res.Status {
	case http.StatusNotFound, http.StatusGone:
		if account {
			return providers.Unavailable(nil, "Pinterest does not find the account of the token")
		}
		return providers.NotHere("Pinterest's official API only shows the token's own account")
	case http.StatusForbidden:
		if !account {
			return providers.Unsupported("Pinterest does not show this to the account of the token")
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if res.Input {
			return nil // the parameters of a forwarded read
		}
		return providers.Unavailable(errRefused, "Pinterest refuses the request")
	}
	return nil
}

// absentOfficial reports whether a 404 has an error body of the official API.
var absentOfficial = upstream.Says(func(r struct {
	Code    wire.Count
	Message string
},
) bool {
	return r.Code.V != nil && r.Message != ""
})

// failure is an error response of the website's API or the widgets.
type failure struct {
	Status  string     `json:"status"` // success or failure
	Code    wire.Count `json:"code"`
	HTTP    wire.Count `json:"http_status"` // in the website's API, also when the HTTP status is 200
	Message string     `json:"message"`
}

// The codes with which Pinterest says that a thing does not exist.
const (
	noUser  = 30
	noBoard = 40
	noPin   = 50
)

// failureOf parses an error response; without one, the result is empty.
func failureOf(res *upstream.Response) failure {
	var body struct {
		failure          // in the widgets
		Resource failure `json:"resource_response"`
	}
	switch err := json.Unmarshal(res.Body, &body); {
	case err != nil:
		return failure{}
	case body.Resource.Status != "":
		return body.Resource
	}
	return body.failure
}

// fails reports whether a 404 has an error body of the website's API or the widgets.
func fails(res *upstream.Response) bool { return failureOf(res).Status == "failure" }

// framed recognizes a page of the site by where its pictures and scripts are.
var framed = upstream.Framed("pinterest.com", "pinimg.com")

// check handles the refusals of the website's API, the widgets and the feeds, some of which come with 200.
func check(res *upstream.Response) error {
	f := failureOf(res)
	status := res.Status
	if f.Status == "failure" && status == http.StatusOK {
		if status = f.status(); status == 0 {
			return providers.Unavailable(nil, "Pinterest answers with an error")
		}
	}
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return absent(value(f.Code))
	case status == http.StatusForbidden && bytes.Contains(res.Body, []byte("Invalid Resource Request")):
		return providers.Unavailable(nil, "Pinterest no longer accepts our requests as those of its website")
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		if res.Input {
			return providers.Invalid("Pinterest refuses the search: %s", f.Message)
		}
		return providers.Unavailable(errRefused, "Pinterest refuses the request")
	case status == http.StatusTooManyRequests && res.Status == http.StatusOK:
		return providers.Limited("Pinterest is rate limiting us", 0)
	case status != res.Status:
		return providers.Unavailable(nil, "Pinterest answers with an error (%d)", status)
	case status < 300 && isPage(res):
		return providers.Walled("Pinterest answers with a login page")
	}
	return nil
}

// status returns the HTTP status that a failure means, 0 when it is unknown.
func (f failure) status() int {
	if f.HTTP.V != nil && *f.HTTP.V != http.StatusOK {
		return int(*f.HTTP.V)
	}
	switch value(f.Code) {
	case noUser, noBoard, noPin:
		return http.StatusNotFound
	}
	return 0
}

func value(c wire.Count) int64 {
	if c.V == nil {
		return 0
	}
	return *c.V
}

func absent(code int64) error {
	switch code {
	case noUser:
		return providers.NotFound("Pinterest has no such account")
	case noBoard:
		return providers.NotFound("Pinterest has no such board, or it is secret")
	case noPin:
		return providers.NotFound("Pinterest has no such pin")
	}
	return providers.NotFound("Pinterest has no such page, or does not show it")
}

// isPage reports whether an answer is an HTML page, which is never what was requested.
func isPage(res *upstream.Response) bool {
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		return true
	}
	begin := bytes.ToLower(bytes.TrimLeft(res.Body[:min(len(res.Body), 512)], " \t\r\n\ufeff"))
	return bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html"))
}
