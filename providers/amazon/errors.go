package amazon

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// refusal is an error response of the Creators API.
type refusal struct {
	Type    string `json:"type"` // such as ValidationException
	Message string `json:"message"`
	Reason  string `json:"reason"` // such as FieldValidationFailed
	Fields  []struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"fieldList"`
	Errors faults `json:"errors"`
}

// faults come instead of the requested data, or beside the part of it that is there.
type faults []struct {
	Code string `json:"code"`
}

func (f faults) has(codes ...string) bool {
	for _, one := range f {
		if slices.Contains(codes, one.Code) {
			return true
		}
	}
	return false
}

const noResults = "NoResults"

var (
	errRatings = providers.Cause("amazon: ratings are withheld from this account")
	errBusy    = providers.Cause("amazon: throttled")
	errNothing = providers.NotFound("Amazon finds nothing")
	errUnknown = providers.NotFound("Amazon has no such product")
)

// again is how long to wait before a throttled read is sent a second time.
const again = time.Second

// check maps error responses to errors. Expired tokens are replaced before check is called.
// https://affiliate-program.amazon.com/creatorsapi/docs/
func check(res *upstream.Response) error {
	if res.Status < 400 || res.Status >= 500 {
		return nil
	}
	var r refusal
	_ = json.Unmarshal(res.Body, &r) // if the body cannot be read, the status decides
	switch res.Status {
	case http.StatusBadRequest:
		return r.request()
	case http.StatusUnauthorized:
		return providers.Unavailable(errors.New(r.Reason), "Amazon refuses our credential")
	case http.StatusForbidden:
		if r.Reason == "AssociateNotEligible" {
			return providers.Unavailable(errors.New(r.Reason), "Amazon only serves associates with ten sales in 30 days")
		}
		return providers.Unavailable(errors.New(r.Reason), "Amazon refuses our account")
	case http.StatusNotFound:
		if r.nothing() {
			return errNothing
		}
		return errUnknown
	case http.StatusTooManyRequests:
		if wait, told := res.RetryAfter(); told {
			return providers.Limited("Amazon is rate limiting us", wait)
		}
		return providers.Unavailable(errBusy, "Amazon is rate limiting us")
	}
	return nil
}

// nothing reports whether r says that a search has no results.
func (r refusal) nothing() bool { return r.Errors.has(noResults) || r.Reason == noResults }

// absent reports whether a 404 has an error body of the API about a missing product.
var absent = upstream.Says(func(r refusal) bool { return r.Type == "ResourceNotFoundException" || r.nothing() })

// absentPage reports whether a 404 is the shop's page for what it does not have: by its text, or where its pictures and
// scripts are.
func absentPage(m market) func(*upstream.Response) bool {
	own := upstream.Framed(m.host(), "media-amazon.com", "images-amazon.com")
	return func(res *upstream.Response) bool {
		return strings.Contains(html.UnescapeString(string(res.Body)), "couldn't find that page") || own(res)
	}
}

// withheld is the prefix of the names in [ratings].
const withheld = "customerReviews."

// said are the fields that hold the caller's words. It is read-only.
var said = []string{"keywords", "itemPage", "itemIds"}

// request handles a 400, which is the caller's fault if it names something from the caller's request.
func (r refusal) request() error {
	for _, f := range r.Fields {
		switch name, _, _ := strings.Cut(f.Name, "["); {
		case name == "resources", strings.Contains(f.Name, withheld):
			return providers.Unavailable(errRatings, "Amazon refuses a part of our request")
		case slices.Contains(said, name):
			return providers.Invalid("Amazon cannot read %s: %s", name, f.Message)
		}
	}
	if strings.Contains(r.Message, withheld) {
		return providers.Unavailable(errRatings, "Amazon refuses a part of our request")
	}
	if r.Reason == "InvalidPartnerTag" || r.Reason == "InvalidAssociate" {
		return providers.Unavailable(errors.New(r.Reason), "Amazon refuses our partner tag in this marketplace")
	}
	return providers.Unavailable(errors.New(r.Reason), "Amazon rejects our request as malformed")
}

// errRobot counts against no source's health: other readers still get the page.
var errRobot = providers.Walled("Amazon asks for a captcha")
