package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
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
	Request  string `help:"Only this call." placeholder:"ID"`
	Limit    int    `help:"The most calls to list; with --follow, of those before its start." default:"50"`

	outputFlags `embed:""`
}

// Run lists the last calls, newest first.
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
	return e.printf("%s  %s  %s  %s  %s  %s  %d credits  %d ms  %s\n", stamp(&r.Time), r.RequestID, r.Key,
		cmp.Or(strings.TrimSpace(r.Platform+" "+r.Operation), "-"), strings.TrimSpace(strconv.Itoa(r.Status)+" "+r.Code),
		cmp.Or(r.Cache, "-"), r.Credits, r.TookMS, strings.Join(r.Providers, ","))
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
	req := socialdata.RequestsRequest{
		RequestID: c.Request, KeyID: c.KeyID, Status: c.Status, Platform: platform.ID(c.Platform),
	}
	rows := func(yield func(requestShape, error) bool) {
		for r, err := range socialdata.Walk(e.ctx, client.Requests, req) {
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
	return c.print(e, shapes)
}

func (c *logsCmd) print(e *env, shapes []requestShape) error {
	return c.show(e, shapes, func() error {
		head := []string{
			"TIME", "REQUEST", "ACCOUNT", "KEY", "OPERATION", "PLATFORM", "STATUS", "CODE", "CACHE", "CREDITS", "TOOK MS", "PROVIDERS",
		}
		return e.table(head, func(row func(...string)) {
			for _, r := range shapes {
				row(stamp(&r.Time), r.RequestID, r.Account, r.Key, r.Operation, r.Platform, strconv.Itoa(r.Status), r.Code, r.Cache,
					strconv.FormatInt(r.Credits, 10), strconv.FormatInt(r.TookMS, 10), strings.Join(r.Providers, " "))
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
	Operation string    `json:"operation"`
	Platform  string    `json:"platform"`
	Status    int       `json:"status"`
	Code      string    `json:"code"`
	Cache     string    `json:"cache"`
	Credits   int64     `json:"credits"`
	TookMS    int64     `json:"took_ms"`
	Providers []string  `json:"providers"`
}

func shapeOfRequest(r *requests.Request) requestShape {
	return requestShape{
		r.At.UTC(), r.ID, r.Account, r.Key, r.Operation, r.Platform, r.Status, r.Code, r.Cache, r.Credits,
		r.Took.Milliseconds(),
		append([]string{}, r.Providers...),
	}
}

func shapeOfRequestRow(r *schema.Request) requestShape {
	shape := requestShape{
		Time: r.At.UTC(), RequestID: r.RequestID, Account: r.AccountID, Key: r.KeyID, Status: r.Status, Credits: r.Credits,
		TookMS: r.TookMS, Providers: append([]string{}, r.Providers...),
	}
	for to, from := range map[*string]*string{
		&shape.Operation: r.Operation, &shape.Platform: r.Platform, &shape.Code: r.Code, &shape.Cache: (*string)(r.Cache),
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

// by prints the account's usage, grouped by --by.
func (c *usageCmd) by(e *env) error {
	if c.RequestID != "" || c.Before != 0 {
		return misusef("--request-id and --before select entries: leave them out with --by")
	}
	req := socialdata.UsageByRequest{Group: socialdata.UsageGroup(c.By)}
	req.Platform, req.Since, req.Until = platform.ID(c.Platform), c.Since, c.Until
	if e.remote() {
		if c.Account != "" {
			return misusef("with --server the account of the key is used: leave out its name")
		}
		client, err := e.server()
		if err != nil {
			return err
		}
		return c.rollups(e, client.UsageBy, req)
	}
	if c.Account == "" {
		return misusef("name the account; account list lists them")
	}
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Account)
		if err != nil {
			return err
		}
		if err := requests.Fold(e.ctx, db.Requests(), db.Ledger(), a.ID, e.now().AddDate(0, 0, -requests.Days)); err != nil {
			return err
		}
		q := requests.SumQuery{Account: a.ID, Platform: c.Platform, By: []requests.Dimension{requests.Dimension(c.By)}}
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
			shapes = append(shapes, shapeOfRollup(&r, r.Group(q.By[0])))
		}
		return c.sums(e, shapes)
	})
}

// rollups prints the answer of usageBy.
func (c *usageCmd) rollups(
	e *env, usageBy func(context.Context, socialdata.UsageByRequest) (*schema.Envelope[[]schema.Rollup], error),
	req socialdata.UsageByRequest,
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
