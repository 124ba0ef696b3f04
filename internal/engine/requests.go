package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// remember adds a call of an account to the request log: an answer with its meta and charge, or a problem. o is nil for
// a call that was refused before its operation was known. Operations that need no key are left out, and so are answers
// of the log itself: a caller that follows the log would otherwise fill it with its own calls. What the operator reads of
// an account, without any of its keys, is no call of the account, and neither is what a page of the dashboard shows
// (D123).
func (s *Session) remember(
	ctx context.Context, o *operation.Operation, call operation.Call, took time.Duration, meta *schema.Meta, charged int64,
	p *problem.Error,
) {
	key := s.who.Key()
	if key == nil || key.ID == "" || o != nil && (o.NoKey || o.Name == "requests" && p == nil) {
		return
	}
	if o != nil && o.Price == operation.Free && s.source == schema.FromDashboard {
		return
	}
	r := requests.Request{
		At: s.cfg.Now().UTC(), ID: call.RequestID, Account: key.Account, Key: key.ID, Source: string(s.source), Status: 200,
		Took: took,
	}
	asked, held := callctx.Of(ctx).Done()
	r.Held = held
	for _, asked := range asked {
		r.Providers = append(r.Providers, requests.Provider{
			Name: asked.Provider, Calls: asked.Calls, Took: asked.Took, Status: asked.Status, Cause: asked.Cause,
		})
	}
	if o != nil {
		r.Operation = o.Name
	}
	info, known := s.cfg.Platforms.Lookup(platform.ID(call.Platform))
	if known {
		r.Platform = string(info.ID) // an unknown platform is the caller's text and is not logged
	}
	if meta != nil {
		r.Cache, r.Credits = string(meta.Cache), charged
	}
	if p != nil {
		r.Status, r.Code, r.Detail = p.HTTPStatus(), string(p.Code), withoutValues(p.Detail, o, &call, known)
		if answer, ok := errors.AsType[*providers.RequestError](p); ok {
			r.Upstream = answer.Status
		}
	}
	s.requests.note(r)
}

const requestsPage = 100

// listRequests returns a page of the account's last calls, newest first.
func listRequests(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	if s.who.Key() == nil {
		return nil, account.ErrNone
	}
	q := requests.Query{
		Account: s.who.Account(), Key: in.Get("key"), Operation: in.Get("operation"), Platform: in.Get("platform"),
		ID: in.Get("request_id"), Limit: in.Limit(requestsPage) + 1,
	}
	q.Status, _ = strconv.Atoi(in.Get("status"))
	bound := boundTo(row, q.Account, in)
	if q.Before, err = s.positionNumber(ctx, bound, in); err != nil {
		return nil, err
	}
	found, err := s.requestsOf(ctx, q)
	if err != nil {
		return nil, err
	}
	out, next := pageOf(found, in.Limit(requestsPage),
		func(r *requests.Request) string { return strconv.FormatInt(r.Seq, 10) }, requestRow)
	return s.paged(ctx, call, out, bound, next)
}

// requestsOf lists requests for a call of the session.
func (s *Session) requestsOf(ctx context.Context, q requests.Query) ([]requests.Request, error) {
	ctx, cancel := context.WithDeadline(ctx, s.over(ctx))
	defer cancel()
	found, err := s.requests.list(ctx, q)
	if err != nil {
		err = &account.UnavailableError{Store: "requests", Err: err}
	}
	return found, err
}

// LastRequests returns the last calls of all accounts that q selects, newest first.
func (e *Engine) LastRequests(ctx context.Context, q requests.Query) ([]requests.Request, error) {
	return e.requests.list(ctx, q)
}

// Jobs returns the stored jobs of an account, or of all for "", newest first, and how many there are in all.
func (e *Engine) Jobs(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	return e.search.Jobs(ctx, account, limit)
}

// Rollups returns the usage that q selects, of all accounts unless q names one.
func (e *Engine) Rollups(ctx context.Context, q requests.SumQuery) ([]requests.Rollup, error) {
	if store, ok := e.accounts.Keys.(keys.Admin); ok && q.Account == "" && !q.NoAccount {
		accounts, err := store.Accounts(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts { // other processes may have charged them
			e.requests.charge(a.ID)
		}
	}
	return e.requests.sums(ctx, e.requests.books, q)
}

// booksOf is the ledger of the session's account, with the time limit of store calls.
type booksOf struct{ *Session }

// Entries implements [requests.Books].
func (b booksOf) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	return b.who.Entries(ctx, q)
}

// usageBy returns the account's usage, grouped.
func usageBy(ctx context.Context, s *Session, in operation.Args, call operation.Call) (*operation.Answer, error) {
	for _, name := range []string{"request_id", "cursor"} {
		if in.Get(name) != "" {
			return nil, problem.New(problem.InvalidRequest, "%s selects entries and cannot be used with group", name)
		}
	}
	group := requests.Dimension(in.Get("group"))
	q := requests.SumQuery{
		Account: s.who.Account(), Key: in.Get("key"), Platform: in.Get("platform"),
		By: []requests.Dimension{group},
	}
	if since := in.Time("since"); !since.IsZero() {
		q.Since = requests.DayOf(since)
	}
	if until := in.Time("until"); !until.IsZero() {
		q.Until = requests.DayOf(until.Add(-time.Nanosecond)) + 1 // a day that has begun is included completely
	}
	within, cancel := context.WithDeadline(ctx, s.over(ctx))
	defer cancel()
	rollups, err := s.requests.sums(within, booksOf{s}, q)
	if err != nil {
		return nil, &account.UnavailableError{Store: "requests", Err: err}
	}
	rollups = slices.DeleteFunc(rollups, func(r requests.Rollup) bool { return r.Idle() })
	rows := make([]schema.Rollup, len(rollups))
	for i := range rollups {
		rows[i] = rollupRow(&rollups[i], rollups[i].Group(group))
	}
	return s.free(ctx, call, rows)
}

func rollupRow(r *requests.Rollup, group string) schema.Rollup {
	row := schema.Rollup{
		Group: set(group), Calls: r.Calls, Paid: r.Paid, Free: r.Free, Failed: r.Failed, Hits: r.Hits, Credits: r.Credits,
		Refunded: r.Refunded, Dropped: r.Dropped, Errors: []schema.ErrorCount{},
	}
	for _, code := range slices.Sorted(maps.Keys(r.Errors)) {
		row.Errors = append(row.Errors, schema.ErrorCount{Code: code, Calls: r.Errors[code]})
	}
	if r.P50 > 0 {
		row.P50MS, row.P95MS = new(requests.Milliseconds(r.P50)), new(requests.Milliseconds(r.P95))
	}
	return row
}

func requestRow(r *requests.Request) schema.Request {
	row := schema.Request{
		At: r.At, RequestID: r.ID, AccountID: r.Account, KeyID: r.Key, Source: schema.CallSource(r.Source),
		Operation: set(r.Operation),
		Platform:  set(r.Platform), Status: r.Status, Code: set(r.Code), Detail: set(r.Detail), Held: r.Held,
		Credits: r.Credits, TookMS: r.Took.Milliseconds(), Providers: []schema.RequestProvider{},
	}
	for _, p := range r.Providers {
		if p.Calls > 0 { // why one is passed over is the operator's affair (D94)
			row.Providers = append(row.Providers, schema.RequestProvider{
				Name: p.Name, Calls: p.Calls, TookMS: p.Took.Milliseconds(),
			})
		}
	}
	if r.Cache != "" {
		row.Cache = new(schema.CacheState(r.Cache))
	}
	return row
}
