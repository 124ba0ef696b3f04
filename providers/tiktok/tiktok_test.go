package tiktok_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/tiktok"
	"github.com/socialdata/socialdata/schema"
)

func open(c *http.Client) providers.Chain {
	return tiktok.New(tiktok.Config{ClientKey: "key", ClientSecret: "secret", Own: providers.OwnOn, HTTP: c})
}

var (
	jan10 = time.Date(2024, 1, 10, 0, 0, 0, 0, time.UTC)
	feb1  = time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	in23  = providers.AdFilter{
		Since: time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2023, 4, 1, 0, 0, 0, 0, time.UTC),
	}
)

func advertisers(name, query string) providertest.Call {
	return providertest.Advertisers(name, providers.AdvertisersQuery{Query: query})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	inFrance := in23
	inFrance.Country = "FR"
	providertest.Run(t, providertest.Suite{
		New: open,
		Calls: []providertest.Call{
			providertest.Profile("profile", "salma.cooks"),
			providertest.Followers("followers", "salma.cooks"),
			providertest.Following("following", "salma.cooks"),
			providertest.Posts("posts", "salma.cooks").From("20161021.."),
			providertest.Post("post", "7316315297965793856"),
			providertest.Search("search", providers.SearchQuery{Query: "tea", Since: jan10, Until: feb1}),
			providertest.Search("search-tag", providers.SearchQuery{Query: "#قهوة", Region: "SA", Since: jan10, Until: feb1}),
			providertest.Comments("comments", "7316315297965793856"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "7316400000000000001", PostID: "7316315297965793856"}),
			providertest.Replies("replies-without-post", providers.RepliesQuery{CommentID: "7316400000000000001"}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "7316315297965793856"}),
			providertest.Collection("collection", providers.CollectionQuery{ID: "7300000000000000007"}),
			providertest.Store("store", "Salma's Kitchen"),
			providertest.Reviews("reviews", "1729"),
			providertest.Reviews("reviews-full-page", "1730"),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "3847236290405", AdFilter: in23}),
			providertest.Ads("ads-by-name", providers.AdsQuery{AdvertiserID: "example tea co.", AdFilter: in23}),
			providertest.AdsSearch("ads-search", providers.AdsSearchQuery{Query: "tea", AdFilter: inFrance}),
			providertest.Ad("ad", "192384524719235"),
			advertisers("advertisers", "example tea co."),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("private account", "hidden"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("refused request", "odd"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("missing scope", "scopeless"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("used-up quota", "late"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused token", "tokenless"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("error with status 200", "strange"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("post that is not seen", "7316315297965670499"), Want: providers.ErrNotHere},
			{Call: providertest.Post("id of no time", "42"), Want: providers.ErrNotHere},
			{Call: providertest.Transcript("silent post", providers.TranscriptQuery{PostID: "7316315297965670498"}), Want: providers.ErrNotHere},
			{Call: providertest.Posts("dead cursor", "salma.cooks").From("20160930.9.dead"), Want: providers.ErrCursor},
			{Call: providertest.Posts("no cursor", "salma.cooks").From("yesterday"), Want: providers.ErrCursor},
			{Call: providertest.Search("refused words", providers.SearchQuery{Query: "\x01", Since: jan10, Until: feb1}), Want: providers.ErrInvalid},
			{Call: providertest.AdsSearch("long words", providers.AdsSearchQuery{Query: strings.Repeat("ش", 51)}), Want: providers.ErrInvalid},
			{Call: providertest.Ads("unknown advertiser", providers.AdsQuery{AdvertiserID: "nobody"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("domain", providers.AdsQuery{Domain: "example.com"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{Absent: []string{
			"data.videos[].voice_to_text", // of a post without speech
		}},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Cafe.Riyadh", Want: "cafe.riyadh"},
			{Subject: providers.Handle, In: "https://www.tiktok.com/@Cafe.Riyadh?lang=ar", Want: "cafe.riyadh"},
			{Subject: providers.Handle, In: "m.tiktok.com/@a_b/video/1", Want: "a_b"},
			{Subject: providers.Handle, In: "https://www.tiktok.com/embed/@a_b", Want: "a_b"},
			{Subject: providers.Handle, In: "https://www.tiktok.com/foryou"},
			{Subject: providers.Handle, In: "https://example.com/@a"},
			{Subject: providers.Handle, In: "a b"},
			{Subject: providers.Handle, In: "سلمى"},
			{Subject: providers.PostID, In: "7316329075033836842", Want: "7316329075033836842"},
			{Subject: providers.PostID, In: "https://www.tiktok.com/@a/video/7316329075033836842?is_copy_url=1", Want: "7316329075033836842"},
			{Subject: providers.PostID, In: "https://www.tiktok.com/@a/photo/7316329075033836842", Want: "7316329075033836842"},
			{Subject: providers.PostID, In: "https://m.tiktok.com/v/7316329075033836842.html", Want: "7316329075033836842"},
			{Subject: providers.PostID, In: "https://www.tiktok.com/embed/v2/7316329075033836842", Want: "7316329075033836842"},
			{Subject: providers.PostID, In: "https://vm.tiktok.com/ZMabc/"},
			{Subject: providers.PostID, In: "https://www.tiktok.com/@a"},
			{Subject: providers.PostID, In: "000"},
			{Subject: providers.PostID, In: "../x"},
			{Subject: providers.CommentID, In: "https://www.tiktok.com/@_/video/1?comment_id=73164", Want: "73164"},
			{Subject: providers.TrackID, In: "https://www.tiktok.com/music/original-sound-7571863209596881686", Want: "7571863209596881686"},
			{Subject: providers.CollectionID, In: "https://www.tiktok.com/@a/collection/Want-to-go-7665668414573546258", Want: "7665668414573546258"},
			{Subject: providers.CollectionID, In: "https://www.tiktok.com/@a/playlist/كعك-7300000000000000007", Want: "7300000000000000007"},
			{Subject: providers.ProductID, In: "https://www.tiktok.com/shop/pdp/tea-pot/1729412793274503379", Want: "1729412793274503379"},
			{Subject: providers.StoreID, In: "https://www.tiktok.com/shop/store/goli/7495794203056835079", Want: "7495794203056835079"},
			{Subject: providers.StoreID, In: "Test Name", Want: "Test Name"},
			{Subject: providers.AdID, In: "https://library.tiktok.com/ads/detail/?ad_id=1923", Want: "1923"},
			{Subject: providers.AdID, In: "https://ads.tiktok.com/business/creativecenter/topads/7646829987799334920/pc/en", Want: "7646829987799334920"},
			{Subject: providers.AdID, In: "https://ads.tiktok.com/business/creativecenter/topads/"},
			{Subject: providers.PostID, In: "https://ads.tiktok.com/business/creativecenter/video/7646829987799334920"},
			{Subject: providers.AdvertiserID, In: "https://library.tiktok.com/ads?region=all&adv_biz_ids=1755", Want: "1755"},
			{Subject: providers.AdvertiserID, In: "https://www.tiktok.com/@a"},
		},
	})
}

func TestWeb(t *testing.T) {
	t.Parallel()
	const video = "__DEFAULT_SCOPE__.webapp.video-detail.itemInfo.itemStruct."
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "tiktok_web", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("web-profile", "salma.cooks"),
			providertest.Posts("web-posts", "salma.cooks"),
			providertest.Post("web-post", "7316315297965793856"),
			providertest.Post("web-slides", "7316315297965670955"),
			providertest.Transcript("web-transcript", providers.TranscriptQuery{PostID: "7316315297965793856"}),
			providertest.Transcript("web-transcript-en", providers.TranscriptQuery{PostID: "7316315297965793856", Lang: "en"}),
			providertest.Transcript("web-transcript-own", providers.TranscriptQuery{PostID: "7316315297965670416"}),
			providertest.Live("web-live", "omar.live"),
			providertest.Live("web-live-ended", "omar.done"),
			providertest.Live("web-live-off-air", "salma.cooks"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("private account that shows nothing", "hidden"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of a private account", "shy.cook"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("bot check", "checked"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("post that this source does not see", "7000000000000000404"), Want: providers.ErrNotHere},
			{Call: providertest.Post("private post", "7000000000000000403"), Want: providers.ErrNotFound},
			{Call: providertest.Post("post of another region", "7000000000000000451"), Want: providers.ErrUnsupported},
			{Call: providertest.Post("post for adults", "7316315297965670418"), Want: providers.ErrUnsupported},
			{Call: providertest.Transcript("no subtitles", providers.TranscriptQuery{PostID: "7316315297965670417"}), Want: providers.ErrNotFound},
			{
				Call: providertest.Transcript("no subtitles in the language", providers.TranscriptQuery{PostID: "7316315297965793856", Lang: "ja"}),
				Want: providers.ErrNotFound,
			},
			{Call: providertest.Transcript("slide show", providers.TranscriptQuery{PostID: "7316315297965670955"}), Want: providers.ErrNotFound},
			{
				Call: providertest.Transcript("subtitles on another site", providers.TranscriptQuery{PostID: "7316315297965670415"}),
				Want: providers.ErrUnavailable,
			},
			{Call: providertest.Posts("no cursor", "salma.cooks").From("yesterday"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			Absent: []string{video + "video.subtitleInfos"}, // of a post without subtitles
			Sums: []string{ // if the exact counts are missing, the rounded ones beside them are used
				"__DEFAULT_SCOPE__.webapp.user-detail.userInfo.statsV2",
				"__DEFAULT_SCOPE__.webapp.user-detail.userInfo.statsV2.followerCount",
				video + "statsV2", video + "statsV2.diggCount", video + "statsV2.playCount",
				"itemList[].statsV2", "itemList[].statsV2.diggCount", "itemList[].statsV2.playCount",
			},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "tiktok_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "salma.cooks"),
			providertest.Posts("own-posts", "salma.cooks"),
			providertest.Post("own-post", "7316315297965793856"),
			providertest.Post("own-slides", "7316315297965670955"),
			providertest.Post("own-slides-of-another-layout", "7316315297965670956"),
			providertest.Post("own-post-quoted", "7316315297965670498"),
			providertest.Search("own-search", providers.SearchQuery{Query: "#قهوة"}),
			providertest.Search("own-search-unknown", providers.SearchQuery{Query: "#neverused"}),
			providertest.Track("own-track", "6900000000000000001"),
			providertest.TrackPosts("own-track-posts", "6900000000000000001"),
			providertest.CollectionPosts("own-collection-posts", providers.CollectionQuery{ID: "7665668414573546258"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account with status 200", "noone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("another error", "broken"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of a private account", "shy.cook"), Want: providers.ErrNotFound},
			{Call: providertest.Post("removed post", "7316315297965670499"), Want: providers.ErrNotFound},
			{Call: providertest.Post("post that is not even quoted", "7316315297965670417"), Want: providers.ErrNotFound},
			{Call: providertest.Search("words", providers.SearchQuery{Query: "tea"}), Want: providers.ErrUnsupported},
			{Call: providertest.Search("several words", providers.SearchQuery{Query: "#tea time"}), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("no cursor", "salma.cooks").From("yesterday"), Want: providers.ErrCursor},
			{
				Call: providertest.CollectionPosts("no cursor of a collection", providers.CollectionQuery{ID: "7"}).From("-1"),
				Want: providers.ErrCursor,
			},
		},
		Drift: &providertest.Drift{Absent: []string{
			"source.data./embed/%40salma.cooks/.videoList[].privateItem", // a false flag
		}},
	})
}

func TestPrivateAccountWithPublicCounts(t *testing.T) {
	t.Parallel()
	shows := func(videos string) providers.Provider {
		return open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__">{"__DEFAULT_SCOPE__":{"webapp.user-detail":{"userInfo":` +
				`{"user":{"id":"1","uniqueId":"Shy","privateAccount":true},"stats":{"videoCount":` + videos + `}},"statusCode":10222}}}</script>`
		})})[1]
	}
	if p, err := shows("5").Profile(t.Context(), "shy"); err != nil || p.Handle != "Shy" || p.PostsCount == nil || *p.PostsCount != 5 {
		t.Errorf("got %+v with error %v", p, err)
	}
	if _, err := shows("0").Profile(t.Context(), "shy"); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
	if _, err := shows("5").Posts(t.Context(), "shy", ""); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("posts: got error %v, want ErrNotFound", err)
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	const handle = "salma"
	tests := []struct {
		name, cursor, videos, list string
		want                       error
	}{
		{"no posts are counted", "", "0", `{"itemList":[],"hasMorePrevious":false}`, nil},
		{"posts are counted", "", "178", `{"itemList":[],"hasMorePrevious":false}`, providers.ErrUnavailable},
		{"no count", "", "null", `{"itemList":[],"hasMorePrevious":false}`, providers.ErrUnavailable},
		{"a gap", "", "178", `{"itemList":[],"hasMorePrevious":true}`, nil},
		{"behind a cursor", "1650000000000.MS4w", "0", `{"itemList":[],"hasMorePrevious":false}`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if strings.Contains(r.URL.Path, "item_list") {
					return http.StatusOK, tt.list
				}
				return http.StatusOK, `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__">{"__DEFAULT_SCOPE__":{"webapp.user-detail":{"userInfo":
					{"user":{"id":"1","uniqueId":"salma","secUid":"MS4w","privateAccount":false},"statsV2":{"videoCount":` + tt.videos + `}}}}}</script>`
			})})[1]
			got, err := p.Posts(t.Context(), handle, tt.cursor)
			if !errors.Is(err, tt.want) || len(got.Items) > 0 || (got.Next != "") != (tt.name == "a gap") {
				t.Errorf("got %+v, %v, want %v", got, err, tt.want)
			}
		})
	}
	embeds := []struct {
		name, path, state, cursor string
		want                      error
	}{
		{"an account", "/embed/@salma", `"userInfo":{"uniqueId":"salma"}`, "", providers.ErrUnavailable},
		{"a sound without posts", "/embed/music/7", `"embedInfo":{"id":"7","videoCount":0}`, "", nil},
		{"a sound that was used", "/embed/music/7", `"embedInfo":{"id":"7","videoCount":358}`, "", providers.ErrUnavailable},
		{"behind a cursor", "/embed/music/7", `"embedInfo":{"id":"7","videoCount":0}`, "2.9", providers.ErrUnavailable},
	}
	for _, tt := range embeds {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `<script id="__FRONTITY_CONNECT_STATE__">{"source":{"data":{"` + tt.path + `":{` + tt.state + `,"videoList":[]}}}}</script>`
			})})[2]
			read := p.TrackPosts
			key := "7"
			if tt.path == "/embed/@salma" {
				read, key = p.Posts, handle
			}
			if _, err := read(t.Context(), key, tt.cursor); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSecurityCheckIsNotDrift(t *testing.T) {
	t.Parallel()
	chain := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `<html><head><title>Security Check</title></head></html>`
	})})
	for _, p := range chain[1:] {
		drifted := 0
		ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { drifted++ }})
		_, err := p.Profile(ctx, "salma")
		if !errors.Is(err, providers.ErrUnavailable) || providers.BlameOf(err) != providers.BlameNone || drifted > 0 {
			t.Errorf("%s: got error %v with %d drifts, want a wall", p.Name, err, drifted)
		}
	}
}

