package engine

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/resolve"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// resolveAddress returns what a URL names.
func resolveAddress(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	found, err := s.resolver.Text(in.Get("url"))
	if err != nil {
		return nil, err
	}
	out := make([]schema.Resolved, 0, len(found.Calls))
	for _, c := range found.Calls {
		entry := schema.Resolved{
			Platform: found.Platform, Operation: c.Operation.Name, Params: make(map[string]string, len(c.Params)), Path: c.Path,
			URL: set(found.URL), Available: c.Available, Reason: set(c.Reason),
		}
		for _, p := range c.Params {
			entry.Params[p.Name] = p.Value
		}
		out = append(out, entry)
	}
	return s.free(ctx, call, out)
}

// redirect returns the call that reads what a URL names, with the options of the redirected call. It opens a short link
// if open is set.
func (s *Session) redirect(
	ctx context.Context, row *read.Row, call operation.Call, open bool,
) (*read.Row, operation.Call, *operation.Made, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, call, nil, err
	}
	found, err := s.resolver.Text(in.Get("url"))
	if short, ok := errors.AsType[*resolve.ShortLinkError](err); ok && open {
		found, err = s.openLink(ctx, short)
	}
	if err != nil {
		return nil, call, nil, err
	}
	first := found.Calls[0]
	made := &operation.Made{Operation: first.Operation, Platform: found.Platform, Path: first.Path}
	for _, c := range found.Calls[1:] {
		made.Related = append(made.Related, c.Path)
	}
	params := slices.Clone(first.Params)
	for _, p := range call.Given() {
		if p.Name != "url" {
			params = append(params, p)
		}
	}
	call.Platform, call.Params, call.Pairs = string(found.Platform), nil, params
	return s.rows[first.Operation.Name], call, made, nil
}

// openLink opens a short link and returns what its target names. It takes one of the account's unpaid calls if an
// upstream is called (D97); the read that follows gives it back when it is charged.
func (s *Session) openLink(ctx context.Context, short *resolve.ShortLinkError) (*resolve.Found, error) {
	q, err := s.reader.PlanOpen(ctx, short.Platform, short.URL)
	if err != nil {
		return nil, err
	}
	known := s.reader.Recall(ctx, q)
	if known == nil {
		unpaid, err := s.who.Open(ctx, s.reader.Sandbox(short.Platform), 1)
		if err != nil {
			return nil, err
		}
		defer unpaid.Close(ctx, account.Failed) // it is free
		ctx = unpaid.Context(ctx, 0)
	}
	target, err := s.reader.Opened(ctx, q, known)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(target)
	if err != nil || to.Host == "" || to.Scheme != "https" && to.Scheme != "http" {
		return nil, problem.New(problem.NotFound, "the target of the short link is not a web address")
	}
	found, err := s.resolver.Address(to)
	if again, ok := errors.AsType[*resolve.ShortLinkError](err); ok {
		return nil, problem.New(problem.NotFound,
			"the short link leads to another short link, of %s: open that and pass the address that it leads to",
			again.Platform)
	}
	return found, err
}
