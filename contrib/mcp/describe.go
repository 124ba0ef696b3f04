package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// platformSummary is a platform in the list of all platforms.
type platformSummary struct {
	Platform    platform.ID `json:"platform"`
	Name        string      `json:"name"`
	BaseCredits int64       `json:"base_credits" doc:"The price of one plain call."`
	Meaning     *string     `json:"meaning" doc:"What the universal objects mean there."`
	Operations  []string    `json:"operations" doc:"What can be read from it."`
}

// operationSummary is an operation in the list of all operations.
type operationSummary struct {
	Operation string `json:"operation"`
	Tool      string `json:"tool" doc:"The tool that makes it."`
	Summary   string `json:"summary"`
	Needs     string `json:"needs" doc:"The required parameters; of those separated by a bar, exactly one."`
}

// operationDetail is everything that is known about one operation.
type operationDetail struct {
	operationSummary
	Price      string          `json:"price"`
	Paged      bool            `json:"paged" doc:"Whether the answer comes in pages."`
	CacheTTLS  int64           `json:"cache_ttl_s" doc:"How long an answer is cached, in seconds; 0 when it is not."`
	Platforms  []string        `json:"platforms" doc:"Those that serve it; none when it is not of a platform."`
	Parameters json.RawMessage `json:"parameters" doc:"The JSON Schema of its parameters."`
	Data       json.RawMessage `json:"data" doc:"The JSON Schema of its data."`
	Problems   []problem.Code  `json:"problems" doc:"The codes that it may fail with."`
}

// platforms lists what can be read from each platform, or everything about one.
func (s *Server) platforms() (tool, error) {
	in := &jsonschema.Schema{
		Type: "object", PropertyOrder: []string{"platform", "cursor"},
		Properties: map[string]*jsonschema.Schema{
			"platform": {Type: "string", Enum: anys(s.front.PlatformTable().Names()), Description: "Lists the operations of " +
				"this one with their sources, filters and missing settings."},
			"cursor": {Type: "string", Description: "The next_cursor of the previous part."},
		},
	}
	data, err := s.anyOf(reflect.TypeFor[[]platformSummary](), reflect.TypeFor[schema.PlatformInfo]())
	if err != nil {
		return tool{}, err
	}
	t, err := s.newTool("platforms", "What can be read",
		"Lists the platforms with their price and the operations that each serves; "+
			"with platform, all about one of them. Free.", false, in, data)
	t.run = s.told(func(all []schema.PlatformInfo, args arguments) (any, error) {
		word, err := args.text("platform")
		if err != nil || word == "" {
			return summaries(all), err
		}
		i := slices.IndexFunc(all, func(p schema.PlatformInfo) bool { return string(p.Platform) == word })
		if i < 0 {
			return nil, problem.New(problem.NotFound, "there is no platform %q%s; there are %s", word,
				problem.DidYouMean(s.front.PlatformTable().Meant(word), s.front.PlatformTable().Names()),
				strings.Join(s.front.PlatformTable().Names(), ", "))
		}
		return all[i], nil
	})
	return t, err
}

func summaries(all []schema.PlatformInfo) []platformSummary {
	out := make([]platformSummary, 0, len(all))
	for _, p := range all {
		row := platformSummary{p.Platform, p.Name, p.BaseCredits, p.Meaning, []string{}}
		for _, o := range p.Operations {
			if o.Available {
				row.Operations = append(row.Operations, o.Operation)
			}
		}
		out = append(out, row)
	}
	return out
}

// described returns the operations that describe lists: those that some tool calls.
func described() []*operation.Operation {
	return unviewed(slices.DeleteFunc(socialdata.Operations(), func(o *operation.Operation) bool {
		return o.NoKey || toolless(o)
	})...)
}

