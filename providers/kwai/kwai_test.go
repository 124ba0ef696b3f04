package kwai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kwai"
	"github.com/socialdata/socialdata/providers/providertest"
)

const video = "@Salma.Cooks/5193363430624671876"

func TestKwai(t *testing.T) {
	t.Parallel()
	of := func(id string) providers.TranscriptQuery { return providers.TranscriptQuery{PostID: id} }
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return kwai.New(kwai.Config{HTTP: c}) }, Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("profile", "Salma.Cooks"),
			providertest.Profile("profile-without-posts", "bare"),
			providertest.Posts("posts", "Salma.Cooks"),
			providertest.Posts("posts-none", "bare"),
			providertest.Posts("posts-that-lead-to-themselves", "Salma.Cooks").From("77"),
			providertest.Post("post", video),
			providertest.Post("post-2022", "@salma.cooks/111111111"),
			providertest.Post("post-by-number", "5193363430624671876"),
			providertest.Post("post-in-answer", "@Salma.Cooks/5193363430624671900"),
			providertest.Post("post-shared", "150000228494834/5222636779124848117"),
			providertest.Post("post-shared-without-words", "150000228494834/5222636779124848118"),
			providertest.Transcript("transcript", of(video)),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("missing page", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a page about another", "someone"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page without data", "shell"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("no list, and no page", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("no list, and a page without data", "shell"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of another", "someone"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a cursor that tells nothing", "uncertain"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a cursor that is none", "bare").From("next"), Want: providers.ErrCursor},
			{Call: providertest.Post("a video that is gone", "@Salma.Cooks/404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a refusal", "@Salma.Cooks/405"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("missing page of a video", "@Salma.Cooks/406"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a number alone that leads nowhere", "406"), Want: providers.ErrUnsupported},
			{Call: providertest.Post("another video", "@Salma.Cooks/407"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("another video, shared", "150000228494834/5222636779124848119"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("a shared page without data", "150000228494834/1"), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("no transcript", of("@salma.cooks/111111111")), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("transcript of what was shared", of("150000228494834/1")), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{
			// A video without speech has no transcript.
			Absent: []string{"transcript"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Salma.Cooks", Want: "Salma.Cooks"},
			{Subject: providers.Handle, In: "https://www.kwai.com/@Salma.Cooks/video/1?x=1", Want: "Salma.Cooks"},
			{Subject: providers.Handle, In: "https://www.kwai.com/discover/food"},
			{Subject: providers.Handle, In: "https://k.kwai.com/p/AbC"},
			{Subject: providers.Handle, In: "https://www.kuaishou.com/profile/x"},
			{Subject: providers.Handle, In: "salma cooks"},
			{Subject: providers.PostID, In: "https://www.kwai.com/@Salma.Cooks/video/5193363430624671876?x=1", Want: video},
			{Subject: providers.PostID, In: "kwai.com/@Salma.Cooks/photo/5193363430624671876", Want: video},
			{Subject: providers.PostID, In: "https://www.kwai.com/@Salma.Cooks/5193363430624671876", Want: video},
			{Subject: providers.PostID, In: "https://m.kwai.com/photo/150000228494834/5222636779124848117?cc=1", Want: "150000228494834/5222636779124848117"},
			{Subject: providers.PostID, In: "5193363430624671876", Want: "5193363430624671876"},
			{Subject: providers.PostID, In: "https://www.kwai.com/@Salma.Cooks"},
			{Subject: providers.PostID, In: "https://s.kw.ai/p/AbC"},
			{Subject: providers.PostID, In: "https://kwai-video.com/p/AbC"},
			{Subject: providers.PostID, In: "no number"},
			{Subject: providers.PostID, In: "000"},
		},
	})
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	page := func(posts string) string {
		return `<script type="application/ld+json">{"@type":"ProfilePage","mainEntity":{"alternateName":"salma"` + posts + `}}</script>`
	}
	const (
		none = `,"agentInteractionStatistic":{"userInteractionCount":0}`
		some = `,"agentInteractionStatistic":{"userInteractionCount":5}`
		feed = `{"result":1,"cursor":"no_more","feeds":[]}`
	)
	tests := []struct {
		name, cursor, feed string
		status             int
		page               string
		want               error
	}{
		{"no posts are counted", "", feed, http.StatusOK, page(none), nil},
		{"posts are counted", "", feed, http.StatusOK, page(some), providers.ErrUnavailable},
		{"no count", "", feed, http.StatusOK, page(""), providers.ErrUnavailable},
		{"no account", "", feed, http.StatusNotFound, `<link rel="canonical" href="https://www.kwai.com/404">`, providers.ErrNotFound},
		{"a 404 of a proxy", "", feed, http.StatusNotFound, "", providers.ErrUnavailable},
		{"a page without data", "", feed, http.StatusOK, "", providers.ErrUnavailable},
		{"more is promised", "", `{"result":1,"cursor":"1780704000032","feeds":[]}`, http.StatusOK, page(none), providers.ErrUnavailable},
		{"a refusal", "", `{"result":2,"cursor":"no_more","feeds":[]}`, http.StatusOK, page(none), providers.ErrUnavailable},
		{"behind a cursor", "1780704000032", feed, http.StatusOK, page(none), providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "feed/profile") {
					return http.StatusOK, tt.feed
				}
				return tt.status, tt.page
			})}})[0]
			if got, err := p.Posts(t.Context(), "salma", tt.cursor); !errors.Is(err, tt.want) || len(got.Items) > 0 {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestAProfileIsNotMadeWithoutItsSecondRead(t *testing.T) {
	t.Parallel()
	for _, feed := range []string{`{"result":2,"feeds":[]}`, `{"result":1}`, `<html>`, `{"result":1,"cursor":"no_more","feeds":[7]}`} {
		p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.Method == http.MethodPost {
				return http.StatusOK, feed
			}
			return http.StatusOK, `<script type="application/ld+json">{"@type":"ProfilePage","mainEntity":{"alternateName":"salma"}}</script>`
		})}})[0]
		if got, err := p.Profile(t.Context(), "salma"); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got %+v, %v, want ErrUnavailable", feed, got, err)
		}
	}
}

