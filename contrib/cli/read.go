package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// call is a read in the arguments of a command.
type call struct {
	Platform  string   `arg:"" help:"The platform, such as github." predictor:"platform"`
	Operation string   `arg:"" help:"The operation, such as profile or collection/posts." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat." predictor:"param"`
	CursorKey string   `help:"Secret that signs cursors; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
}

// parse returns the operation and the call of it, or an error with the most similar names to one that does not exist.
// known are the platforms; nil if only the server knows them.
func (c *call) parse(known *platform.Table) (*operation.Operation, operation.Call, error) {
	id := platform.ID(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(c.Platform)))
	if known != nil && !known.Has(id) {
		return nil, operation.Call{}, misusef("there is no platform %q%s; socialdata platforms lists them", c.Platform,
			problem.DidYouMean(known.Meant(c.Platform), known.Names()))
	}
	if c.Operation == "" {
		return nil, operation.Call{},
			misusef("name an operation after %s, such as posts; socialdata platforms lists them", c.Platform)
	}
	o := socialdata.Operation(strings.ToLower(c.Operation))
	if o == nil || o.Service {
		return nil, operation.Call{}, misusef("there is no operation %q%s; socialdata platforms lists them", c.Operation,
			problem.DidYouMean(c.Operation, operationNames()))
	}
	params, err := parseParams(o, c.Params)
	return o, operation.Call{Platform: string(id), Params: params}, err
}

// parseParams reads name=value.
func parseParams(o *operation.Operation, given []string) (url.Values, error) {
	params, names := url.Values{}, paramNames(o)
	for _, p := range given {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, misusef("parameter %q must be name=value; %s takes %s", p, o.Name, strings.Join(names, ", "))
		}
		if !slices.Contains(names, name) {
			return nil, misusef("%s has no parameter %q%s; it takes %s", o.Name, name, problem.DidYouMean(name, names),
				strings.Join(names, ", "))
		}
		params.Add(name, value)
	}
	return params, nil
}

type getCmd struct {
	call      `embed:""`
	readFlags `embed:""`
}

// Run makes the read and prints the answer. Without --server there is no account, and nothing is charged. The secret of
// cursors is then the one that the server has stored in the database, so that the next get can continue where this one
// ended.
func (c *getCmd) Run(e *env) error {
	o, call, err := c.parse(e.localPlatforms())
	if err != nil {
		return err
	}
	if err := c.check(o); err != nil {
		return err
	}
	if c.bound(o, call.Params); c.Estimate {
		return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error { return c.estimate(e, o, call, opts...) })
	}
	if !o.Paged() {
		return c.get(e, o, call)
	}
	return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error { return c.get(e, o, call, opts...) })
}

func (c *getCmd) get(e *env, o *operation.Operation, call operation.Call, opts ...socialdata.Option) error {
	client, err := e.caller(opts...)
	if err != nil {
		return err
	}
	a, err := client.Do(e.ctx, o, call)
	if err != nil {
		return err
	}
	data, meta, printed := a.Data, a.Meta, o
	if a.Made != nil {
		printed = a.Made.Operation
		if err := c.check(printed); err != nil {
			return err
		}
	}
	if c.Limit > 0 {
		if data, meta, err = c.more(e, client, o, call, a); err != nil {
			return err
		}
	}
	return c.print(e, printed, data, meta)
}

// more reads further pages until the limit is reached. The meta is that of the last page.
func (c *getCmd) more(
	e *env, client caller, o *operation.Operation, call operation.Call, a *operation.Answer,
) (json.RawMessage, schema.Meta, error) {
	var all []json.RawMessage
	for {
		rows, _, err := itemsOf(a.Data)
		if err != nil {
			return nil, schema.Meta{}, err
		}
		all = append(all, rows...)
		next := a.Meta.NextCursor
		if len(all) >= c.Limit || next == "" || next == call.Params.Get("cursor") {
			return dataOf(all, true), a.Meta, nil
		}
		call.Params.Set("cursor", next)
		if a, err = client.Do(e.ctx, o, call); err != nil {
			return nil, schema.Meta{}, err
		}
	}
}

// withPages calls do with the options of a client whose cursors are those of the server with the same database.
func (e *env) withPages(cursorKey string, do func(opts ...socialdata.Option) error) error {
	if e.remote() {
		return do()
	}
	return e.withNew(func(db *store) error {
		return do(append(cursorKeys(cursorKey), socialdata.WithRecords(db.Records()),
			socialdata.WithErasures(db.Blocklist(), db.erasers()...))...)
	})
}

type openCmd struct {
	Address   string   `arg:"" name:"url" help:"A web address, or text that holds one."`
	Params    []string `arg:"" optional:"" help:"Options as name=value, such as fresh=true."`
	CursorKey string   `help:"Secret that signs cursors; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
	readFlags `embed:""`
}

