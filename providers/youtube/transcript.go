package youtube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// transcript does what the site's own player does: the page of the video contains a key, the key gives access to the
// list of captions, and the list has the address of each. The Data API only returns captions to a video's owner.
func (s *site) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
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
	track, lang, err := p.choose(ctx, q.Lang)
	if err != nil {
		return schema.Transcript{}, err
	}
	r, err := track.request(lang)
	if err != nil {
		return schema.Transcript{}, err
	}
	r.Header = v.header()
	res, err := s.web.Do(ctx, r)
	if errors.Is(err, providers.ErrNotFound) { // the list has just said that they exist
		err = providers.Unavailable(err, "YouTube did not return the transcript")
	}
	if err != nil {
		return schema.Transcript{}, err
	}
	var lines timedText
	if err := markup.XML(res.Body, &lines); err != nil { // an empty body is a refusal too
		return schema.Transcript{}, providers.Unavailable(err, "YouTube did not return the transcript")
	}
	if err := wire.Need(ctx, "text", len(lines.Lines) > 0); err != nil {
		return schema.Transcript{}, err
	}
	return lines.transcript(q.PostID, track, lang)
}

// choose returns the captions in lang, and the language to request them in. Captions of unknown type may be the
// requested ones, unless written captions in that language exist.
func (p player) choose(ctx context.Context, lang string) (track captionTrack, in string, err error) {
	if err := p.Captions.Optional(ctx, "captions"); err != nil {
		return track, "", err
	}
	if !p.Captions.Here() {
		return track, "", providers.NotFound("this video has no transcript")
	}
	list := p.Captions.V.List
	if err := list.check(ctx); err != nil {
		return track, "", err
	}
	track, in, ok := list.pick(lang)
	sure := ok && !track.automatic() && strings.EqualFold(track.Language, lang)
	switch {
	case list.unclear() && !sure:
		return track, "", wire.Need(ctx, "captionTracks", false)
	case !ok && lang != "":
		return track, "", providers.NotFound("this video has no transcript in %q", lang)
	case !ok:
		return track, "", providers.NotFound("this video has no transcript")
	}
	return track, in, nil
}

// visitor is what the page of a video provides for the next requests.
type visitor struct {
	key, cookie string
}

func (v visitor) header() http.Header { return http.Header{"Cookie": {v.cookie}} }

// declined is the cookie of a browser that has declined cookies, which avoids the consent page. That page is on another
// host.
const declined = "SOCS=CAE="

// visit opens the page of a video. If the answer is a consent form, it tries again with the cookie of that form.
func (s *site) visit(ctx context.Context, id string) (visitor, error) {
	v := visitor{cookie: declined}
	for range 2 {
		r := upstream.Get("watch").With("v", id)
		r.Header = v.header()
		res, err := s.web.Do(ctx, r)
		if err != nil {
			return visitor{}, err
		}
		if v.key = playerKey(res.Body); v.key != "" {
			return v, nil
		}
		w := wallOf(res.Body)
		if w.captcha {
			return visitor{}, errBlocked
		}
		if !w.asks || w.consent == "" {
			break
		}
		v.cookie = declined + "; CONSENT=YES+" + w.consent
	}
	return visitor{}, wire.Need(ctx, "INNERTUBE_API_KEY", false)
}

// playerKey returns the key in the settings that the page of a video has for its scripts.
func playerKey(page []byte) string {
	_, rest, _ := bytes.Cut(page, []byte(`"INNERTUBE_API_KEY":`))
	var key string
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&key) != nil {
		return ""
	}
	return key
}

// wall is a page that YouTube sends instead of the page of a video.
type wall struct {
	captcha bool   // a captcha
	asks    bool   // a consent form
	consent string // the value for the cookie
}

