package read_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// told is what an answer reports: its age and its price.
type told struct {
	Cache schema.CacheState
	Age   int64 // seconds
	Cost  int64 // credits
	Code  problem.Code
}

func TestAgesOfAnswers(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	type step struct {
		wait  time.Duration // before the call
		fails error         // of the upstream from then on; nil when it answers
		req   socialdata.ProfileRequest
		want  told
	}
	plain := socialdata.ProfileRequest{}
	within := func(d time.Duration) socialdata.ProfileRequest {
		return socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{MaxAge: d}}
	}
	stale := func(d time.Duration) socialdata.ProfileRequest {
		return socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{StaleIfError: d}}
	}
	down := providers.Unavailable(nil, "down")
	tests := []struct {
		name  string
		steps []step
	}{
		{"no answer is older than the limit", []step{
			{0, nil, within(time.Minute), told{schema.Miss, 0, 1, ""}},
			{59 * time.Second, nil, within(time.Minute), told{schema.Hit, 59, 1, ""}},
			{time.Second, nil, within(time.Minute), told{schema.Miss, 0, 2, ""}}, // 60 s old: skipped
			{30 * time.Second, nil, plain, told{schema.Hit, 30, 1, ""}},          // the new answer is cached for all callers
		}},
		{"an entry past its lifetime is read again at the base price", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour, nil, within(time.Minute), told{schema.Miss, 0, 1, ""}},
		}},
		{"the lifetime is the largest limit", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour - time.Second, nil, within(hour), told{schema.Hit, 3599, 1, ""}},
			{0, nil, within(hour + time.Second), told{Code: problem.InvalidRequest}},
		}},
		{"only callers that accept a stale answer get one", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour, down, plain, told{Code: problem.PlatformUnavailable}},
			{0, down, stale(time.Minute), told{schema.Hit, 3600, 1, ""}},
			{time.Minute, down, stale(time.Minute), told{schema.Hit, 3660, 1, ""}},
			{time.Second, down, stale(time.Minute), told{Code: problem.PlatformUnavailable}},
			{0, down, stale(time.Hour), told{schema.Hit, 3661, 1, ""}},
			{0, providers.ErrTimeout, stale(time.Hour), told{schema.Hit, 3661, 1, ""}},
			{0, providers.ErrTimeout, plain, told{Code: problem.UpstreamTimeout}},
		}},
		{"an absence is an answer", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour, nil, stale(24 * hour), told{schema.Miss, 0, 1, ""}},
			{hour, providers.NotFound("gone"), stale(24 * hour), told{Code: problem.NotFound}},
			{time.Minute, down, stale(24 * hour), told{Code: problem.PlatformUnavailable}}, // an absence is never stale
		}},
		{"an invalid request is reported", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour, providers.Invalid("no"), stale(24 * hour), told{Code: problem.InvalidRequest}},
			{0, providers.ErrCursor, stale(24 * hour), told{Code: problem.InvalidRequest}},
		}},
		{"a lack of capacity of our own is reported", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{hour, &providers.Error{Kind: providers.ErrUnavailable, Err: providers.ErrBusy}, stale(hour), told{Code: problem.PlatformUnavailable}},
		}},
		{"an entry that the limit has skipped answers when the upstream fails", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{30 * time.Minute, down, within(time.Minute), told{Code: problem.PlatformUnavailable}},
			{0, down, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{MaxAge: time.Minute, StaleIfError: time.Second}}, told{schema.Hit, 1800, 1, ""}},
			{hour, down, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{MaxAge: time.Minute, StaleIfError: time.Second}}, told{Code: problem.PlatformUnavailable}},
			{0, down, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{Fresh: true, StaleIfError: hour}}, told{schema.Hit, 5400, 1, ""}},
		}},
		{"an entry is deleted a day after its lifetime", []step{
			{0, nil, plain, told{schema.Miss, 0, 1, ""}},
			{25*hour - time.Second, down, stale(24 * hour), told{schema.Hit, 25*3600 - 1, 1, ""}},
			{2 * time.Second, down, stale(24 * hour), told{Code: problem.PlatformUnavailable}},
		}},
		{"with an enrichment", []step{
			{0, nil, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic, MaxAge: time.Minute}}, told{schema.Miss, 0, 1, ""}}, // no text (D65)
			{time.Minute, nil, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic, MaxAge: time.Minute}}, told{schema.Miss, 0, 2, ""}},
			{2 * hour, down, socialdata.ProfileRequest{ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic, StaleIfError: 2 * hour}}, told{schema.Hit, 7200, 1, ""}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fails error
			e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
				func(_ context.Context, handle string) (schema.Profile, error) {
					return enginetest.Profile(handle), fails
				}))
			clock := e.Clock
			for i, s := range tt.steps {
				clock.Advance(s.wait)
				fails = s.fails
				s.req.Platform, s.req.Handle = platform.GitHub, "ann"
				before := e.Balance(t)
				got, err := e.Client.Profile(t.Context(), s.req)
				var is told
				if err != nil {
					is.Code = enginetest.WantProblem(t, err, s.want.Code).Code
				} else {
					is = told{got.Meta.Cache, got.Meta.DataAgeS, got.Meta.CreditsUsed, ""}
				}
				if diff := cmp.Diff(s.want, is); diff != "" {
					t.Errorf("step %d (-want +got):\n%s", i, diff)
				}
				if spent := before - e.Balance(t); spent != is.Cost {
					t.Errorf("step %d: %d credits are gone, %d were told", i, spent, is.Cost)
				}
			}
		})
	}
}

