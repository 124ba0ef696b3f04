package linked_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func ofSalma(platforms ...platform.ID) socialdata.LinkedRequest {
	return socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "salma", Platforms: platforms}
}

// accounts returns what was found as "platform/handle confidence".
func accounts(got *schema.Envelope[[]schema.LinkedProfile]) []string {
	out := []string{}
	for _, l := range got.Data {
		out = append(out, fmt.Sprintf("%s/%s %.2f", l.Platform, l.Handle, l.Confidence))
	}
	return out
}

func TestLinksInArabicBios(t *testing.T) {
	t.Parallel()
	for bio, want := range map[string]string{
		"تابعوني على https://x.com/ahmed، وعلى تويتر": "https://x.com/ahmed",
		"سناب؟ https://snapchat.com/add/ahmed؟":       "https://snapchat.com/add/ahmed",
		"قناتي t.me/ahmed؛ شكرا":                      "https://t.me/ahmed",
		"«https://x.com/ahmed»":                       "https://x.com/ahmed",
		"https://x.com/ahmed\u200f":                   "https://x.com/ahmed",
		"HTTPS://x.com/ahmed|me":                      "https://x.com/ahmed",
		"mailto:ahmed@x.com/ahmed":                    "",
	} {
		e := enginetest.Of(t, people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", bio)))
		got, err := e.Client.Linked(t.Context(), ofSalma())
		if err != nil {
			t.Errorf("%q: %v", bio, err)
			continue
		}
		url := ""
		if len(got.Data) == 1 {
			url = got.Data[0].URL
		}
		if url != want || len(got.Data) > 1 {
			t.Errorf("%q: %v, want %q", bio, accounts(got), want)
		}
	}
}

func TestFailuresOfDerivedReadsDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t,
		people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "", "https://x.com/salma", "https://t.me/salma")),
		people(platform.X, schema.Profile{Common: schema.Common{ID: "1", URL: "no address"}, Handle: "salma"}))
	for range 10 {
		got, err := e.Client.Linked(t.Context(), ofSalma())
		if err != nil || !cmp.Equal(accounts(got), []string{"x/salma 0.86", "telegram/salma 0.86"}) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "salma"}); err != nil {
		t.Error(err)
	}
}

func TestAHangingPlatformIsSkippedAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hanging atomic.Bool
		hanging.Store(true)
		back := person("https://x.com/salma", "salma", "Salma", "me: https://github.com/salma")
		slow := func(id platform.ID) providers.Provider {
			return enginetest.Profiles(id, string(id), schema.Official, func(ctx context.Context, _ string) (schema.Profile, error) {
				if hanging.Load() {
					<-ctx.Done()
					return schema.Profile{}, ctx.Err()
				}
				return back, nil
			})
		}
		e := enginetest.Of(t,
			people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "", "https://x.com/salma", "https://tiktok.com/@salma")),
			slow(platform.X), slow(platform.TikTok))
		began := time.Now()
		got, err := e.Client.Linked(t.Context(), ofSalma())
		if took := time.Since(began); err != nil || took != 3*time.Second {
			t.Fatalf("%v after %v", err, took)
		}
		if diff := cmp.Diff([]string{"x/salma 0.86", "tiktok/salma 0.86"}, accounts(got)); diff != "" {
			t.Errorf("linked (-want +got):\n%s", diff)
		}
		time.Sleep(15 * time.Second) // abandoned reads end
		hanging.Store(false)
		e.Clock.Advance(4 * time.Minute)
		if got, err = e.Client.Linked(t.Context(), ofSalma()); err != nil || got.Meta.Cache != schema.Hit {
			t.Errorf("after four minutes: %v, %v", got.Meta.Cache, err)
		}
		e.Clock.Advance(time.Minute)
		got, err = e.Client.Linked(t.Context(), ofSalma())
		if err != nil || got.Meta.Cache != schema.Miss {
			t.Fatalf("after five minutes: %v, %v", got, err)
		}
		if diff := cmp.Diff([]string{"x/salma 1.00", "tiktok/salma 1.00"}, accounts(got)); diff != "" {
			t.Errorf("when all is well (-want +got):\n%s", diff)
		}
	})
}

func TestAnAbsenceKeepsItsDetail(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
		enginetest.Refuses(&enginetest.Counter{}, providers.NotFound("the account is suspended"))))
	for range 2 {
		_, err := e.Client.Linked(t.Context(), ofSalma())
		enginetest.WantProblem(t, err, problem.NotFound, "the account is suspended")
	}
}

// confirms is a platform that keeps a list of accounts itself, or fails to return it.
func confirms(p providers.Provider, err error, list ...schema.LinkedProfile) providers.Provider {
	p.Linked = func(context.Context, string, string) (providers.Page[schema.LinkedProfile], error) {
		return providers.Page[schema.LinkedProfile]{Items: list}, err
	}
	return p
}

func TestAFailedOfficialPartIsNotHidden(t *testing.T) {
	t.Parallel()
	me := person("https://github.com/salma", "salma", "Salma", "https://x.com/salma")
	official := confirms(people(platform.GitHub, me), providers.Unreadable(nil))
	own := people(platform.GitHub, me)
	own.Name, own.Source = "own", schema.Own
	e := enginetest.Of(t, official, own)
	_, err := e.Client.Linked(t.Context(), ofSalma())
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "cannot be read")
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
	e = enginetest.Of(t, confirms(people(platform.GitHub, me), providers.ErrNotFound), own)
	if got, err := e.Client.Linked(t.Context(), ofSalma()); err != nil || len(got.Data) != 1 {
		t.Errorf("an absent list is an empty one: %v, %v", got, err)
	}
}

