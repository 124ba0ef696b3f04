package scrapecreators_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestYouTube(t *testing.T) {
	const channel = "UCannAAAAAAAAAAAAAAAAAAA"
	replies := func(comment, post string) providers.RepliesQuery {
		return providers.RepliesQuery{CommentID: comment, PostID: post}
	}
	run(t, platform.YouTube, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "anntea"),
			providertest.Profile("profile-by-id", channel),
			providertest.Profile("profile-by-old-name", "user/oldann"),
			providertest.Posts("posts", "anntea"),
			providertest.Reels("reels", "anntea"),
			providertest.Post("post", "vid1aaaaaaa"),
			providertest.Comments("comments", "vid1aaaaaaa"),
			providertest.Replies("replies", replies("UgBBBBBBBBBBBBBB", "vid1aaaaaaa")),
			providertest.Replies("replies-far-down", replies("UgDDDDDDDDDDDDDD", "vid1aaaaaaa")),
			providertest.Replies("no-replies", replies("UgCCCCCCCCCCCCCC", "vid1aaaaaaa")),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.List("search-since",
				func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
					return p.Search(ctx, providers.SearchQuery{Query: "tea", Sort: "views", Since: time.Now().Add(-72 * time.Hour)}, cursor)
				}),
			providertest.Search("search-hashtag", providers.SearchQuery{Query: "#tea"}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "tea"}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "vid1aaaaaaa", Lang: "en"}),
			providertest.Trending("trending", providers.TrendingQuery{}),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "anntea"}),
			providertest.Collection("collection", providers.CollectionQuery{ID: "PLtea"}),
			providertest.CollectionPosts("collection-posts", providers.CollectionQuery{ID: "PLtea"}),
			providertest.Live("live", "anntea"),
			providertest.Live("live-over", channel),
			providertest.Live("live-none", "bobcups"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown channel", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("age restricted", "adultsaaaaa"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("old user name", "user/oldann"), Want: providers.ErrUnsupported},
			{Call: providertest.Replies("no post", replies("UgBBBBBBBBBBBBBB", "")), Want: providers.ErrInvalid},
			{Call: providertest.Replies("not there", replies("UgEEEEEEEEEEEEEE", "vid1aaaaaaa")), Want: providers.ErrUnsupported},
			{Call: providertest.Replies("a cursor of another form", replies("UgBBBBBBBBBBBBBB", "")).From("x"), Want: providers.ErrCursor},
			{Call: providertest.Transcript("no transcript", providers.TranscriptQuery{PostID: "vid2aaaaaaa"}), Want: providers.ErrNotFound},
			{
				Call: providertest.Transcript("another language", providers.TranscriptQuery{PostID: "vid1aaaaaaa", Lang: "ar"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("channels have no time", providers.SearchQuery{
					Query: "tea", Kind: schema.ProfileResult, Since: time.Unix(0, 0),
				}),
				Want: providers.ErrUnsupported,
			},
		},
		Drift: &providertest.Drift{
			// The last page has no token, a video without captions no transcript.
			Absent: []string{"continuationToken", "transcript"},
		},
	})
}

func TestYouTubeArabicHandlesAndBroadcasts(t *testing.T) {
	t.Parallel()
	p, err := saying(t, platform.YouTube, `{"channelId": "UCxcTeAKWJca6XyJ37_ZoKIQ", "name": "قهوة",
		"channel": "http://www.youtube.com/@%D9%82%D9%87%D9%88%D8%A9"}`).Profile(t.Context(), "قهوة")
	if err != nil || p.Handle != "قهوة" {
		t.Errorf("handle %q (%v), want قهوة", p.Handle, err)
	}
	post, err := saying(t, platform.YouTube, `{"id": "aaaaaaaaaaa", "title": "On air", "durationMs": 0,
		"channel": {"id": "UCxcTeAKWJca6XyJ37_ZoKIQ", "url": "https://www.youtube.com/@%D9%82%D9%87%D9%88%D8%A9", "title": "قهوة"}}`).
		Post(t.Context(), "aaaaaaaaaaa")
	if err != nil || post.Author.Handle != "قهوة" || post.Media[0].DurationS != nil {
		t.Errorf("got author %q and media %v (%v), want قهوة and no duration", post.Author.Handle, post.Media, err)
	}
}

func TestYouTubeLiveIsRecognizedByItsViewers(t *testing.T) {
	t.Parallel()
	for counted, want := range map[string]bool{`"812 watching"`: true, `"1.2K watching now"`: true, `"3 waiting now"`: false} {
		l, err := saying(t, platform.YouTube, `{"lives": [{"id": "aaaaaaaaaaa", "title": "Tea", "viewCountText": `+counted+`,
			"viewCountInt": 812, "publishedTimeText": null, "lengthText": null}]}`).Live(t.Context(), "anntea")
		if err != nil || l.IsLive != want {
			t.Errorf("%s: on air %v (%v), want %v", counted, l.IsLive, err, want)
		}
	}
	for _, counted := range []string{`""`, `null`, `"812"`, `"812 Zuschauer"`} {
		_, err := saying(t, platform.YouTube, `{"lives": [{"id": "aaaaaaaaaaa", "title": "Tea", "viewCountText": `+counted+`}]}`).
			Live(t.Context(), "anntea")
		if !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got %v, want that it cannot be told", counted, err)
		}
	}
}

func TestCountsInWordsAreUnknown(t *testing.T) {
	t.Parallel()
	for _, counted := range []string{`"1.2K views"`, `"No views"`, `"١٬٢٣٤"`, `""`, `null`} {
		row := `{"id": "aaaaaaaaaaa", "title": "Tea", "viewCountInt": ` + counted + `, "likeCountInt": "34", "likeCount": "34"}`
		short, err := saying(t, platform.YouTube, row).Post(t.Context(), "aaaaaaaaaaa")
		if e := short.Engagement; err != nil || e.Views != nil || e.Likes == nil || *e.Likes != 34 {
			t.Errorf("youtube, %s: got %v (%v), want likes alone", counted, e, err)
		}
		film, err := saying(t, platform.Rumble, row).Post(t.Context(), "aaaaaaaaaaa")
		if e := film.Engagement; err != nil || e.Views != nil || e.Likes == nil || *e.Likes != 34 {
			t.Errorf("rumble, %s: got %v (%v), want likes alone", counted, e, err)
		}
	}
}
