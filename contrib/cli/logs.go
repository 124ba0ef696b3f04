package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

type logsCmd struct {
	Follow   bool   `help:"Keep printing calls as they come, oldest first, until interrupted." short:"f"`
	Account  string `help:"Only calls of this account, by its name or id; with --server it is that of the key." placeholder:"NAME" predictor:"account"`
	KeyID    string `help:"Only calls of the key with this id." placeholder:"ID" predictor:"key"`
	Status   int    `help:"Only calls that were answered with this HTTP status." placeholder:"N"`
	Platform string `help:"Only calls of this platform." predictor:"platform"`
	Request  string `help:"Only this call, with all that is known of it: its entries in the ledger and, if it failed, what to do." placeholder:"ID"`
	Limit    int    `help:"The most calls to list; with --follow, of those before its start." default:"50"`

	outputFlags `embed:""`
}

// Run lists the last calls, newest first, or shows the one of --request.
func (c *logsCmd) Run(e *env) error {
	if c.Limit < 1 {
		return misusef("--limit must be at least 1")
	}
	if e.remote() {
		return c.overHTTP(e)
	}
	return e.with(func(db *store) error {
		q := requests.Query{Key: c.KeyID, Status: c.Status, Platform: c.Platform, ID: c.Request, Limit: c.Limit}
		if c.Account != "" {
			a, err := db.Keys().Account(e.ctx, c.Account)
			if err != nil {
				return err
			}
			q.Account = a.ID
		}
		if c.Follow {
			return c.follow(e, everyHere, listed(e.ctx, db.Requests(), q))
		}
		found, err := db.Requests().List(e.ctx, q)
		if err != nil {
			return err
		}
		shapes := make([]requestShape, len(found))
		for i := range found {
			shapes[i] = shapeOfRequest(&found[i])
		}
		if c.selectsOne() {
			return c.oneInDatabase(e, db, shapes)
		}
		return c.print(e, shapes)
	})
}

func (c *logsCmd) line(e *env, r requestShape) error {
	if c.Output == "jsonl" {
		b, err := schema.Marshal(r)
		if err != nil {
			return err
		}
		return e.printf("%s\n", b)
	}
	return e.printf("%s  %s  %s  %s  %s  %s  %s  %d ms  %s\n", stamp(&r.Time), r.RequestID, r.Key,
		cmp.Or(strings.TrimSpace(r.Platform+" "+r.Operation), "-"), strings.TrimSpace(strconv.Itoa(r.Status)+" "+r.Code),
		cmp.Or(r.Cache, "-"), counted(r.Credits, "credit"), r.TookMS, strings.TrimSpace(strings.Join(r.providers(), ",")+"  "+r.Detail))
}

// overHTTP lists the calls of the account of --key.
func (c *logsCmd) overHTTP(e *env) error {
	if c.Account != "" {
		return errKeyAccount
	}
	client, err := e.server()
	if err != nil {
		return err
	}
	req := accounts.RequestsRequest{
		RequestID: c.Request, KeyID: c.KeyID, Status: c.Status, Platform: platform.ID(c.Platform),
	}
	rows := func(yield func(requestShape, error) bool) {
		for r, err := range socialdata.Walk(e.ctx, client.Account().Requests, req) {
			if !yield(shapeOfRequestRow(&r), err) {
				return
			}
		}
	}
	if c.Follow {
		return c.follow(e, everyThere, rows)
	}
	shapes := []requestShape{}
	for r, err := range rows {
		if err != nil {
			return err
		}
		if shapes = append(shapes, r); len(shapes) == c.Limit {
			break
		}
	}
	if c.selectsOne() {
		return c.oneAtServer(e, client.Account(), shapes)
	}
	return c.print(e, shapes)
}

func (c *logsCmd) print(e *env, shapes []requestShape) error {
	return c.show(e, shapes, func() error {
		head := []string{
			"TIME", "REQUEST", "ACCOUNT", "KEY", "SOURCE", "OPERATION", "PLATFORM", "STATUS", "CODE", "CACHE", "CREDITS", "TOOK MS",
			"PROVIDERS", "UPSTREAM", "DETAIL",
		}
		return e.table(head, func(row func(...string)) {
			for _, r := range shapes {
				upstream := ""
				if r.Upstream != 0 {
					upstream = strconv.Itoa(r.Upstream)
				}
				row(stamp(&r.Time), r.RequestID, r.Account, r.Key, r.Source, r.Operation, r.Platform, strconv.Itoa(r.Status), r.Code,
					r.Cache, strconv.FormatInt(r.Credits, 10), strconv.FormatInt(r.TookMS, 10), strings.Join(r.providers(), " "),
					upstream, r.Detail)
			}
		})
	})
}

