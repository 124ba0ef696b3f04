package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/vtt"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// subtitle describes a subtitle file.
type subtitle struct {
	Language string `json:"LanguageCodeName"` // such as "eng-US"
	URL      string `json:"Url"`
	Format   string `json:"Format"` // "webvtt" or "creator_caption"
	Source   string `json:"Source"` // "ASR" if transcribed by TikTok, "MT" if translated by it
}

// heard is the source of the original subtitles.
const heard = "ASR"

// lang returns the two-letter code of a language if there is one: "en" for "eng-US".
func lang(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return ""
	}
	base, _ := tag.Base()
	return base.String()
}

// choose returns the subtitles in a language, or the original ones for "".
func choose(ctx context.Context, list wire.Rows[subtitle], wanted string) (chosen wire.Object[subtitle], err error) {
	found, nameless := false, list.Lost()
	for _, s := range list.All() {
		switch {
		case lang(s.V.Language) == "" && wanted != "":
			nameless++
		case wanted != "" && lang(s.V.Language) != lang(wanted):
		case !found || s.V.Source == heard && chosen.V.Source != heard:
			chosen, found = s, true
		}
	}
	switch {
	case found:
		return chosen, wire.Need(ctx, "subtitleInfos[].Url", chosen.V.URL != "")
	case nameless > 0:
		return chosen, wire.Need(ctx, "subtitleInfos[].LanguageCodeName", false)
	case list.Len() > 0:
		return chosen, providers.NotFound("the post has no subtitles in this language")
	}
	return chosen, providers.NotFound("the post has no subtitles")
}

// transcript reads the subtitles that a post's page lists.
func (w *web) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	i, err := w.item(ctx, q.PostID)
	if err != nil {
		return t, err
	}
	if i.V.isSlides() {
		return t, providers.NotFound("the post is a slide show without speech")
	}
	if err := wire.Need(ctx, "itemStruct.video", i.V.Video.ID != ""); err != nil {
		return t, err
	}
	if err := i.V.Video.Subtitles.Optional(ctx, "itemStruct.video.subtitleInfos"); err != nil {
		return t, err
	}
	s, err := choose(ctx, i.V.Video.Subtitles, q.Lang)
	if err != nil {
		return t, err
	}
	segments, err := w.read(ctx, s.V)
	if err != nil {
		return t, err
	}
	t = schema.Transcript{
		Common:   schema.Common{ID: q.PostID + ":" + s.V.Language, URL: i.V.url(), Raw: s.Raw},
		PostID:   q.PostID,
		Text:     vtt.Text(segments),
		Segments: segments,
	}
	if l := lang(s.V.Language); l != "" {
		t.Lang = &l
	}
	return t, nil
}

// read reads a subtitle file, which is on one of TikTok's many hosts.
func (w *web) read(ctx context.Context, s subtitle) ([]schema.TranscriptSegment, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "https" || !isTikToks(u.Hostname()) {
		return nil, wire.Need(ctx, "a file of subtitles on a host of TikTok", false)
	}
	files := upstream.New(upstream.Config{HTTP: w.client, Base: "https://" + u.Host, Header: asBrowser})
	res, err := files.Do(ctx, upstream.Request{Path: []string{strings.TrimPrefix(u.Path, "/")}, Query: u.Query()})
	if err != nil {
		return nil, gone(err)
	}
	if s.Format == "creator_caption" {
		return utterances(ctx, res.Body)
	}
	return vtt.Segments(ctx, res.Body)
}

// gone converts the error for a missing file: the post's page lists it, so the post exists.
func gone(err error) error {
	if errors.Is(err, providers.ErrNotFound) {
		return providers.Unavailable(err, "TikTok does not find the subtitles that it lists")
	}
	return err
}

// isTikToks reports whether a host is one of TikTok's file hosts.
func isTikToks(host string) bool {
	for _, domain := range []string{
		"tiktok.com", "tiktokcdn.com", "tiktokcdn-us.com", "tiktokcdn-eu.com", "tiktokv.com", "tiktokv.us", "tiktokv.eu",
		"ttwstatic.com", "byteoversea.com", "ibytedtos.com", "muscdn.com",
	} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// utterances parses subtitles that an account has written itself.
func utterances(ctx context.Context, body []byte) ([]schema.TranscriptSegment, error) {
	var answer struct {
		Utterances wire.Rows[utterance] `json:"utterances"`
	}
	if err := wire.Decode(ctx, body, &answer); err != nil {
		return nil, err
	}
	return wire.Items(ctx, "utterances", answer.Utterances, utterance.segment)
}

// utterance is a line; its times are in milliseconds.
type utterance struct {
	Text  string     `json:"text"`
	Start wire.Count `json:"start_time"`
	End   wire.Count `json:"end_time"`
}

func (u utterance) segment(json.RawMessage) (schema.TranscriptSegment, bool) {
	s := schema.TranscriptSegment{Text: strings.TrimSpace(u.Text)}
	if u.Start.V != nil {
		s.StartS = new(float64(*u.Start.V) / 1000)
	}
	if u.End.V != nil {
		s.EndS = new(float64(*u.End.V) / 1000)
	}
	return s, s.Text != ""
}
