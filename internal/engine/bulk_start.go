package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// The limits of the file of a bulk job.
const (
	bulkBytes   = 256 << 20
	bulkLines   = 2_000_000
	bulkLine    = 64 << 10 // bytes of a line
	bulkRefused = 1000     // how many refused lines are listed
)

// bulkOptions are the parameters of a bulk job.
type bulkOptions struct {
	MaxCredits int64     `param:"max_credits" doc:"The job waits when it would cost more credits than this."`
	Fresh      bool      `param:"fresh"`
	Enrich     string    `param:"enrich"`
	IncludeRaw bool      `param:"include_raw"`
	Fields     string    `param:"fields,option" form:"fields" doc:"Only these fields of each object, such as id,author.handle; platform, id, url and kind are always there."`
	Deadline   time.Time `param:"deadline,option" doc:"What is open at this time is not begun: RFC 3339."`
	Order      string    `param:"order,option" enum:"given cheapest" doc:"Which lines are worked first: in the given order, which is the default, or the cheapest."`
}

// bulkParams returns the parameters of a bulk job, and bulkExample is a line of its file.
func bulkParams() []operation.Param { return operation.ParamsOf(reflect.TypeFor[bulkOptions]()) }

const bulkExample = `{"platform": "mock", "operation": "profile", "params": {"handle": "salma"}}`

// Start makes a bulk job of a file, and reports whether it is new. Lines that cannot be read are refused one by one.
func (a AccountBulk) Start(ctx context.Context, name string, f operation.File) (out schema.BulkStart, made bool, err error) {
	ctx, id := named(ctx, "")
	out, made, err = a.start(ctx, name, f, id)
	if err != nil {
		return schema.BulkStart{}, false, a.session.fail(ctx, bulking, operation.Call{RequestID: id}, storedBulk(ctx, err))
	}
	return out, made, nil
}

func (a AccountBulk) start(
	ctx context.Context, name string, f operation.File, id string,
) (out schema.BulkStart, made bool, err error) {
	service, owner, err := a.store()
	if err != nil {
		return out, false, err
	}
	j := bulkjob.Job{Account: owner, Name: name}
	in, err := f.Pairs.Bind(bulkParams())
	if err == nil {
		err = watch.CheckName(name)
	}
	if err == nil {
		j.Options, err = a.options(in)
	}
	if err != nil {
		return out, false, err
	}
	if key := a.session.who.Key(); key != nil {
		if _, ok := a.session.accounts.Keys.(keys.Admin); !ok && (key.DayCap != nil || key.TotalCap != nil) {
			return out, false, problem.New(problem.InvalidRequest, "a key with a spending cap cannot start bulk jobs here: "+
				"the service cannot look its caps up later")
		}
		j.Key = key.ID
	}
	if err := a.session.erased.Ready(ctx); err != nil {
		return out, false, err
	}
	file := &bulkFile{session: a.session, id: id, options: bulkPairs(&j.Options), sum: sha256.New()}
	j, made, err = service.Start(ctx, j, file.lines(ctx, f.Lines), func() (string, int64) {
		return hex.EncodeToString(file.sum.Sum(nil)), file.refusedLines
	})
	if err != nil {
		return out, false, cmp.Or(file.failed, err)
	}
	return schema.BulkStart{
		ID: j.Name, Accepted: file.accepted, Refused: file.refused, RefusedLines: file.refusedLines,
		Credits: schema.BulkCredits{Least: file.least, Most: file.most}, New: made,
	}, made, nil
}

// options returns the options of a job.
func (a AccountBulk) options(in operation.Args) (o bulkjob.Options, err error) {
	o = bulkjob.Options{
		MaxCredits: in.MaxCredits(), Fresh: in.Flag("fresh"), IncludeRaw: in.Flag("include_raw"), Fields: in.Get("fields"),
		Deadline: in.Time("deadline"), Cheapest: in.Get("order") == "cheapest",
	}
	if kind := in.Get("enrich"); kind != "" {
		o.Enrich = []string{kind}
	}
	if !o.Deadline.IsZero() && !o.Deadline.After(a.session.cfg.Now()) {
		return o, problem.New(problem.InvalidRequest, `parameter "deadline" must be a time in the future`)
	}
	if _, err := a.session.bulkFields(o.Fields); err != nil {
		return o, problem.Wrap(err, problem.InvalidRequest, `parameter "fields": %v`, err)
	}
	return o, nil
}

// bulkFields returns the choice of fields of a job; nil for all.
func (e *Engine) bulkFields(list string) (*schema.Selection, error) {
	if list == "" {
		return nil, nil
	}
	var types []reflect.Type
	for _, row := range e.cfg.Rows {
		if e.bulkable(row) {
			types = append(types, row.Data)
		}
	}
	return operation.Select(list, types...)
}

// bulkable reports whether a line can make calls of a row: it is one read of a platform.
func (e *Engine) bulkable(row *read.Row) bool {
	return !row.Service && row.Of == nil && e.planners[row.Name] == nil && e.handlers[row.Name] == nil
}

// bulkPairs returns the options of a job that each of its reads has.
func bulkPairs(o *bulkjob.Options) (out operation.Pairs) {
	if o.Fresh {
		out = append(out, operation.Pair{Name: "fresh", Value: "true"})
	}
	if o.IncludeRaw {
		out = append(out, operation.Pair{Name: "include_raw", Value: "true"})
	}
	if len(o.Enrich) > 0 {
		out = append(out, operation.Pair{Name: "enrich", Value: strings.Join(o.Enrich, ",")})
	}
	return out
}

// bulkCall returns the call of a line, with the options that its operation has.
func bulkCall(row *read.Row, on string, params map[string]string, options operation.Pairs) operation.Call {
	call := operation.Call{Platform: on, Pairs: make(operation.Pairs, 0, len(params)+len(options))}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		call.Pairs = append(call.Pairs, operation.Pair{Name: name, Value: params[name]})
	}
	for _, p := range options {
		if row.Has(p.Name) {
			call.Pairs = append(call.Pairs, p)
		}
	}
	return call
}
