package scrapecreators

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"regexp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// balance matches the operator's balance with the vendor, which is in every answer.
var balance = regexp.MustCompile(`"credits_remaining"\s*:\s*-?[0-9.eE+-]+`)

// refusal is an error of the vendor, whatever the status.
type refusal struct {
	Success wire.Flag  `json:"success"`
	Status  wire.Count `json:"errorStatus"`
	Message string     `json:"message"`
	Data    struct {
		Absent  bool   `json:"accountDoesNotExist"`
		Message string `json:"message"`
	} `json:"data"`
}

// check removes the operator's balance from the answer, and distinguishes what does not exist from what the vendor
// cannot do: both may come as a success.
func check(res *upstream.Response) error {
	res.Body = balance.ReplaceAll(res.Body, []byte(`"credits_remaining":null`))
	ok := res.Status >= 200 && res.Status < 300
	if ok && !bytes.Contains(res.Body, []byte("accountDoesNotExist")) && !bytes.Contains(res.Body, []byte(`"success"`)) {
		return nil
	}
	var no refusal
	// The other fields may be of any type without invalidating the flag.
	spoke := wire.Decode(context.Background(), res.Body, &no) == nil && no.Success.V != nil
	status := res.Status
	if ok && spoke && !no.Success.Is() {
		status = http.StatusBadGateway
		if said := no.Status.V; said != nil && *said >= http.StatusBadRequest {
			status = int(*said)
		}
	}
	switch {
	case no.Data.Absent:
		return absent(no.Data.Message)
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusUnauthorized:
		return refused("ScrapeCreators refuses our key (setting api_key)")
	case status == http.StatusPaymentRequired:
		return refused("our account with ScrapeCreators has no credits left")
	case status == http.StatusNotFound && !spoke:
		return providers.Unavailable(nil, "ScrapeCreators no longer has this route")
	case status == http.StatusNotFound || status == http.StatusForbidden && spoke:
		return absent(no.Message)
	case status == http.StatusBadRequest && res.Input && no.Message != "":
		return providers.Invalid("ScrapeCreators rejects this value: %s", no.Message)
	case ok:
		return providers.Unavailable(nil, "ScrapeCreators failed with status %d", status)
	}
	return nil
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