func TestAnOfficialListHasAFixedConfidence(t *testing.T) {
	t.Parallel()
	listed := schema.LinkedProfile{
		Common: schema.Common{Platform: platform.X, ID: "x:1", URL: "https://x.com/salma_h", Raw: []byte(`{"a":1}`)},
		Handle: "salma_h", Confidence: 1, Evidence: []string{"web-profiles"},
	}
	e := enginetest.Of(t, confirms(people(platform.GitHub,
		person("https://github.com/salma", "salma", "Salma", "https://x.com/salma_h and https://t.me/s")), nil, listed))
	req := ofSalma()
	req.IncludeRaw = true
	got, err := e.Client.Linked(t.Context(), req)
	if err != nil || len(got.Data) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	x := got.Data[0]
	if x.Source != schema.Official || x.ID != "x:1" || x.Confidence != 0.95 || string(x.Raw) != `{"a":1}` ||
		!cmp.Equal(x.Evidence, []string{"official:web-profiles"}) {
		t.Errorf("listed: %+v", x)
	}
	for _, l := range got.Data {
		for _, evidence := range l.Evidence {
			if word, value, found := strings.Cut(evidence, ":"); !found || word == "" || value == "" {
				t.Errorf("evidence %q", evidence)
			}
		}
	}
	if len(got.Data[1].Raw) > 0 && string(got.Data[1].Raw) != "null" {
		t.Errorf("raw of what was derived: %s", got.Data[1].Raw)
	}
}

func TestFreshIsPassedOnAndTheOldestPartIsTheAge(t *testing.T) {
	t.Parallel()
	var mine, other enginetest.Counter
	count := func(p providers.Provider, calls *enginetest.Counter) providers.Provider {
		profile := p.Profile
		p.Profile = func(ctx context.Context, handle string) (schema.Profile, error) {
			calls.Add()
			return profile(ctx, handle)
		}
		return p
	}
	e := enginetest.Of(t,
		count(people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "https://x.com/salma")), &mine),
		count(people(platform.X, person("https://x.com/salma", "salma", "Salma", "")), &other))
	if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.X, Handle: "salma"}); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(20 * time.Minute)
	got, err := e.Client.Linked(t.Context(), ofSalma())
	if err != nil || got.Meta.DataAgeS != 20*60 || got.Meta.Cache != schema.Miss {
		t.Errorf("%+v, %v: one part is 20 minutes old", got.Meta, err)
	}
	e.Clock.Advance(40 * time.Minute)
	if got, err = e.Client.Linked(t.Context(), ofSalma()); err != nil || got.Meta.Cache != schema.Miss {
		t.Errorf("%+v, %v: its oldest part has outlived its hour", got.Meta, err)
	}
	before := [2]int{mine.Count(), other.Count()}
	req := ofSalma()
	req.Fresh = true
	got, err = e.Client.Linked(t.Context(), req)
	if err != nil || got.Meta.DataAgeS != 0 || got.Meta.CreditsUsed != 2 {
		t.Errorf("%+v, %v", got.Meta, err)
	}
	if mine.Count() != before[0]+1 || other.Count() != before[1]+1 {
		t.Errorf("%d and %d calls more, want one of each", mine.Count()-before[0], other.Count()-before[1])
	}
}

func TestEqualHandlesAreProbedOnTheNamedPlatforms(t *testing.T) {
	t.Parallel()
	fails := enginetest.Profiles(platform.LinkedIn, "linkedin", schema.Own,
		enginetest.Refuses(&enginetest.Counter{}, providers.Unavailable(nil, "down")))
	e := enginetest.Of(t,
		people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "")),
		people(platform.X, person("https://x.com/salma", "Salma", "Salma", "")),
		people(platform.TikTok, person("https://tiktok.com/@salma", "salma", "Somebody", "https://github.com/salma")),
		people(platform.YouTube), fails)
	tests := []struct {
		platforms []platform.ID
		fresh     bool
		want      []string
		used      int64
	}{
		{nil, false, []string{}, 1},
		{[]platform.ID{platform.X}, false, []string{"x/Salma 0.50"}, 2},
		{[]platform.ID{platform.X, platform.TikTok, platform.X, platform.GitHub}, false, []string{"x/Salma 0.50", "tiktok/salma 0.97"}, 3},
		{[]platform.ID{platform.YouTube}, false, []string{}, 2}, // an account that does not exist is an answer
		{[]platform.ID{platform.X}, true, []string{"x/Salma 0.50"}, 4},
		{[]platform.ID{platform.LinkedIn}, false, []string{}, 1}, // what could not be read is not charged
		{[]platform.ID{platform.LinkedIn}, false, []string{}, 1}, // nor from the cache
	}
	for _, tt := range tests {
		req := ofSalma(tt.platforms...)
		req.Fresh = tt.fresh
		before := e.Balance(t)
		got, err := e.Client.Linked(t.Context(), req)
		if err != nil {
			t.Fatalf("%v: %v", tt.platforms, err)
		}
		if diff := cmp.Diff(tt.want, accounts(got)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.platforms, diff)
		}
		if got.Meta.CreditsUsed != tt.used || before-e.Balance(t) != tt.used {
			t.Errorf("%v: told %d, charged %d, want %d", tt.platforms, got.Meta.CreditsUsed, before-e.Balance(t), tt.used)
		}
	}
	_, err := e.Client.Linked(t.Context(), ofSalma("myspace"))
	enginetest.WantProblem(t, err, problem.InvalidRequest, "myspace")
	_, err = e.Client.Linked(t.Context(), ofSalma(platform.Kick))
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "kick does not offer Profile")
}
