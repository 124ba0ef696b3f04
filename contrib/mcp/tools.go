package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// tool is one of the tools: its definition and its function.
type tool struct {
	definition *sdk.Tool
	run        func(ctx context.Context, who caller, args arguments) (*result, error)
}

// takes returns the names of the tool's arguments.
func (t tool) takes() []string { return t.definition.InputSchema.(*jsonschema.Schema).PropertyOrder }

// newTool returns a tool that only reads. world means that it reads from outside of this service; data is the schema of
// its data.
func (s *Server) newTool(name, title, doc string, world bool, in, data *jsonschema.Schema) (tool, error) {
	out, err := s.resultSchema(data)
	if err != nil {
		return tool{}, err
	}
	in.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return tool{definition: &sdk.Tool{
		Name: name, Title: title, Description: doc, InputSchema: in, OutputSchema: out,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: &world,
		},
	}}, nil
}

// resultSchema returns the schema of a [result] with such data, which has exactly one of data, piece and problem. It has
// the types only, because a model reads it at the start, and cannot say "one of": APIs of models refuse a request that
// has oneOf, anyOf or allOf at the top of a tool's schema.
func (s *Server) resultSchema(data *jsonschema.Schema) (*jsonschema.Schema, error) {
	meta, err := s.dataSchema(reflect.TypeFor[schema.Meta]())
	if err != nil {
		return nil, err
	}
	problems, err := s.dataSchema(reflect.TypeFor[failure]())
	if err != nil {
		return nil, err
	}
	for name := range meta.Properties {
		if !slices.Contains([]string{"credits_used", "credits_remaining", "request_id", "next_cursor", "job_id"}, name) {
			delete(meta.Properties, name)
		}
	}
	meta.Required, meta.PropertyOrder = []string{"credits_used", "request_id"}, slices.Sorted(maps.Keys(meta.Properties))
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"data":    outline(data, 2),
			"piece":   {Type: "string"}, // a part of the JSON of data, or of what note names
			"problem": outline(problems, 1),
			"meta":    outline(meta, 1),
			"note":    {Type: "string"},
		},
		PropertyOrder: []string{"data", "piece", "problem", "meta", "note"},
		Required:      []string{"meta"},
	}, nil
}

