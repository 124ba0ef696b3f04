package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

type watchCmd struct {
	Platform  string   `arg:"" help:"The platform, such as youtube." predictor:"platform"`
	Operation string   `arg:"" help:"What is watched, such as posts or profile." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat." predictor:"param"`

	Every  time.Duration `help:"How often it is read, from the lifetime of its answers to 744h; by default the lifetime or 15m." placeholder:"15m"`
	Pages  int           `help:"The most pages of a list that each poll reads, 1 to 10; by default 2." placeholder:"N"`
	Follow int           `help:"How many of the newest items of a list are compared as well, 0 to 100." placeholder:"N"`
	Only   []string      `name:"only" help:"Compare only these fields, such as bio or text." placeholder:"A,B"`
	Alerts []string      `name:"alert" help:"Report when a number changes by so much or crosses a limit, such as followers:5% or viewers:>=10000." placeholder:"FIELD:STEP"`
	Name   string        `help:"The name of the monitor that --server creates; by default it is made from the operation and its parameters." placeholder:"NAME"`

	outputFlags `embed:""`
}

// Run prints changes until it is interrupted. Without --server this process polls, free of charge, and stores nothing;
// with it the server makes a monitor, which continues after this process.
func (c *watchCmd) Run(e *env) error {
	at := call{Platform: c.Platform, Operation: c.Operation, Params: c.Params}
	o, parsed, err := at.parse(e.localPlatforms())
	if err != nil {
		return err
	}
	if !o.Watched {
		return misusef("%s cannot be watched; these can: %s", o.Name, strings.Join(watchedNames(), ", "))
	}
	req := socialdata.WatchRequest{
		Name: c.Name, Operation: o.Name, Platform: platform.ID(parsed.Platform), Params: map[string]string{}, Every: c.Every,
		Pages: c.Pages, Follow: c.Follow, Fields: c.Only, Alerts: c.Alerts,
	}
	for name, values := range parsed.Params {
		if len(values) != 1 {
			return misusef("parameter %q must be given once", name)
		}
		req.Params[name] = values[0]
	}
	if e.remote() {
		return c.print(e, c.watchThere(e, req))
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
func (c *watchCmd) watchThere(e *env, req socialdata.WatchRequest) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		client, err := e.server()
		if err != nil {
			yield(schema.Change{}, err)
			return
		}
		if req.Name == "" {
			req.Name = req.DefaultName()
		}
		m, _, err := client.Monitors().Make(e.ctx, req)
		if err != nil {
			yield(schema.Change{}, err)
			return
		}
		_, _ = fmt.Fprintf(e.log,
			"The monitor %s polls every %s, at %d to %d credits a month; DELETE /manage/monitors/%s ends it.\n",
			m.Name, m.Every, m.Price.Least, m.Price.Most, m.Name)
		since := m.CreatedAt
		if m.LastAt != nil {
			since = m.LastAt.Add(time.Second) // older changes were printed before
		}
		req := socialdata.ChangesRequest{Monitor: m.Name, Since: since.Truncate(time.Second)}
		follow(e.ctx, client.Changes, req, yield)
	}
}

// follow yields the pages of the feed, waiting for more at its end until ctx ends.
func follow(
	ctx context.Context, page func(context.Context, socialdata.ChangesRequest) (*schema.Envelope[[]schema.Change], error),
	req socialdata.ChangesRequest, yield func(schema.Change, error) bool,
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
	Account string    `help:"The account of the feed; with --server it is that of --key." placeholder:"NAME"`
	Monitor string    `help:"Only changes of this monitor." placeholder:"NAME"`
	Type    string    `help:"Only changes of this type, such as new or changed." placeholder:"TYPE"`
	Since   time.Time `help:"Only changes from this time or later, as 2026-11-01T00:00:00Z." placeholder:"TIME"`
	Follow  bool      `short:"f" help:"Keep printing new changes until interrupted."`

	outputFlags `embed:""`
}

// Run prints the feed of an account, oldest first.
func (c *changesCmd) Run(e *env) error {
	if e.remote() {
		if c.Account != "" {
			return errKeyAccount
		}
		client, err := e.server()
		if err != nil {
			return err
		}
		req := socialdata.ChangesRequest{Monitor: c.Monitor, Type: c.Type, Since: c.Since}
		if c.Follow {
			return c.print(e, func(yield func(schema.Change, error) bool) { follow(e.ctx, client.Changes, req, yield) })
		}
		return c.print(e, socialdata.Walk(e.ctx, client.Changes, req))
	}
	if c.Account == "" {
		return misusef("name the account of the feed with --account")
	}
	return e.with(func(db *store) error {
		account, err := db.Keys().Account(e.ctx, c.Account)
		if err != nil {
			return err
		}
		q := watch.Since{Account: account.ID, Monitor: c.Monitor, Type: c.Type, From: c.Since, Limit: 100}
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
	return c.printChanges(e, changes, c.Follow)
}

func printLine(e *env, c *schema.Change) error {
	b, err := schema.Marshal(c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "%s\n", b)
	return err
}

// wordsOf describes a change in one line.
func wordsOf(c *schema.Change) string {
	parts := []string{c.At.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("%-9s", c.Type)}
	for _, part := range []*string{c.Monitor, c.Key, c.Detail} {
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
