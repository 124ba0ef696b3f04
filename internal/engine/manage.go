package engine

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// ChangeRow is a row of the table of changes with the types of its body and its answer, or struct{} for none.
type ChangeRow[Body, Answer any] struct {
	operation.Change
	run func(ctx context.Context, s *Session, target string, body Body) (a Answer, isNew bool, err error)
}

func newChange[Body, Answer any](
	row operation.Change, run func(context.Context, *Session, string, Body) (Answer, bool, error),
) *ChangeRow[Body, Answer] {
	none := reflect.TypeFor[struct{}]()
	if t := reflect.TypeFor[Body](); t != none && row.Line == nil {
		row.Body = t
	}
	if t := reflect.TypeFor[Answer](); t != none {
		row.Answer = t
	}
	return &ChangeRow[Body, Answer]{row, run}
}

// On makes the change wherever c makes its calls.
func (r *ChangeRow[Body, Answer]) On(
	ctx context.Context, c operation.Caller, target string, body Body,
) (out Answer, isNew bool, err error) {
	answer, isNew, err := c.Change(ctx, &r.Change, target, &body)
	if a, ok := answer.(*Answer); ok && err == nil {
		out = *a
	}
	return out, isNew, err
}

func (r *ChangeRow[Body, Answer]) about() *operation.Change { return &r.Change }

// do makes the change in this process.
func (r *ChangeRow[Body, Answer]) do(
	ctx context.Context, s *Session, target string, body any,
) (answer any, isNew bool, err error) {
	given, ok := body.(*Body)
	if !ok {
		given = new(Body)
	}
	a, isNew, err := r.run(ctx, s, target, *given)
	return &a, isNew, err
}

// still makes a run of a function that makes nothing new.
func still[Body, Answer any](
	f func(context.Context, *Session, string, Body) (Answer, error),
) func(context.Context, *Session, string, Body) (Answer, bool, error) {
	return func(ctx context.Context, s *Session, target string, body Body) (Answer, bool, error) {
		a, err := f(ctx, s, target, body)
		return a, false, err
	}
}

// nothing is the body or the answer of a change without one.
type nothing = struct{}

