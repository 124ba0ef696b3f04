package scrapecreators_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/schema"
)

func TestInstagram(t *testing.T) {
	const (
		cafe    = "cafe.riyadh"
		post    = "2317006284167526179"
		another = "3565077699422862188"
	)
	highlight := providers.CollectionQuery{ID: "18067016518767507"}
	run(t, platform.Instagram, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", cafe),
			providertest.Posts("posts", cafe),
			providertest.Reels("reels", cafe),
			providertest.Post("post", post),
			providertest.Trending("trending", providers.TrendingQuery{}),
			providertest.Search("search", providers.SearchQuery{Query: "cafe"}),
			providertest.Search("people", providers.SearchQuery{Query: "coach", Kind: schema.ProfileResult}),
			providertest.Search("hashtag", providers.SearchQuery{Query: "#funnydogs"}),
			providertest.Search("search-reels", providers.SearchQuery{Query: "dogs", Kind: schema.PostResult}),
			providertest.Comments("comments", post),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "18051843701642870", PostID: post}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: post}),
			providertest.Transcript("transcript-two", providers.TranscriptQuery{PostID: "3597267389859272809"}),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "jane_example"}),
			providertest.Collection("collection", highlight),
			providertest.CollectionPosts("collection-posts", highlight),
			providertest.List("track-posts", func(
				ctx context.Context, p providers.Provider, cursor string,
			) (providers.Page[schema.Post], error) {
				return p.TrackPosts(ctx, "1392969992841787", cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post", another), Want: providers.ErrNotFound},
			{Call: providertest.Post("an id of the official interface", "17885103395504675"), Want: providers.ErrUnsupported},
			{
				Call: providertest.Replies("replies without their post", providers.RepliesQuery{CommentID: "1"}),
				Want: providers.ErrInvalid,
			},
			{
				Call: providertest.Transcript("nothing is said", providers.TranscriptQuery{PostID: another}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("people of today", providers.SearchQuery{
					Query: "ann", Kind: schema.ProfileResult, Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
				}),
				Want: providers.ErrUnsupported,
			},
		},
		Drift: &providertest.Drift{Absent: []string{
			"data.user", "data.xdt_shortcode_media", // what does not exist
			"transcripts[].text", // there is no speech
			"cursor",             // when no flag says that there is more
		}},
	})
}

func TestInstagramReelsSinceATime(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Path != "/v2/instagram/reels/search" || r.URL.Query().Get("date_posted") != "last-week" {
			t.Errorf("asked for %s", r.URL)
		}
		return http.StatusOK, `{"success": true, "reels": [{"id": "1", "taken_at": "2001-01-01T00:00:00Z"}]}`
	})}
	p := of(t, platform.Instagram, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 26})
	page, err := p.Search(t.Context(), providers.SearchQuery{Query: "dogs", Since: time.Now().AddDate(0, 0, -3)}, "")
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %d results (%v), want none from before", len(page.Items), err)
	}
}

// A page with only reels that are too old is not the last one.
func TestInstagramPageOfOldReelsIsNotTheLast(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Instagram, `{"reels": [{"id": "37", "shortcode": "DOq", "taken_at": "2025-09-16T16:56:45.000Z",
		"owner": {"id": "7", "username": "ann"}}]}`)
	q := providers.SearchQuery{Query: "tea", Kind: schema.PostResult, Since: time.Now().Add(-time.Hour)}
	page, err := p.Search(t.Context(), q, "2")
	if err != nil || len(page.Items) != 0 || page.Next != "3" {
		t.Errorf("got %d reels and cursor %q (%v), want none and cursor 3", len(page.Items), page.Next, err)
	}
}

func TestInstagramPaidPartnershipsAreAds(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Instagram, `{"cursor": null, "posts": [
		{"id": "37", "shortcode": "DOq", "is_ad": false, "is_paid_partnership": true, "owner": {"id": "7", "username": "ann"}},
		{"id": "36", "shortcode": "DOp", "is_ad": false, "is_paid_partnership": false, "owner": {"id": "7", "username": "ann"}}]}`)
	page, err := p.Search(t.Context(), providers.SearchQuery{Query: "#tea"}, "")
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("got %d posts (%v), want 2", len(page.Items), err)
	}
	for i, want := range []bool{true, false} {
		if got := page.Items[i].Object.(*schema.Post).IsAd; got != want {
			t.Errorf("post %d is an ad: %t, want %t", i, got, want)
		}
	}
}
