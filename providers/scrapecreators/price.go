package scrapecreators

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// flags are what a read costs more when they are true, in the vendor's credits.
// https://docs.scrapecreators.com/openapi.json
var flags = map[string]int64{"include_replies": 15, "use_ai_as_fallback": 10, "download_media": 10, "get_ad_details": 24}

// price is what the vendor charges for a read.
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

// strict fails for a query that the vendor may read otherwise than [price] does.
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

// errTooDear is told to the operator alone.
var errTooDear = providers.Cause("it costs more than max_credits allows one call")

func tooDear() error {
	return &providers.Error{
		Kind: providers.ErrUnsupported, Detail: "this read is switched off here", Blame: providers.BlameNobody, Err: errTooDear,
	}
}

// vendor reads what a call may cost.
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

// forward reads path unchanged, unless it costs more than is allowed.
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

// pay lets a read be made that the vendor charges for when it succeeds.
func (v vendor) pay(ctx context.Context, credits int64, read func() error) error {
	purse := providers.PurseOf(ctx)
	if !purse.Spend(name, credits, v.max) {
		return tooDear()
	}
	err := read()
	if err != nil {
		purse.Refund(name, credits)
	}
	return err
}
