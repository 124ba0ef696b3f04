package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// site is the tools of an engine, and a client that is connected to them.
type site struct {
	*enginetest.Engine
	session *sdk.ClientSession
	schemas map[string]*jsonschema.Resolved // of the result of each tool
	told    int64                           // the sum of the charges in all results
}

// transports are the ways to connect to a server with a key.
var transports = map[string]func(t *testing.T, s *mcp.Server, secret string) sdk.Transport{"http": overHTTP, "stdio": overStdio}

func overHTTP(t *testing.T, s *mcp.Server, secret string) sdk.Transport {
	t.Helper()
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return &sdk.StreamableClientTransport{
		Endpoint: web.URL, HTTPClient: &http.Client{Transport: shows{secret}}, DisableStandaloneSSE: true,
	}
}

// shows is a transport that sends a key.
type shows struct{ secret string }

func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if s.secret != "" {
		r.Header.Set("Authorization", "Bearer "+s.secret)
	}
	return new(http.Transport).RoundTrip(r)
}

func overStdio(t *testing.T, s *mcp.Server, secret string) sdk.Transport {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), secret, fromClient, toClient) }()
	t.Cleanup(func() {
		_ = toServer.Close()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
	})
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

// open connects to the tools of a new engine.
func open(
	t *testing.T, connect func(*testing.T, *mcp.Server, string) sdk.Transport, engine enginetest.Config, cfg mcp.Config,
) *site {
	t.Helper()
	e := enginetest.New(t, engine)
	cfg.Now = e.Clock.Now
	if cfg.Records == nil {
		cfg.Records = e.Records
	}
	s := mcp.New(e.Open, cfg)
	return visit(t, e, connect(t, s, e.Secret))
}

// visit connects to the tools of an engine.
func visit(t *testing.T, e *enginetest.Engine, transport sdk.Transport) *site {
	t.Helper()
	return &site{Engine: e, session: dial(t, transport), schemas: map[string]*jsonschema.Resolved{}}
}

func dial(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// tools lists the tools, and keeps the schemas of their results.
func (s *site) tools(t *testing.T) []*sdk.Tool {
	t.Helper()
	list, err := s.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		s.schemas[tool.Name] = resolve(t, tool.OutputSchema)
	}
	return list.Tools
}

// resolve prepares a schema that came as JSON to validate values.
func resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	recode(t, schema, &s)
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// recode converts a value to another type through JSON.
func recode(t *testing.T, from, to any) {
	t.Helper()
	b, err := schema.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatalf("%v in %.300s", err, b)
	}
}

// args are the arguments of a tool.
type args map[string]any

// answer is the result of a tool.
type answer struct {
	Data    json.RawMessage
	Piece   *string
	Problem *struct {
		Code       problem.Code
		Status     int
		Detail     string
		RetryAfter *int64 `json:"retry_after"`
		WhatToDo   string `json:"what_to_do"`
	}
	Meta schema.Meta
	Note string
}

// call calls a tool and checks what all results have in common: the text equals the structure, which is valid by its
// schema, and the charge and the balance are those of the account.
func (s *site) call(t *testing.T, tool string, in args) answer {
	t.Helper()
	if len(s.schemas) == 0 {
		s.tools(t)
	}
	before := s.spent(t)
	got, err := s.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, in, err)
	}
	if err := s.schemas[tool].Validate(got.StructuredContent); err != nil {
		t.Errorf("%s %v: not of the schema: %v", tool, in, err)
	}
	var text any
	if err := json.Unmarshal([]byte(got.Content[0].(*sdk.TextContent).Text), &text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.StructuredContent, text); diff != "" {
		t.Errorf("%s %v: text (-structure +text):\n%.2000s", tool, in, diff)
	}
	var a answer
	recode(t, got.StructuredContent, &a)
	var has []string
	for _, name := range []string{"data", "piece", "problem"} {
		if _, ok := got.StructuredContent.(map[string]any)[name]; ok {
			has = append(has, name)
		}
	}
	if len(has) != 1 {
		t.Errorf("%s %v: has %v, want exactly one of data, piece and problem", tool, in, has)
	}
	if got.IsError != (a.Problem != nil) {
		t.Errorf("%s %v: isError is %t, problem %v", tool, in, got.IsError, a.Problem)
	}
	if tool != "job" { // it repeats the charge of its search
		s.told += a.Meta.CreditsUsed
	}
	if cost := s.spent(t) - before; a.Meta.CreditsUsed != cost && tool != "job" {
		t.Errorf("%s %v: says that %d credits were used, the account says %d", tool, in, a.Meta.CreditsUsed, cost)
	}
	if left := s.Balance(t); a.Meta.CreditsRemaining != left {
		t.Errorf("%s %v: says that %d credits are left, the account says %d", tool, in, a.Meta.CreditsRemaining, left)
	}
	if a.Meta.RequestID == "" {
		t.Errorf("%s %v: no request id", tool, in)
	}
	return a
}

