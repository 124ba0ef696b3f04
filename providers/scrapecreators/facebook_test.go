package scrapecreators_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/schema"
)

func TestFacebook(t *testing.T) {
	const (
		tea  = "teahouse.example"
		post = "1206903601483960"
	)
	group := providers.CommunityPostsQuery{ID: "366190054572553", Sort: "recent"}
	run(t, platform.Facebook, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", tea),
			providertest.Profile("profile-number", "1581499185460975"),
			providertest.Posts("posts", tea),
			providertest.Post("post", "1535656380759655"),
			providertest.Post("post-picture", tea+"_91"),
			providertest.Reels("reels", tea),
			providertest.Comments("comments", post),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: post + "_701"}),
			providertest.Replies("replies-late", providers.RepliesQuery{CommentID: post + "_703", PostID: post}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "1535656380759655"}),
			providertest.Community("group", group.ID),
			providertest.Community("group-name", "teadrinkers"),
			providertest.CommunityPosts("group-posts", group),
			providertest.One("event", func(ctx context.Context, p providers.Provider) (schema.Event, error) {
				return p.Event(ctx, "2255360061870188")
			}),
			providertest.Events("events", providers.EventsQuery{Handle: tea}),
			providertest.Events("events-place", providers.EventsQuery{
				Place: "https://www.facebook.com/events/explore/riyadh/110944518935123/?x=1",
			}),
			providertest.List("events-search", func(
				ctx context.Context, p providers.Provider, cursor string,
			) (providers.Page[schema.Event], error) {
				return p.EventsSearch(ctx, "tea", cursor)
			}),
			providertest.AdsSearch("ads-search", providers.AdsSearchQuery{Query: "tea", AdFilter: providers.AdFilter{
				Country: "SA", Status: "all",
				Since: time.Date(2025, 1, 5, 0, 0, 0, 0, time.UTC), Until: time.Date(2025, 2, 17, 0, 0, 0, 0, time.UTC),
			}}),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "115531458627129"}),
			providertest.Ads("ads-name", providers.AdsQuery{AdvertiserID: "teahouse"}),
			providertest.Ad("ad", "702369045530963"),
			providertest.List("advertisers", func(
				ctx context.Context, p providers.Provider, cursor string,
			) (providers.Page[schema.Advertiser], error) {
				return p.Advertisers(ctx, providers.AdvertisersQuery{Query: "tea"}, cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("private account", "hidden.example"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{
				Call: providertest.Transcript("nothing is said", providers.TranscriptQuery{PostID: "91"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Replies("a comment that is not among the first", providers.RepliesQuery{CommentID: post + "_799"}),
				Want: providers.ErrUnsupported,
			},
			{
				Call: providertest.Replies("a comment without the tokens", providers.RepliesQuery{CommentID: post + "_704"}),
				Want: providers.ErrUnsupported,
			},
			{
				Call: providertest.Replies("no cursor", providers.RepliesQuery{CommentID: post + "_701"}).From("x"),
				Want: providers.ErrCursor,
			},
			{Call: providertest.Events("events in words", providers.EventsQuery{Place: "Riyadh"}), Want: providers.ErrInvalid},
			{Call: providertest.Ads("ads of a domain", providers.AdsQuery{Domain: "tea.example"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{Absent: []string{
			"cursor",     // when no flag says that there is more
			"transcript", // there is no speech
		}},
	})
}

// The tokens of a comment are cached, so that its replies need no second read of the comments.
func TestFacebookCachesTheTokensOfReplies(t *testing.T) {
	t.Parallel()
	const post = "1206903601483960"
	asked := map[string]int{}
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		last := path.Base(r.URL.Path)
		asked[last]++
		answer, err := os.ReadFile(filepath.Join("testdata", "facebook", last+".json"))
		if err != nil {
			t.Error(err)
		}
		return http.StatusOK, string(answer)
	})}
	p := of(t, platform.Facebook, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 1})
	if _, err := p.Comments(t.Context(), post, ""); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"_701", "_702"} { // the second has no replies
		if _, err := p.Replies(t.Context(), providers.RepliesQuery{CommentID: post + id}, ""); err != nil {
			t.Error(err)
		}
	}
	_, err := p.Replies(t.Context(), providers.RepliesQuery{CommentID: post + "_703"}, "") // the search costs too much
	if !errors.Is(err, providers.ErrUnsupported) {
		t.Errorf("replies that are not remembered: %v", err)
	}
	if diff := cmp.Diff(map[string]int{"comments": 1, "replies": 1}, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestFacebookProfilesThatAreNotPublic(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"without a flag in words": `{"success": true, "url": "https://www.facebook.com/ann.example/", "isPrivate": true}`,
		"without a number":        `{"success": true, "name": "Ann", "account_status": "private", "isPrivate": true}`,
		"without a name":          `{"success": true, "id": "42", "account_status": "age-restricted"}`,
	} {
		if _, err := saying(t, platform.Facebook, body).Profile(t.Context(), "ann.example"); !errors.Is(err, providers.ErrNotFound) {
			t.Errorf("a gated profile %s: got %v, want %v", name, err, providers.ErrNotFound)
		}
	}
	p, err := saying(t, platform.Facebook, `{"success": true, "id": "42", "name": "Ann", "pageAlias": "ann.example", "isPrivate": true}`).
		Profile(t.Context(), "ann.example")
	if err != nil || p.ID != "42" {
		t.Errorf("a gated profile with both: got %q (%v)", p.ID, err)
	}
}

func TestFacebookAdsWithFewFields(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Facebook, `{"cursor": null, "searchResults": [
		{"ad_archive_id": "1", "page_id": "42", "page_name": null, "is_active": true,
		 "targeted_or_reached_countries": ["SA", "AE", "SA"],
		 "snapshot": {"page_id": "42", "page_name": "Tea House", "page_profile_uri": "https://www.facebook.com/tea/", "cta_text": "No button"}},
		{"ad_archive_id": "2", "page_id": "42", "page_name": null, "is_active": true,
		 "snapshot": {"page_id": "43", "page_name": "Ann", "cta_text": "Shop now", "cta_type": "SHOP_NOW"}}]}`)
	page, err := p.AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, "")
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("got %d ads (%v), want 2", len(page.Items), err)
	}
	own, others := page.Items[0], page.Items[1]
	if own.Advertiser.Name != "Tea House" || others.Advertiser.Name != "" {
		t.Errorf("advertisers %q and %q, want the Page's own name and none", own.Advertiser.Name, others.Advertiser.Name)
	}
	if own.CallToAction != nil || others.CallToAction == nil || *others.CallToAction != "Shop now" {
		t.Errorf("calls to action %v and %v, want none and Shop now", own.CallToAction, others.CallToAction)
	}
	if diff := cmp.Diff([]string{"AE", "SA"}, own.Countries); diff != "" {
		t.Errorf("countries (-want +got):\n%s", diff)
	}
}
