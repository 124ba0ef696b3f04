package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

type watchCmd struct {
	Platform  string   `arg:"" help:"The platform, such as youtube." predictor:"platform"`
	Operation string   `arg:"" help:"What is watched, such as posts or profile." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat." predictor:"param"`

	Each     string   `help:"Watch a panel: each line of this file is a value of the operation's key, such as a handle; - is standard input. NAME=FILE names another parameter. Lines that begin with a number sign and a space are skipped." placeholder:"FILE"`
	Every    string   `help:"How often it is read, from the lifetime of its answers to 744h, or when: a cron line, such as '0 9 * * 1-5 Europe/Berlin'; by default the lifetime or 15m." placeholder:"15m"`
	Estimate bool     `help:"Print what --server would charge for a poll and a month, and watch nothing."`
	Pages    int      `help:"The most pages of a list that each poll reads, 1 to 10; by default 2." placeholder:"N"`
	Follow   int      `help:"How many of the newest items of a list are compared as well, 0 to 100." placeholder:"N"`
	Only     []string `name:"only" help:"Compare only these fields, such as bio or text." placeholder:"A,B"`
	Alerts   []string `name:"alert" help:"Report when a number changes by so much or crosses a limit, such as followers:5% or viewers:>=10000." placeholder:"FIELD:STEP"`
	Name     string   `help:"The name of the monitor that --server creates; by default it is made from the operation and its parameters." placeholder:"NAME"`

	UntilInterrupted bool `name:"until-interrupted" help:"Remove the monitor of --server when this command ends."`

	outputFlags `embed:""`
}

// Run prints changes until it is interrupted. Without --server this process polls, free of charge, and stores nothing;
// with it the server makes a monitor, which continues after this process, unless --until-interrupted removes it.
func (c *watchCmd) Run(e *env) error {
	at := call{Platform: c.Platform, Operation: c.Operation, Params: c.Params}
	o, parsed, err := at.parse(e.localPlatforms())
	if err != nil {
		return err
	}
	if !o.Watched {
		return misusef("%s cannot be watched; these can: %s", o.Name, strings.Join(watchedNames(), ", "))
	}
	req := accounts.WatchRequest{
		Name: c.Name, Operation: o.Name, Platform: platform.ID(parsed.Platform), Params: map[string]string{},
		Pages: c.Pages, Follow: c.Follow, Fields: c.Only, Alerts: c.Alerts, DryRun: c.Estimate,
	}
	if err := c.times(&req); err != nil {
		return err
	}
	if err := c.members(e, o, &req); err != nil {
		return err
	}
	for name, values := range parsed.Params {
		if len(values) != 1 {
			return misusef("parameter %q must be given once", name)
		}
		req.Params[name] = values[0]
	}
	if e.remote() {
		if c.Estimate {
			return c.estimate(e, req)
		}
		return c.print(e, c.watchThere(e, req))
	}
	if c.Estimate {
		return misusef("--estimate is for --server: without it nothing is charged")
	}
	if c.UntilInterrupted {
		return misusef("--until-interrupted removes a monitor of --server: without it nothing is left")
	}
	client, err := e.client()
	if err != nil {
		return err
	}
	err = c.print(e, client.Watch(e.ctx, req))
	detached, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), patience)
	defer cancel()
	return errors.Join(err, client.Close(detached))
}

// times reads --every.
func (c *watchCmd) times(req *accounts.WatchRequest) (err error) {
	if strings.ContainsAny(c.Every, " @") {
		req.Cron = c.Every
		return nil
	}
	if c.Every != "" {
		if req.Every, err = time.ParseDuration(c.Every); err != nil || req.Every <= 0 {
			return misusef("--every must be a duration such as 15m, or a cron line such as '0 9 * * 1-5 Europe/Berlin'")
		}
	}
	return nil
}

// members reads the values of --each.
func (c *watchCmd) members(e *env, o *operation.Operation, req *accounts.WatchRequest) error {
	if c.Each == "" {
		return nil
	}
	name, file, ok := strings.Cut(c.Each, "=")
	if !ok {
		key := o.Key()
		if key == nil {
			return misusef("%s has no key: name the parameter of --each, as NAME=FILE", o.Name)
		}
		name, file = key.Name, c.Each
	}
	lines, err := linesOf(e, file)
	if err != nil {
		return err
	}
	req.Each = map[string][]string{name: lines}
	return nil
}

