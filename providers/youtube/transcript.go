package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// transcript goes the way of the site's own player: the page of the video hands out a key, the key opens the list of
// captions, and that holds the address of each. The Data API gives captions to a video's owner only.
func (s *site) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	t, err := s.captions(ctx, q)
	if err != nil {
		return schema.Transcript{}, fmt.Errorf("youtube: transcript of %q: %w", q.PostID, err)
	}
	return t, nil
}

func (s *site) captions(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	if !videoID.MatchString(q.PostID) {
		return schema.Transcript{}, providers.NotFound("no such video")
	}
	v, err := s.visit(ctx, q.PostID)
	if err != nil {
		return schema.Transcript{}, err
	}
	p, err := s.play(ctx, q.PostID, v)
	if err != nil {
		return schema.Transcript{}, err
	}
	track, lang, ok := p.Captions.List.pick(q.Lang)
	switch {
	case !ok && q.Lang != "":
		return schema.Transcript{}, providers.NotFound("this video has no transcript in %q", q.Lang)
	case !ok:
		return schema.Transcript{}, providers.NotFound("this video has no transcript")
	}
	r, err := track.request(lang)
	if err != nil {
		return schema.Transcript{}, err
	}
	r.Header = v.header()
	res, err := s.web.Do(ctx, r)
	if errors.Is(err, providers.ErrNotFound) { // we have just been told that it is there
		err = providers.Unavailable(err, "YouTube did not hand out the transcript")
	}
	if err != nil {
		return schema.Transcript{}, err
	}
	var lines timedText
	if err := xml.Unmarshal(res.Body, &lines); err != nil { // an empty body is how it refuses, too
		return schema.Transcript{}, providers.Unavailable(err, "YouTube did not hand out the transcript")
	}
	return lines.transcript(q.PostID, track, lang)
}

// visitor is what the page of a video gives to go on with.
type visitor struct {
	key, cookie string
}

func (v visitor) header() http.Header { return http.Header{"Cookie": {v.cookie}} }

var (
	playerKey = regexp.MustCompile(`"INNERTUBE_API_KEY":\s*"([A-Za-z0-9_-]+)"`)
	consent   = regexp.MustCompile(`name="v" value="([A-Za-z0-9_.+-]+)"`)
)

// declined is how a browser says that it wants no cookies, which spares it the page that asks. That page belongs to
// another host.
const declined = "SOCS=CAE="

// visit opens the page of a video. Where the cookie does not help, the answer is a form that asks for consent.
func (s *site) visit(ctx context.Context, id string) (visitor, error) {
	v := visitor{cookie: declined}
	for range 2 {
		r := upstream.Get("watch").With("v", id)
		r.Header = v.header()
		res, err := s.web.Do(ctx, r)
		if err != nil {
			return visitor{}, err
		}
		page := string(res.Body)
		if m := playerKey.FindStringSubmatch(page); m != nil {
			v.key = m[1]
			return v, nil
		}
		if strings.Contains(page, `class="g-recaptcha"`) {
			return visitor{}, errBlocked
		}
		m := consent.FindStringSubmatch(page)
		if m == nil || !strings.Contains(page, `action="https://consent.youtube.com/s"`) {
			break
		}
		v.cookie = declined + "; CONSENT=YES+" + m[1]
	}
	return visitor{}, providers.Unavailable(nil, "the page of the video cannot be read")
}

var errBlocked = providers.Unavailable(nil, "YouTube takes us for a bot")

// playerClient is the app that the player is asked as.
type playerClient struct {
	Name    string `json:"clientName"`
	Version string `json:"clientVersion"`
}

type playerRequest struct {
	Context struct {
		Client playerClient `json:"client"`
	} `json:"context"`
	VideoID string `json:"videoId"`
}

func (s *site) play(ctx context.Context, id string, v visitor) (player, error) {
	body := playerRequest{VideoID: id}
	body.Context.Client = s.player
	var p player
	_, err := s.web.JSON(ctx, upstream.Request{
		Method: http.MethodPost, Retry: true, // it changes nothing
		Path: []string{"youtubei/v1/player"}, Query: url.Values{"key": {v.key}}, Header: v.header(), JSON: body,
	}, &p)
	if err != nil {
		return player{}, err
	}
	return p, p.Playability.err()
}

// player is the answer of POST /youtubei/v1/player, as far as it is about captions. There is no documentation.
type player struct {
	Playability playability `json:"playabilityStatus"`
	Captions    struct {
		List captionList `json:"playerCaptionsTracklistRenderer"`
	} `json:"captions"` // absent when the video has none
}

type playability struct {
	Status string `json:"status"`
	Reason string `json:"reason"` // for people, in the language asked for
}

// err says why a video does not play; nil when it does.
func (p playability) err() error {
	reason := strings.ToLower(p.Reason)
	switch {
	case p.Status == "OK":
		return nil
	case p.Status == "ERROR":
		return providers.NotFound("this video is unavailable")
	case p.Status == "LIVE_STREAM_OFFLINE":
		return providers.NotFound("this video has no transcript: its broadcast has not begun")
	case p.Status == "LOGIN_REQUIRED" && strings.Contains(reason, "private"):
		return providers.NotFound("this video is private")
	case p.Status == "LOGIN_REQUIRED" && strings.Contains(reason, "bot"):
		return errBlocked
	case p.Status == "LOGIN_REQUIRED":
		return providers.Unsupported("YouTube shows this video to grown-ups who have signed in only")
	}
	return providers.Unavailable(fmt.Errorf("playability %q", p.Status), "YouTube does not play this video to us")
}

