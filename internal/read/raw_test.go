package read_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestRawReadsRefuseCredentialsByName(t *testing.T) {
	t.Parallel()
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{}))
	p.Routes, p.Credentials = providers.Routes(platform.GitHub, "users/{login}"), []string{"access_token", "key"}
	p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) { return json.RawMessage(`{}`), nil }
	e := enginetest.Of(t, p)
	without := enginetest.Of(t, p.Without("token"))
	for name, code := range map[string]problem.Code{
		"access_token": problem.InvalidRequest, "key": problem.InvalidRequest, "pageToken": "", "KEY": "", "monkey": "",
	} {
		req := socialdata.RawRequest{Provider: "github", Path: "users/a", Query: url.Values{name: {"bad"}}}
		_, err := e.Client.Raw(t.Context(), req)
		if code == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		enginetest.WantProblem(t, err, code, name)
		_, err = without.Client.Raw(t.Context(), req) // a bad parameter comes before a missing setting
		enginetest.WantProblem(t, err, code, name)
	}
	_, err := without.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "github", Path: "users/a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "GET /v1/raw/github/users/a", "the provider github is not configured: missing the setting token")
}

func TestProblemsOfRawReadsNameTheRouteThatWasAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err   error
		code  problem.Code
		words string
	}{
		{providers.Unavailable(nil, "down"), problem.PlatformUnavailable, "GET /v1/raw/github/users/octocat: down"},
		{providers.ErrTimeout, problem.UpstreamTimeout, "GET /v1/raw/github/users/octocat"},
		{providers.ErrNotFound, problem.NotFound, "users/octocat"},
	} {
		p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{}))
		p.Routes = providers.Routes(platform.GitHub, "users/{login}")
		p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) { return nil, tt.err }
		_, err := enginetest.Of(t, p).Client.Raw(t.Context(), socialdata.RawRequest{Provider: "github", Path: "users/octocat"})
		enginetest.WantProblem(t, err, tt.code, tt.words)
	}
}

func TestARawReadIsAsOldAsItsAnswer(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for i, want := range []schema.CacheState{schema.Miss, schema.Hit} {
		got, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: "users/a"})
		if err != nil || got.Meta.Cache != want || got.Meta.DataAgeS != 0 {
			t.Errorf("call %d: %+v, %v", i, got.Meta, err)
		}
	}
}
