package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// tool is one of the tools: how it is described and what it does.
type tool struct {
	definition *sdk.Tool
	run        func(ctx context.Context, who caller, args arguments) (*result, error)
}

// takes returns the names of the tool's arguments.
func (t tool) takes() []string { return t.definition.InputSchema.(*jsonschema.Schema).PropertyOrder }

// newTool returns a tool that only reads. World says that what it reads is outside of this service; data is the schema
// of what it answers.
func (s *Server) newTool(name, title, doc string, world bool, in, data *jsonschema.Schema) (tool, error) {
	out, err := s.resultSchema(data)
	if err != nil {
		return tool{}, err
	}
	in.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return tool{definition: &sdk.Tool{
		Name: name, Title: title, Description: doc, InputSchema: in, OutputSchema: out,
		Annotations: &sdk.ToolAnnotations{
			Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: &world,
		},
	}}, nil
}

// resultSchema returns the schema of a [result] that holds such data.
func (s *Server) resultSchema(data *jsonschema.Schema) (*jsonschema.Schema, error) {
	meta, err := s.dataSchema(reflect.TypeFor[schema.Meta]())
	if err != nil {
		return nil, err
	}
	problems, err := s.dataSchema(reflect.TypeFor[failure]())
	if err != nil {
		return nil, err
	}
	var codes []any
	for _, c := range problem.Codes() {
		codes = append(codes, string(c))
	}
	problems.Properties["code"].Enum = codes
	whole := meta.Required // of a problem there is less to say
	meta.Required = []string{"credits_used", "request_id"}
	meta.Properties["platforms"].PropertyNames = nil // a long list, and the tool platforms has it
	answers := func(name string) *jsonschema.Schema {
		return &jsonschema.Schema{Required: []string{name}, Properties: map[string]*jsonschema.Schema{"meta": {Required: whole}}}
	}
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"data":    data,
			"piece":   {Type: "string", Description: "A stretch of the JSON of data, or of what note names, when that alone is larger than a result."},
			"problem": problems,
			"meta":    meta,
			"note":    {Type: "string", Description: "What to know about this result, and how to get the rest."},
		},
		PropertyOrder: []string{"data", "piece", "problem", "meta", "note"},
		Required:      []string{"meta"},
		OneOf:         []*jsonschema.Schema{answers("data"), answers("piece"), {Required: []string{"problem"}}},
	}, nil
}

// all returns the tools.
func (s *Server) all() ([]tool, error) {
	var out []tool
	for _, make := range []func() (tool, error){s.platforms, s.describe, s.read, s.search, s.job, s.account} {
		t, err := make()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// The operations that have a tool of their own; the tool read makes the other ones.
const (
	opPlatforms = "platforms"
	opSearch    = "search_across"
	opJob       = "job"
	opMe        = "me"
	opUsage     = "usage"
)

// readable returns the operations that the tool read makes, in the order of the table.
func readable() []*operation.Operation {
	return slices.DeleteFunc(socialdata.Operations(), func(o *operation.Operation) bool {
		return o.NoKey || slices.Contains([]string{opSearch, opJob, opMe, opUsage}, o.Name)
	})
}

func names(rows []*operation.Operation) []string {
	var out []string
	for _, o := range rows {
		out = append(out, o.Name)
	}
	return out
}

// read makes any read from a platform.
func (s *Server) read() (tool, error) {
	rows := readable()
	params, err := s.anyParams(rows)
	if err != nil {
		return tool{}, err
	}
	in := &jsonschema.Schema{
		Type: "object", Required: []string{"operation"}, PropertyOrder: []string{"operation", "platform", "params", "path"},
		Properties: map[string]*jsonschema.Schema{
			"operation": {Type: "string", Enum: anys(names(rows)), Description: "What is read."},
			"platform":  {Type: "string", Description: "Where, one of " + strings.Join(s.client.PlatformTable().Names(), ", ") + "; for raw the provider. None for enrich."},
			"params":    params,
			"path":      {Type: "string", Description: "For raw only: the path of the provider's own route."},
		},
	}
	t, err := s.newTool("read", "Read from a platform", readDoc(rows), true, in, &jsonschema.Schema{
		Types:       []string{"object", "array", "null", "string", "number", "boolean"},
		Description: "One object, or a list of them; describe gives the schema for each operation. Only raw is anything else.",
	})
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		in, err := readRequest(rows, args)
		if err != nil {
			return nil, err
		}
		return s.do(ctx, who, in)
	}
	return t, err
}

func readDoc(rows []*operation.Operation) string {
	var b strings.Builder
	b.WriteString("Reads from one platform. Costs the platform's base credits (1 or 2), twice that with fresh, 3 more with enrich=arabic. ")
	b.WriteString("Handles, ids and public URLs are taken as people paste them. The operations, with the parameters that each needs: ")
	for i, o := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(o.Name + "(" + needs(o) + ")")
	}
	b.WriteString(". Lists go on with the parameter cursor.")
	return b.String()
}

// needs returns the parameters that must be given, those of which one is enough parted by a bar.
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