// Run reads what a URL names and prints it like get.
func (c *openCmd) Run(e *env) error {
	o := socialdata.Operation("read")
	params, err := parseParams(o, c.Params)
	if err != nil {
		return err
	}
	params.Set("url", c.Address)
	if c.bound(o, params); c.Estimate {
		if err := c.check(o); err != nil {
			return err
		}
		return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error {
			return c.estimate(e, o, operation.Call{Params: params}, opts...)
		})
	}
	named, err := c.named(e)
	if err != nil {
		return err
	}
	get := getCmd{readFlags: c.readFlags}
	if named == nil || !named.Paged() {
		return get.get(e, o, operation.Call{Params: params})
	}
	if err := c.check(named); err != nil {
		return err
	}
	return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error {
		return get.get(e, o, operation.Call{Params: params}, opts...)
	})
}

// named returns the operation that reads what the URL names; nil if that is known only after the read.
func (c *openCmd) named(e *env) (*operation.Operation, error) {
	client, err := e.caller()
	if err != nil {
		return nil, err
	}
	a, err := client.Do(e.ctx, socialdata.Operation("resolve"), operation.Call{Params: url.Values{"url": {c.Address}}})
	if err != nil {
		return nil, nil //nolint:nilerr // a short link can be opened, and the read says what else is wrong
	}
	var calls []schema.Resolved
	if err := json.Unmarshal(a.Data, &calls); err != nil || len(calls) == 0 {
		return nil, err
	}
	return socialdata.Operation(calls[0].Operation), nil
}

type resolveCmd struct {
	Address string `arg:"" name:"url" help:"A web address, or text that holds one."`

	outputFlags `embed:""`
}

// Run prints the calls that read what a URL names. It asks no platform.
func (c *resolveCmd) Run(e *env) error {
	client, err := e.caller()
	if err != nil {
		return err
	}
	a, err := client.Do(e.ctx, socialdata.Operation("resolve"), operation.Call{Params: url.Values{"url": {c.Address}}})
	if err != nil {
		return err
	}
	calls := []schema.Resolved{}
	if err := json.Unmarshal(a.Data, &calls); err != nil {
		return err
	}
	return c.show(e, calls, func() error {
		return e.table([]string{"CALL", "STATE"}, func(row func(...string)) {
			for _, r := range calls {
				words := []string{"socialdata get", string(r.Platform), r.Operation}
				for _, name := range slices.Sorted(maps.Keys(r.Params)) {
					words = append(words, name+"="+r.Params[name])
				}
				state := "available"
				if r.Reason != nil {
					state = *r.Reason
				}
				row(strings.Join(words, " "), state)
			}
		})
	})
}

type searchCmd struct {
	Query     string   `arg:"" help:"What to look for."`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as platforms=github,hackernews or kind=post." predictor:"param"`
	readFlags `embed:""`
}

// Run searches the platforms concurrently and prints the results when all have answered.
func (c *searchCmd) Run(e *env) error {
	o := socialdata.Operation("search_across")
	params, err := parseParams(o, c.Params)
	if err != nil {
		return err
	}
	if err := c.check(o); err != nil {
		return err
	}
	params.Set("query", c.Query)
	if c.bound(o, params); c.Estimate {
		return c.estimate(e, o, operation.Call{Params: params})
	}
	client, err := e.caller()
	if err != nil {
		return err
	}
	results, meta := []json.RawMessage{}, schema.Meta{}
	err = client.Stream(e.ctx, o, operation.Call{Params: params}, func(ev operation.Event) bool {
		switch {
		case ev.Result != nil:
			results = append(results, ev.Result)
		case ev.Meta != nil:
			meta = *ev.Meta
		}
		return true
	})
	if err != nil {
		return err
	}
	data, err := json.Marshal(results)
	if err != nil {
		return err
	}
	return c.print(e, o, data, meta)
}

type platformsCmd struct {
	All bool `help:"Also list what is not available, with the reason." xor:"what"`
	Raw bool `help:"List the raw routes, under /v1/raw, instead." xor:"what"`

	outputFlags `embed:""`
}

// Run prints the platform × operation table.
func (c *platformsCmd) Run(e *env) error {
	client, err := e.caller()
	if err != nil {
		return err
	}
	got, err := client.Platforms(e.ctx, socialdata.PlatformsRequest{})
	if err != nil {
		return err
	}
	columns, terminal := width(e.out)
	printed := func() error {
		if terminal && (c.Raw || c.All) {
			return printReasons(escaping{e.out}, got.Data, c.Raw, columns)
		}
		if c.Raw || c.All {
			return c.lists(e, got.Data)
		}
		for _, p := range got.Data {
			if err := printPlatform(escaping{e.out}, p, columns); err != nil {
				return err
			}
		}
		return e.printf("\n%s\n%s\n", "A > B: B is used when A fails. (A: 2) is what A charges you for a call.",
			"platforms --all says why a cell is empty, platforms --raw lists the raw routes.")
	}
	if c.Raw {
		return c.show(e, routesOf(got.Data), printed)
	}
	return c.show(e, servedBy(got.Data, c.All), printed)
}

