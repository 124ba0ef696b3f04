package scrapecreators

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// flags maps boolean parameters to their additional cost when true, in the vendor's credits.
// https://docs.scrapecreators.com/openapi.json
var flags = map[string]int64{"include_replies": 15, "use_ai_as_fallback": 10, "download_media": 10, "get_ad_details": 24}

// price returns what the vendor charges for a read.
func price(path string, query url.Values) int64 {
	if path == "v1/tiktok/user/audience" {
		return audienceCredits
	}
	n := int64(1)
	for flag, more := range flags {
		if query.Get(flag) == "true" {
			n += more
		}
	}
	return n
}

// strict returns an error for a query that the vendor may interpret differently from [price].
func strict(query url.Values) error {
	for name, values := range query {
		if len(values) > 1 {
			return providers.Invalid("the parameter %q is given more than once", name)
		}
		if _, isFlag := flags[name]; isFlag && values[0] != "true" && values[0] != "false" {
			return providers.Invalid("the parameter %q must be true or false", name)
		}
	}
	return nil
}

// tooExpensive returns the error for a read that costs too much. The reason is for the operator: callers only see that
// the read is disabled.
func tooExpensive() error {
	return &providers.Error{
		Kind: providers.ErrUnsupported, Detail: "this read is disabled", Blame: providers.BlameNone, Err: providers.ErrSpent,
	}
}

// vendor reads within the budget of a call.
type vendor struct {
	api *upstream.Client
	max int64 // credits for one call
}

// Read is [upstream.Client.Read], unless the call has spent too much.
func (v vendor) Read(ctx context.Context, r upstream.Request, dst any) (res *upstream.Response, err error) {
	err = v.pay(ctx, price(strings.Join(r.Path, "/"), r.Query), func() error {
		res, err = v.api.Read(ctx, r, dst)
		return err
	})
	return res, err
}

// forward reads path unchanged, unless it costs more than allowed.
func (v vendor) forward(ctx context.Context, path string, query url.Values) (raw json.RawMessage, err error) {
	if err := strict(query); err != nil {
		return nil, err
	}
	err = v.pay(ctx, price(path, query), func() error {
		raw, err = v.api.Forward(ctx, path, query)
		return err
	})
	return raw, err
}

// pay makes a read that the vendor charges for when it succeeds.
func (v vendor) pay(ctx context.Context, credits int64, read func() error) error {
	purse := callctx.Of(ctx).Purse
	if !purse.Spend(name, credits, v.max) {
		return tooExpensive()
	}
	err := read()
	if err != nil {
		purse.Refund(name, credits)
		return err
	}
	callctx.Of(ctx).Trace.Paid(credits)
	return nil
}