// anyParams returns the schema of an object that holds the parameters of any of the rows. Where two operations mean
// different things by one name, it says no more than both agree on.
func (s *Server) anyParams(rows []*operation.Operation) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		Description: "The operation's parameters by name; describe lists them.",
	}
	for _, o := range rows {
		own, err := s.paramsSchema(o.Params)
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
				known.Description = "As describe says of the operation."
			}
			if !slices.Equal(known.Enum, p.Enum) {
				known.Enum = nil
			}
		}
	}
	out.PropertyOrder = slices.Sorted(maps.Keys(out.Properties))
	return out, nil
}

// readRequest reads the arguments of the tool read.
func readRequest(rows []*operation.Operation, args arguments) (request, error) {
	name, err := args.text("operation")
	if err != nil {
		return request{}, err
	}
	i := slices.Index(names(rows), name)
	if i < 0 {
		return request{}, problem.New(problem.InvalidRequest, "argument %q must be one of %s", "operation", strings.Join(names(rows), ", "))
	}
	var call operation.Call
	if call.Platform, err = args.text("platform"); err != nil {
		return request{}, err
	}
	if call.Path, err = args.text("path"); err != nil {
		return request{}, err
	}
	params := arguments{}
	if raw := args["params"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &params); err != nil {
			return request{}, problem.Wrap(err, problem.InvalidRequest, `argument "params" must be an object that holds the operation's parameters`)
		}
	}
	if call.Params, err = params.values(); err != nil {
		return request{}, err
	}
	return newRequest(rows[i], call), nil
}

// flat returns a tool for one row, whose arguments are the row's parameters. The cursor of a part is among them.
func (s *Server) flat(o *operation.Operation, name, title, doc string, data *jsonschema.Schema) (tool, error) {
	in, err := s.withCursor(o)
	if err != nil {
		return tool{}, err
	}
	t, err := s.newTool(name, title, doc, true, in, data)
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		params, err := args.values()
		if err != nil {
			return nil, err
		}
		return s.do(ctx, who, newRequest(o, operation.Call{Params: params}))
	}
	return t, err
}

// withCursor returns the schema of a row's parameters and of the cursor, which any answer in parts has.
func (s *Server) withCursor(o *operation.Operation) (*jsonschema.Schema, error) {
	in, err := s.paramsSchema(o.Params)
	if err != nil {
		return nil, err
	}
	if in.Properties["cursor"] == nil {
		in.Properties["cursor"] = &jsonschema.Schema{Type: "string", Description: "The next_cursor of the part before."}
		in.PropertyOrder = append(in.PropertyOrder, "cursor")
	}
	return in, nil
}

// found returns the schema of a list of search results: what all kinds have in common. The whole of it, 20 kB, is
// what describe is asked for; this one stands in the list of tools, which a model reads at the start.
func (s *Server) found() (*jsonschema.Schema, error) {
	item, err := s.dataSchema(reflect.TypeFor[schema.Common]())
	if err != nil {
		return nil, err
	}
	item.Description = "" // is about the Go type
	var kinds []any
	for _, k := range schema.ResultKinds() {
		kinds = append(kinds, string(k))
	}
	item.Properties["kind"] = &jsonschema.Schema{Type: "string", Enum: kinds, Description: "What the result is; describe(search_across) gives all its fields."}
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
			"Platforms that are late become a job. To search one platform with its own filters, use read with the operation search.", data)
}

func (s *Server) job() (tool, error) {
	data, err := s.found()
	if err != nil {
		return tool{}, err
	}
	return s.flat(socialdata.Operation(opJob), "job", "Collect the rest of a search",
		"Collects the results of platforms that were late in a search: those that have come since the last answer, and all of them "+
			"once every platform has ended. Free to ask; what a platform costs is charged when its results have come.", data)
}

// account tells the balance, or lists the books.
func (s *Server) account() (tool, error) {
	rows := []*operation.Operation{socialdata.Operation(opMe), socialdata.Operation(opUsage)}
	data, err := s.anyOf(rows[0].Data, rows[1].Data)
	if err != nil {
		return tool{}, err
	}
	in, err := s.withCursor(rows[1])
	if err != nil {
		return tool{}, err
	}
	in.Properties["operation"] = &jsonschema.Schema{
		Type: "string", Enum: anys(names(rows)), Default: json.RawMessage(`"me"`),
		Description: "me tells the key, the balance and the rate limit; usage lists the charges, newest first.",
	}
	in.PropertyOrder = append([]string{"operation"}, in.PropertyOrder...)
	t, err := s.newTool("account", "Balance and charges",
		"Tells the calling key, its balance and its rate limit, or lists the account's charges, newest first. Free. "+
			"The other arguments choose among the charges.", false, in, data)
	t.run = func(ctx context.Context, who caller, args arguments) (*result, error) {
		name, err := args.text("operation")
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = opMe
		}
		i := slices.Index(names(rows), name)
		if i < 0 {
			return nil, problem.New(problem.InvalidRequest, "argument %q must be one of %s", "operation", strings.Join(names(rows), ", "))
		}
		params, err := args.values("operation")
		if err != nil {
			return nil, err
		}
		return s.do(ctx, who, newRequest(rows[i], operation.Call{Params: params}))
	}
	return t, err
}
