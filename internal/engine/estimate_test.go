package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func estimated(t *testing.T, c *socialdata.Client, of string) schema.Estimate {
	t.Helper()
	got, err := c.Estimate(t.Context(), socialdata.EstimateRequest{Of: of})
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	if got.Meta.CreditsUsed != 0 {
		t.Errorf("%s: the estimate cost %d", of, got.Meta.CreditsUsed)
	}
	return got.Data
}

func TestEstimateItemisesThePrice(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{
		Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.GitHub, platform.TikTok),
		Options: []socialdata.Option{
			socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 2, platform.GitHub: 4, platform.TikTok: 6}),
		},
	})
	tests := []struct {
		of   string
		want schema.EstimateCredits
	}{
		{"/v1/mock/profile?handle=ann", schema.EstimateCredits{Most: 2, Least: 2, Base: 2}},
		{"/v1/mock/profile?handle=ann&enrich=arabic", schema.EstimateCredits{Most: 5, Least: 2, Base: 2, Enrich: 3}},
		{"/v1/github/posts?handle=ann&enrich=arabic&fresh=true", schema.EstimateCredits{Most: 11, Least: 8, Base: 4, Fresh: 4, Enrich: 3}},
		{"/v1/mock/linked?handle=ann&platforms=github,tiktok", schema.EstimateCredits{Most: 12, Least: 2, Base: 12}},
		{"/v1/mock/linked?handle=ann&platforms=github&fresh=true", schema.EstimateCredits{Most: 12, Least: 4, Base: 6, Fresh: 6}},
		{"/v1/search?query=tea&platforms=github,mock,tiktok&enrich=arabic", schema.EstimateCredits{Most: 15, Least: 2, Base: 12, Enrich: 3}},
		{"/v1/search?query=tea&platforms=github,tiktok&fresh=true", schema.EstimateCredits{Most: 20, Least: 8, Base: 10, Fresh: 10}},
		{"/v1/mock/profile?handle=ann&max_age_s=60", schema.EstimateCredits{Most: 4, Least: 2, Base: 2, Fresh: 2}},
		{"/v1/mock/profile?handle=ann&fresh=true&stale_if_error_s=60", schema.EstimateCredits{Most: 4, Least: 2, Base: 2, Fresh: 2}},
		{"/v1/enrich?text=good", schema.EstimateCredits{Most: 3, Least: 3, Enrich: 3}},
		{"/v1/raw/mock/users/salma?fresh=true", schema.EstimateCredits{Most: 8, Least: 8, Base: 4, Fresh: 4}},
		{"/v1/me", schema.EstimateCredits{}},
		{"/v1/usage?platform=github", schema.EstimateCredits{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, estimated(t, e.Client, tt.of).Credits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.of, diff)
		}
	}
	if got := len(e.Charges(t)); got != 0 || e.Balance(t) != 1000 {
		t.Errorf("%d charges, and a balance of %d; want 0, 1000", got, e.Balance(t))
	}
	parts := estimated(t, e.Client, "/v1/search?query=tea&platforms=tiktok,mock").Parts
	if len(parts) != 2 || parts[0].Platform != platform.TikTok || parts[0].Credits.Most != 6 ||
		len(parts[0].Providers) != 1 {
		t.Errorf("parts are %+v, want tiktok for 6 credits and another", parts)
	}
}

