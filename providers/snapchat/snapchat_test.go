package snapchat_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/snapchat"
)

const video = "W7_EDlXWTBiXAEEniNoMPwAAYsalma0000002AAAAAQ"

func config(c *http.Client) snapchat.Config {
	return snapchat.Config{ClientID: "id", ClientSecret: "secret", RefreshToken: "refresh", HTTP: c}
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return snapchat.New(config(c)) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "salma.cooks"),
			providertest.Search("search", providers.SearchQuery{Query: "salma"}),
			providertest.Search("search-nothing", providers.SearchQuery{Query: "nothing"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("an account without a public profile", "khalid"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("an error inside a 200", "error"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a row that failed", "failed"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an app that was not admitted", "forbidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Search("dead cursor", providers.SearchQuery{Query: "salma"}).From("stale"), Want: providers.ErrCursor},
			{Call: providertest.Search("refused words", providers.SearchQuery{Query: "refused"}), Want: providers.ErrInvalid},
		},
		Drift: &providertest.Drift{
			// "no paging member: last page".
			Absent: []string{"paging", "paging.next_page_id"},
			// A search returns every account that matches the words.
			Elsewhere: []string{"profile"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Salma.Cooks", Want: "salma.cooks"},
			{Subject: providers.Handle, In: "https://www.snapchat.com/add/Salma.Cooks?share_id=1", Want: "salma.cooks"},
			{Subject: providers.Handle, In: "https://www.snapchat.com/@salma.cooks/spotlight/" + video, Want: "salma.cooks"},
			{Subject: providers.Handle, In: "story.snapchat.com/u/salma-1", Want: "salma-1"},
			{Subject: providers.Handle, In: "https://story.snapchat.com/@salma_1", Want: "salma_1"},
			{Subject: providers.Handle, In: "https://www.snapchat.com/spotlight/" + video},
			{Subject: providers.Handle, In: "https://www.snapchat.com/t/AbCdEf"},
			{Subject: providers.Handle, In: "https://www.tiktok.com/@salma"},
			{Subject: providers.Handle, In: "sa"},
			{Subject: providers.Handle, In: "salma cooks"},
			{Subject: providers.Handle, In: "a.name.that.is.too.long"},
			{Subject: providers.PostID, In: video, Want: video},
			{Subject: providers.PostID, In: "https://www.snapchat.com/spotlight/" + video + "?locale=ar", Want: video},
			{Subject: providers.PostID, In: "https://www.snapchat.com/@salma.cooks/spotlight/" + video, Want: video},
			{Subject: providers.PostID, In: "https://www.snapchat.com/@salma.cooks"},
			{Subject: providers.PostID, In: "no id"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	of := func(handle string) providers.CollectionsQuery { return providers.CollectionsQuery{Handle: handle} }
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return snapchat.New(config(c)) }, Upstream: "snapchat_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "salma.cooks"),
			providertest.Profile("own-profile-2021", "old.times"),
			providertest.Profile("own-profile-ordinary", "khalid"),
			providertest.Profile("own-profile-renamed", "new.name"),
			providertest.Posts("own-posts", "salma.cooks"),
			providertest.Posts("own-posts-2021", "old.times"),
			providertest.Posts("own-posts-none", "quiet"),
			providertest.Posts("own-posts-none-without-lists", "bare"),
			providertest.Reels("own-reels", "salma.cooks"),
			providertest.Post("own-post", video),
			providertest.Post("own-post-anonymous", strings.Replace(video, "2A", "8A", 1)),
			providertest.Collections("own-collections", of("salma.cooks")),
			providertest.Collections("own-collections-2021", of("old.times")),
			providertest.Collections("own-collections-none", of("bare")),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("missing page", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a page without an account", "nobody"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page about something else", "lens"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page about another", "someone"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a check", "checked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page without data", "shell"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("turned away", "blocked"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a login", "walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts without a public profile", "khalid"), Want: providers.ErrNotFound},
			{Call: providertest.Reels("reels without a public profile", "khalid"), Want: providers.ErrNotFound},
			{Call: providertest.Collections("highlights without a public profile", of("khalid")), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts that are said to be there", "lost"), Want: providers.ErrUnavailable},
			{Call: providertest.Collections("highlights that are said to be there", of("lost")), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a cursor that was never given", "quiet").From("2"), Want: providers.ErrCursor},
			{Call: providertest.Post("other people's videos", strings.Replace(video, "2A", "4A", 1)), Want: providers.ErrUnavailable},
			{Call: providertest.Post("missing video", strings.Replace(video, "2A", "5A", 1)), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{
			// "public profile without `story` key or `story: null`: no current story".
			Absent: []string{"props.pageProps.story"},
		},
		Inputs: []providertest.Input{{Subject: providers.PostID, In: video, Want: video}},
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := snapchat.New(snapchat.Config{ClientID: "id", ClientSecret: "secret"})
	if ps[0].Serves(providers.OpSearch) || ps[0].Missing[providers.OpSearch][0] != "refresh_token" {
		t.Errorf("without a refresh token search is served, or lacks %v", ps[0].Missing[providers.OpSearch])
	}
	if !ps[1].Serves(providers.OpPosts) {
		t.Error("the public pages are off by default")
	}
	providertest.Off(t, snapchat.New(snapchat.Config{Own: providers.OwnOff})[1])
}

func TestAccessTokenIsObtainedWithTheRefreshToken(t *testing.T) {
	t.Parallel()
	var form, sent string
	p := snapchat.New(config(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "accounts.snapchat.com" {
			_ = r.ParseForm()
			form = r.PostForm.Encode()
			return http.StatusOK, `{"access_token":"secret-token","expires_in":1800}`
		}
		sent = r.Header.Get("Authorization")
		return http.StatusOK, `{"request_status":"SUCCESS","public_profiles":[]}`
	})}))[0]
	if _, err := p.Profile(t.Context(), "salma"); !errors.Is(err, providers.ErrNotHere) {
		t.Errorf("error %v, want ErrNotHere", err)
	}
	if want := "client_id=id&client_secret=secret&grant_type=refresh_token&refresh_token=refresh"; form != want || sent != "Bearer secret-token" {
		t.Errorf("asked for a token with %q and sent %q", form, sent)
	}
}

// page answers every request with a page about a public profile with these properties.
func page(public, props string) providers.Provider {
	body := `<script id="__NEXT_DATA__">{"props":{"pageProps":{"userProfile":{"$case":"publicProfileInfo","publicProfileInfo":{
		"username":"salma"` + public + `}}` + props + `}}}</script>`
	return snapchat.New(config(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, body
	})}))[1]
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	const (
		none  = `,"hasSpotlightHighlights":false,"hasCuratedHighlights":false,"hasStory":false`
		some  = `,"hasSpotlightHighlights":true,"hasCuratedHighlights":true,"hasStory":true`
		empty = `,"spotlightHighlights":[],"spotlightStoryMetadata":[],"curatedHighlights":[]`
		slots = `,"spotlightHighlights":[{"storyId":null,"snapList":[]}],"spotlightStoryMetadata":[{}],"curatedHighlights":[{"storyId":null,"snapList":[]}]`
	)
	tests := []struct {
		name, public, props string
		want                error
	}{
		{"its own word", none, empty, nil},
		{"a word to the contrary", some, empty, providers.ErrUnavailable},
		{"no word", "", empty, providers.ErrUnavailable},
		{"placeholders alone", some, slots, nil},
		{"rows of which nothing is known", some, `,"spotlightHighlights":[{}],"spotlightStoryMetadata":[{}],"curatedHighlights":[7]`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := page(tt.public, tt.props)
			reels, reelsErr := p.Reels(t.Context(), "salma", "")
			lists, listsErr := p.Collections(t.Context(), providers.CollectionsQuery{Handle: "salma"}, "")
			if len(reels.Items) == 1 && reels.Items[0].Check() != nil {
				reelsErr = providers.ErrUnavailable // as the engine treats a page of only such rows
			}
			if !errors.Is(reelsErr, tt.want) || !errors.Is(listsErr, tt.want) || tt.want == nil && len(reels.Items)+len(lists.Items) > 0 {
				t.Errorf("got %v, %v and %v, %v, want %v and nothing", reels.Items, reelsErr, lists.Items, listsErr, tt.want)
			}
		})
	}
	for has, want := range map[string]error{"false": nil, "true": providers.ErrUnavailable} {
		p := page(`,"hasSpotlightHighlights":false,"hasStory":`+has, `,"spotlightHighlights":[],"story":{"snapList":[]}`)
		if _, err := p.Posts(t.Context(), "salma", ""); !errors.Is(err, want) {
			t.Errorf("an empty story where hasStory is %s: got %v, want %v", has, err, want)
		}
	}
}

func TestEmptyHighlightHasNoID(t *testing.T) {
	t.Parallel()
	p := page("", `,"curatedHighlights":[{},{"highlightId":"00000000-dddd-4bbb-8ccc-000000000002","snapList":[]},{"highlightId":{"value":"boxed"}}]`)
	got, err := p.Collections(t.Context(), providers.CollectionsQuery{Handle: "salma"}, "")
	ids := ""
	for _, c := range got.Items {
		ids += c.ID + " " // the engine leaves out those without an id
	}
	if err != nil || ids != " 00000000-dddd-4bbb-8ccc-000000000002 boxed " {
		t.Errorf("got %q, %v, want an object without an id, and two", ids, err)
	}
}

func TestPlaceholderTextIsNotADescription(t *testing.T) {
	t.Parallel()
	for _, filler := range []string{"Spotlight Snap", "Another Spotlight Snap brought to you by Snapchat."} {
		p := page("", `,"spotlightHighlights":[{"storyId":{"value":"`+video+`"},"snapList":[{}]}],
			"spotlightStoryMetadata":[{"description":"`+filler+`","videoMetadata":{"name":"`+filler+`","thumbnailUrl":"https://cf.example/t.jpg","durationMs":"6200"}}]`)
		got, err := p.Reels(t.Context(), "salma", "")
		if err != nil || len(got.Items) != 1 || got.Items[0].Text != "" || len(got.Items[0].Media) != 1 {
			t.Fatalf("got %+v, %v, want one video without words", got.Items, err)
		}
		m := got.Items[0].Media[0]
		if m.URL != got.Items[0].URL || m.ThumbnailURL == nil || m.DurationS == nil || *m.DurationS != 6.2 {
			t.Errorf("media %+v, want the page with the thumbnail and the duration", m)
		}
	}
}

func TestNotFoundPageIsNotDrift(t *testing.T) {
	t.Parallel()
	p := snapchat.New(config(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `<script id="__NEXT_DATA__">{"props":{"pageProps":{"pageType":"NOT_FOUND"}}}</script>`
	})}))[1]
	drifted := 0
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(callctx.Drift) { drifted++ }})
	_, profile := p.Profile(ctx, "salma")
	_, post := p.Post(ctx, video)
	if !errors.Is(profile, providers.ErrNotFound) || !errors.Is(post, providers.ErrNotFound) || drifted > 0 {
		t.Errorf("got %v and %v with %d drifts, want ErrNotFound without any", profile, post, drifted)
	}
}