func TestAReadWithAnAgeLimitReservesThePriceOfAFreshRead(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 1})
	_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann", ReadOptions: socialdata.ReadOptions{MaxAge: time.Minute}})
	enginetest.WantProblem(t, err, problem.InsufficientCredits)
	if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"}); err != nil {
		t.Fatal(err)
	}
}

func TestAStalePageComesFromItsOwnEntry(t *testing.T) {
	t.Parallel()
	fails := error(nil)
	e := enginetest.Of(t, enginetest.Posts(platform.GitHub, "github",
		func(_ context.Context, _, cursor string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{Items: []schema.Post{enginetest.Post("p" + cursor)}, Next: cursor + "x"}, fails
		}))
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "ann", ReadOptions: socialdata.ReadOptions{StaleIfError: 24 * time.Hour}}
	first, err := e.Client.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	fails = providers.Unavailable(nil, "down")
	e.Clock.Advance(time.Hour)
	req.Cursor = first.Meta.NextCursor // sealed by a call with the option, and also valid without it
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	fails = nil
	req.StaleIfError, req.MaxAge = 0, time.Minute
	if _, err := e.Client.Posts(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	fails = providers.Unavailable(nil, "down")
	e.Clock.Advance(time.Hour)
	req.StaleIfError = time.Hour
	second, err := e.Client.Posts(t.Context(), req)
	if err != nil || second.Data[0].ID != "px" || second.Meta.DataAgeS != 3600 {
		t.Errorf("%+v, %v", second, err)
	}
}