func TestEstimateUsesTheCacheButNoUpstream(t *testing.T) {
	t.Parallel()
	calls := &enginetest.Counter{}
	one := enginetest.Profiles(platform.GitHub, "one", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			calls.Add()
			if handle == "nobody" {
				return schema.Profile{}, providers.NotFound("there is no such account")
			}
			return enginetest.Profile(handle), nil
		})
	two := enginetest.Profiles(platform.GitHub, "two", schema.Own, enginetest.Answers(calls))
	two.Charges = map[providers.Op]int64{providers.OpProfile: 7}
	e := enginetest.Of(t, one, two)
	ann := "/v1/github/profile?handle=ann"
	got := estimated(t, e.Client, ann)
	want := []schema.EstimateProvider{
		{Provider: "one", State: schema.SourceUnknown}, {Provider: "two", UpstreamCredits: 7, State: schema.SourceUnknown},
	}
	if diff := cmp.Diff(want, got.Providers); diff != "" || got.Cache != schema.Miss || calls.Count() != 0 {
		t.Errorf("%+v after %d upstream calls (-want +got):\n%s", got, calls.Count(), diff)
	}
	for _, handle := range []string{"ann", "nobody"} {
		_, _ = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
	}
	e.Clock.Advance(20 * time.Second)
	asked := calls.Count()
	got = estimated(t, e.Client, ann)
	if got.Cache != schema.Hit || got.DataAgeS != 20 || got.GoodForS != 3580 || got.Credits.Least != 1 ||
		got.Providers[0].State != schema.SourceHealthy {
		t.Errorf("what is in the cache: %+v, want a hit for 1 credit, 20 s old, good for 3580 s", got)
	}
	got = estimated(t, e.Client, "/v1/github/profile?handle=nobody")
	if got.Cache != schema.Hit || got.DataAgeS != 20 || got.GoodForS != 40 || got.Credits.Least != 0 ||
		got.Credits.Most != 1 {
		t.Errorf("a remembered absence: %+v, want a hit for 0 to 1 credits, 20 s old, good for 40 s", got)
	}
	if got = estimated(t, e.Client, ann+"&fresh=true"); got.Cache != schema.Miss || got.GoodForS != 0 {
		t.Errorf("a fresh call: %+v, want a miss", got)
	}
	if calls.Count() != asked {
		t.Error("an estimate has called an upstream")
	}
}

// limit is an upstream's limit whose state a test sets.
type limit struct {
	providers.Limit
	name  string
	state providers.LimitState
}

func (l *limit) Name() string                { return l.name }
func (l *limit) State() providers.LimitState { return l.state }
func (l *limit) Share(providers.Shares)      {}
func (l *limit) Save(string) string          { return "" }
func (l *limit) Restore(string)              {}
func (l *limit) OnUnsaved(func() error)      {}

func TestEstimateReportsALimitThatIsUsedUp(t *testing.T) {
	t.Parallel()
	used := providers.LimitState{Limit: 60, Used: 60, Reset: enginetest.Start.Add(time.Hour)}
	some := providers.LimitState{Limit: 60, Used: 59, Left: 1, Reset: enginetest.Start.Add(time.Hour)}
	for name, tt := range map[string]struct {
		limits []providers.LimitState
		want   schema.SourceState
	}{
		"no limit":              {nil, schema.SourceUnknown},
		"one that is unknown":   {[]providers.LimitState{{}}, schema.SourceUnknown},
		"one with a read left":  {[]providers.LimitState{some}, schema.SourceUnknown},
		"one that is used up":   {[]providers.LimitState{used}, schema.SourceLimited},
		"one of two used up":    {[]providers.LimitState{used, some}, schema.SourceUnknown},
		"both used up":          {[]providers.LimitState{used, used}, schema.SourceLimited},
		"one used, one unknown": {[]providers.LimitState{used, {}}, schema.SourceLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Profiles(platform.GitHub, "one", schema.Official, enginetest.Answers(new(enginetest.Counter)))
			for i, at := range tt.limits {
				p.Limits = append(p.Limits, &limit{name: fmt.Sprint("limit", i), state: at})
			}
			e := enginetest.Of(t, p)
			if got := estimated(t, e.Client, "/v1/github/profile?handle=ann").Providers[0].State; got != tt.want {
				t.Errorf("the state is %s, want %s", got, tt.want)
			}
		})
	}
}

func TestEstimateKnowsTheLastPage(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Posts(platform.GitHub, "one",
		func(_ context.Context, handle, token string) (providers.Page[schema.Post], error) {
			page := providers.Page[schema.Post]{Items: []schema.Post{enginetest.Post("1" + token)}}
			if handle == "long" && token == "" {
				page.Next = "2"
			}
			return page, nil
		}))
	for handle, want := range map[string]*int64{"short": new(int64(1)), "long": nil} {
		of := "/v1/github/posts?handle=" + handle
		if got := estimated(t, e.Client, of); got.Pages != nil {
			t.Errorf("%s: %d pages before the first is read", handle, *got.Pages)
		}
		if _, err := e.Client.Posts(t.Context(),
			socialdata.PostsRequest{Platform: platform.GitHub, Handle: handle}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, estimated(t, e.Client, of).Pages); diff != "" {
			t.Errorf("%s: pages (-want +got):\n%s", handle, diff)
		}
	}
}

