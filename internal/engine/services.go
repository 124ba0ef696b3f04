package engine

import (
	"context"
	"strconv"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// handler answers one of the service's own operations.
type handler func(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error)

// handlers returns the handler of each row of the service's own, by name.
func handlers() map[string]handler {
	return map[string]handler{
		"me":            me,
		"usage":         usage,
		"requests":      listRequests,
		"platforms":     platforms,
		"resolve":       resolveAddress,
		"enrich":        reads(planText),
		"estimate":      estimate,
		"search_across": searchAcross,
		"job":           job,
		"raw":           reads(planRaw),
		"health":        health,
		"keys":          listKeys,
		"monitors":      listMonitors,
		"changes":       listChanges,
		"history":       listHistory,
		"endpoints":     listEndpoints,
		"deliveries":    listDeliveries,
		"stats":         accountStats,
		"bulk":          listBulk,
		"bulk_results":  listBulkResults,
	}
}

// reads returns the handler of an operation that is planned like a read.
func reads(plan planner) handler {
	return func(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
		p, err := plan(ctx, s, row, call)
		return s.read(ctx, row, p.read, err, call)
	}
}

// searchAcross searches several platforms at once.
func searchAcross(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	planned, err := planSearch(ctx, s, row, call)
	if err != nil {
		return nil, err
	}
	plan := planned.search
	of, err := s.request(ctx, row, call, plan.Price())
	if err != nil {
		return nil, err
	}
	return s.search.All(ctx, search.Request{
		Who: s.who, ID: call.RequestID, Over: s.over(ctx), Typed: call.Typed,
	}, plan, of)
}

// job returns what a search has found so far.
func job(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	return s.search.Job(ctx, search.Request{Who: s.who, ID: call.RequestID, Typed: call.Typed}, in)
}

// me returns the caller's key, the balance and the rate limit.
func me(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	if _, err := call.Bind(row.Params); err != nil {
		return nil, err
	}
	k := s.who.Key()
	if k == nil {
		return nil, account.ErrNone
	}
	balance, err := s.who.Balance(ctx)
	if err != nil {
		return nil, err
	}
	limit, err := s.who.Allowance(ctx)
	if err != nil {
		return nil, err
	}
	created := k.CreatedAt
	if created.IsZero() { // a key of the program's own authentication, which may not know it
		created = s.made
	}
	return s.free(ctx, call, schema.Me{
		Key: schema.MeKey{
			ID: k.ID, Name: k.Name, Prefix: k.Prefix, Environment: schema.KeyEnvironment(k.Environment),
			CreatedAt: created, LastUsedAt: k.LastUsedAt,
		},
		Credits: schema.MeCredits{Balance: balance},
		Limits: schema.MeLimits{Rate: &schema.RateLimit{
			Capacity: limit.Rate.Capacity, RefillPerS: limit.Rate.Refill, Remaining: limit.Remaining,
		}},
	})
}

// free makes the answer of a free operation.
func (s *Session) free(ctx context.Context, call operation.Call, data any) (*operation.Answer, error) {
	balance, err := s.who.Balance(ctx)
	if err != nil {
		return nil, err
	}
	return freeAnswer(call, data, balance)
}

// freeAnswer makes the answer of a free operation for an account with that balance.
func freeAnswer(call operation.Call, data any, balance int64) (*operation.Answer, error) {
	b, err := schema.Marshal(data)
	if err != nil {
		return nil, err
	}
	return &operation.Answer{Data: b, Meta: schema.Meta{
		CreditsRemaining: balance, Cache: schema.Miss, RequestID: call.RequestID,
	}}, nil
}

const usagePage = 100

// usage returns a page of the account's entries, newest first.
func usage(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	if s.who.Key() == nil {
		return nil, account.ErrNone
	}
	if in.Get("group") != "" {
		return usageBy(ctx, s, in, call)
	}
	if in.Get("key") != "" {
		return nil, problem.New(problem.InvalidRequest, "key can only be used with group")
	}
	q := credits.Query{
		RequestID: in.Get("request_id"), Platform: in.Get("platform"), Since: in.Time("since"), Until: in.Time("until"),
		Limit: in.Limit(usagePage) + 1,
	}
	bound := boundTo(row, s.who.Account(), in)
	if q.Before, err = s.positionNumber(ctx, bound, in); err != nil {
		return nil, err
	}
	entries, err := s.who.Entries(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, next := pageOf(entries, in.Limit(usagePage),
		func(e *credits.Entry) string { return strconv.FormatInt(e.Seq, 10) }, usageRow)
	return s.paged(ctx, call, rows, bound, next)
}

func usageRow(e *credits.Entry) schema.Usage {
	u := schema.Usage{
		ID: e.Account + "/" + strconv.FormatInt(e.Seq, 10), At: e.At, Kind: string(e.Kind), Amount: e.Amount,
		Balance: e.Balance, KeyID: set(e.Key), Operation: set(e.Operation), Platform: set(e.Platform),
		RequestID: set(e.RequestID), Reason: set(e.Reason),
	}
	if e.Cache != "" {
		u.Cache = new(schema.CacheState(e.Cache))
	}
	return u
}

// set returns a pointer to s, or nil if s is empty.
func set(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
