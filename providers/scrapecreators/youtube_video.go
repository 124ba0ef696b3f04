package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/schema"
)

// youtubeVideo is a video, a Short or a broadcast. Its fields depend on the list.
type youtubeVideo struct {
	ID          string         `json:"id"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Thumbnail   string         `json:"thumbnail"`
	Channel     youtubeChannel `json:"channel"`
	Views       wire.Count     `json:"viewCountInt"`
	Likes       wire.Count     `json:"likeCountInt"`
	Comments    wire.Count     `json:"commentCountInt"`
	Published   wire.Time      `json:"publishDate"`
	About       wire.Time      `json:"publishedTime"` // computed from "9 days ago"
	Millis      wire.Float     `json:"durationMs"`
	Seconds     wire.Float     `json:"lengthSeconds"`
	Paid        bool           `json:"isPaidPromotion"`
}

// row converts v. It always reports true.
func (v youtubeVideo) row(raw json.RawMessage) (schema.Post, bool) {
	return v.post(schema.UnknownActor(), raw), true
}

// post converts v, published by holder if it has no channel.
func (v youtubeVideo) post(holder schema.Actor, raw json.RawMessage) schema.Post {
	all := text.Join(v.Title, v.Description)
	film := schema.Media{
		Type: schema.Video, URL: youtubeWatch(v.ID), ThumbnailURL: text.URL(v.Thumbnail),
	}
	for _, s := range []*float64{v.Millis.Seconds(), v.Seconds.V} { // 0 for a live broadcast
		if film.DurationS == nil && s != nil && *s > 0 {
			film.DurationS = s
		}
	}
	p := schema.Post{
		Common:     schema.Common{ID: v.ID, URL: film.URL, Raw: raw},
		Author:     v.Channel.actor(holder),
		Text:       all,
		CreatedAt:  v.Published.V,
		Media:      []schema.Media{film},
		Engagement: schema.Engagement{Likes: v.Likes.V, Comments: v.Comments.V, Views: v.Views.V},
		Hashtags:   text.Hashtags(all),
		Mentions:   youtube.Mentions(all),
		IsAd:       v.Paid,
	}
	if p.CreatedAt == nil {
		p.CreatedAt = v.About.V
	}
	return p
}

// live returns the current broadcast, or else the last one.
// https://docs.scrapecreators.com/v1/youtube/channel/lives
func (r youtubeReads) live(ctx context.Context, handle string) (l schema.LiveStream, err error) {
	ask, err := youtubeOf(upstream.Get("v1/youtube/channel/lives"), handle)
	if err != nil {
		return l, err
	}
	a, err := upstream.Object[struct {
		Lives wire.Rows[youtubeBroadcast] `json:"lives"`
	}](ctx, r.http, ask, "")
	if err != nil {
		return l, err
	}
	if err := a.V.Lives.Check(ctx, "lives"); err != nil {
		return l, err
	}
	return youtubeOnAir(ctx, a.V.Lives, schema.LiveStream{
		Common: schema.Common{ID: handle, URL: youtubeHome(handle), Raw: a.Raw}, Host: youtubeHolder(handle),
	})
}

// youtubeOnAir selects the live one among broadcasts, newest first; off is returned when there is none. An unreadable
// broadcast may be the live one.
func youtubeOnAir(
	ctx context.Context, rows wire.Rows[youtubeBroadcast], off schema.LiveStream,
) (schema.LiveStream, error) {
	clear := rows.Lost() == 0
	over := off
	for _, b := range rows.All() {
		running, ended := strings.Contains(b.V.Counted, " watching"), b.V.Length != "" || b.V.When != ""
		switch {
		case running && !ended:
			l := b.V.stream(off.Host, b.Raw)
			l.IsLive, l.Viewers = true, b.V.Views.V
			return l, nil
		case ended && !running:
			if over.ID == off.ID {
				over = b.V.stream(off.Host, b.Raw)
			}
		case !strings.Contains(b.V.Counted, " waiting"): // for an upcoming one
			clear = false
		}
	}
	return over, wire.Need(ctx, "lives[].viewCountText", clear)
}

type youtubeBroadcast struct {
	youtubeVideo
	Counted string `json:"viewCountText"`     // "812 watching", "1.2M views"
	When    string `json:"publishedTimeText"` // "Streamed 2 days ago"; null while it runs
	Length  string `json:"lengthText"`        // null while it runs
}

func (b youtubeBroadcast) stream(host schema.Actor, raw json.RawMessage) schema.LiveStream {
	return schema.LiveStream{
		Common:       schema.Common{ID: b.ID, URL: youtubeWatch(b.ID), Raw: raw},
		Host:         b.Channel.actor(host),
		Title:        text.NonEmpty(b.Title),
		Likes:        b.Likes.V,
		ThumbnailURL: text.URL(b.Thumbnail),
	}
}

// https://docs.scrapecreators.com/v1/youtube/video/transcript
func (r youtubeReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	ask := upstream.Get("v1/youtube/video/transcript").Says("url", youtubeWatch(q.PostID)).With("language", q.Lang)
	a, err := upstream.Object[youtubeTranscript](ctx, r.http, ask, "")
	if err != nil {
		return t, err
	}
	if err := wire.Same(ctx, "video", q.PostID, a.V.ID); err != nil {
		return t, err
	}
	lines := a.V.Lines.V
	if err := cmp.Or(a.V.Lines.given(ctx, "transcript"), lines.Optional(ctx, "transcript")); err != nil {
		return t, err
	}
	if lines.Len() == 0 {
		return t, providers.NotFound("the video has no transcript")
	}
	lang := languageCode(a.V.Language)
	if q.Lang != "" && lang != nil && !sameLanguage(q.Lang, *lang) {
		return t, providers.NotFound("the video has no transcript in this language")
	}
	t = schema.Transcript{
		Common: schema.Common{ID: a.V.ID, URL: youtubeWatch(a.V.ID), Raw: a.Raw}, PostID: a.V.ID, Lang: lang,
	}
	if t.Segments, err = wire.Items(ctx, "transcript", lines, youtubeLine.segment); err != nil {
		return t, err
	}
	var all []string
	for _, s := range t.Segments {
		all = append(all, s.Text)
	}
	t.Text = strings.Join(all, " ")
	return t, wire.Understood("transcript", len(t.Segments), lines.Lost()+mute(lines))
}

type youtubeTranscript struct {
	ID       string                       `json:"videoId"`
	Lines    sole[wire.Rows[youtubeLine]] `json:"transcript"` // null when there is none
	Language string                       `json:"language"`   // "English"
}

type youtubeLine struct {
	Text  *string    `json:"text"`
	Start wire.Float `json:"startMs"`
	End   wire.Float `json:"endMs"`
}

// mute returns how many lines have no text at all.
func mute(lines wire.Rows[youtubeLine]) (n int) {
	for _, l := range lines.All() {
		if l.V.Text == nil {
			n++
		}
	}
	return n
}

func (l youtubeLine) segment(json.RawMessage) (schema.TranscriptSegment, bool) {
	if l.Text == nil {
		return schema.TranscriptSegment{}, false
	}
	words := strings.TrimSpace(*l.Text)
	return schema.TranscriptSegment{StartS: l.Start.Seconds(), EndS: l.End.Seconds(), Text: words}, words != ""
}