// describe lists the operations, or everything about one.
func (s *Server) describe() (tool, error) {
	rows := described()
	in := &jsonschema.Schema{
		Type: "object", PropertyOrder: []string{"operation", "cursor"},
		Properties: map[string]*jsonschema.Schema{
			"operation": {Type: "string", Enum: anys(names(rows)), Description: "Lists its parameters, price, platforms and " +
				"data."},
			"cursor": {Type: "string", Description: "The next_cursor of the previous part."},
		},
	}
	data, err := s.anyOf(reflect.TypeFor[[]operationSummary](), reflect.TypeFor[operationDetail]())
	if err != nil {
		return tool{}, err
	}
	t, err := s.newTool("describe", "Parameters and data of an operation",
		"Lists the operations; with operation, its parameters, "+
			"price, platforms, problems and the JSON Schema of its data. Free.", false, in, data)
	t.run = s.told(func(all []schema.PlatformInfo, args arguments) (any, error) {
		name, err := args.text("operation")
		if err != nil {
			return nil, err
		}
		if name == "" {
			return summarised(rows), nil
		}
		i := slices.Index(names(rows), name)
		if i < 0 {
			return nil, problem.New(problem.NotFound, "there is no operation %q; there are %s", name,
				strings.Join(names(rows), ", "))
		}
		return s.detail(rows[i], all)
	})
	return t, err
}

// told returns the function of a free tool that answers from the information about the platforms.
func (s *Server) told(
	answer func([]schema.PlatformInfo, arguments) (any, error),
) func(context.Context, caller, arguments) (*result, error) {
	return func(ctx context.Context, who caller, args arguments) (*result, error) {
		params, err := args.values()
		if err != nil {
			return nil, err
		}
		in := newRequest(socialdata.Operation(opPlatforms), operation.Call{Params: params})
		if in.cursor != "" {
			return s.resume(ctx, who, in)
		}
		all, err := who.client.Platforms(ctx, socialdata.PlatformsRequest{})
		if err != nil {
			return nil, err
		}
		found, err := answer(all.Data, args)
		if err != nil {
			return nil, err
		}
		b, err := schema.Marshal(found)
		if err != nil {
			return nil, err
		}
		return s.deliver(ctx, who, in, &operation.Answer{Data: b, Meta: all.Meta})
	}
}

func summarised(rows []*operation.Operation) []operationSummary {
	out := make([]operationSummary, 0, len(rows))
	for _, o := range rows {
		out = append(out, summary(o))
	}
	return out
}

func summary(o *operation.Operation) operationSummary {
	made := "read"
	switch o.Name {
	case opSearch:
		made = "search"
	case opJob:
		made = "job"
	case opEstimate:
		made = "estimate"
	case opMe, opUsage:
		made = "account"
	case opChanges, opMonitors, opHistory:
		made = "changes"
	}
	return operationSummary{o.Name, made, o.Summary, needs(o)}
}

func (s *Server) detail(o *operation.Operation, all []schema.PlatformInfo) (*operationDetail, error) {
	data, err := s.inline().Data(o.Data)
	if err != nil {
		return nil, err
	}
	in, err := s.paramsSchema(o.Params)
	if err != nil {
		return nil, err
	}
	params, err := schema.Marshal(in)
	if err != nil {
		return nil, err
	}
	out := &operationDetail{
		operationSummary: summary(o), Price: price(o), Paged: o.Paged(), CacheTTLS: int64(o.TTL.Seconds()),
		Platforms: []string{}, Parameters: params, Data: data, Problems: o.Errors,
	}
	for _, p := range all {
		if slices.ContainsFunc(p.Operations,
			func(i schema.OperationInfo) bool { return i.Operation == cmp.Or(o.Of, o.Name) && i.Available }) {
			out.Platforms = append(out.Platforms, string(p.Platform))
		}
	}
	return out, nil
}

func price(o *operation.Operation) string {
	switch o.Price {
	case operation.Free:
		return "Free."
	case operation.OneEnrichment:
		return "3 credits, which are refunded when it fails."
	case operation.EachPlatform:
		return "The base credits of each platform that answers."
	case operation.PlatformAndProbes:
		return "The base credits of the platform, and of each one that is probed."
	case operation.EachKey:
		return "The base credits of its platform for each key that is answered with an object."
	case operation.PlatformBase:
	}
	return "The base credits of the platform."
}

// anyOf returns the schema of a value of one of the types.
func (s *Server) anyOf(types ...reflect.Type) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{}
	for _, t := range types {
		one, err := s.dataSchema(t)
		if err != nil {
			return nil, err
		}
		out.AnyOf = append(out.AnyOf, one)
	}
	return out, nil
}