func TestHashtagsWithoutSpacesBetweenThem(t *testing.T) {
	t.Parallel()
	p := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `<script id="__FRONTITY_CONNECT_STATE__">{"source":{"data":{"/embed/@salma":{"userInfo":{"uniqueId":"salma","id":"1"},
			"videoList":[{"id":"7043746365440000004","desc":"sea #Whale#CuteMoment&#39; x/#no"}]}}}}</script>`
	})})[2]
	got, err := p.Posts(t.Context(), "salma", "")
	if err != nil || len(got.Items) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"Whale", "CuteMoment"}, got.Items[0].Hashtags); diff != "" {
		t.Errorf("hashtags (-want +got):\n%s", diff)
	}
}

func TestOwnSwitchesThePublicPages(t *testing.T) {
	t.Parallel()
	off := tiktok.New(tiktok.Config{Own: providers.OwnOff})
	providertest.Off(t, off[1])
	providertest.Off(t, off[2])
	usual := tiktok.New(tiktok.Config{})
	providertest.Off(t, usual[1])
	if !usual[2].Serves(providers.OpProfile) || usual[0].Serves(providers.OpProfile) {
		t.Error("without settings, the pages that are made to be embedded are read, and nothing else")
	}
}

func TestRefusedTokenIsRefreshedOnce(t *testing.T) {
	t.Parallel()
	tokens, reads := 0, 0
	p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/oauth/token/") {
			tokens++
			return http.StatusOK, fmt.Sprintf(`{"access_token":"token-%d","expires_in":7200}`, tokens)
		}
		reads++
		return http.StatusUnauthorized, `{"code":"access_token_invalid","message":"Access token is invalid"}`
	})})[0]
	if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
	if tokens != 2 || reads != 2 {
		t.Errorf("%d tokens and %d reads, want 2 and 2", tokens, reads)
	}
}