// estimate prints what a monitor would cost.
func (c *watchCmd) estimate(e *env, req accounts.WatchRequest) error {
	client, err := e.server()
	if err != nil {
		return err
	}
	if req.Name == "" {
		req.Name = req.DefaultName()
	}
	m, err := client.Account().Monitors().Make(e.ctx, req)
	if err != nil {
		return err
	}
	return e.printf("A poll costs %s credits, and 30 days cost %s.\n", priceOf(m.PricePoll), priceOf(m.Price))
}

// priceOf writes a price.
func priceOf(p schema.MonitorPrice) string {
	if p.Least == p.Most {
		return strconv.FormatInt(p.Most, 10)
	}
	return fmt.Sprintf("%d to %d", p.Least, p.Most)
}

func watchedNames() []string {
	var names []string
	for _, o := range socialdata.Operations() {
		if o.Watched && !o.Service {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

// watchThere makes a monitor in the server and follows its changes from then on.
func (c *watchCmd) watchThere(e *env, req accounts.WatchRequest) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		client, err := e.server()
		if err != nil {
			yield(schema.Change{}, err)
			return
		}
		if req.Name == "" {
			req.Name = req.DefaultName()
		}
		m, err := client.Account().Monitors().Make(e.ctx, req)
		if err != nil {
			yield(schema.Change{}, err)
			return
		}
		end := fmt.Sprintf("socialdata monitors remove %s removes it", m.Name)
		if c.UntilInterrupted {
			end = "it is removed when this command ends"
			defer func() {
				detached, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), patience)
				defer cancel()
				if err := client.Account().Monitors().End(detached, m.Name); err != nil {
					_, _ = fmt.Fprintf(escaping{e.log}, "The monitor %s was not removed: %s\n", m.Name, inWords(err))
				}
			}()
		}
		_, _ = fmt.Fprintf(escaping{e.log}, "The monitor %s polls %s, at %s credits in 30 days; %s.\n",
			m.Name, timesOf(m.Every), priceOf(m.Price), end)
		since := m.CreatedAt
		if m.LastAt != nil {
			since = m.LastAt.Add(time.Second) // older changes were printed before
		}
		req := accounts.ChangesRequest{Monitor: m.Name, Since: since.Truncate(time.Second)}
		follow(e.ctx, client.Account().Changes, req, yield)
	}
}

// timesOf writes when a monitor polls.
func timesOf(every string) string {
	if strings.ContainsAny(every, " @") {
		return "at " + every
	}
	return "every " + every
}

// follow yields the pages of the feed, waiting for more at its end until ctx ends.
func follow(
	ctx context.Context, page func(context.Context, accounts.ChangesRequest) (*schema.Envelope[[]schema.Change], error),
	req accounts.ChangesRequest, yield func(schema.Change, error) bool,
) {
	req.Wait = 25 * time.Second
	for {
		got, err := page(ctx, req)
		if err != nil {
			yield(schema.Change{}, err)
			return
		}
		for _, c := range got.Data {
			if !yield(c, nil) {
				return
			}
		}
		req.Cursor = got.Meta.NextCursor
	}
}