// all returns the tools.
func (s *Server) all() ([]tool, error) {
	var out []tool
	for _, make := range []func() (tool, error){
		s.platforms, s.describe, s.estimate, s.read, s.search, s.job, s.account, s.changes,
	} {
		t, err := make()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// The operations with a tool of their own; the tool read calls all others.
const (
	opRead       = "read"
	opPlatforms  = "platforms"
	opSearch     = "search_across"
	opSearchOne  = "search" // of one platform; called by the tool read
	opJob        = "job"
	opMe         = "me"
	opUsage      = "usage"
	opEstimate   = "estimate"
	opChanges    = "changes"
	opMonitors   = "monitors"
	opHistory    = "history"
	opKeys       = "keys"       // no tool, like requests: they are for people who manage keys
	opRequests   = "requests"   // as above
	opEndpoints  = "endpoints"  // no tool, like deliveries: they are for people who manage receivers
	opDeliveries = "deliveries" // as above
)

// toolless reports whether an operation has no tool.
func toolless(o *operation.Operation) bool {
	return slices.Contains([]string{opEndpoints, opDeliveries, opKeys, opRequests}, o.Name)
}

// readable returns the operations that the tool read calls, in the order of the table.
func readable() []*operation.Operation {
	return unviewed(slices.DeleteFunc(socialdata.Operations(), func(o *operation.Operation) bool {
		return o.NoKey || slices.Contains([]string{
			opRead, opSearch, opJob, opMe, opUsage, opEstimate, opChanges, opMonitors, opHistory,
		}, o.Name) || toolless(o)
	})...)
}

func names(rows []*operation.Operation) []string {
	var out []string
	for _, o := range rows {
		out = append(out, o.Name)
	}
	return out
}

// read returns the tool that makes any read from a platform.
func (s *Server) read() (tool, error) {
	rows := readable()
	params, err := s.anyParams(rows)
	if err != nil {
		return tool{}, err
	}
	in := &jsonschema.Schema{
		Type: "object", PropertyOrder: []string{"url", "operation", "platform", "params", "path"},
		Properties: map[string]*jsonschema.Schema{
			"url": {
				Type: "string", MinLength: new(1), MaxLength: new(operation.MaxAddress),
				Description: "A web address, or text that holds one: what it names is read, without an operation and a platform.",
			},
			"operation": {
				Type: "string", Enum: anys(names(rows)),
				Description: "What is read, if no url is given. The operations by the parameters that they need: " + byNeed(rows) + ".",
			},
			"platform": {Type: "string", Description: "Where, one of " + strings.Join(s.front.PlatformTable().Names(), ", ") + "; for raw the provider. None for enrich."},
			"params":   params,
			"path":     {Type: "string", Description: "For raw only: the path of the provider's own route."},
		},
	}
	withView(in)
	t, err := s.newTool("read", "Read from a platform",
		"Reads from one platform. Costs the platform's base credits (1 or 2), twice that with fresh, 3 more with "+
			"enrich=arabic. max_age_s accepts only newer data, stale_if_error_s older data when the platform fails. "+
			"Give url alone to read what a web address names. Handles, ids and public URLs are accepted as people paste "+
			"them. Lists continue with the parameter cursor.", true, in, &jsonschema.Schema{
			Types:       []string{"object", "array", "null", "string", "number", "boolean"},
			Description: "One object, or a list of them; describe gives the schema for each operation. Only raw is anything else.",
		})
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		in, err := addressOrRead(rows, args)
		if err != nil {
			return nil, err
		}
		of := rows // a URL may belong to any
		if in.row.Name != opRead {
			of = []*operation.Operation{in.row}
		}
		if in.view, err = args.view(of...); err != nil {
			return nil, err
		}
		return s.do(ctx, who, in)
	}
	return t, err
}

// byNeed lists the operations by the parameters that they need, which is shorter than one by one.
func byNeed(rows []*operation.Operation) string {
	var order []string // of the texts of needs
	by := map[string][]string{}
	for _, o := range rows {
		need := needs(o)
		if by[need] == nil {
			order = append(order, need)
		}
		by[need] = append(by[need], o.Name)
	}
	var lists []string
	for _, need := range order {
		lists = append(lists, cmp.Or(need, "nothing")+": "+strings.Join(by[need], ", "))
	}
	return strings.Join(lists, "; ")
}

// needs returns the parameters that are required; those of which one is enough are separated by bars.
func needs(o *operation.Operation) string {
	var must, one []string
	for _, p := range o.Params {
		switch {
		case p.Required:
			must = append(must, p.Name)
		case p.OneOf:
			one = append(one, p.Name)
		}
	}
	if len(one) > 0 {
		must = append(must, strings.Join(one, "|"))
	}
	return strings.Join(must, ", ")
}

// anyParams returns the schema of an object with the parameters of any of the rows. If a name has different meanings in
// two operations, the schema only has what both have in common.
func (s *Server) anyParams(rows []*operation.Operation) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		Description: "The operation's parameters by name; describe lists them.",
	}
	for _, o := range rows {
		own, err := s.briefly(o.Params)
		if err != nil {
			return nil, err
		}
		for name, p := range own.Properties {
			known := out.Properties[name]
			if known == nil {
				out.Properties[name] = p
				continue
			}
			if known.Description != p.Description {
				known.Description = "" // the tool describe returns it
			}
			if !slices.Equal(known.Enum, p.Enum) {
				known.Enum = nil
			}
		}
	}
	out.PropertyOrder = slices.Sorted(maps.Keys(out.Properties))
	return out, nil
}

// estimate returns the tool that returns the price of a call of the tools read and search.
func (s *Server) estimate() (tool, error) {
	row, rows := socialdata.Operation(opEstimate), append(readable(), socialdata.Operation(opSearch))
	data, err := s.dataSchema(row.Data)
	if err != nil {
		return tool{}, err
	}
	in := &jsonschema.Schema{
		Type: "object", Required: []string{"operation"}, PropertyOrder: []string{"operation", "platform", "params", "path"},
		Properties: map[string]*jsonschema.Schema{
			"operation": {Type: "string", Description: "What would be read, as for read; search_across for the tool search."},
			"platform":  {Type: "string", Description: "Where, as for read."},
			"params":    {Type: "object", Description: "The call's parameters by name; describe lists them."},
			"path":      {Type: "string", Description: "For raw only, as for read."},
		},
	}
	t, err := s.newTool("estimate", "Price of a call",
		"Returns the highest and lowest price of a call of read or search, "+
			"whether the account can pay it, and the age of the cached answer. Calls no upstream. Free.", false, in,
		data)
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		in, err := readRequest(rows, args)
		if err != nil {
			return nil, err
		}
		of := url.Values{"of": {in.row.Target(in.call)}}
		return s.do(ctx, who, newRequest(row, operation.Call{Params: of}))
	}
	return t, err
}

