package read_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	p.Routes, p.Credentials = providers.Routes(platform.GitHub, "users/{login}{?*}"), []string{"access_token", "key"}
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
		_, err = without.Client.Raw(t.Context(), req) // a bad parameter is reported before a missing setting
		enginetest.WantProblem(t, err, code, name)
	}
	_, err := without.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "github", Path: "users/a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "the provider github is not configured: missing the setting token")
}

func TestRawReadsForwardListedParametersOnly(t *testing.T) {
	t.Parallel()
	calls := 0
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{}))
	p.Routes = providers.Routes(platform.GitHub, "users/{login}{?page,fields}", "plain")
	p.Owner.Words = []string{"me"}
	p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) {
		calls++
		return json.RawMessage(`{}`), nil
	}
	e := enginetest.Of(t, p)
	for _, tt := range []struct {
		path, parameter string
		code            problem.Code
		words           []string
	}{
		{"users/a", "page", "", nil},
		{"users/a", "method", problem.InvalidRequest, []string{`"method"`, "takes page, fields"}},
		{"users/a", "Page", problem.InvalidRequest, []string{`"Page"`}},
		{"users/a", "page[]", problem.InvalidRequest, []string{`"page[]"`}},
		{"plain", "page", problem.InvalidRequest, []string{`"page"`, "takes none"}},
		{"users/me", "page", problem.NotFound, nil},
		{"users/ME", "page", problem.NotFound, nil},
	} {
		before := calls
		req := socialdata.RawRequest{Provider: "github", Path: tt.path, Query: url.Values{tt.parameter: {"post"}}}
		_, err := e.Client.Raw(t.Context(), req)
		if tt.code == "" {
			if err != nil || calls == before {
				t.Errorf("%s?%s: %v, %d reads", tt.path, tt.parameter, err, calls-before)
			}
			continue
		}
		enginetest.WantProblem(t, err, tt.code, tt.words...)
		if calls != before {
			t.Errorf("%s?%s went upstream", tt.path, tt.parameter)
		}
	}
}

func TestFieldsForTheOwnerOfTheCredentialAreNotShown(t *testing.T) {
	t.Parallel()
	const answer = `{"login":"a","plan":{"name":"pro","plan":1},"repos":[{"pl\u0061n":2,"id":1}],"note":"\"plan\":3"}`
	const public = `{"login":"a","repos":[{"id":1}],"note":"\"plan\":3"}`
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, func(_ context.Context, handle string) (schema.Profile, error) {
		return schema.Profile{
			Common: schema.Common{ID: "1", URL: "https://github.com/a", Raw: json.RawMessage(answer)}, Handle: handle,
		}, nil
	})
	p.Owner.Fields, p.Routes = []string{"plan"}, providers.Routes(platform.GitHub, "users/{login}")
	p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) {
		return json.RawMessage(answer), nil
	}
	e := enginetest.Of(t, p)
	raw, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "github", Path: "users/a"})
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(public), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, raw.Data); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}
	profile, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "a", ReadOptions: socialdata.ReadOptions{IncludeRaw: true}})
	if err != nil || string(profile.Data.Raw) != public {
		t.Errorf("include_raw: %v, %s", err, profile.Data.Raw)
	}
}

func TestProblemsOfRawReadsNameTheRoute(t *testing.T) {
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
		enginetest.WantProblem(t, err, tt.code)
		if wire, _ := json.Marshal(err); !strings.Contains(string(wire), tt.words) {
			t.Errorf("%s lacks %q", wire, tt.words)
		}
	}
}

func TestTheAgeOfARawReadCountsFromItsAnswer(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for i, want := range []schema.CacheState{schema.Miss, schema.Hit} {
		got, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: "users/a"})
		if err != nil || got.Meta.Cache != want || got.Meta.DataAgeS != 0 {
			t.Errorf("call %d: %+v, %v", i, got.Meta, err)
		}
	}
}

func TestRawReadsForwardNoOptionsOfTheCall(t *testing.T) {
	t.Parallel()
	var forwarded url.Values
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{}))
	p.Routes = providers.Routes(platform.GitHub, "users/{login}{?*}")
	p.Forward = func(_ context.Context, _ string, query url.Values) (json.RawMessage, error) {
		forwarded = query
		return json.RawMessage(`{}`), nil
	}
	e := enginetest.Of(t, p)
	req := socialdata.RawRequest{Provider: "github", Path: "users/a", Query: url.Values{"page": {"2"}}, Fresh: true, MaxCredits: 2}
	if _, err := e.Client.Raw(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(url.Values{"page": {"2"}}, forwarded); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
	req.MaxCredits = 1
	_, err := e.Client.Raw(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InsufficientCredits, "it may cost 2 credits, and max_credits is 1")
	req.Fresh = false
	got, err := e.Client.Raw(t.Context(), req)
	if err != nil || got.Meta.Cache != schema.Hit {
		t.Errorf("a call that differs in max_credits is another entry: %v", err)
	}
}