type changesCmd struct {
	Monitor string    `help:"Only changes of this monitor." placeholder:"NAME"`
	Type    string    `help:"Only changes of this type, such as new or changed." placeholder:"TYPE"`
	Since   time.Time `help:"Only changes from this time or later, as 2026-11-01T00:00:00Z." placeholder:"TIME"`
	Follow  bool      `short:"f" help:"Keep printing new changes until interrupted."`
	Into    string    `help:"Write to this file, which ends in .db, .csv or .jsonl; a database is updated." type:"path" placeholder:"FILE" group:"output"`

	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run prints the feed of an account, oldest first.
func (c *changesCmd) Run(e *env) error {
	return c.either(e, func(client *remote.Client) error {
		req := accounts.ChangesRequest{Monitor: c.Monitor, Type: c.Type, Since: c.Since}
		if c.Follow {
			return c.print(e, func(yield func(schema.Change, error) bool) { follow(e.ctx, client.Account().Changes, req, yield) })
		}
		return c.print(e, socialdata.Walk(e.ctx, client.Account().Changes, req))
	}, func(db *store, a keys.Account) error {
		q := watch.Since{Account: a.ID, Monitor: c.Monitor, Type: c.Type, From: c.Since, Limit: 100}
		return c.print(e, feed(e.ctx, db.Watches(), q, c.Follow))
	})
}

// feed yields a part of the feed in a database; if forever is set, it looks for more each second.
func feed(ctx context.Context, store watch.Store, q watch.Since, forever bool) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		look := time.NewTicker(time.Second)
		defer look.Stop()
		for {
			found, err := store.Changes(ctx, q)
			if err != nil {
				yield(schema.Change{}, err)
				return
			}
			for _, c := range found {
				if q.After = c.Seq; !yield(c, nil) {
					return
				}
			}
			if len(found) == q.Limit {
				continue
			}
			if !forever {
				return
			}
			select {
			case <-ctx.Done():
				yield(schema.Change{}, ctx.Err())
				return
			case <-look.C:
			}
		}
	}
}

// printChanges prints changes as they come: as text, one in each line, or JSON Lines; the other formats wait for all of
// them. An interruption of the command is not an error.
func (f outputFlags) printChanges(e *env, changes iter.Seq2[schema.Change, error], live bool) error {
	all := []schema.Change{}
	for c, err := range changes {
		if err != nil {
			if e.ctx.Err() != nil {
				break
			}
			return err
		}
		switch f.Output {
		case "", "table":
			err = e.printf("%s\n", wordsOf(&c))
		case "jsonl":
			err = printLine(e, &c)
		default:
			if live {
				return misusef("--output %s needs the end of the feed, which has none: use jsonl or leave it out", f.Output)
			}
			all = append(all, c)
		}
		if err != nil {
			return err
		}
	}
	if f.Output == "json" || f.Output == "csv" {
		return f.show(e, all, nil)
	}
	return nil
}

func (c *watchCmd) print(e *env, changes iter.Seq2[schema.Change, error]) error {
	return c.printChanges(e, changes, true)
}

func (c *changesCmd) print(e *env, changes iter.Seq2[schema.Change, error]) error {
	if c.Into == "" {
		return c.printChanges(e, changes, c.Follow)
	}
	if c.Follow {
		return misusef("--into needs the end of the feed, which --follow has not")
	}
	flat := schema.FlatOf(reflect.TypeFor[schema.Change]())
	to, err := newFileSink(e, c.Into, "changes", flat.Columns)
	if err != nil {
		return err
	}
	n := 0
	for change, err := range changes {
		var b []byte
		if err == nil {
			b, err = schema.Marshal(&change)
		}
		if err == nil {
			err = to.row(flat.Row(b))
		}
		if err != nil {
			return errors.Join(err, to.abort())
		}
		n++
	}
	if err := to.end(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.log, "%d written to %s\n", n, c.Into)
	return err
}

func printLine(e *env, c *schema.Change) error {
	b, err := schema.Marshal(c)
	if err != nil {
		return err
	}
	return encode(e.out, json.RawMessage(b), "")
}

// wordsOf describes a change in one line.
func wordsOf(c *schema.Change) string {
	parts := []string{c.At.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("%-9s", c.Type)}
	for _, part := range []*string{c.Monitor, c.Member, c.Key, c.Detail} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	for _, f := range c.Fields {
		parts = append(parts, fmt.Sprintf("%s: %s → %s", f.Field, short(f.Before), short(f.After)))
	}
	if len(c.Fields) == 0 && len(c.Object) > 0 {
		var o struct{ Text, Title, Name string }
		if json.Unmarshal(c.Object, &o) == nil && o.Title+o.Name+o.Text != "" {
			parts = append(parts, short([]byte(o.Title+o.Name+o.Text)))
		}
	}
	return strings.Join(parts, "  ")
}

// short shortens a value to fit in a line.
func short(value []byte) string {
	runes := []rune(strings.Join(strings.Fields(string(value)), " "))
	if len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return string(runes)
}
