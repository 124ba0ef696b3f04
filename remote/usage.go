package remote

import (
	"context"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Usage returns one page of the account's ledger entries, newest first. It is free.
func (c *Client) Usage(ctx context.Context, req socialdata.UsageRequest) (*schema.Envelope[[]schema.Usage], error) {
	return typed[[]schema.Usage](ctx, c, "usage", &socialdata.UsageByRequest{UsageRequest: req})
}

// UsageBy returns the account's usage, grouped by req.Group, which is required. Charged calls are counted from the
// account's ledger, free and failed ones from the request log. It is free.
func (c *Client) UsageBy(
	ctx context.Context, req socialdata.UsageByRequest,
) (*schema.Envelope[[]schema.Rollup], error) {
	if req.Group == "" {
		return nil, problem.New(problem.InvalidRequest, "group is missing: it must be day, key, platform or operation")
	}
	return typed[[]schema.Rollup](ctx, c, "usage", &req)
}
