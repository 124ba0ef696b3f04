package engine_test

import (
	"maps"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestMaxCreditsRefusesBeforeAnythingIsHeld(t *testing.T) {
	t.Parallel()
	sandboxes := enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.GitHub, platform.TikTok)
	e := enginetest.New(t, enginetest.Config{Providers: sandboxes, Options: []socialdata.Option{
		socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 2, platform.GitHub: 4, platform.TikTok: 6}),
	}})
	tests := []struct {
		name, operation string
		call            operation.Call
		price           string // the maximum
		below           string
	}{
		{"plain", "profile", on("mock", "handle", "ann"), "2", "1"},
		{"fresh", "profile", on("mock", "handle", "ann", "fresh", "true"), "4", "3"},
		{"enriched", "posts", on("github", "handle", "ann", "enrich", "arabic"), "7", "6"},
		{"fresh and enriched", "posts", on("github", "handle", "ann", "enrich", "arabic", "fresh", "true"), "11", "10"},
		{"with probes", "linked", on("mock", "handle", "ann", "platforms", "github,tiktok"), "12", "11"},
		{"with fresh probes", "linked", on("mock", "handle", "ann", "platforms", "github,tiktok", "fresh", "true"), "24", "23"},
		{"across platforms", "search_across", on("", "query", "coffee", "platforms", "mock,github,tiktok"), "12", "11"},
		{"across platforms, enriched", "search_across", on("", "query", "coffee", "platforms", "mock,tiktok", "enrich", "arabic"), "11", "10"},
		{"a text", "enrich", on("", "text", "good"), "3", "2"},
	}
	for _, tt := range tests {
		for _, key := range []string{"", "a key of one call: " + tt.name} {
			o := socialdata.Operation(tt.operation)
			call := tt.call
			if key != "" {
				call.IdempotencyKey = url.QueryEscape(key)
			}
			before := e.Balance(t)
			_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), o, bounded(call, tt.below))
			enginetest.WantProblem(t, err, problem.InsufficientCredits, "it may cost "+tt.price+" credits, and max_credits is "+
				tt.below)
			if got := e.Balance(t); got != before {
				t.Errorf("%s: the balance is %d, was %d", tt.name, got, before)
			}
			call.IdempotencyKey = ""
			if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), o, bounded(call, tt.price)); err != nil {
				t.Errorf("%s at its price: %v", tt.name, err)
			}
		}
	}
	o := socialdata.Operation("search_across")
	err := socialdata.FrontEnd(e.Client).Stream(t.Context(), o,
		on("", "query", "coffee", "platforms", "mock,github,tiktok", "max_credits", "11"), func(operation.Event) bool {
			t.Error("a stream above the bound has an event")
			return true
		})
	enginetest.WantProblem(t, err, problem.InsufficientCredits, "it may cost 12 credits, and max_credits is 11")
}

// on returns a call on a platform, with parameters given as name and value.
func on(platform string, params ...string) operation.Call {
	c := enginetest.Call(params...)
	c.Platform = platform
	return c
}

// bounded returns the call with a maximum price.
func bounded(c operation.Call, most string) operation.Call {
	params := url.Values{"max_credits": {most}}
	maps.Copy(params, c.Params)
	c.Params = params
	return c
}

func TestMaxCreditsDoesNotChangeTheCacheEntry(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	posts := func(cursor string, most int64, key string) (next string, hit bool) {
		t.Helper()
		got, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{
			Platform: platform.Mock, Handle: "ann", Page: socialdata.Page{Cursor: cursor}, ReadOptions: socialdata.ReadOptions{MaxCredits: most, IdempotencyKey: key},
		})
		if err != nil {
			t.Fatal(err)
		}
		return got.Meta.NextCursor, got.Meta.Cache == "HIT"
	}
	next, _ := posts("", 5, "")
	if _, hit := posts("", 9, ""); !hit {
		t.Error("a call that differs in max_credits alone is another cache entry")
	}
	if _, hit := posts(next, 7, ""); hit {
		t.Error("page two is page one")
	}

	// With an idempotency key it is part of the request.
	posts("", 5, "one-key-of-this-test")
	_, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{
		Platform: platform.Mock, Handle: "ann", ReadOptions: socialdata.ReadOptions{MaxCredits: 6, IdempotencyKey: "one-key-of-this-test"},
	})
	enginetest.WantProblem(t, err, problem.InvalidRequest, "another request")
	posts("", 5, "one-key-of-this-test")
	if diff := cmp.Diff(4, len(e.Charges(t))); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}
