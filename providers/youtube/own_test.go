package youtube_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/schema"
)

func TestOwnProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Provider { return youtube.NewOwn(youtube.Config{HTTP: c}) },
		Calls: []providertest.Call{
			reels("own-reels", "UCannexample000000000000"),
			reels("own-reels-none", "user/oldname"),
			suggestions("own-suggestions"),
			transcript("own-transcript", tea, ""),
			transcript("own-transcript-automatic", "asr-only-01", "en-US"),
			transcript("own-transcript-near", tea, "de-AT"),
			transcript("own-transcript-translated", "translate01", "ar"),
		},
		Fails: []providertest.Fail{
			{Call: reels("feed of an unknown channel", bare), Want: providers.ErrNotFound},
			{Call: reels("feed by handle", ann), Want: providers.ErrUnavailable},
			{Call: transcript("malformed video", "abc", ""), Want: providers.ErrNotFound},
			{Call: transcript("no captions", "no-captions", ""), Want: providers.ErrNotFound},
			{Call: transcript("no such language", tea, "fr"), Want: providers.ErrNotFound},
			{Call: transcript("video is gone", "gone-video1", ""), Want: providers.ErrNotFound},
			{Call: transcript("private video", "private0001", ""), Want: providers.ErrNotFound},
			{Call: transcript("broadcast to come", "soon-live01", ""), Want: providers.ErrNotFound},
			{Call: transcript("bot check", "bot-blocked", ""), Want: providers.ErrUnavailable},
			{Call: transcript("captcha", "captcha-001", ""), Want: providers.ErrUnavailable},
			{Call: transcript("age check", "grown-ups01", ""), Want: providers.ErrUnavailable},
			{Call: transcript("not in our country", "not-here-01", ""), Want: providers.ErrUnavailable},
			{Call: transcript("for real players only", "po-token-01", ""), Want: providers.ErrUnavailable},
			{Call: transcript("captions with an address of another kind", "elsewhere01", ""), Want: providers.ErrUnavailable},
			{Call: transcript("captions without a body", "empty-body1", ""), Want: providers.ErrUnavailable},
		},
	})
}

func TestTranscriptPassesTheConsentForm(t *testing.T) {
	t.Parallel()
	const form = `<form action="https://consent.youtube.com/s"><input type="hidden" name="v" value="cb.2026+FX"></form>`
	forms := 0
	p := youtube.NewOwn(youtube.Config{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		agreed := strings.Contains(r.Header.Get("Cookie"), "CONSENT=YES+cb.2026+FX")
		switch {
		case !agreed:
			forms++
			return reply(r, http.StatusOK, form), nil
		case r.URL.Path == "/watch":
			return reply(r, http.StatusOK, `{"INNERTUBE_API_KEY":"k"}`), nil
		case r.URL.Path == "/youtubei/v1/player":
			return reply(r, http.StatusOK, `{"playabilityStatus":{"status":"OK"},"captions":{"playerCaptionsTracklistRenderer":
				{"captionTracks":[{"baseUrl":"https://www.youtube.com/api/timedtext?lang=en","languageCode":"en"}]}}}`), nil
		}
		return reply(r, http.StatusOK, `<transcript><text start="0" dur="1">hello</text></transcript>`), nil
	})}})
	got, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tea})
	if err != nil || got.Text != "hello" || forms != 1 {
		t.Errorf("got %q behind %d forms (%v), want hello behind 1", got.Text, forms, err)
	}
}

func TestTranscriptKeepsOurAddressOutOfRaw(t *testing.T) {
	t.Parallel()
	p := youtube.NewOwn(youtube.Config{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/watch":
			return reply(r, http.StatusOK, `{"INNERTUBE_API_KEY":"k"}`), nil
		case "/youtubei/v1/player":
			return reply(r, http.StatusOK, `{"playabilityStatus":{"status":"OK"},"captions":{"playerCaptionsTracklistRenderer":
				{"captionTracks":[{"baseUrl":"https://www.youtube.com/api/timedtext?lang=en&ip=192.0.2.7","languageCode":"en"}]}}}`), nil
		}
		return reply(r, http.StatusOK, `<transcript><text start="0" dur="1">hello</text></transcript>`), nil
	})}})
	got, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tea})
	if err != nil || strings.Contains(string(got.Raw), "192.0.2.7") {
		t.Errorf("raw is %s (%v)", got.Raw, err)
	}
}

func TestOwnSourcesCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	p := youtube.NewOwn(youtube.Config{NoTranscripts: true, NoFeed: true, NoSuggestions: true})
	for _, op := range providers.Ops() {
		if p.Serves(op) {
			t.Errorf("%s is served although all is switched off", op)
		}
	}
	if p.Notes[providers.OpTranscript] == "" || len(p.Filters) != 0 {
		t.Errorf("notes %v, filters %v", p.Notes, p.Filters)
	}
}

func suggestions(name string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Suggestion], error) {
		return p.Suggestions(ctx, providers.SuggestionsQuery{Query: "tea", Region: "SA"}, cursor)
	})
}

func transcript(name, id, lang string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Transcript, error) {
		return p.Transcript(ctx, providers.TranscriptQuery{PostID: id, Lang: lang})
	})
}