// What an account changes.
var (
	MakeKey = newChange(operation.Change{
		Name: "putKey", Method: "PUT", Path: "/manage/keys/{name}", Summary: "Create a key, or change the one with that name",
		Doc: "The answer shows a new key, only this once. A limit that is left out is as high as the operator of the " +
			"service allows; no limit can be higher.", New: true, Once: true,
		Go: "Keys().Make", Example: `{"day_cap": 500}`,
	}, func(ctx context.Context, s *Session, name string, k schema.KeySpec) (schema.MadeKey, bool, error) {
		return s.Keys().Put(ctx, wishOf(name, k))
	})
	ChangeKey = newChange(operation.Change{
		Name: "changeKey", Method: "POST", Path: "/manage/keys/{id}", Summary: "Change the key with an id",
		Doc: "Sets its limits and its mark as PUT does; its name stays the same.", Once: true,
		Go: "Keys().Change", Example: `{"day_cap": 1000}`,
	}, still(func(ctx context.Context, s *Session, id string, k schema.KeySpec) (schema.Key, error) {
		return s.Keys().Set(ctx, id, wishOf("", k))
	}))
	RotateKey = newChange(operation.Change{
		Name: "rotateKey", Method: "POST", Path: "/manage/keys/{id}/rotate", Summary: "Give a key a new value",
		Doc: "The answer shows it, only this once. The previous value works until the overlap ends. Everything else about " +
			"the key stays, including what was spent of its caps.", Optional: true, Once: true,
		Go: "Keys().Rotate", Example: `{"overlap": "24h"}`,
	}, still(func(ctx context.Context, s *Session, id string, r schema.KeyRotation) (schema.MadeKey, error) {
		overlap, err := durationOf(r.Overlap, 24*time.Hour)
		if err != nil {
			return schema.MadeKey{}, problem.New(problem.InvalidRequest, "overlap must be a duration such as 0s, 15m or 24h")
		}
		return s.Keys().Rotate(ctx, id, overlap)
	}))
	RevokeKey = newChange(operation.Change{
		Name: "revokeKey", Method: "DELETE", Path: "/manage/keys/{id}", Summary: "Revoke a key for good",
		Doc: "It is refused from the next call.", Once: true,
		Go: "Keys().Revoke",
	}, still(func(ctx context.Context, s *Session, id string, _ nothing) (schema.Key, error) {
		return s.Keys().Revoke(ctx, id)
	}))

	MakeMonitor = newChange(operation.Change{
		Name: "putMonitor", Method: "PUT", Path: "/manage/monitors/{name}",
		Summary: "Create a monitor, or change the one with that name",
		Doc: "Repeating the request changes nothing. With another operation, platform or parameters the monitor starts " +
			"over. With each it is a panel: members that are new begin with a baseline of their own, the others go on. The " +
			"answer has the price of a poll and of a month; with dry_run it is all that happens.", New: true,
		Go: "Monitors().Make", Example: `{"operation": "posts", "platform": "mock", "params": {"handle": "salma"}, "every": "1h"}`,
	}, func(ctx context.Context, s *Session, name string, m schema.MonitorSpec) (schema.Monitor, bool, error) {
		return s.Monitors().Put(ctx, name, m)
	})
	PauseMonitor = newChange(operation.Change{
		Name: "pauseMonitor", Method: "POST", Path: "/manage/monitors/{name}/pause", Summary: "Pause a monitor",
		Doc: "It does not poll until it is resumed.",
		Go:  "Monitors().Pause",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (schema.Monitor, error) {
		return s.Monitors().Pause(ctx, name, true)
	}))
	ResumeMonitor = newChange(operation.Change{
		Name: "resumeMonitor", Method: "POST", Path: "/manage/monitors/{name}/resume", Summary: "Resume a monitor",
		Doc: "It polls at once if a poll is due.",
		Go:  "Monitors().Resume",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (schema.Monitor, error) {
		return s.Monitors().Pause(ctx, name, false)
	}))
	EndMonitor = newChange(operation.Change{
		Name: "endMonitor", Method: "DELETE", Path: "/manage/monitors/{name}", Summary: "End a monitor",
		Doc: "Its history is removed; its changes stay in the feed.",
		Go:  "Monitors().End",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (nothing, error) {
		return nothing{}, s.Monitors().End(ctx, name)
	}))
	MakeFeed = newChange(operation.Change{
		Name: "putFeed", Method: "PUT", Path: "/manage/feeds/{name}", Summary: "Give a monitor a feed",
		Doc: "An Atom feed and a JSON Feed of what is new, at an address that only those know who are given it. Reading " +
			"it is free and needs no key. It ends with the monitor and with the monitor's key. To change the address, end " +
			"the feed and create it again.", New: true, Once: true,
		Go: "Monitors().MakeFeed",
	}, func(ctx context.Context, s *Session, name string, _ nothing) (schema.MonitorFeed, bool, error) {
		return s.Monitors().MakeFeed(ctx, name)
	})
	EndFeed = newChange(operation.Change{
		Name: "endFeed", Method: "DELETE", Path: "/manage/feeds/{name}", Summary: "End the feed of a monitor",
		Doc: "Its address leads nowhere from then on. The monitor stays.",
		Go:  "Monitors().EndFeed",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (nothing, error) {
		return nothing{}, s.Monitors().EndFeed(ctx, name)
	}))

	MakeEndpoint = newChange(operation.Change{
		Name: "putEndpoint", Method: "PUT", Path: "/manage/endpoints/{name}",
		Summary: "Create an endpoint, or change the one with that name",
		Doc: "A new endpoint gets the changes from then on; the answer shows its secret, only this once. An endpoint that " +
			"was disabled becomes active and continues at its position.", New: true,
		Go: "Endpoints().Make", Example: `{"url": "https://example.com/changes", "types": ["new"]}`,
	}, func(ctx context.Context, s *Session, name string, e schema.EndpointSpec) (schema.MadeEndpoint, bool, error) {
		made, secret, isNew, err := s.Endpoints().Put(ctx, name, EndpointDefinition(e))
		return madeEndpoint(made, secret), isNew, err
	})
	RekeyEndpoint = newChange(operation.Change{
		Name: "newEndpointSecret", Method: "POST", Path: "/manage/endpoints/{name}/secret",
		Summary: "Give an endpoint a new secret",
		Doc:     "The answer shows it, only this once. The previous secret also signs for 24 hours.",
		Go:      "Endpoints().NewSecret",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (schema.MadeEndpoint, error) {
		e, secret, err := s.Endpoints().Rekey(ctx, name)
		return madeEndpoint(e, secret), err
	}))
	TestEndpoint = newChange(operation.Change{
		Name: "testEndpoint", Method: "POST", Path: "/manage/endpoints/{name}/test", Summary: "Send a test to an endpoint",
		Doc: "Sends one change of the type test now, without retries; the answer is the result.",
		Go:  "Endpoints().Test",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (schema.Delivery, error) {
		return s.Endpoints().Test(ctx, name)
	}))
	EndEndpoint = newChange(operation.Change{
		Name: "endEndpoint", Method: "DELETE", Path: "/manage/endpoints/{name}", Summary: "End an endpoint",
		Doc: "Its pending deliveries are removed.",
		Go:  "Endpoints().End",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (nothing, error) {
		return nothing{}, s.Endpoints().End(ctx, name)
	}))
	DeliverAgain = newChange(operation.Change{
		Name: "deliverAgain", Method: "POST", Path: "/manage/deliveries/{id}/again", Summary: "Repeat a delivery",
		Doc: "Whatever its result was, it is due at once, as if it had never been attempted.",
		Go:  "Endpoints().Again",
	}, still(func(ctx context.Context, s *Session, id string, _ nothing) (schema.Delivery, error) {
		return s.Endpoints().Again(ctx, id)
	}))

	StartBulk = newChange(operation.Change{
		Name: "putBulk", Method: "PUT", Path: "/manage/bulk/{name}", Summary: "Start a bulk job",
		Doc: "The body is a file of up to 2,000,000 lines and 256 MiB, each a read, by platform, operation and params, or by a " +
			"url. A line that cannot be read is refused alone, and empty lines are skipped. The job is worked in the " +
			"background, and lines that are not found or fail are free. The same file with the same options answers the same " +
			"job; another one is refused until the job is done, and then replaces it with its results.", New: true,
		Line: reflect.TypeFor[schema.BulkLine](), Params: bulkParams(),
		Go: "Bulk().Start", Example: bulkExample,
	}, func(ctx context.Context, s *Session, name string, f operation.File) (schema.BulkStart, bool, error) {
		return s.Bulk().Start(ctx, name, f)
	})
	StopBulk = newChange(operation.Change{
		Name: "stopBulk", Method: "DELETE", Path: "/manage/bulk/{name}", Summary: "Stop a bulk job",
		Doc: "What is under way is finished and charged; the rest is never begun. Its results stay.",
		Go:  "Bulk().Stop",
	}, still(func(ctx context.Context, s *Session, name string, _ nothing) (schema.BulkJob, error) {
		return s.Bulk().Stop(ctx, name)
	}))

	ReadSettings = newChange(operation.Change{
		Name: "getAccount", Method: "GET", Path: "/manage/account", Summary: "Read the settings of the account",
		Go: "Settings",
	}, still(func(ctx context.Context, s *Session, _ string, _ nothing) (schema.AccountSettings, error) {
		return s.Settings().Read(ctx)
	}))
	PutSettings = newChange(operation.Change{
		Name: "putAccount", Method: "PUT", Path: "/manage/account", Summary: "Replace the settings of the account",
		Doc: "A setting that is left out gets its default again.",
		Go:  "ChangeSettings", Example: `{"credits_low": 100}`,
	}, still(func(ctx context.Context, s *Session, _ string, a schema.AccountSettings) (schema.AccountSettings, error) {
		return s.Settings().Put(ctx, a)
	}))
)

