package enginetest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Of makes an engine with the given providers.
func Of(tb testing.TB, p ...providers.Provider) *Engine {
	tb.Helper()
	return New(tb, Config{Providers: p})
}

// Profiles is a provider of profiles only.
func Profiles(id platform.ID, name string, source schema.Source, read providers.One[schema.Profile]) providers.Provider {
	return providers.Provider{Name: name, Platform: id, Source: source, Profile: read}
}

// Posts is a provider of posts only.
func Posts(id platform.ID, name string, read providers.List[schema.Post]) providers.Provider {
	return providers.Provider{Name: name, Platform: id, Source: schema.Own, Posts: read}
}

// Drifting is a provider of twenty posts, some of which violate the schema, that also reports unexpected fields.
func Drifting(id platform.ID, broken, odd int) providers.Provider {
	return Posts(id, string(id), func(ctx context.Context, _, _ string) (providers.Page[schema.Post], error) {
		page := providers.Page[schema.Post]{}
		for i := range 20 {
			p := Post(strconv.Itoa(i))
			if i < broken {
				p.Media = []schema.Media{{Type: "hologram", URL: "https://a.example/secret"}}
			}
			page.Items = append(page.Items, p)
		}
		for range odd {
			callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{"items[].likes"}})
		}
		return page, nil
	})
}

// Profile is a profile as a provider returns it.
func Profile(handle string) schema.Profile {
	return schema.Profile{Common: schema.Common{ID: "id-" + handle, URL: "https://example.com/" + handle}, Handle: handle}
}

// Post is a post as a provider returns it.
func Post(id string) schema.Post {
	return schema.Post{
		Common: schema.Common{ID: id, URL: "https://example.com/" + id}, Author: schema.Actor{ID: "a", Handle: "a"}, Text: id,
	}
}

// Answers is a read that finds every handle, and counts calls.
func Answers(calls *Counter) providers.One[schema.Profile] {
	return func(_ context.Context, handle string) (schema.Profile, error) {
		calls.Add()
		return Profile(handle), nil
	}
}

// Refuses is a read that always fails with err, and counts calls.
func Refuses(calls *Counter, err error) providers.One[schema.Profile] {
	return func(context.Context, string) (schema.Profile, error) {
		calls.Add()
		return schema.Profile{}, err
	}
}

// WantProblem fails the test unless err is a problem of that code whose detail contains all words.
func WantProblem(tb testing.TB, err error, code problem.Code, words ...string) problem.Error {
	tb.Helper()
	var p *problem.Error
	if !errors.As(err, &p) {
		tb.Fatalf("%v is not a problem, want %s", err, code)
	}
	if p.Code != code {
		tb.Errorf("code is %s (%s), want %s", p.Code, p.Detail, code)
	}
	for _, w := range words {
		if !strings.Contains(p.Detail, w) {
			tb.Errorf("detail %q does not contain %q", p.Detail, w)
		}
	}
	if p.RequestID == "" {
		tb.Error("the problem has no request id")
	}
	return *p
}