type captionList struct {
	Tracks       []captionTrack `json:"captionTracks"`
	Audio        []audioTrack   `json:"audioTracks"`
	DefaultAudio int            `json:"defaultAudioTrackIndex"`
	Translations []struct {
		Language string `json:"languageCode"`
	} `json:"translationLanguages"` // into which YouTube translates by machine
}

type audioTrack struct {
	Default    int  `json:"defaultCaptionTrackIndex"`
	HasDefault bool `json:"hasDefaultTrack"`
}

type captionTrack struct {
	BaseURL      string `json:"baseUrl,omitempty"`
	Language     string `json:"languageCode"`
	Kind         string `json:"kind,omitempty"` // asr for automatic captions
	VSSID        string `json:"vssId,omitempty"`
	Translatable bool   `json:"isTranslatable"`
}

func (t captionTrack) automatic() bool { return t.Kind == "asr" }

// pick chooses the captions in lang, or in the spoken language when lang is "". The language that it returns differs
// from the track's when YouTube has to translate.
func (l captionList) pick(lang string) (t captionTrack, in string, ok bool) {
	if t, ok := l.find(cmp.Or(lang, l.spoken())); ok {
		return t, t.Language, true
	}
	for _, into := range l.Translations {
		if lang == "" || !strings.EqualFold(into.Language, lang) {
			continue
		}
		if t, ok := l.find(l.spoken()); ok && t.Translatable {
			return t, into.Language, true
		}
	}
	return captionTrack{}, "", false
}

// find returns the captions in lang: en finds en-US too, and the other way round. Written ones go before automatic
// ones.
func (l captionList) find(lang string) (captionTrack, bool) {
	exact := func(code string) bool { return strings.EqualFold(code, lang) }
	near := func(code string) bool {
		return strings.EqualFold(code, base(lang)) || strings.EqualFold(base(code), lang)
	}
	for _, automatic := range []bool{false, true} {
		for _, same := range []func(string) bool{exact, near} {
			for _, t := range l.Tracks {
				if t.automatic() == automatic && same(t.Language) {
					return t, true
				}
			}
		}
	}
	return captionTrack{}, false
}

// base is the language of a code such as pt-BR.
func base(code string) string {
	b, _, _ := strings.Cut(code, "-")
	return b
}

// spoken is the language of the sound: that of the automatic captions, else of those which the player shows by itself,
// else of the first.
func (l captionList) spoken() string {
	for _, t := range l.Tracks {
		if t.automatic() {
			return t.Language
		}
	}
	if i := l.DefaultAudio; i >= 0 && i < len(l.Audio) && l.Audio[i].HasDefault {
		if j := l.Audio[i].Default; j >= 0 && j < len(l.Tracks) {
			return l.Tracks[j].Language
		}
	}
	if len(l.Tracks) > 0 {
		return l.Tracks[0].Language
	}
	return ""
}

// request asks for the lines of t in lang. Only path and query of the address are followed: it comes from outside.
func (t captionTrack) request(lang string) (upstream.Request, error) {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Path != "/api/timedtext" {
		return upstream.Request{}, providers.Unavailable(err, "YouTube gave no address for the transcript")
	}
	q := u.Query()
	if q.Get("exp") == "xpe" {
		return upstream.Request{}, providers.Unsupported("YouTube hands this transcript to its own player only")
	}
	q.Del("fmt") // the plain form is the one without a name
	if lang != t.Language {
		q.Set("tlang", lang)
	}
	return upstream.Request{Path: []string{"api", "timedtext"}, Query: q}, nil
}

// timedText is the answer of GET /api/timedtext: lines whose text is HTML, escaped once more.
type timedText struct {
	XMLName xml.Name   `xml:"transcript" json:"-"`
	Lines   []timeLine `xml:"text" json:"lines"`
}

type timeLine struct {
	Start    *float64 `xml:"start,attr" json:"start"`
	Duration *float64 `xml:"dur,attr" json:"dur"`
	Text     string   `xml:",chardata" json:"text"`
}

var tag = regexp.MustCompile(`<[^>]*>`)

func (t timedText) transcript(videoID string, track captionTrack, lang string) (schema.Transcript, error) {
	track.BaseURL = "" // it names our own address on the internet
	raw, err := json.Marshal(struct {
		Track captionTrack `json:"track"`
		timedText
	}{track, t})
	if err != nil {
		return schema.Transcript{}, err
	}
	id := videoID + ":" + lang
	if track.automatic() {
		id += ":asr"
	}
	out := schema.Transcript{
		Common: schema.Common{ID: id, URL: watchURL(videoID), Raw: raw},
		PostID: videoID,
		Lang:   text.NonEmpty(lang),
	}
	var all []string
	for _, l := range t.Lines {
		line := text.NonEmpty(tag.ReplaceAllString(html.UnescapeString(l.Text), ""))
		if line == nil {
			continue
		}
		out.Segments = append(out.Segments, l.segment(*line))
		all = append(all, *line)
	}
	out.Text = strings.Join(all, " ")
	return out, nil
}

func (l timeLine) segment(line string) schema.TranscriptSegment {
	s := schema.TranscriptSegment{Text: line, StartS: l.Start}
	if l.Start != nil {
		end := *l.Start
		if l.Duration != nil {
			end += *l.Duration
		}
		s.EndS = new(math.Round(end*1000) / 1000) // the sum of two decimals, not of their binary neighbours
	}
	return s
}