func wallOf(page []byte) wall {
	var w wall
	if markup.Check(page) != nil {
		return w
	}
	z := html.NewTokenizer(bytes.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() { // the only error is the end
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := z.Token()
		is := map[string]string{}
		for _, a := range tag.Attr {
			is[a.Key] = a.Val
		}
		w.captcha = w.captcha || slices.Contains(strings.Fields(is["class"]), "g-recaptcha")
		switch {
		case tag.Data == "form" && is["action"] == "https://consent.youtube.com/s":
			w.asks = true
		case tag.Data == "input" && is["name"] == "v":
			w.consent = is["value"]
		}
	}
	return w
}

var errBlocked = providers.Unavailable(nil, "YouTube asks for a captcha")

// playerClient is the app that requests to the player identify as.
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
	_, err := s.web.Read(ctx, upstream.Request{
		Method: http.MethodPost, Retry: true, // it only reads
		Path: []string{"youtubei/v1/player"}, Query: url.Values{"key": {v.key}}, Header: v.header(), JSON: body,
	}, &p)
	if err != nil {
		return player{}, err
	}
	if err := p.Playability.err(ctx); err != nil {
		return player{}, err
	}
	if shown := p.Details.VideoID; shown != "" {
		return p, wire.Same(ctx, "video", id, shown)
	}
	return p, nil
}

// player is the answer of POST /youtubei/v1/player, limited to captions. It is undocumented.
type player struct {
	Playability playability `json:"playabilityStatus"`
	Captions    wire.Object[struct {
		List captionList `json:"playerCaptionsTracklistRenderer"`
	}] `json:"captions"` // absent if the video has none
	Details struct {
		VideoID string `json:"videoId"`
	} `json:"videoDetails"`
}

type playability struct {
	Status string `json:"status"`
	Reason string `json:"reason"` // a message in the requested language
}

// err returns why a video cannot be played; nil if it can.
func (p playability) err(ctx context.Context) error {
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
		return providers.Unsupported("YouTube only shows this video to signed-in adults")
	}
	if err := wire.Need(ctx, "playabilityStatus.status", p.Status != ""); err != nil {
		return err
	}
	return providers.Unsupported("YouTube refuses to play this video")
}

// captionList are the captions that the player offers.
type captionList struct {
	Tracks       wire.Rows[captionTrack] `json:"captionTracks"`
	Audio        wire.Rows[audioTrack]   `json:"audioTracks"`
	DefaultAudio wire.Count              `json:"defaultAudioTrackIndex"`
	Translations wire.Rows[translation]  `json:"translationLanguages"` // languages of machine translations
}

type audioTrack struct {
	Default    wire.Count `json:"defaultCaptionTrackIndex"`
	HasDefault wire.Bool  `json:"hasDefaultTrack"`
}

type captionTrack struct {
	BaseURL      string    `json:"baseUrl"`
	Language     string    `json:"languageCode"`
	Kind         string    `json:"kind"`  // asr for automatic captions
	VSSID        string    `json:"vssId"` // such as .en, or a.en for automatic ones
	Translatable wire.Bool `json:"isTranslatable"`
}

type translation struct {
	Language string `json:"languageCode"`
}

func (l captionList) check(ctx context.Context) error {
	if err := l.Translations.Optional(ctx, "translationLanguages"); err != nil {
		return err
	}
	return l.Tracks.Check(ctx, "captionTracks")
}

// unclear reports whether there are captions or translations of unknown type or language.
func (l captionList) unclear() bool {
	if l.Tracks.Lost()+l.Translations.Lost() > 0 {
		return true
	}
	for _, t := range l.Tracks.All() {
		if t.V.Language == "" || !t.V.Translatable.Is() && !t.V.Translatable.Not() {
			return true
		}
	}
	for _, into := range l.Translations.All() {
		if into.V.Language == "" {
			return true
		}
	}
	return false
}

func (t captionTrack) automatic() bool { return t.Kind == "asr" || strings.HasPrefix(t.VSSID, "a.") }

// pick returns the captions in lang, or in the spoken language if lang is "". If the returned language differs from the
// track's, YouTube has to translate.
func (l captionList) pick(lang string) (t captionTrack, in string, ok bool) {
	if t, ok := l.find(cmp.Or(lang, l.spoken())); ok {
		return t, t.Language, true
	}
	for _, into := range l.Translations.All() {
		if lang == "" || !strings.EqualFold(into.V.Language, lang) {
			continue
		}
		if t, ok := l.find(l.spoken()); ok && t.Translatable.Is() {
			return t, into.V.Language, true
		}
	}
	return captionTrack{}, "", false
}