func TestNoReadAfterTheDailyQuota(t *testing.T) {
	t.Parallel()
	reads := 0
	p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/oauth/token/") {
			return http.StatusOK, `{"access_token":"token-of-the-day","expires_in":7200}`
		}
		reads++
		return http.StatusTooManyRequests, `{"error":{"code":"rate_limit_exceeded","message":"limit"}}`
	})})[0]
	for range 3 {
		_, err := p.Profile(t.Context(), "ann")
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter <= 0 || !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("got error %v, want to be told to wait", err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads, want 1", reads)
	}
}

// library answers every query about ads with the same response.
func library(status int, body string) providers.Provider {
	return open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/oauth/token/") {
			return http.StatusOK, `{"access_token":"token-of-the-ads","expires_in":7200}`
		}
		return status, body
	})})[0]
}

func TestAdLibraryLimitsPerMinute(t *testing.T) {
	t.Parallel()
	p := library(http.StatusTooManyRequests, `{"error":{"code":"rate_limit_exceeded","message":"limit"}}`)
	_, err := p.AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, "")
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter != time.Minute {
		t.Errorf("got error %v, want a retry after a minute", err)
	}
}

func TestRefusedAdIDIsTheCallersError(t *testing.T) {
	t.Parallel()
	p := library(http.StatusOK, `{"data":{},"error":{"code":"invalid_params","message":"ad_id is invalid"}}`)
	if _, err := p.Ad(t.Context(), "7"); !errors.Is(err, providers.ErrInvalid) {
		t.Errorf("got error %v, want ErrInvalid", err)
	}
}

