package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// limitedTo is a provider whose upstream has a daily limit, and counts its requests.
func limitedTo(limit int, sent *int) providers.Provider {
	c := upstream.New(upstream.Config{
		Base: "https://api.example", Quota: upstream.NewQuota(limit, 24*time.Hour),
		HTTP: &http.Client{Transport: answering(func(http.ResponseWriter, *http.Request) { *sent++ })},
	})
	p := enginetest.Profiles(platform.GitHub, "github", schema.Official,
		func(ctx context.Context, handle string) (schema.Profile, error) {
			_, err := c.Do(ctx, upstream.Get("users", handle))
			return enginetest.Profile(handle), err
		})
	p.Limits = upstream.Limits(map[string]*upstream.Quota{"core": c.Quota()})
	return p
}

type answering func(http.ResponseWriter, *http.Request)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}

func readOne(ctx context.Context, c *socialdata.Client, handle string) error {
	_, err := c.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
	return err
}

func TestLimitsOutliveARestartAndCountForAllProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 400
		store, sent, n := records.NewMemory(records.MemoryConfig{}), 0, 0
		open := func() *socialdata.Client {
			c, err := socialdata.New(socialdata.WithProviders(providers.Chain{limitedTo(limit, &sent)}),
				socialdata.WithRecords(store))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		through := func(c *socialdata.Client, most int) int {
			t.Helper()
			did := 0
			for range most {
				n++
				if err := readOne(t.Context(), c, fmt.Sprint("ann", n)); err == nil {
					did++
				} else if !errors.Is(err, problem.PlatformUnavailable) {
					t.Fatal(err)
				}
				synctest.Wait() // for the save
			}
			return did
		}
		one, two, three := open(), open(), open()
		if got := through(one, 150) + through(two, 50); got != 200 {
			t.Fatalf("%d reads went through, want 200", got)
		}
		time.Sleep(5 * time.Second) // in which the rest is saved
		synctest.Wait()
		if err := one.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		one = open() // it has the saved use from the start
		want := observe.Quota{
			Platform: platform.GitHub, Provider: "github", Name: "core", Limit: limit, Used: 200, Left: 200, Shared: true,
		}
		got := one.Operator().Quotas()
		if len(got) == 1 {
			got[0].Resets = time.Time{}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		for range 100 {
			through(one, 1)
			through(two, 1)
			through(three, 1)
		}
		if sent < limit*95/100 || sent > limit*105/100 {
			t.Errorf("%d reads went out, want %d", sent, limit)
		}
		for _, c := range []*socialdata.Client{one, two, three} {
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWithoutAStoreEachProcessCountsForItself(t *testing.T) {
	t.Parallel()
	sent := 0
	c, err := socialdata.New(socialdata.WithProviders(providers.Chain{limitedTo(10, &sent)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := readOne(t.Context(), c, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := c.Operator().Quotas(); len(got) != 1 || got[0].Shared || got[0].Left != 9 || got[0].Used != 1 {
		t.Errorf("quotas %+v, want one that is not shared, 1 used, 9 left", got)
	}
}

func TestTheNextSourceIsUsedWhenABudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	sent := 0
	var second enginetest.Counter
	shares := socialdata.WithShares(map[string]providers.Shares{"github": {Dear: 80, Background: 30}})
	all := providers.Chain{
		limitedTo(10, &sent), enginetest.Profiles(platform.GitHub, "other", schema.Own, enginetest.Answers(&second)),
	}
	both, err := socialdata.New(socialdata.WithProviders(all), shares)
	if err != nil {
		t.Fatal(err)
	}
	background := callctx.InBackground(t.Context())
	for n := range 5 {
		if err := readOne(background, both, fmt.Sprint("ann", n)); err != nil {
			t.Fatal(err)
		}
	}
	if sent != 3 || second.Count() != 2 {
		t.Errorf("%d and %d reads, want 3 and 2", sent, second.Count())
	}
	sent = 0
	alone, err := socialdata.New(socialdata.WithProviders(providers.Chain{limitedTo(10, &sent)}), shares)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := readOne(background, alone, fmt.Sprint("ann", n)); err != nil {
			t.Fatal(err)
		}
	}
	p := enginetest.WantProblem(t, readOne(background, alone, "omar"), problem.PlatformUnavailable)
	if p.RetryAfter <= 0 {
		t.Errorf("Retry-After is %v, want a positive time", p.RetryAfter)
	}
	if err := readOne(t.Context(), alone, "omar"); err != nil { // a caller can continue
		t.Error(err)
	}
}

func TestSharesAreChecked(t *testing.T) {
	t.Parallel()
	sent := 0
	for name, tt := range map[string]struct {
		shares map[string]providers.Shares
		want   string
	}{
		"nobody's":  {map[string]providers.Shares{"gitub": {}}, `did you mean github`},
		"above all": {map[string]providers.Shares{"github": {Dear: 101}}, "from 0 to 100"},
		"below":     {map[string]providers.Shares{"github": {Background: -1}}, "from 0 to 100"},
	} {
		_, err := socialdata.New(socialdata.WithProviders(providers.Chain{limitedTo(10, &sent)}),
			socialdata.WithShares(tt.shares))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
