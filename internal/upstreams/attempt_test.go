package upstreams_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestTheObserverGetsCallsDriftAndBreakers(t *testing.T) {
	t.Parallel()
	var calls []observe.Call
	var drift []observe.Drift
	var breakers []observe.Breaker
	var upstream []observe.Upstream
	p := enginetest.Drifting(platform.GitHub, 1, 1)
	posts := p.Posts
	p.Posts = func(ctx context.Context, handle, token string) (providers.Page[schema.Post], error) {
		callctx.Of(ctx).Trace.Upstream(callctx.UpstreamCall{Host: "api.example", Status: 200})
		return posts(ctx, handle, token)
	}
	p.Profile = enginetest.Refuses(&enginetest.Counter{}, providers.ErrTimeout)
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{p}, Options: []socialdata.Option{socialdata.WithObserver(observe.Observer{
		Call:     func(c observe.Call) { c.Duration = 0; calls = append(calls, c) },
		Drift:    func(d observe.Drift) { drift = append(drift, d) },
		Breaker:  func(b observe.Breaker) { breakers = append(breakers, b) },
		Upstream: func(u observe.Upstream) { upstream = append(upstream, u) },
	})}})
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
	for range 2 {
		if _, err := e.Client.Posts(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		_, _ = e.Client.Profile(t.Context(), ask("octocat"))
	}
	want := []observe.Call{
		{Operation: "posts", Platform: "github", Cache: schema.Miss, Credits: 1},
		{Operation: "posts", Platform: "github", Cache: schema.Hit, Credits: 1},
		{Operation: "profile", Platform: "github", Code: problem.UpstreamTimeout},
	}
	if diff := cmp.Diff(want, calls[:3]); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	at := observe.Drift{Platform: platform.GitHub, Provider: "github", Operation: "posts"}
	field, row := at, at
	field.Field, field.Path = "items[].likes", "items[].likes"
	row.Field, row.Path, row.LeftOut = "media.type", "media[0].type", true
	if diff := cmp.Diff([]observe.Drift{field, row}, drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]observe.Breaker{{Platform: platform.GitHub, Provider: "github", State: observe.Open}}, breakers); diff != "" {
		t.Errorf("breakers (-want +got):\n%s", diff)
	}
	if len(upstream) != 1 || upstream[0].Operation != "posts" || upstream[0].Host != "api.example" {
		t.Errorf("upstream calls %+v", upstream)
	}
}