// lists prints a line for each operation, or for each raw route.
func (c *platformsCmd) lists(e *env, platforms []schema.PlatformInfo) error {
	if c.Raw {
		return e.table([]string{"PLATFORM", "ROUTE", "NOTE"}, func(row func(...string)) {
			for _, p := range platforms {
				for _, r := range p.RawRoutes {
					row(string(p.Platform), "/v1/raw/"+r.Provider+"/"+r.Path, needed(p, r.Missing))
				}
			}
		})
	}
	return e.table([]string{"PLATFORM", "OPERATION", "STATE", "NOTE"}, func(row func(...string)) {
		for _, p := range platforms {
			for _, o := range p.Operations {
				state, note := state(p, o)
				row(string(p.Platform), o.Operation, state, note)
			}
		}
	})
}

// servedBy returns the operations of each platform that are served, or would be if a setting were set; all operations
// if all is true.
func servedBy(platforms []schema.PlatformInfo, all bool) []servedShape {
	shapes := []servedShape{}
	for _, p := range platforms {
		for _, o := range p.Operations {
			if !o.Available && len(o.Missing) == 0 && !all {
				continue
			}
			_, note := state(p, o)
			shapes = append(shapes, servedShape{
				string(p.Platform), o.Operation, o.Available, append([]string{}, o.Providers...), variablesOf(p, o.Missing), note,
			})
		}
	}
	return shapes
}

func routesOf(platforms []schema.PlatformInfo) []routeShape {
	shapes := []routeShape{}
	for _, p := range platforms {
		for _, r := range p.RawRoutes {
			shapes = append(shapes, routeShape{
				string(p.Platform), "/v1/raw/" + r.Provider + "/" + r.Path, r.Available, variablesOf(p, r.Missing),
			})
		}
	}
	return shapes
}

// printReasons prints what is known of each operation, or of each raw route, as text, because a table would be too wide
// for a terminal.
func printReasons(w io.Writer, platforms []schema.PlatformInfo, raw bool, columns int) error {
	for _, p := range platforms {
		lines := []string{}
		for _, o := range p.Operations {
			state, note := state(p, o)
			switch {
			case len(o.Missing) > 0:
				state = note
			case note != "":
				state += "; " + note
			}
			lines = append(lines, o.Operation+": "+state)
		}
		if raw {
			lines = lines[:0]
			for _, r := range p.RawRoutes {
				lines = append(lines, "/v1/raw/"+r.Provider+"/"+r.Path+" "+needed(p, r.Missing))
			}
		}
		if len(lines) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w, p.Platform); err != nil {
			return err
		}
		for _, line := range lines {
			for i, part := range wrap(line, columns-6) {
				if i > 0 {
					part = "    " + part
				}
				if _, err := fmt.Fprintln(w, "  "+part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printPlatform prints what can be read from p, by provider.
func printPlatform(w io.Writer, p schema.PlatformInfo, columns int) error {
	var order []string
	served := map[string][]string{}
	for _, o := range p.Operations {
		by := needed(p, o.Missing)
		if o.Available {
			by = strings.Join(o.Providers, " > ") + charges(o.UpstreamCredits)
		}
		if by == "" {
			continue
		}
		if served[by] == nil {
			order = append(order, by)
		}
		served[by] = append(served[by], o.Operation)
	}
	if _, err := fmt.Fprintln(w, p.Platform); err != nil {
		return err
	}
	if len(order) == 0 {
		_, err := fmt.Fprintln(w, "  no provider yet")
		return err
	}
	for _, by := range order {
		for _, line := range wrap(by+":", columns-2) {
			if _, err := fmt.Fprintln(w, "  "+line); err != nil {
				return err
			}
		}
		for _, line := range wrap(strings.Join(served[by], ", "), columns-4) {
			if _, err := fmt.Fprintln(w, "    "+line); err != nil {
				return err
			}
		}
	}
	return nil
}

// charges returns what providers charge the operator for a call; "" for nothing.
func charges(of map[string]int64) string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		said = append(said, fmt.Sprintf("%s: %d", name, of[name]))
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

// state returns whether an operation is served, and a note.
func state(p schema.PlatformInfo, o schema.OperationInfo) (state, note string) {
	if o.Note != nil {
		note = *o.Note
	}
	switch {
	case o.Available:
		return strings.Join(o.Providers, " > ") + charges(o.UpstreamCredits), note
	case len(o.Missing) > 0:
		return "needs a setting", needed(p, o.Missing)
	}
	if o.Reason != nil {
		note = *o.Reason
	}
	return "not served", note
}

// needed returns which settings to set; "" for none.
func needed(p schema.PlatformInfo, missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "set " + strings.Join(variablesOf(p, missing), " and ")
}

// variablesOf returns the variables of the settings that p is missing.
func variablesOf(p schema.PlatformInfo, missing []string) []string {
	lacking := providers.MissingError{Platform: p.Platform, Settings: missing}
	return namesOf(lacking.Qualified())
}