// requestShape is a call of the request log.
type requestShape struct {
	Time      time.Time `json:"time"`
	RequestID string    `json:"request_id"`
	Account   string    `json:"account"`
	Key       string    `json:"key"`
	Source    string    `json:"source"`
	Operation string    `json:"operation"`
	Platform  string    `json:"platform"`
	Status    int       `json:"status"`
	Code      string    `json:"code"`
	Detail    string    `json:"detail"`
	Upstream  int       `json:"upstream_status"` // 0 for none, and over HTTP
	Cache     string    `json:"cache"`
	Held      int64     `json:"held"`
	Credits   int64     `json:"credits"`
	TookMS    int64     `json:"took_ms"`

	Providers []providerShape `json:"providers"`
}

// providerShape is a provider that was asked for a call.
type providerShape struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"` // 0 if it was passed over
	TookMS int64  `json:"took_ms"`
	Status int    `json:"upstream_status"` // 0 for none, and over HTTP
	Cause  string `json:"cause"`           // "" for none, and over HTTP
}

// providers returns the names of the providers that were called, in order.
func (r *requestShape) providers() (names []string) {
	for _, p := range r.Providers {
		if p.Calls > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

func shapeOfRequest(r *requests.Request) requestShape {
	shape := requestShape{
		r.At.UTC(), r.ID, r.Account, r.Key, r.Source, r.Operation, r.Platform, r.Status, r.Code, r.Detail, r.Upstream, r.Cache,
		r.Held, r.Credits, r.Took.Milliseconds(),
		[]providerShape{},
	}
	for _, p := range r.Providers {
		shape.Providers = append(shape.Providers, providerShape{p.Name, p.Calls, p.Took.Milliseconds(), p.Status, p.Cause})
	}
	return shape
}

func shapeOfRequestRow(r *schema.Request) requestShape {
	shape := requestShape{
		Time: r.At.UTC(), RequestID: r.RequestID, Account: r.AccountID, Key: r.KeyID, Source: string(r.Source),
		Status: r.Status, Held: r.Held, Credits: r.Credits, TookMS: r.TookMS, Providers: []providerShape{},
	}
	for _, p := range r.Providers {
		shape.Providers = append(shape.Providers, providerShape{Name: p.Name, Calls: p.Calls, TookMS: p.TookMS})
	}
	for to, from := range map[*string]*string{
		&shape.Operation: r.Operation, &shape.Platform: r.Platform, &shape.Code: r.Code, &shape.Detail: r.Detail,
		&shape.Cache: (*string)(r.Cache),
	} {
		if from != nil {
			*to = *from
		}
	}
	return shape
}

// usageShape is the usage of one group of calls.
type usageShape struct {
	Group    string           `json:"group"`
	Calls    int64            `json:"calls"`
	Paid     int64            `json:"paid"`
	Free     int64            `json:"free"`
	Failed   int64            `json:"failed"`
	Hits     int64            `json:"hits"`
	Credits  int64            `json:"credits"`
	Refunded int64            `json:"refunded"`
	Dropped  int64            `json:"dropped"`
	P50MS    *float64         `json:"p50_ms"`
	P95MS    *float64         `json:"p95_ms"`
	Errors   map[string]int64 `json:"errors"`
}

// by prints the usage of the account, or of all accounts, grouped by --by.
func (c *usageCmd) by(e *env) error {
	if c.RequestID != "" || c.Before != 0 {
		return misusef("--request-id and --before select entries: leave them out with --by")
	}
	req := accounts.UsageByRequest{Group: accounts.UsageGroup(c.By)}
	req.Platform, req.Since, req.Until = platform.ID(c.Platform), c.Since, c.Until
	if e.remote() {
		if c.Account != "" {
			return misusef("with --server the account of the key is used: leave out its name")
		}
		if c.By == string(requests.ByAccount) {
			return misusef("with --server the account of the key is used: --by account adds up those of a database")
		}
		client, err := e.server()
		if err != nil {
			return err
		}
		return c.rollups(e, client.Account().UsageBy, req)
	}
	return e.with(func(db *store) error {
		q := requests.SumQuery{Platform: c.Platform, By: []requests.Dimension{requests.Dimension(c.By)}}
		accounts, err := c.accounts(e.ctx, db)
		if err != nil {
			return err
		}
		if c.Account != "" {
			q.Account = accounts[0].ID
		}
		names := map[string]string{}
		for _, a := range accounts {
			names[a.ID] = a.Name
			if err := requests.Fold(e.ctx, db.Requests(), db.Ledger(), a.ID, e.now().AddDate(0, 0, -requests.Days)); err != nil {
				return err
			}
		}
		if !c.Since.IsZero() {
			q.Since = requests.DayOf(c.Since)
		}
		if !c.Until.IsZero() {
			q.Until = requests.DayOf(c.Until.Add(-time.Nanosecond)) + 1
		}
		sums, err := db.Requests().Sums(e.ctx, q)
		if err != nil {
			return err
		}
		shapes := []usageShape{}
		for _, r := range requests.Rollups(sums) {
			if r.Idle() { // it belongs to no account
				continue
			}
			group := r.Group(q.By[0])
			if q.By[0] == requests.ByAccount {
				group = cmp.Or(names[group], group)
			}
			shapes = append(shapes, shapeOfRollup(&r, group))
		}
		return c.sums(e, shapes)
	})
}

// accounts returns the account of the command, or all accounts if it names none.
func (c *usageCmd) accounts(ctx context.Context, db *store) ([]keys.Account, error) {
	if c.Account == "" {
		return db.Keys().Accounts(ctx)
	}
	a, err := db.Keys().Account(ctx, c.Account)
	return []keys.Account{a}, err
}

// rollups prints the answer of usageBy.
func (c *usageCmd) rollups(
	e *env, usageBy func(context.Context, accounts.UsageByRequest) (*schema.Envelope[[]schema.Rollup], error),
	req accounts.UsageByRequest,
) error {
	got, err := usageBy(e.ctx, req)
	if err != nil {
		return err
	}
	shapes := make([]usageShape, len(got.Data))
	for i, r := range got.Data {
		shapes[i] = usageShape{
			Calls: r.Calls, Paid: r.Paid, Free: r.Free, Failed: r.Failed, Hits: r.Hits, Credits: r.Credits, Refunded: r.Refunded,
			Dropped: r.Dropped, P50MS: r.P50MS, P95MS: r.P95MS, Errors: map[string]int64{},
		}
		if r.Group != nil {
			shapes[i].Group = *r.Group
		}
		for _, code := range r.Errors {
			shapes[i].Errors[code.Code] = code.Calls
		}
	}
	return c.sums(e, shapes)
}

func shapeOfRollup(r *requests.Rollup, group string) usageShape {
	shape := usageShape{
		Group: group, Calls: r.Calls, Paid: r.Paid, Free: r.Free, Failed: r.Failed, Hits: r.Hits, Credits: r.Credits,
		Refunded: r.Refunded, Dropped: r.Dropped, Errors: r.Errors,
	}
	if r.P50 > 0 {
		shape.P50MS, shape.P95MS = new(requests.Milliseconds(r.P50)), new(requests.Milliseconds(r.P95))
	}
	return shape
}

// sums prints the usage of groups.
func (c *usageCmd) sums(e *env, shapes []usageShape) error {
	return c.show(e, shapes, func() error {
		head := []string{
			strings.ToUpper(c.By), "CALLS", "PAID", "FREE", "FAILED", "HITS", "CREDITS", "REFUNDED", "DROPPED", "P50 MS",
			"P95 MS",
		}
		return e.table(head, func(row func(...string)) {
			number := func(n int64) string { return strconv.FormatInt(n, 10) }
			for _, u := range shapes {
				row(cmp.Or(u.Group, "-"), number(u.Calls), number(u.Paid), number(u.Free), number(u.Failed), number(u.Hits),
					number(u.Credits),
					number(u.Refunded), number(u.Dropped), took(u.P50MS), took(u.P95MS))
			}
		})
	})
}

func took(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return strconv.FormatFloat(*ms, 'f', -1, 64)
}