func TestTheAddressNamesTheAuthor(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"https://www.kwai.com/@salma/video/77": "salma", "https://www.kwai.com/@_/video/77": "unknown"} {
		p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<script type="application/ld+json">{"@type":"VideoObject","url":"` + address + `"}</script>`
		})}})[0]
		if got, err := p.Post(t.Context(), "77"); err != nil || got.Author.Handle != want || got.URL != address {
			t.Errorf("%s: author %q at %s (%v), want %q", address, got.Author.Handle, got.URL, err, want)
		}
	}
}

func TestAnUnansweredRequestIsNotAnAbsence(t *testing.T) {
	t.Parallel()
	p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusNotFound, "no such route"
		}
		return http.StatusOK, "<title>Kwai</title>"
	})}})[0]
	_, posts := p.Posts(t.Context(), "salma", "")
	_, profile := p.Profile(t.Context(), "salma")
	if !errors.Is(posts, providers.ErrUnavailable) || !errors.Is(profile, providers.ErrUnavailable) {
		t.Errorf("got errors %v and %v, want ErrUnavailable", posts, profile)
	}
}

func TestCountersAndAddressesOfJSONLD(t *testing.T) {
	t.Parallel()
	answer := ""
	p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusOK, `{"result":1,"cursor":"no_more","feeds":[]}`
		}
		return http.StatusOK, `<script type="application/ld+json">` + answer + `</script>`
	})}})[0]
	for _, own := range []string{
		`{"userInteractionCount":3}`, `{"interactionType":"https://schema.org/WriteAction","userInteractionCount":3}`,
		`[{"interactionType":{"@type":"http://schema.org/LikeAction"},"userInteractionCount":9},{"interactionType":{"@type":"http://schema.org/WriteAction"},"userInteractionCount":3}]`,
	} {
		answer = `{"@type":"ProfilePage","mainEntity":{"alternateName":"salma","agentInteractionStatistic":` + own + `}}`
		if got, err := p.Profile(t.Context(), "salma"); err != nil || got.PostsCount == nil || *got.PostsCount != 3 {
			t.Errorf("%s: %v posts (%v), want 3", own, got.PostsCount, err)
		}
	}
	for _, address := range []string{
		"https://www.kwai.com/@salma/video/77/", "https://www.kwai.com/@salma/video/77?from=/discover", "https://www.kwai.com/@salma/77#top",
	} {
		answer = `{"@type":"VideoObject","url":"` + address + `","creator":{"alternateName":"salma"}}`
		if got, err := p.Post(t.Context(), "@salma/77"); err != nil || got.ID != "77" {
			t.Errorf("%s: post %q (%v), want 77", address, got.ID, err)
		}
	}
}

func TestASharedPageNamesItsVideoTwice(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]error{"77": nil, "78": providers.ErrUnavailable} {
		p := kwai.New(kwai.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `<meta property="og:image" content="https://pic.example/1.jpg"><script type="application/ld+json">
				{"@type":"VideoObject","thumbnailUrl":"https://m.kwai.com/photo/15/` + number + `","contentUrl":"https://cdn.example/1.mp4"}</script>`
		})}})[0]
		got, err := p.Post(t.Context(), "15/77")
		if !errors.Is(err, want) || err == nil && (len(got.Media) != 1 || *got.Media[0].ThumbnailURL != "https://pic.example/1.jpg") {
			t.Errorf("%s: media %v with error %v, want error %v", number, got.Media, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	providertest.Off(t, kwai.New(kwai.Config{Own: providers.OwnOff})[0])
}