// What the operator changes.
var (
	ListAccounts = newChange(operation.Change{
		Name: "listAccounts", Method: "GET", Path: "/manage/accounts", Summary: "List all accounts, oldest first",
		Doc:      "An answer has at most 100; if there are more, next is the value of after for the next answer.",
		Operator: true, Query: "after", QueryDoc: "The id of the last account of the previous answer.",
	}, operated(func(ctx context.Context, a OperatorAccounts, after string, _ nothing) (schema.Accounts, bool, error) {
		out, err := a.list(ctx, after)
		return out, false, err
	}))
	PutAccount = newChange(operation.Change{
		Name: "makeAccount", Method: "PUT", Path: "/manage/accounts/{name}",
		Summary: "Create an account, or change the monthly credits of the one with that name or id",
		Doc: "Credits are for a new account only. Monthly credits are granted at once and then at 00:00 UTC on the first of " +
			"each month; a change counts from the next month, and what was not spent stays.",
		Optional: true, New: true, Operator: true, Example: `{"credits": 1000, "monthly": 10000}`,
	}, operated(func(
		ctx context.Context, a OperatorAccounts, name string, spec schema.AccountSpec,
	) (schema.Account, bool, error) {
		return a.put(ctx, name, spec)
	}))
	ShowAccount = newChange(operation.Change{
		Name: "showAccount", Method: "GET", Path: "/manage/accounts/{name}", Summary: "Read the account with a name or an id",
		Operator: true,
	}, operated(func(ctx context.Context, a OperatorAccounts, name string, _ nothing) (schema.Account, bool, error) {
		out, err := a.get(ctx, name)
		return out, false, err
	}))
	GrantCredits = newChange(operation.Change{
		Name: "grantCredits", Method: "POST", Path: "/manage/accounts/{name}/grant", Summary: "Give an account credits",
		Doc: "With a key, or with an Idempotency-Key, which is then the key, the credits are granted once, however often " +
			"the request is repeated.", Once: true, Operator: true,
		Example: `{"credits": 500, "reason": "invoice 7", "key": "invoice-7"}`,
	}, operated(func(
		ctx context.Context, a OperatorAccounts, name string, g schema.CreditGrant,
	) (schema.Account, bool, error) {
		return a.give(ctx, name, credits.Gift{
			Kind: credits.Granted, Amount: g.Credits, Reason: cmp.Or(g.Reason, "grant"), Key: g.Key,
		})
	}))
	RefundCredits = newChange(operation.Change{
		Name: "refundCredits", Method: "POST", Path: "/manage/accounts/{name}/refund",
		Summary: "Give an account back what a request was charged, or a part of it",
		Doc:     "A key is that of a grant. Refunds of a request never exceed what it was charged.", Once: true, Operator: true,
		Example: `{"credits": 1, "request_id": "req_2f6c0b1e", "reason": "the answer was late"}`,
	}, operated(func(
		ctx context.Context, a OperatorAccounts, name string, r schema.CreditRefund,
	) (schema.Account, bool, error) {
		return a.give(ctx, name, credits.Gift{
			Kind: credits.Refunded, Amount: r.Credits, RequestID: r.RequestID, Reason: cmp.Or(r.Reason, "refund"), Key: r.Key,
		})
	}))
	CloseAccount = newChange(operation.Change{
		Name: "closeAccount", Method: "POST", Path: "/manage/accounts/{name}/close", Summary: "Close an account for good",
		Doc: "Its keys are revoked, and its monitors, endpoints and bulk jobs ended. Its entries and its balance stay, and it gets no " +
			"more credits but refunds. Repeating the request changes nothing.", Operator: true,
	}, operated(func(ctx context.Context, a OperatorAccounts, name string, _ nothing) (schema.Account, bool, error) {
		return a.end(ctx, name)
	}))
)