func TestAdStatusIgnoresCase(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]*bool{"active": new(true), "ACTIVE": new(true), "INACTIVE": new(false), "paused": nil} {
		p := library(http.StatusOK, `{"data":{"ad":{"id":7,"status":"`+word+`"},"advertiser":{"business_id":9,"business_name":"Tea"}},"error":{"code":"ok"}}`)
		got, err := p.Ad(t.Context(), "7")
		if diff := cmp.Diff(want, got.IsActive); err != nil || diff != "" || got.Advertiser.URL != nil {
			t.Errorf("%s: %v of %v (-want +got) (%v):\n%s", word, got.IsActive, got.Advertiser, err, diff)
		}
	}
}

func TestVideoWithAnEmptyListOfPictures(t *testing.T) {
	t.Parallel()
	const id = "7316315297965793856"
	p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasPrefix(r.URL.Path, "/embed/") {
			return http.StatusOK, `<script id="__FRONTITY_CONNECT_STATE__">{"source":{"data":{"/embed/v2/` + id + `":{"videoData":{"itemInfos":{"id":"` +
				id + `","video":{"urls":["https://v.example/a.mp4"]}},"authorInfos":{"uniqueId":"ann"},"imagePostInfo":{"displayImages":[]}}}}}}</script>`
		}
		return http.StatusOK, `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__">{"__DEFAULT_SCOPE__":{"webapp.video-detail":{"itemInfo":{"itemStruct":` +
			`{"id":"` + id + `","author":{"uniqueId":"ann"},"video":{"playAddr":"https://v.example/a.mp4"},"imagePost":{"images":[]}}}}}}</script>`
	})})
	for _, p := range p[1:] {
		post, err := p.Post(t.Context(), id)
		if err != nil || len(post.Media) != 1 || post.Media[0].Type != schema.Video || !strings.Contains(post.URL, "/video/") {
			t.Errorf("%s: got %+v with error %v", p.Name, post, err)
		}
	}
}

