package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// balance matches the operator's balance with the vendor, which is in every answer.
var balance = regexp.MustCompile(`"credits_remaining"\s*:\s*-?[0-9.eE+-]+`)

// refusal is an error of the vendor, whatever the status.
type refusal struct {
	Success wire.Flag       `json:"success"`
	Status  wire.Count      `json:"errorStatus"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`

	// The words of what the vendor reads from, which it may pass on.
	Word   string          `json:"status"`
	Error  json.RawMessage `json:"error"`
	Errors json.RawMessage `json:"errors"`
}

// missing is the vendor's statement that an account does not exist.
type missing struct {
	Absent  bool   `json:"accountDoesNotExist"`
	Message string `json:"message"`
}

// missing parses that statement.
func (r refusal) missing() (m missing) {
	_ = json.Unmarshal(r.Data, &m) // any other data is not that statement
	return m
}

// fails reports whether an answer is an error in the words of what the vendor reads from. One without data is, unless it
// states that it succeeded; the other words may be fields of the requested object.
func (r refusal) fails(answer []byte) bool {
	switch strings.ToLower(r.Word) {
	case "error", "fail", "failed", "failure":
		return true
	}
	if wire.Filled(r.Error) || wire.Filled(r.Errors) {
		return true
	}
	return string(r.Data) == "null" && !upstream.Absence(answer, "data")
}

// check removes the operator's balance from the answer, and distinguishes what does not exist from what the vendor
// cannot do: both may come as a success.
func check(res *upstream.Response) error {
	res.Body = balance.ReplaceAll(res.Body, []byte(`"credits_remaining":null`))
	ok := res.Status >= 200 && res.Status < 300
	no, spoke := refusalOf(res)
	status := res.Status
	if ok && spoke && !no.Success.Is() {
		status = http.StatusBadGateway
		if said := no.Status.V; said != nil && *said >= http.StatusBadRequest {
			status = int(*said)
		}
	}
	switch m := no.missing(); {
	case m.Absent:
		return absent(m.Message)
	case ok && status == res.Status && no.fails(res.Body):
		return providers.Unavailable(nil, "ScrapeCreators passes on an error of the platform")
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusUnauthorized:
		return refused("ScrapeCreators refuses our key (setting api_key)")
	case status == http.StatusPaymentRequired:
		return refused("our account with ScrapeCreators has no credits left")
	case status == http.StatusNotFound || status == http.StatusForbidden && spoke:
		return absent(no.Message)
	case status == http.StatusBadRequest && res.Input && no.Message != "":
		return providers.Invalid("ScrapeCreators rejects this value: %s", no.Message)
	case ok:
		return providers.Unavailable(nil, "ScrapeCreators failed with status %d", status)
	}
	return nil
}

// refusalOf parses an answer; spoke reports whether it is the vendor's.
func refusalOf(res *upstream.Response) (no refusal, spoke bool) {
	err := wire.Decode(context.Background(), res.Body, &no) // the other fields may be of any type
	return no, err == nil && no.Success.V != nil
}

// spoke reports whether a 404 is the vendor's statement that something does not exist, and not about the route.
func spoke(res *upstream.Response) bool {
	_, spoke := refusalOf(res)
	return spoke
}

// refused returns the error for a vendor that refuses every read. The reason is for the operator: callers only see that
// the platform is not available.
func refused(why string) error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the platform is not available", Blame: providers.BlameUpstream,
		Err: providers.Cause(why),
	}
}

func absent(message string) error {
	return providers.NotFound("%s", cmp.Or(message, "it does not exist, or is not public"))
}