// changes has the rows above, in the order of the description.
var changes = []interface {
	about() *operation.Change
	do(ctx context.Context, s *Session, target string, body any) (answer any, isNew bool, err error)
}{
	MakeKey, ChangeKey, RotateKey, RevokeKey, MakeMonitor, PauseMonitor, ResumeMonitor, EndMonitor, MakeFeed, EndFeed,
	MakeEndpoint, RekeyEndpoint, TestEndpoint, EndEndpoint, DeliverAgain, StartBulk, StopBulk,
	ReadSettings, PutSettings,
	ListAccounts, PutAccount, ShowAccount, GrantCredits, RefundCredits, CloseAccount,
}

// Change makes a change, for front ends.
func (s *Session) Change(ctx context.Context, c *operation.Change, target string, body any) (any, bool, error) {
	for _, row := range changes {
		if row.about().Name == c.Name {
			if row.about().Operator && s.Key() != nil {
				return nil, false, problem.New(problem.Unauthorized, "only the operator of the service can do this")
			}
			return row.do(ctx, s, target, body)
		}
	}
	return nil, false, problem.New(problem.NotFound, "there is no such change")
}

// Changes returns a copy of the table of what an account changes, which the caller owns.
func Changes() []*operation.Change {
	out := make([]*operation.Change, len(changes))
	for i, row := range changes {
		own := *row.about()
		out[i] = &own
	}
	return out
}

func wishOf(name string, k schema.KeySpec) KeyWish {
	wish := KeyWish{
		Name: name, Environment: keys.Environment(k.Environment), Manage: k.Manage,
		Limits: keys.Limits{DayCap: k.DayCap, TotalCap: k.TotalCap},
	}
	if k.Rate != nil {
		wish.Limits.Rate = &keys.Rate{Capacity: k.Rate.Capacity, Refill: k.Rate.RefillPerS}
	}
	return wish
}

// define returns the definition of a monitor.
func define(m schema.MonitorSpec) (watch.Definition, error) {
	d := watch.Definition{
		Ask:   watch.Ask{Operation: m.Operation, Platform: string(m.Platform), Params: m.Params},
		Pages: m.Pages, Follow: m.Follow, Fields: m.Fields, Alerts: m.Alerts,
	}
	every, err := durationOf(m.Every, 0)
	switch {
	case err != nil && strings.ContainsAny(m.Every, " @"):
		d.Cron = strings.Join(strings.Fields(m.Every), " ")
	case err != nil || m.Every != "" && every <= 0:
		return d, problem.New(problem.InvalidRequest, "every must be a duration such as 30s, 15m or 24h, or a cron line "+
			"such as 0 9 * * 1-5 Europe/Berlin")
	default:
		d.Every = every
	}
	return d, nil
}

func madeEndpoint(e schema.Endpoint, secret string) schema.MadeEndpoint {
	made := schema.MadeEndpoint{Endpoint: e}
	if secret != "" {
		made.Secret = &secret
	}
	return made
}

// durationOf returns a duration, or def for "".
func durationOf(text string, def time.Duration) (time.Duration, error) {
	if text == "" {
		return def, nil
	}
	return time.ParseDuration(text)
}
