package socialdata

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Authenticate returns a Client bound to the key whose secret is given. A missing, malformed, unknown or revoked key
// is one and the same unauthorized problem, and takes the same path.
func (c *Client) Authenticate(ctx context.Context, secret string) (*Client, error) {
	hash, err := keys.Parse(secret)
	if c.keys == nil {
		err = keys.ErrUnknown
	} else if key, lerr := c.keys.Lookup(ctx, hash); lerr != nil {
		err = lerr
	} else if err == nil {
		c.keys.Touch(key.ID, c.now())
		return c.As(key), nil
	}
	return nil, c.failed(ctx, &opMe.Operation, Call{}, err)
}

// Admit takes one call from the rate limit of the key that c is bound to. The allowance tells the bucket's state in
// any case; when the bucket is empty the error is a rate_limited problem.
func (c *Client) Admit(ctx context.Context) (keys.Allowance, error) {
	if c.key == nil {
		return keys.Allowance{}, c.failed(ctx, &opMe.Operation, Call{}, errNoAccount)
	}
	a, err := c.limiter.Take(ctx, c.key.ID, c.rateOf())
	if err != nil {
		return a, c.failed(ctx, &opMe.Operation, Call{}, err)
	}
	if !a.OK {
		return a, problem.New(problem.RateLimited, "the key may make %d calls at once and %s a second; wait and try again",
			a.Rate.Capacity, strconv.FormatFloat(a.Rate.Refill, 'g', -1, 64)).After(a.RetryAfter)
	}
	return a, nil
}

func (c *Client) rateOf() keys.Rate {
	if c.key.Rate != nil {
		return *c.key.Rate
	}
	return c.rate
}

// me answers the calling key, the balance and the rate limit.
func (c *Client) me(ctx context.Context, _ *Operation, call Call, _ args) (*Answer, error) {
	if c.key == nil {
		return nil, errNoAccount
	}
	balance, err := c.balance(ctx)
	if err != nil {
		return nil, err
	}
	limit, err := c.limiter.Peek(ctx, c.key.ID, c.rateOf())
	if err != nil {
		return nil, err
	}
	k := c.key
	return c.free(ctx, call, schema.Me{
		Key: schema.MeKey{
			ID: k.ID, Name: k.Name, Prefix: k.Prefix, Environment: string(k.Environment), CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt,
		},
		Credits: schema.MeCredits{Balance: balance},
		Limits: schema.MeLimits{Rate: &schema.RateLimit{
			Capacity: limit.Rate.Capacity, RefillPerS: limit.Rate.Refill, Remaining: limit.Remaining,
		}},
	})
}

// balance returns what the bound account can still spend; 0 when nothing is charged or nobody is bound.
func (c *Client) balance(ctx context.Context) (int64, error) {
	if c.ledger == nil || c.key == nil {
		return 0, nil
	}
	n, err := c.ledger.Balance(ctx, c.key.Account)
	if errors.Is(err, credits.ErrUnknownAccount) { // has a key, and no books yet
		return 0, nil
	}
	return n, err
}

// account returns the id of the bound account, or "".
func (c *Client) account() string {
	if c.key == nil {
		return ""
	}
	return c.key.Account
}

// free makes the answer of an operation that costs nothing and is made on the spot.
func (c *Client) free(ctx context.Context, call Call, data any) (*Answer, error) {
	b, err := schema.Marshal(data)
	if err != nil {
		return nil, err
	}
	balance, err := c.balance(ctx)
	if err != nil {
		return nil, err
	}
	return &Answer{Data: b, Meta: schema.Meta{CreditsRemaining: balance, Cache: schema.Miss, RequestID: call.RequestID}}, nil
}

const usagePage = 100

// usage answers a page of the account's books, newest first.
func (c *Client) usage(ctx context.Context, _ *Operation, call Call, in args) (*Answer, error) {
	if c.key == nil {
		return nil, errNoAccount
	}
	q := credits.Query{
		Account: c.key.Account, RequestID: in.get("request_id"), Platform: in.get("platform"),
		Since: in.time("since"), Until: in.time("until"), Limit: usagePage + 1,
	}
	bound := "usage|" + q.Account + "|" + q.RequestID + "|" + q.Platform + "|" + in.get("since") + "|" + in.get("until")
	if given := in.get("cursor"); given != "" {
		at, err := c.openCursor(bound, given)
		if err != nil {
			return nil, err
		}
		if q.Before, err = strconv.ParseInt(at.Token, 10, 64); err != nil {
			return nil, errCursor
		}
	}
	var entries []credits.Entry
	if c.ledger != nil {
		var err error
		if entries, err = c.ledger.Entries(ctx, q); err != nil && !errors.Is(err, credits.ErrUnknownAccount) {
			return nil, err
		}
	}
	next := ""
	if len(entries) > usagePage {
		entries = entries[:usagePage]
		at := cursor{Token: strconv.FormatInt(entries[usagePage-1].Seq, 10), Issued: c.now().Truncate(time.Hour)}
		next = c.sealer.seal(bound, at.encode())
	}
	rows := make([]schema.Usage, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, usageRow(e))
	}
	a, err := c.free(ctx, call, rows)
	if err == nil {
		a.Meta.NextCursor = next
	}
	return a, err
}

func usageRow(e credits.Entry) schema.Usage {
	u := schema.Usage{
		ID: e.Account + "/" + strconv.FormatInt(e.Seq, 10), At: e.At, Kind: string(e.Kind), Amount: e.Amount, Balance: e.Balance,
		KeyID: set(e.Key), Operation: set(e.Operation), Platform: set(e.Platform), RequestID: set(e.RequestID), Reason: set(e.Reason),
	}
	if e.Cache != "" {
		u.Cache = new(schema.CacheState(e.Cache))
	}
	return u
}

// set returns a pointer to s, or nil when it is empty.
func set(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