// spent returns the sum of what the account was charged.
func (s *site) spent(t *testing.T) int64 {
	t.Helper()
	n := int64(0)
	for _, c := range s.Charges(t) {
		n += c.Amount
	}
	return n
}

// good calls a tool and fails the test if the tool does.
func (s *site) good(t *testing.T, tool string, in args) answer {
	t.Helper()
	a := s.call(t, tool, in)
	if a.Problem != nil {
		t.Fatalf("%s %v: %+v", tool, in, a.Problem)
	}
	return a
}

// fails calls a tool that must fail with a code and charge nothing.
func (s *site) fails(t *testing.T, tool string, in args, code problem.Code) answer {
	t.Helper()
	a := s.call(t, tool, in)
	if a.Problem == nil {
		t.Fatalf("%s %v: no problem: %.300s", tool, in, a.Data)
	}
	if a.Problem.Code != code || a.Problem.Status != code.Status() || a.Problem.WhatToDo == "" || a.Meta.CreditsUsed != 0 {
		t.Errorf("%s %v: %+v, want %s for nothing", tool, in, a.Problem, code)
	}
	return a
}

func TestTheLogSaysThatACallIsOfATool(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, connect, enginetest.Config{}, mcp.Config{})
			s.good(t, "account", nil)
			calls, err := s.Open.Operator().Requests(t.Context(), s.Key.Account, accounts.RequestsRequest{}, 10)
			if err != nil || len(calls) == 0 || calls[0].Source != string(schema.FromMCP) {
				t.Errorf("the log has %+v, %v; want a call from mcp", calls, err)
			}
		})
	}
}

func TestToolsAreFewAndOnlyRead(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, connect, enginetest.Config{}, mcp.Config{})
			var names []string
			for _, tool := range s.tools(t) {
				names = append(names, tool.Name)
				if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint {
					t.Errorf("%s is not said to be read only: %+v", tool.Name, a)
				}
				if tool.Description == "" || tool.Title == "" || tool.OutputSchema == nil {
					t.Errorf("%s is not described", tool.Name)
				}
			}
			want := []string{"account", "changes", "describe", "estimate", "job", "platforms", "read", "search"}
			slices.Sort(names)
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

// TestModelsAcceptEveryTool holds the tools to what the APIs of models accept.
// https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
// https://platform.openai.com/docs/api-reference/chat/create
func TestModelsAcceptEveryTool(t *testing.T) {
	t.Parallel()
	s := open(t, overStdio, enginetest.Config{}, mcp.Config{})
	word := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	for _, tool := range s.tools(t) {
		if !word.MatchString(tool.Name) {
			t.Errorf("the name %q is not %s", tool.Name, word)
		}
		for _, side := range []any{tool.InputSchema, tool.OutputSchema} {
			top := map[string]any{}
			recode(t, side, &top)
			for _, name := range []string{"oneOf", "anyOf", "allOf", "not", "if", "enum", "$ref"} {
				if top[name] != nil {
					t.Errorf("%s: a schema has %s at its top", tool.Name, name)
				}
			}
			if top["type"] != "object" {
				t.Errorf("%s: a schema is of type %v, want object", tool.Name, top["type"])
			}
			for name := range top["properties"].(map[string]any) {
				if !word.MatchString(name) {
					t.Errorf("%s: the argument %q is not %s", tool.Name, name, word)
				}
			}
		}
		var walk func(at string, v any)
		walk = func(at string, v any) {
			switch v := v.(type) {
			case string:
				if strings.HasSuffix(at, ".description") && utf8.RuneCountInString(v) > 1024 {
					t.Errorf("%s has %d characters, want at most 1,024", at, utf8.RuneCountInString(v))
				}
			case map[string]any:
				for name, v := range v {
					walk(at+"."+name, v)
				}
			case []any:
				for i, v := range v {
					walk(fmt.Sprint(at, i), v)
				}
			}
		}
		whole := map[string]any{}
		recode(t, tool, &whole)
		walk(tool.Name, whole)
	}
}