func TestEmbedPageCodes(t *testing.T) {
	t.Parallel()
	p := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Path == "/oembed" {
			return http.StatusBadGateway, ""
		}
		return http.StatusOK, `<script id="__FRONTITY_CONNECT_STATE__">{"source":{"data":{"/embed/v2/73":{"code":10216,"isError":false}}}}</script>`
	})})[2]
	if _, err := p.Post(t.Context(), "73"); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound: the post is private", err)
	}
}

func TestInactiveAccountIsCheckedBeforeTheWalk(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	silent := func(account string) providers.Provider {
		return open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			asked[r.URL.Path]++
			switch {
			case strings.HasSuffix(r.URL.Path, "/oauth/token/"):
				return http.StatusOK, `{"access_token":"token-of-the-day","expires_in":7200}`
			case strings.HasSuffix(r.URL.Path, "/user/info/"):
				return http.StatusOK, account
			}
			return http.StatusOK, `{"data":{"videos":[],"cursor":0,"has_more":false},"error":{"code":"ok"}}`
		})})[0]
	}
	page, err := silent(`{"data":{"display_name":"Ann","video_count":3},"error":{"code":"ok"}}`).Posts(t.Context(), "ann", "")
	if err != nil || len(page.Items) > 0 || page.Next == "" {
		t.Errorf("got %v with error %v, want an empty page and more behind it", page, err)
	}
	if diff := cmp.Diff(map[string]int{"/v2/oauth/token/": 1, "/v2/research/user/info/": 1, "/v2/research/video/query/": 4}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	page, err = silent(`{"data":{"display_name":"Ann","video_count":0},"error":{"code":"ok"}}`).Posts(t.Context(), "ann", "")
	if err != nil || page.Next != "" {
		t.Errorf("got %v with error %v, want the end: there are no posts", page, err)
	}
	_, err = silent(`{"data":{},"error":{"code":"invalid_params","message":"cannot find the user"}}`).Posts(t.Context(), "ann", "")
	if !errors.Is(err, providers.ErrNotHere) {
		t.Errorf("got error %v, want ErrNotHere", err)
	}
}