// addressOrRead reads the arguments of the tool read, which name a URL or an operation.
func addressOrRead(rows []*operation.Operation, args arguments) (request, error) {
	switch {
	case len(args["url"]) > 0:
		return addressRequest(args)
	case len(args["operation"]) == 0:
		return request{}, problem.New(problem.InvalidRequest, "argument %q is missing, or %q with %q and %q", "url",
			"operation", "platform", "params")
	}
	return readRequest(rows, args)
}

// readRequest reads the arguments of a call of one of rows.
func readRequest(rows []*operation.Operation, args arguments) (request, error) {
	name, err := args.text("operation")
	if err != nil {
		return request{}, err
	}
	i := slices.Index(names(rows), name)
	if i < 0 {
		return request{}, problem.New(problem.InvalidRequest, "argument %q must be one of %s", "operation",
			strings.Join(names(rows), ", "))
	}
	var call operation.Call
	if call.Platform, err = args.text("platform"); err != nil {
		return request{}, err
	}
	if call.Path, err = args.text("path"); err != nil {
		return request{}, err
	}
	if call.Params, err = args.params(); err != nil {
		return request{}, err
	}
	return newRequest(rows[i], call), nil
}

// addressRequest reads the arguments of the tool read if they have a URL.
func addressRequest(args arguments) (request, error) {
	for _, name := range []string{"operation", "platform", "path"} {
		if len(args[name]) > 0 {
			return request{}, problem.New(problem.InvalidRequest,
				"argument %q cannot be given with %q, which names the call", name, "url")
		}
	}
	address, err := args.text("url")
	if err != nil {
		return request{}, err
	}
	params, err := args.params()
	if err != nil {
		return request{}, err
	}
	params.Set("url", address)
	return newRequest(socialdata.Operation(opRead), operation.Call{Params: params}), nil
}

// params reads the argument params, an object with an operation's parameters.
func (a arguments) params() (url.Values, error) {
	params := arguments{}
	if raw := a["params"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, problem.Wrap(err, problem.InvalidRequest,
				`argument "params" must be an object that holds the operation's parameters`)
		}
	}
	for _, name := range []string{argLimit, argFields} {
		if len(params[name]) > 0 {
			return nil, problem.New(problem.InvalidRequest, "argument %q belongs beside %q, not in it", name, "params")
		}
	}
	return params.values()
}

// flat returns a tool for one row, whose arguments are the row's parameters, the cursor of a part and the view.
func (s *Server) flat(o *operation.Operation, name, title, doc string, data *jsonschema.Schema) (tool, error) {
	in, err := s.withCursor(o)
	if err != nil {
		return tool{}, err
	}
	t, err := s.newTool(name, title, doc, true, in, data)
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		return s.flatly(ctx, who, o, args)
	}
	return t, err
}

// flatly calls a row with arguments that are its parameters, without those of the view and those in except.
func (s *Server) flatly(
	ctx context.Context, who caller, o *operation.Operation, args arguments, except ...string,
) (*result, error) {
	params, err := args.values(append(except, argLimit, argFields)...)
	if err != nil {
		return nil, err
	}
	in := newRequest(o, operation.Call{Params: params})
	if in.view, err = args.view(o); err != nil {
		return nil, err
	}
	return s.do(ctx, who, in)
}

// withCursor returns the schema of a row's parameters with the cursor, which any answer in parts has, and the view.
func (s *Server) withCursor(o *operation.Operation) (*jsonschema.Schema, error) {
	in, err := s.briefly(unviewed(o)[0].Params)
	if err != nil {
		return nil, err
	}
	if in.Properties["cursor"] == nil {
		in.Properties["cursor"] = &jsonschema.Schema{Type: "string", Description: "The next_cursor of the previous part."}
		in.PropertyOrder = append(in.PropertyOrder, "cursor")
	}
	withView(in)
	return in, nil
}