func TestEstimateReportsWhetherTheCallIsAffordable(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 10})
	capped := func(day, total *int64) *socialdata.Client {
		_, key, err := e.Keys.CreateKey(t.Context(), keys.NewKey{
			Account: e.Key.Account, Name: "capped", Environment: keys.Live, DayCap: day, TotalCap: total,
		})
		if err != nil {
			t.Fatal(err)
		}
		return e.Open.As(key)
	}
	const dear = "/v1/mock/posts?handle=ann&enrich=arabic&fresh=true" // 5
	for name, tt := range map[string]struct {
		client *socialdata.Client
		of     string
		want   bool
	}{
		"the balance allows it":      {e.Client, dear, true},
		"max_credits allows it":      {e.Client, dear + "&max_credits=5", true},
		"max_credits does not":       {e.Client, dear + "&max_credits=4", false},
		"the cap of a day allows it": {capped(new(int64(5)), nil), dear, true},
		"the cap of a day does not":  {capped(new(int64(4)), nil), dear, false},
		"the total cap does not":     {capped(nil, new(int64(4))), dear, false},
	} {
		if got := estimated(t, tt.client, tt.of); got.Affordable != tt.want || got.Balance != 10 {
			t.Errorf("%s: affordable %t, balance %d; want %t, 10", name, got.Affordable, got.Balance, tt.want)
		}
	}
	poor := enginetest.New(t, enginetest.Config{Credits: -1})
	if got := estimated(t, poor.Client, dear); got.Affordable || got.Balance != 0 {
		t.Errorf("without credits: %+v, want a balance of 0, not affordable", got)
	}
	free, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		t.Fatal(err)
	}
	if got := estimated(t, free, "/v1/mock/posts?handle=ann&fresh=true"); !got.Affordable || got.Credits.Most != 2 {
		t.Errorf("without a ledger: %+v, want 2 credits, affordable", got)
	}
	_, err = e.Open.Estimate(t.Context(), socialdata.EstimateRequest{Of: dear})
	enginetest.WantProblem(t, err, problem.Unauthorized)
}

func TestEstimateRefusesInvalidCalls(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for of, code := range map[string]problem.Code{
		"v1/mock/profile?handle=a":                     problem.InvalidRequest,
		"https://data.example.com/v1/me":               problem.InvalidRequest,
		"/v1/mock/profile%zz?handle=a":                 problem.InvalidRequest,
		"/v1/mock/profile?handle=%zz":                  problem.InvalidRequest,
		"/health":                                      problem.NotFound,
		"/v1/":                                         problem.NotFound,
		"/v1/mock/profil?handle=a":                     problem.NotFound,
		"/v1/mock%2Fprofile?handle=a":                  problem.NotFound,
		"/v1/nowhere/profile?handle=a":                 problem.NotFound,
		"/v1/usage?plaform=github":                     problem.InvalidRequest,
		"/v1/kwai/profile?handle=a":                    problem.PlatformUnavailable,
		"/v1/estimate?of=":                             problem.InvalidRequest,
		"/v1/search?query=a&platforms=mock&cursor=abc": problem.InvalidRequest,
	} {
		_, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: of})
		p := enginetest.WantProblem(t, err, code)
		if of == "/v1/mock/profil?handle=a" &&
			p.Detail != `parameter "of": there is no route /v1/mock/profil below /v1 (did you mean /v1/mock/profile?)` {
			t.Errorf("%s: %s; want the route and the one that is meant", of, p.Detail)
		}
	}
}

// TestTheAllocationsOfAnEstimateDoNotGrowWithTheTable checks that an estimate allocates nothing for other platforms.
func TestTheAllocationsOfAnEstimateDoNotGrowWithTheTable(t *testing.T) { // not parallel: allocations are counted for the whole process
	var ids []platform.ID
	for _, info := range platform.All() {
		ids = append(ids, info.ID)
	}
	count := func(ids ...platform.ID) float64 {
		e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, ids...)})
		if _, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.X, Handle: "salma"}); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(100, func() {
			if _, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: "/v1/x/posts?handle=salma"}); err != nil {
				t.Fatal(err)
			}
		})
	}
	const slack = 3 // the race detector empties pools at random; a step for each platform would be 27 more
	if alone, all := count(platform.X), count(ids...); all > alone+slack || all > 80 {
		t.Errorf("%v allocations among all platforms, %v with one; want no more, and 80 at most", all, alone)
	}
}
