package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// result is the result of every tool: exactly one of Data, Piece and Problem, and the charge.
type result struct {
	Data    json.RawMessage `json:"data,omitempty"`
	Piece   *string         `json:"piece,omitempty"`
	Problem *failure        `json:"problem,omitempty"`
	Meta    any             `json:"meta"` // a schema.Meta, or the charge of a problem
	Note    string          `json:"note,omitempty"`
}

// note adds a sentence for the caller.
func (r *result) note(format string, args ...any) {
	r.Note = strings.TrimSpace(r.Note + " " + fmt.Sprintf(format, args...))
}

// charge is the meta of a call that failed.
type charge struct {
	CreditsUsed      int64  `json:"credits_used"`
	CreditsRemaining *int64 `json:"credits_remaining,omitempty"` // absent when it is not known
	RequestID        string `json:"request_id"`
}

// failure is a problem of the API, with what to do about it.
type failure struct {
	Code       problem.Code `json:"code"`
	Status     int          `json:"status" doc:"The HTTP status that goes with the code."`
	Detail     string       `json:"detail" doc:"What is wrong."`
	RetryAfter *int64       `json:"retry_after,omitempty" doc:"When to retry, in seconds."`
	WhatToDo   string       `json:"what_to_do" doc:"What can be done about it."`
}

// handler returns the handler of a tool. It returns every error, also a panic, as a problem.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		who := caller{}
		out, err := s.run(ctx, t, req.Params.Arguments, &who)
		if err != nil {
			out = s.failed(ctx, t, who, err)
		}
		text, err := schema.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{
			IsError: out.Problem != nil, StructuredContent: json.RawMessage(text),
			Content: []sdk.Content{&sdk.TextContent{Text: string(text)}},
		}, nil
	}
}

// run runs a tool. It makes its checks in the order of D1: key, rate limit, then the rest.
func (s *Server) run(ctx context.Context, t tool, raw json.RawMessage, who *caller) (out *result, err error) {
	defer func() {
		if v := recover(); v != nil { // the SDK does not recover: the process would end
			out, err = nil, fmt.Errorf("panic: %s\n%s", observe.Recovered(v), debug.Stack())
		}
	}()
	a, ok := ctx.Value(admittedKey{}).(admitted)
	if !ok {
		return nil, errUnconnected
	}
	if *who = a.who; a.err != nil {
		return nil, a.err
	}
	args, err := readArguments(raw, t.takes())
	if err != nil {
		return nil, err
	}
	return t.run(ctx, *who, args)
}

// do makes a call, or returns a part of a stored answer.
func (s *Server) do(ctx context.Context, who caller, in request) (*result, error) {
	if in.cursor != "" {
		return s.resume(ctx, who, in)
	}
	if who.keyed {
		in.call.More = func(ctx context.Context, n int) error {
			_, err := socialdata.FrontEnd(who.client).AdmitMore(ctx, n)
			return err
		}
	}
	in.call.RequestID = callctx.NewID()
	ctx = callctx.Begin(ctx, in.call.RequestID) // so that it is known when the call began
	a, err := socialdata.FrontEnd(who.client).Do(ctx, in.row, in.call)
	if err != nil {
		return nil, err
	}
	return s.deliver(ctx, who, in, a)
}

// deliver makes a result of an answer, or of its first part if it is too large for one result.
func (s *Server) deliver(ctx context.Context, who caller, in request, a *operation.Answer) (*result, error) {
	a.Meta.Errors = errorsInTools(a.Meta.Errors)
	data := json.RawMessage(in.chosen.Of(a.Data))
	out := &result{Data: data, Meta: a.Meta}
	if len(data)+len(a.Meta.Raw) > s.cfg.MaxBytes || in.cuts(data) {
		at, k, err := s.keep(ctx, who, in, a)
		if err == nil {
			out, err = s.part(k, at, in)
		}
		if err != nil {
			// It is paid for, so it is returned although too large.
			s.cfg.Logger.ErrorContext(ctx, "large answer not kept", "request_id", a.Meta.RequestID, "error", err)
			out = &result{Data: data, Meta: a.Meta}
		}
	}
	if a.Pending {
		out.note("Some platforms are still answering: collect the rest with the tool job, id = meta.job_id; that is free " +
			"to ask.")
	}
	return out, nil
}

// inTools returns the detail of a problem with the names of tools, not of routes.
func inTools(p *problem.Error) string {
	return p.DetailIn(func(words problem.Phrase) string { return cmp.Or(words.Tool, words.Command) })
}

// errorsInTools returns the errors of the platforms of a search with the names of tools.
func errorsInTools(of map[platform.ID]schema.PlatformError) map[platform.ID]schema.PlatformError {
	said := maps.Clone(of)
	row := socialdata.Operation(opSearchOne)
	for p, why := range said {
		why.Detail = strings.ReplaceAll(why.Detail, row.RouteOf(operation.Call{Platform: string(p)}), string(p)+" "+row.Name)
		said[p] = why
	}
	return said
}

// failed makes a result of an error. A call that fails is free.
func (s *Server) failed(ctx context.Context, t tool, who caller, err error) *result {
	p := problemOf(err)
	if p.RequestID == "" {
		p.RequestID = callctx.NewID()
	}
	if p.Code == problem.InternalError {
		s.cfg.Logger.ErrorContext(ctx, "tool failed", "request_id", p.RequestID, "tool", t.definition.Name, "error",
			observe.Loggable(p))
	}
	cost := charge{RequestID: p.RequestID}
	if who.keyed {
		if _, balance, err := who.account(ctx); err == nil {
			cost.CreditsRemaining = &balance
		}
	}
	out := &failure{Code: p.Code, Status: p.HTTPStatus(), Detail: inTools(p), WhatToDo: whatToDo(p)}
	if p.RetryAfter > 0 || p.Code == problem.RateLimited {
		out.RetryAfter = new(p.RetryAfterSeconds())
	}
	return &result{Problem: out, Meta: cost}
}

// problemOf returns err as a problem of the API, as a copy that can be modified.
func problemOf(err error) *problem.Error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return problem.Wrap(err, problem.InternalError, "something went wrong on our side")
	}
	own := *p
	return &own
}

// whatToDo returns what a caller can do about a problem.
func whatToDo(p *problem.Error) string {
	switch p.Code {
	case problem.InvalidRequest:
		return "Correct what the detail names and call again; describe lists the parameters of an operation. Nothing was charged."
	case problem.Unauthorized:
		return "Ask for a valid API key: this one is missing, unknown or revoked. Calling again will not help."
	case problem.InsufficientCredits:
		return "Ask for more credits, or make a cheaper call: fresh doubles the price and enrich adds 3. Nothing was charged."
	case problem.NotFound:
		return "Check the handle, id or name, for instance with search. Calling again with the same one will not help. " +
			"Nothing was charged."
	case problem.RateLimited:
		return "Wait for retry_after seconds and call again. Nothing was charged."
	case problem.PlatformUnavailable:
		if p.RetryAfter > 0 {
			return "Wait for retry_after seconds and call again. Nothing was charged."
		}
		return "When the detail says that the platform does not offer the operation or lacks a setting, choose another: " +
			"platforms lists what is available. Otherwise retry later. Nothing was charged."
	case problem.UpstreamTimeout:
		return "The platform was slow: call again in a while. Nothing was charged."
	case problem.InternalError:
	}
	return "This is an internal error: retry once, and report meta.request_id if it happens again. Nothing was charged."
}