func TestAgesOfRawReads(t *testing.T) {
	t.Parallel()
	var fails error
	var forwarded url.Values
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{}))
	p.Routes = providers.Routes(platform.GitHub, "users/{login}{?*}")
	p.Forward = func(_ context.Context, _ string, query url.Values) (json.RawMessage, error) {
		forwarded = query
		return json.RawMessage(`{}`), fails
	}
	e := enginetest.Of(t, p)
	do := func(params ...string) (*operation.Answer, error) {
		call := enginetest.Call(params...)
		call.Platform, call.Path = "github", "users/a"
		return socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("raw"), call)
	}
	want := func(cache schema.CacheState, age, cost int64, params ...string) {
		t.Helper()
		got, err := do(params...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(told{cache, age, cost, ""}, told{got.Meta.Cache, got.Meta.DataAgeS, got.Meta.CreditsUsed, ""}); diff != "" {
			t.Errorf("%v (-want +got):\n%s", params, diff)
		}
	}
	want(schema.Miss, 0, 1, "max_age_s", "0", "stale_if_error_s", "1")
	if len(forwarded) > 0 {
		t.Errorf("forwarded %v", forwarded)
	}
	e.Clock.Advance(time.Second)
	want(schema.Hit, 1, 1)
	want(schema.Hit, 1, 1, "max_age_s", "2")
	want(schema.Miss, 0, 2, "max_age_s", "0")
	e.Clock.Advance(time.Hour)
	fails = providers.Unavailable(nil, "down")
	want(schema.Hit, 3600, 1, "stale_if_error_s", "3600")
	for _, bad := range [][2]string{
		{"max_age_s", "-1"},
		{"max_age_s", "301"},
		{"max_age_s", "1.5"},
		{"max_age_s", ""},
		{"max_age_s", "1m"},
		{"stale_if_error_s", "0"},
		{"stale_if_error_s", "86401"},
		{"stale_if_error_s", "x"},
	} {
		_, err := do(bad[0], bad[1])
		enginetest.WantProblem(t, err, problem.InvalidRequest, bad[0])
	}
}

// TestStaleAnswersDuringAnOutage has an upstream down for an hour under load: callers that accept stale answers get
// them with increasing ages, the others get a problem, and no call costs more than a hit.
func TestStaleAnswersDuringAnOutage(t *testing.T) {
	t.Parallel()
	var fails error
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			return enginetest.Profile(handle), fails
		}))
	read := func(n int, stale time.Duration) (*schema.Envelope[schema.Profile], error) {
		return e.Client.Profile(t.Context(), socialdata.ProfileRequest{
			Platform: platform.GitHub, Handle: fmt.Sprintf("ann%d", n), ReadOptions: socialdata.ReadOptions{StaleIfError: stale},
		})
	}
	for n := range 10 {
		if _, err := read(n, 0); err != nil {
			t.Fatal(err)
		}
	}
	fails = providers.Unavailable(nil, "down")
	e.Clock.Advance(time.Hour)
	oldest := int64(0)
	for minute := range int64(60) {
		for n := range 10 {
			got, err := read(n, 2*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if age := got.Meta.DataAgeS; age != 3600+60*minute || age < oldest || got.Meta.CreditsUsed != 1 || got.Meta.Cache != schema.Hit {
				t.Fatalf("minute %d: %+v", minute, got.Meta)
			}
			oldest = got.Meta.DataAgeS
		}
		before := e.Balance(t)
		_, err := read(int(minute)%10, 0)
		enginetest.WantProblem(t, err, problem.PlatformUnavailable)
		if e.Balance(t) != before {
			t.Fatal("a failure was charged")
		}
		e.Clock.Advance(time.Minute)
	}
}

func TestAStaleAnswerIsNotKeptLongerThanItsPlatformAllows(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{{
			Name: "a", Platform: platform.Reddit, Source: schema.Own,
			Profile: func(context.Context, string) (schema.Profile, error) {
				if down.Load() {
					return schema.Profile{}, providers.Unavailable(nil, "down")
				}
				return schema.Profile{Common: schema.Common{ID: "1", URL: "https://www.reddit.com/user/ann"}, Handle: "ann"}, nil
			},
		}},
		Options: []socialdata.Option{socialdata.WithKeep(privacy.Retention{
			Content: map[platform.ID]time.Duration{platform.Reddit: 24 * time.Hour},
		})},
	})
	req := socialdata.ProfileRequest{Platform: platform.Reddit, Handle: "ann", ReadOptions: socialdata.ReadOptions{StaleIfError: 24 * time.Hour}}
	if _, err := e.Client.Profile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	e.Clock.Advance(24*time.Hour - time.Second)
	if _, err := e.Client.Profile(t.Context(), req); err != nil {
		t.Errorf("an answer that is not yet a day old: %v", err)
	}
	e.Clock.Advance(time.Second)
	if _, err := e.Client.Profile(t.Context(), req); !errors.Is(err, problem.PlatformUnavailable) {
		t.Errorf("an answer that is a day old: %v; want platform_unavailable", err)
	}
}