// TestEveryOperationOverBothTransports compares results over the protocol with those of the client, including the
// charge.
func TestEveryOperationOverBothTransports(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over, inside := open(t, connect, enginetest.Config{}, mcp.Config{MaxBytes: 1 << 20}),
				enginetest.New(t, enginetest.Config{})
			for _, e := range []*enginetest.Engine{over.Engine, inside} {
				e.Monitor(t)
			}
			for _, o := range socialdata.Operations() {
				if o.NoKey || slices.Contains([]string{
					"job", "keys", "requests", "endpoints", "deliveries", "bulk", "bulk_results",
				}, o.Name) { // no tool calls these
					continue
				}
				call, tool, in := callOf(o)
				want, err := socialdata.FrontEnd(inside.Client).Do(t.Context(), o, call)
				if err != nil {
					t.Fatalf("%s: %v", o.Name, err)
				}
				got := over.good(t, tool, in)
				same := cmp.Options{cmpopts.IgnoreFields(schema.Meta{}, "RequestID", "NextCursor"), cmpopts.EquateEmpty()}
				if diff := cmp.Diff(want.Meta, got.Meta, same); diff != "" {
					t.Errorf("%s: meta (-client +tool):\n%s", o.Name, diff)
				}
				if o.Tag != "account" && o.Name != "changes" && o.Name != "monitors" { // these return the account's own data
					if diff := cmp.Diff(decoded(t, want.Data), decoded(t, got.Data)); diff != "" {
						t.Errorf("%s: data (-client +tool):\n%.2000s", o.Name, diff)
					}
				}
				var detail struct {
					Tool string
					Data any
				}
				recode(t, over.good(t, "describe", args{"operation": o.Name}).Data, &detail)
				if detail.Tool != tool {
					t.Errorf("describe says that %s makes %s, not %s", detail.Tool, o.Name, tool)
				}
				if err := resolve(t, detail.Data).Validate(decoded(t, got.Data)); err != nil {
					t.Errorf("%s: the data is not of the schema that describe gives: %v", o.Name, err)
				}
			}
			if diff := cmp.Diff(inside.Charges(t), over.Charges(t)); diff != "" {
				t.Errorf("charges (-client +tools):\n%s", diff)
			}
			if len(over.Charges(t)) < 30 {
				t.Errorf("only %d charges", len(over.Charges(t)))
			}
		})
	}
}

// callOf returns an ordinary call of an operation, and the tool and arguments for it.
func callOf(o *operation.Operation) (operation.Call, string, args) {
	call, params := operation.Call{Params: map[string][]string{}}, args{}
	one := false
	for _, p := range o.Params {
		if p.Required || p.OneOf && !one {
			one = one || p.OneOf
			call.Params.Set(p.Name, "salma_haddad")
			params[p.Name] = "salma_haddad"
		}
	}
	switch o.Name {
	case "read", "resolve":
		address := "https://mock.example/@salma_haddad"
		call.Params.Set("url", address)
		if o.Name == "read" {
			return call, "read", args{"url": address}
		}
		return call, "read", args{"operation": o.Name, "params": args{"url": address}}
	case "reads":
		addresses := "https://mock.example/@salma_haddad\nhttps://mock.example/@omar"
		call.Params.Set("urls", addresses)
		return call, "read", args{"operation": o.Name, "params": args{"urls": addresses}}
	case "me", "usage":
		return call, "account", args{"operation": o.Name}
	case "monitors", "changes":
		return call, "changes", args{"operation": o.Name}
	case "history":
		call.Params = map[string][]string{"monitor": {"salma"}, "field": {"followers"}}
		return call, "changes", args{"operation": o.Name, "monitor": "salma", "field": "followers"}
	case "search_across":
		return call, "search", params
	case "estimate":
		call.Params.Set("of", "/v1/mock/profile?handle=salma_haddad")
		return call, "estimate", args{"operation": "profile", "platform": "mock", "params": args{"handle": "salma_haddad"}}
	case "enrich":
		return call, "read", args{"operation": o.Name, "params": params}
	case "raw":
		call.Platform, call.Path = "mock", "users/salma_haddad"
		return call, "read", args{"operation": o.Name, "platform": "mock", "path": call.Path}
	}
	call.Platform = "mock"
	return call, "read", args{"operation": o.Name, "platform": "mock", "params": params}
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %.300s", err, b)
	}
	return v
}

