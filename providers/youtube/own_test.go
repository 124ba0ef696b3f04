package youtube_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/youtube"
)

func TestOwnProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return youtube.New(youtube.Config{HTTP: c}) }, Upstream: "youtube_own", Witness: true,
		// An answer that repeats the query has no suggestions for it.
		Witnessed: []string{"suggestions.json []"},
		Calls: []providertest.Call{
			providertest.Reels("own-reels", "UCannexample000000000000"),
			providertest.Suggestions("own-suggestions", providers.SuggestionsQuery{Query: "tea", Region: "SA"}),
			providertest.Transcript("own-transcript", providers.TranscriptQuery{PostID: tea}),
			providertest.Transcript("own-transcript-automatic", providers.TranscriptQuery{PostID: "asr-only-01", Lang: "en-US"}),
			providertest.Transcript("own-transcript-near", providers.TranscriptQuery{PostID: tea, Lang: "de-AT"}),
			providertest.Transcript("own-transcript-translated", providers.TranscriptQuery{PostID: "translate01", Lang: "ar"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Reels("no entries and no word", "user/oldname"), Want: providers.ErrUnavailable},
			{Call: providertest.Reels("feed of an unknown channel", bare), Want: providers.ErrNotFound},
			{Call: providertest.Reels("feed by handle", ann), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("malformed video", providers.TranscriptQuery{PostID: "abc"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("no captions", providers.TranscriptQuery{PostID: "no-captions"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("no such language", providers.TranscriptQuery{PostID: tea, Lang: "fr"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("video is gone", providers.TranscriptQuery{PostID: "gone-video1"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("private video", providers.TranscriptQuery{PostID: "private0001"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("broadcast to come", providers.TranscriptQuery{PostID: "soon-live01"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("bot check", providers.TranscriptQuery{PostID: "bot-blocked"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("captcha", providers.TranscriptQuery{PostID: "captcha-001"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("age check", providers.TranscriptQuery{PostID: "grown-ups01"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("not in our country", providers.TranscriptQuery{PostID: "not-here-01"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("for real players only", providers.TranscriptQuery{PostID: "po-token-01"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("captions with an address of another kind", providers.TranscriptQuery{PostID: "elsewhere01"}), Want: providers.ErrUnavailable},
			{Call: providertest.Transcript("captions without a body", providers.TranscriptQuery{PostID: "empty-body1"}), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{
			// A video without captions has none of these fields, and captions that cannot be translated lack them too.
			Absent: []string{
				"captions", "captions.playerCaptionsTracklistRenderer.translationLanguages",
				"captions.playerCaptionsTracklistRenderer.captionTracks[].isTranslatable",
			},
		},
	})
}

func TestTranscriptPassesTheConsentForm(t *testing.T) {
	t.Parallel()
	const form = `<form action="https://consent.youtube.com/s"><input type="hidden" name="v" value="cb.2026+FX"></form>`
	forms := 0
	p := youtube.New(youtube.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		agreed := strings.Contains(r.Header.Get("Cookie"), "CONSENT=YES+cb.2026+FX")
		switch {
		case !agreed:
			forms++
			return http.StatusOK, form
		case r.URL.Path == "/watch":
			return http.StatusOK, `{"INNERTUBE_API_KEY":"k"}`
		case r.URL.Path == "/youtubei/v1/player":
			return http.StatusOK, `{"playabilityStatus":{"status":"OK"},"captions":{"playerCaptionsTracklistRenderer":
				{"captionTracks":[{"baseUrl":"https://www.youtube.com/api/timedtext?lang=en","languageCode":"en"}]}}}`
		}
		return http.StatusOK, `<transcript><text start="0" dur="1">hello</text></transcript>`
	})}})[1]
	got, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tea})
	if err != nil || got.Text != "hello" || forms != 1 {
		t.Errorf("got %q behind %d forms (%v), want hello behind 1", got.Text, forms, err)
	}
}

func TestNullCaptionsAreNotFound(t *testing.T) {
	t.Parallel()
	for captions, want := range map[string]error{`null`: providers.ErrNotFound, `[]`: providers.ErrUnavailable, `{}`: providers.ErrUnavailable} {
		p := youtube.New(youtube.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.URL.Path == "/watch" {
				return http.StatusOK, `{"INNERTUBE_API_KEY":"k"}`
			}
			return http.StatusOK, `{"playabilityStatus":{"status":"OK"},"captions":` + captions + `}`
		})}})[1]
		if _, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tea}); !errors.Is(err, want) {
			t.Errorf("captions %s: got %v, want %v", captions, err, want)
		}
	}
}

func TestTranscriptKeepsOurAddressOutOfRaw(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch r.URL.Path {
		case "/watch":
			return http.StatusOK, `{"INNERTUBE_API_KEY":"k"}`
		case "/youtubei/v1/player":
			return http.StatusOK, `{"playabilityStatus":{"status":"OK"},"captions":{"playerCaptionsTracklistRenderer":
				{"captionTracks":[{"baseUrl":"https://www.youtube.com/api/timedtext?lang=en&ip=192.0.2.7","languageCode":"en"}]}}}`
		}
		return http.StatusOK, `<transcript><text start="0" dur="1">hello</text></transcript>`
	})}})[1]
	got, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tea})
	if err != nil || strings.Contains(string(got.Raw), "192.0.2.7") {
		t.Errorf("raw is %s (%v)", got.Raw, err)
	}
}

func TestOwnSourcesCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	p := youtube.New(youtube.Config{Own: providers.OwnOff})[1]
	for _, op := range providers.Ops() {
		if p.Serves(op) {
			t.Errorf("%s is served although all is switched off", op)
		}
	}
	if p.Notes[providers.OpTranscript] == "" || len(p.Filters) != 0 {
		t.Errorf("notes %v, filters %v", p.Notes, p.Filters)
	}
}

func TestMalformedFeedEntryIsLeftOut(t *testing.T) {
	t.Parallel()
	const head = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015">`
	const short = `<entry><yt:videoId>short-one01</yt:videoId><published>soon</published><link rel="alternate" href="https://www.youtube.com/shorts/short-one01"/></entry>`
	const odd = `<entry><yt:videoId>short-two02</yt:videoId></entry>`
	tests := []struct {
		name, body string
		items      int
		want       error
	}{
		{"one of two", head + short + odd + `</feed>`, 1, nil},
		{"all", head + odd + `</feed>`, 0, providers.ErrUnavailable},
		{"another channel", head + `<yt:channelId>other00000000000000000</yt:channelId>` + short + `</feed>`, 0, providers.ErrUnavailable},
		{"none", head + `</feed>`, 0, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := youtube.New(youtube.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, tt.body
			})}})[1]
			page, err := p.Reels(t.Context(), bare, "")
			if len(page.Items) != tt.items || !errors.Is(err, tt.want) {
				t.Errorf("%d items, error %v, want %d and %v", len(page.Items), err, tt.items, tt.want)
			}
		})
	}
}