// find returns the captions in lang: en also matches en-US, and vice versa. Written ones are preferred to automatic
// ones.
func (l captionList) find(lang string) (captionTrack, bool) {
	exact := func(code string) bool { return strings.EqualFold(code, lang) }
	near := func(code string) bool {
		return strings.EqualFold(code, base(lang)) || strings.EqualFold(base(code), lang)
	}
	for _, automatic := range []bool{false, true} {
		for _, same := range []func(string) bool{exact, near} {
			for _, t := range l.Tracks.All() {
				if t.V.automatic() == automatic && same(t.V.Language) {
					return t.V, true
				}
			}
		}
	}
	return captionTrack{}, false
}

// base returns the language of a code such as pt-BR.
func base(code string) string {
	b, _, _ := strings.Cut(code, "-")
	return b
}

// spoken returns the language of the audio: that of the automatic captions, else of the default captions, else of the
// first.
func (l captionList) spoken() string {
	for _, t := range l.Tracks.All() {
		if t.V.automatic() {
			return t.V.Language
		}
	}
	if t, ok := l.shown(); ok {
		return t.Language
	}
	for _, t := range l.Tracks.All() {
		return t.V.Language
	}
	return ""
}

// shown returns the default captions.
func (l captionList) shown() (captionTrack, bool) {
	audio, ok := at(l.Audio, l.DefaultAudio)
	if !ok || !audio.HasDefault.Is() {
		return captionTrack{}, false
	}
	return at(l.Tracks, audio.Default)
}

// at returns the row at an index.
func at[T any](rows wire.Rows[T], place wire.Count) (row T, ok bool) {
	for i, o := range rows.All() {
		if place.V != nil && int64(i) == *place.V {
			return o.V, true
		}
	}
	return row, false
}

// request returns a request for the lines of t in lang. It only uses path and query of the address, which comes from
// the upstream.
func (t captionTrack) request(lang string) (upstream.Request, error) {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Path != "/api/timedtext" {
		return upstream.Request{}, providers.Unavailable(err, "YouTube did not return the address of the transcript")
	}
	q := u.Query()
	if q.Get("exp") == "xpe" {
		return upstream.Request{}, providers.Unsupported("YouTube only gives this transcript to its own player")
	}
	q.Del("fmt") // the plain format has no name
	if lang != t.Language {
		q.Set("tlang", lang)
	}
	return upstream.Request{Path: []string{"api", "timedtext"}, Query: q}, nil
}

// timedText is the answer of GET /api/timedtext: lines of HTML that is escaped once more.
type timedText struct {
	XMLName xml.Name   `xml:"transcript" json:"-"`
	Lines   []timeLine `xml:"text" json:"lines"`
}

type timeLine struct {
	Start    string `xml:"start,attr" json:"start,omitempty"` // seconds, both
	Duration string `xml:"dur,attr" json:"dur,omitempty"`
	Text     string `xml:",chardata" json:"text"`
}

// plain removes the tags from a line.
func (l timeLine) plain() *string {
	var b strings.Builder
	for rest := html.UnescapeString(l.Text); rest != ""; {
		before, tag, found := strings.Cut(rest, "<")
		_, behind, closed := strings.Cut(tag, ">")
		if found && !closed { // it is not a tag
			before, behind = rest, ""
		}
		b.WriteString(before)
		rest = behind
	}
	return text.NonEmpty(b.String())
}

// sharedTrack is a caption track without its address, which contains our IP address.
type sharedTrack struct {
	Language     string `json:"languageCode"`
	Kind         string `json:"kind,omitempty"`
	VSSID        string `json:"vssId,omitempty"`
	Translatable bool   `json:"isTranslatable"`
}

func (t captionTrack) shared() sharedTrack {
	return sharedTrack{Language: t.Language, Kind: t.Kind, VSSID: t.VSSID, Translatable: t.Translatable.Is()}
}

func (t timedText) transcript(videoID string, track captionTrack, lang string) (schema.Transcript, error) {
	raw, err := json.Marshal(struct {
		Track sharedTrack `json:"track"`
		timedText
	}{track.shared(), t})
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
		line := l.plain()
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
	s := schema.TranscriptSegment{Text: line}
	start, err := strconv.ParseFloat(l.Start, 64)
	if err != nil || start < 0 {
		return s
	}
	end := start
	if d, err := strconv.ParseFloat(l.Duration, 64); err == nil && d > 0 {
		end += d
	}
	s.StartS, s.EndS = &start, new(math.Round(end*1000)/1000) // rounded, because decimals are inexact in binary
	return s
}