func TestOptionsHaveTheirPrice(t *testing.T) {
	t.Parallel()
	s := open(t, overStdio, enginetest.Config{}, mcp.Config{})
	tests := []struct {
		name   string
		params args
		want   int64
	}{
		{"plain", args{"handle": "ann"}, 1},
		{"fresh", args{"handle": "ann", "fresh": true}, 2},
		{"enriched", args{"handle": "ann", "enrich": "arabic"}, 4},
		{"all as text, null left out", args{"handle": "ann", "fresh": "true", "enrich": "arabic", "cursor": nil}, 5},
	}
	for _, tt := range tests {
		got := s.good(t, "read", args{"platform": "mock", "operation": "posts", "params": tt.params})
		if got.Meta.CreditsUsed != tt.want {
			t.Errorf("%s: %d credits, want %d", tt.name, got.Meta.CreditsUsed, tt.want)
		}
	}
}

func TestPlatformsAndDescribe(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{})
	var list []struct {
		Platform   string
		Operations []string
	}
	recode(t, s.good(t, "platforms", nil).Data, &list)
	for _, p := range list {
		if served := len(p.Operations) > 0; served != (p.Platform == "mock") {
			t.Errorf("%s serves %v", p.Platform, p.Operations)
		}
	}
	var one schema.PlatformInfo
	recode(t, s.good(t, "platforms", args{"platform": "mock"}).Data, &one)
	if len(one.Operations) < 30 || one.Operations[0].CacheTTLS == 0 {
		t.Errorf("all about one platform: %+v", one)
	}
	var rows []struct{ Operation, Tool, Needs string }
	recode(t, s.good(t, "describe", nil).Data, &rows)
	want := map[string]string{
		"profile": "read", "search_across": "search", "job": "job", "me": "account", "usage": "account", "raw": "read",
	}
	for _, row := range rows {
		if tool := want[row.Operation]; tool != "" && tool != row.Tool {
			t.Errorf("%s is made by %s, want %s", row.Operation, row.Tool, tool)
		}
		delete(want, row.Operation)
	}
	if len(want) > 0 {
		t.Errorf("not described: %v", want)
	}
	var detail struct {
		Platforms  []string
		Parameters struct {
			Required   []string
			Properties map[string]any
		}
	}
	recode(t, s.good(t, "describe", args{"operation": "comments"}).Data, &detail)
	if diff := cmp.Diff([]string{"post_id"}, detail.Parameters.Required); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mock"}, detail.Platforms); diff != "" || detail.Parameters.Properties["cursor"] == nil {
		t.Errorf("comments: %+v", detail)
	}
	s.fails(t, "platforms", args{"platform": "nowhere"}, problem.NotFound)
	s.fails(t, "describe", args{"operation": "nothing"}, problem.NotFound)
}

func TestProblemsAreToolErrorsThatSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{})
	profile := func(handle string) args {
		return args{"platform": "mock", "operation": "profile", "params": args{"handle": handle}}
	}
	tests := []struct {
		name, tool string
		in         args
		want       problem.Code
	}{
		{"no such thing", "read", profile("not_found"), problem.NotFound},
		{"the upstream is slow", "read", profile("timeout"), problem.UpstreamTimeout},
		{"the upstream fails", "read", profile("upstream_error"), problem.PlatformUnavailable},
		{"our fault", "read", profile("panic"), problem.InternalError},
		{"an empty parameter", "read", profile(""), problem.InvalidRequest},
		{"a platform without providers", "read", args{"platform": "github", "operation": "profile", "params": args{"handle": "a"}}, problem.PlatformUnavailable},
		{"an unknown platform", "read", args{"platform": "nowhere", "operation": "profile", "params": args{"handle": "a"}}, problem.NotFound},
		{"an unknown operation", "read", args{"platform": "mock", "operation": "me"}, problem.InvalidRequest},
		{"no operation", "read", args{"platform": "mock"}, problem.InvalidRequest},
		{"parameters in the wrong place", "read", args{"platform": "mock", "operation": "profile", "handle": "a"}, problem.InvalidRequest},
		{"parameters that are not an object", "read", args{"platform": "mock", "operation": "profile", "params": "handle=a"}, problem.InvalidRequest},
		{"a mistyped parameter", "read", args{"platform": "mock", "operation": "profile", "params": args{"hande": "a"}}, problem.InvalidRequest},
		{"an object as a parameter", "read", args{"platform": "mock", "operation": "profile", "params": args{"handle": args{}}}, problem.InvalidRequest},
		{"a search for nothing", "search", args{}, problem.InvalidRequest},
		{"a search on an unknown platform", "search", args{"query": "a", "platforms": []string{"mock", "nowhere"}}, problem.InvalidRequest},
		{"no such job", "job", args{"id": "job_nothing"}, problem.NotFound},
		{"an invalid time", "account", args{"operation": "usage", "since": "yesterday"}, problem.InvalidRequest},
		{"a mistyped argument", "platforms", args{"plattform": "mock"}, problem.InvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { s.fails(t, tt.tool, tt.in, tt.want) })
	}
	if got := s.fails(t, "read", profile("rate_limited_upstream"),
		problem.PlatformUnavailable).Problem.RetryAfter; got == nil || *got != 30 {
		t.Errorf("retry_after is %v, want 30", got)
	}
	if charges := s.Charges(t); len(charges) != 0 {
		t.Errorf("failures were charged: %v", charges)
	}
}