func TestSecretRefusedWithStatus200(t *testing.T) {
	t.Parallel()
	p := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `{"error":"invalid_client","error_description":"Client secret is wrong","log_id":"1"}`
	})})[0]
	if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
}

// lists answers the page of an account, and its lists with the rows that f returns for a cursor.
func lists(f func(cursor, device string) string) providers.Provider {
	return open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if q := r.URL.Query(); r.URL.Path == "/api/creator/item_list/" {
			return http.StatusOK, f(q.Get("cursor"), q.Get("device_id"))
		}
		return http.StatusOK, `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__">{"__DEFAULT_SCOPE__":{"webapp.user-detail":` +
			`{"userInfo":{"user":{"id":"1","uniqueId":"ann","secUid":"S","roomId":""}},"statusCode":0}}}</script>`
	})})[1]
}

func TestWalkSkipsWeeksWithoutPosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(jan10)) // in a bubble this takes no time
		var cursors []string
		p := lists(func(cursor, _ string) string {
			cursors = append(cursors, cursor)
			if len(cursors) < 3 {
				return `{"itemList":[],"hasMorePrevious":true}`
			}
			return `{"itemList":[{"id":"7303757131874304001","createTime":1700538300,"author":{"uniqueId":"Ann"}}],"hasMorePrevious":true}`
		})
		page, err := p.Posts(t.Context(), "ann", "")
		if err != nil || len(page.Items) != 1 {
			t.Fatal(page, err)
		}
		if diff := cmp.Diff([]string{"1704844800000", "1704240000000", "1703635200000"}, cursors); diff != "" {
			t.Errorf("cursors (-want +got):\n%s", diff)
		}
		if page.Next != "1700538300000.S" {
			t.Errorf("the next page begins at %s", page.Next)
		}
	})
}

func TestDeviceIsChangedWhenPagesRepeat(t *testing.T) {
	t.Parallel()
	devices := map[string]bool{}
	const older, same = 1700000000, 1700538300
	at := same
	p := lists(func(_, device string) string {
		devices[device] = true
		if len(devices) > 1 {
			at = older
		}
		return fmt.Sprintf(`{"itemList":[{"id":"7303757131874304001","createTime":%d,"author":{"uniqueId":"ann"}}],"hasMorePrevious":true}`, at)
	})
	page, err := p.Posts(t.Context(), "ann", "1700538300000.S")
	if err != nil || len(page.Items) != 1 || page.Next != "1700000000000.S" {
		t.Errorf("got %v with error %v", page, err)
	}
	if len(devices) != 2 {
		t.Errorf("%d devices asked, want 2", len(devices))
	}
	stuck := lists(func(string, string) string {
		return `{"itemList":[{"id":"7303757131874304001","createTime":1700538300}],"hasMorePrevious":true}`
	})
	if _, err := stuck.Posts(t.Context(), "ann", "1700538300000.S"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
}

func TestWalkEndsBeforeTheFirstPosts(t *testing.T) {
	t.Parallel()
	p := lists(func(string, string) string { return `{"itemList":[],"hasMorePrevious":true}` })
	page, err := p.Posts(t.Context(), "ann", "1473000000000.S")
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("got %v with error %v, want the end", page, err)
	}
}

func TestLoginPageIsNotAMissingAccount(t *testing.T) {
	t.Parallel()
	p := open(&http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/login") {
			return providertest.Answer(r, http.StatusOK, "<title>Log in</title>"), nil
		}
		res := providertest.Answer(r, http.StatusFound, "")
		res.Header = http.Header{"Location": {"/login?redirect_url=x"}}
		return res, nil
	})})
	for _, p := range p[1:] {
		_, err := p.Profile(t.Context(), "ann")
		if !errors.Is(err, providers.ErrUnavailable) || providers.BlameOf(err) != providers.BlameNone {
			t.Errorf("%s: got error %v, want ErrUnavailable without blame", p.Name, err)
		}
	}
}