// found returns the schema of a list of search results: what all kinds have in common. The whole schema has 20 kB and
// is returned by describe; this one is in the list of tools, which a model reads at the start.
func (s *Server) found() (*jsonschema.Schema, error) {
	item, err := s.dataSchema(reflect.TypeFor[schema.Common]())
	if err != nil {
		return nil, err
	}
	item.Description = "" // it describes the Go type
	var kinds []any
	for _, k := range schema.ResultKinds() {
		kinds = append(kinds, string(k))
	}
	item.Properties["kind"] = &jsonschema.Schema{
		Type: "string", Enum: kinds, Description: "What the result is; describe(search_across) gives all its fields.",
	}
	item.Required = append(item.Required, "kind")
	return &jsonschema.Schema{Type: "array", Items: item}, nil
}

func (s *Server) search() (tool, error) {
	data, err := s.found()
	if err != nil {
		return tool{}, err
	}
	return s.flat(socialdata.Operation(opSearch), "search", "Search several platforms",
		"Searches several platforms at once and merges the results. Costs the base credits of each platform that answers, "+
			"twice that with fresh, and 3 more once with enrich=arabic. Name platforms to keep the price and the answer small. "+
			"Platforms that are late become a job. To search one platform with its own filters, use read with the operation "+
			"search.", data)
}

func (s *Server) job() (tool, error) {
	data, err := s.found()
	if err != nil {
		return tool{}, err
	}
	return s.flat(socialdata.Operation(opJob), "job", "Collect the rest of a search",
		"Returns all results of a search so far, with those of platforms that were late; meta.credits_used is what the search "+
			"has charged so far. The call is free; a platform is charged when its results arrive.", data)
}

// account returns the tool for the balance and the entries of the ledger.
func (s *Server) account() (tool, error) {
	usage := socialdata.Operation(opUsage)
	data, err := s.anyOf(socialdata.Operation(opMe).Data, usage.Data, usage.Or)
	if err != nil {
		return tool{}, err
	}
	return s.oneOf("account", "Balance and charges",
		"Returns the calling key, its balance and its rate limit, or lists the account's charges, newest first. Free. "+
			"The other arguments filter the charges.",
		"me describes the key; usage lists charges, or sums by group.", data, opMe, opUsage)
}

// changes returns the tool for what the account's monitors have found.
func (s *Server) changes() (tool, error) {
	return s.oneOf("changes", "Changes",
		"Returns what the account's monitors have found, oldest first. Free.",
		"history: a field of a monitor over time.",
		&jsonschema.Schema{
			Type: "array", Items: &jsonschema.Schema{Type: "object"}, Description: "describe gives the schema.",
		},
		opChanges, opMonitors, opHistory)
}

// oneOf returns a free tool that calls one of several rows: the first, unless the argument choice names another. It has
// the parameters of all of them.
func (s *Server) oneOf(name, title, doc, choice string, out *jsonschema.Schema, of ...string) (tool, error) {
	var rows []*operation.Operation
	all := &operation.Operation{}
	for _, name := range of {
		row := socialdata.Operation(name)
		rows = append(rows, row)
		for _, p := range row.Params {
			if p.Required = false; !all.Has(p.Name) {
				all.Params = append(all.Params, p)
			}
		}
	}
	in, err := s.withCursor(all)
	if err != nil {
		return tool{}, err
	}
	in.Properties["operation"] = &jsonschema.Schema{
		Type: "string", Enum: anys(of), Default: json.RawMessage(strconv.Quote(of[0])), Description: choice,
	}
	in.PropertyOrder = append([]string{"operation"}, in.PropertyOrder...)
	t, err := s.newTool(name, title, doc, false, in, out)
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		name, err := args.text("operation")
		if err != nil {
			return nil, err
		}
		i := slices.Index(of, cmp.Or(name, of[0]))
		if i < 0 {
			return nil, problem.New(problem.InvalidRequest, "argument %q must be one of %s", "operation", strings.Join(of, ", "))
		}
		return s.flatly(ctx, who, rows[i], args, "operation")
	}
	return t, err
}