func TestToolsFailWithoutCredits(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{Credits: -1}, mcp.Config{})
	s.fails(t, "read", args{"platform": "mock", "operation": "profile", "params": args{"handle": "ann"}},
		problem.InsufficientCredits)
	var me schema.Me
	recode(t, s.good(t, "account", nil).Data, &me)
	if me.Credits.Balance != 0 || me.Key.ID != s.Key.ID {
		t.Errorf("account: %+v", me)
	}
}

func TestTheRateLimitOfTheKeyHolds(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, connect, enginetest.Config{Rate: keys.Rate{Capacity: 12, Refill: 0.5}}, mcp.Config{})
			remaining := func() float64 {
				var me schema.Me
				recode(t, s.good(t, "account", nil).Data, &me)
				return me.Limits.Rate.Remaining
			}
			before := remaining()
			s.good(t, "platforms", nil)
			s.good(t, "describe", nil)
			if _, err := s.session.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			left := remaining()
			if before-left != 4 {
				t.Errorf("four messages took %v of the rate limit", before-left)
			}
			for range int(left) {
				s.good(t, "describe", nil)
			}
			got := s.fails(t, "account", nil, problem.RateLimited)
			if got.Problem.RetryAfter == nil || *got.Problem.RetryAfter < 1 {
				t.Errorf("retry_after is %v", got.Problem.RetryAfter)
			}
			if _, err := s.session.ListTools(t.Context(), nil); err == nil {
				t.Error("the tools were listed beyond the rate limit")
			}
		})
	}
}

func TestSearchBecomesAJob(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			s := open(t, connect, lateTikTok(release), mcp.Config{MaxBytes: 1 << 20})
			first := s.good(t, "search",
				args{"query": "pending_on_tiktok", "platforms": []string{"mock", "tiktok"}, "wait_s": 1})
			if first.Meta.JobID == "" || first.Meta.Platforms["tiktok"] != schema.Pending || first.Note == "" ||
				first.Meta.CreditsUsed != 1 {
				t.Fatalf("no job: %+v %s", first.Meta, first.Note)
			}
			close(release)
			rest := s.good(t, "job", args{"id": first.Meta.JobID, "wait_s": 25})
			if rest.Meta.JobID != "" || rest.Meta.Platforms["tiktok"] != schema.OK || rest.Meta.CreditsUsed != 2 {
				t.Errorf("the rest: %+v", rest.Meta)
			}
			if s.spent(t) != 2 {
				t.Errorf("charged %d credits, want 2", s.spent(t))
			}
		})
	}
}

func TestACustomPlatformIsATool(t *testing.T) {
	t.Parallel()
	s := open(t, overStdio, enginetest.Config{
		Providers: []providers.Provider{mock.NewFor("mastodon", mock.Config{})},
		Options: []socialdata.Option{socialdata.WithPlatform(platform.Info{
			ID: "mastodon", Name: "Mastodon", BaseCredits: 3,
		})},
	}, mcp.Config{})
	for _, tool := range s.tools(t) {
		if tool.Name != "platforms" && tool.Name != "read" {
			continue
		}
		if b, err := schema.Marshal(tool.InputSchema); err != nil || !strings.Contains(string(b), "mastodon") {
			t.Errorf("the tool %s does not name it: %s, %v", tool.Name, b, err)
		}
	}
	s.good(t, "read", args{"operation": "profile", "platform": "mastodon", "params": args{"handle": "salma"}})
	s.good(t, "platforms", args{"platform": "mastodon"})
}
