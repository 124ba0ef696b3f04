package soundcloud

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const pageSize = "50" // of every list; at most 200 upstream

// everything includes tracks that may not be played here, which are left out by default.
const everything = "playable,preview,blocked"

// pages returns the request for a page of a list.
func pages(segments ...string) upstream.Request {
	return upstream.Get(segments...).With("linked_partitioning", "true").With("limit", pageSize)
}

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	ts, err := c.uploads(ctx, handle, cursor)
	return made(ctx, ts, err, track.post)
}

func (c *client) tracks(ctx context.Context, handle, cursor string) (providers.Page[schema.Track], error) {
	ts, err := c.uploads(ctx, handle, cursor)
	return made(ctx, ts, err, track.track)
}

// uploads reads an account's tracks, newest first.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn__tracks
func (c *client) uploads(ctx context.Context, handle, cursor string) (part[track], error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return part[track]{}, err
	}
	return read[track](ctx, c.http, pages("users", u.V.urn(), "tracks").With("sort", "desc").With("access", everything), cursor)
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	t, err := object[track](ctx, c, "tracks", id)
	if err != nil {
		return schema.Post{}, err
	}
	p, _ := t.V.post(t.Raw)
	return p, nil
}

func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := object[track](ctx, c, "tracks", id)
	if err != nil {
		return schema.Track{}, err
	}
	out, _ := t.V.track(t.Raw)
	return out, nil
}

// track is the answer of GET /tracks/{urn}.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn_
type track struct {
	Kind           string      `json:"kind"`
	ID             wire.Serial `json:"id"`
	URN            string      `json:"urn"`
	Page           string      `json:"permalink_url"`
	Title          string      `json:"title"`
	Description    string      `json:"description"`
	User           user        `json:"user"`
	CreatedAt      wire.Time   `json:"created_at"`
	Artwork        string      `json:"artwork_url"` // often null
	Duration       wire.Float  `json:"duration"`    // milliseconds
	Favoritings    wire.Count  `json:"favoritings_count"`
	Likes          wire.Count  `json:"likes_count"` // beside favoritings_count in searches, and not always equal to it
	Comments       wire.Count  `json:"comment_count"`
	Reposts        wire.Count  `json:"reposts_count"`
	Plays          wire.Count  `json:"playback_count"`
	RevealStats    wire.Bool   `json:"reveal_stats"`
	RevealComments wire.Bool   `json:"reveal_comments"`
	Commentable    wire.Bool   `json:"commentable"`
	TagList        string      `json:"tag_list"` // words; tags of several words are in quotes
	MetadataArtist string      `json:"metadata_artist"`
	ReleaseYear    wire.Count  `json:"release_year"`
	ReleaseMonth   wire.Count  `json:"release_month"`
	ReleaseDay     wire.Count  `json:"release_day"`

	// In the website's API:
	Policy       string     `json:"policy"`        // SNIP when only a sample is free
	FullDuration wire.Float `json:"full_duration"` // duration is that of the sample when only a sample is free
	ReleaseDate  wire.Time  `json:"release_date"`
	Publisher    struct {
		Artist   string    `json:"artist"`
		Album    string    `json:"album_title"`
		Explicit wire.Bool `json:"explicit"`
	} `json:"publisher_metadata"`
}

func (t track) is() string   { return t.Kind }
func (t track) id() string   { return id(t.URN, t.ID) }
func (t track) page() string { return public(t.Page) }

// no reports whether a flag is false; an absent flag is true.
func no(b wire.Bool) bool { return b.V != nil && !*b.V }

// hides reports whether a flag may be false: one that cannot be read may be.
func hides(b wire.Bool) bool { return no(b) || b.V == nil && !b.Not() }

// url returns the track's page, or else the API address that SoundCloud redirects to it.
func (t track) url() string { return text.URLOr(t.page(), "https://api.soundcloud.com/tracks/"+t.id()) }

// seconds returns the longer of the two durations when both are given: they differ by a few thousandths, or one is that
// of a sample.
func (t track) seconds() *float64 {
	whole, stated := t.FullDuration.Seconds(), t.Duration.Seconds()
	if t.Policy == "SNIP" || stated == nil || whole != nil && *whole > *stated {
		return whole
	}
	return stated
}

// post converts t. It always reports true.
func (t track) post(raw json.RawMessage) (schema.Post, bool) {
	p := schema.Post{
		Common:    schema.Common{ID: t.id(), URL: t.url(), Raw: raw},
		Author:    t.User.actor(),
		Text:      text.Join(t.Title, t.Description),
		CreatedAt: t.CreatedAt.V,
		Engagement: schema.Engagement{
			Likes: larger(t.Favoritings.V, t.Likes.V), Comments: t.Comments.V, Shares: t.Reposts.V, Views: t.Plays.V,
		},
	}
	if hides(t.RevealStats) {
		p.Engagement.Likes, p.Engagement.Views = nil, nil
	}
	if hides(t.Commentable) || hides(t.RevealComments) {
		p.Engagement.Comments = nil
	}
	// The sound file needs a token, so the address of its page is given instead.
	sound := schema.Media{Type: schema.Audio, URL: p.URL, ThumbnailURL: text.URL(t.Artwork), DurationS: t.seconds()}
	if sound.ThumbnailURL == nil {
		sound.ThumbnailURL = t.User.avatar()
	}
	p.Media = []schema.Media{sound}
	p.Hashtags = text.Each(append(tags(t.TagList), text.Hashtags(p.Text)...))
	p.Mentions = text.Mentions(p.Text)
	return p, true
}

// track converts t. It always reports true.
func (t track) track(raw json.RawMessage) (schema.Track, bool) {
	out := schema.Track{
		Common:     schema.Common{ID: t.id(), URL: t.url(), Raw: raw},
		Title:      t.Title,
		Album:      text.NonEmpty(t.Publisher.Album),
		DurationS:  t.seconds(),
		CoverURL:   text.URL(t.Artwork),
		ReleasedAt: t.released(),
		Explicit:   t.Publisher.Explicit.V,
	}
	if !hides(t.RevealStats) {
		out.Plays = t.Plays.V
	}
	for _, artist := range []string{t.MetadataArtist, t.Publisher.Artist, t.User.Username} {
		if artist = strings.TrimSpace(artist); artist != "" {
			out.Artists = []string{artist}
			break
		}
	}
	return out, true
}

// released returns the day of release, or the first day of the month or year when only that is known.
func (t track) released() *time.Time {
	if t.ReleaseYear.V == nil || *t.ReleaseYear.V <= 0 || *t.ReleaseYear.V > 9999 {
		return t.ReleaseDate.V
	}
	part := func(n wire.Count, most int64) int {
		if n.V == nil || *n.V <= 0 || *n.V > most {
			return 1
		}
		return int(*n.V)
	}
	day := time.Date(int(*t.ReleaseYear.V), time.Month(part(t.ReleaseMonth, 12)), part(t.ReleaseDay, 31), 0, 0, 0, 0, time.UTC)
	return &day
}

// larger returns the larger of two counts that may be missing.
func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// tags splits a tag list and leaves out machine tags, such as soundcloud:source=iphone-record.
func tags(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var tag string
		if rest, ok := strings.CutPrefix(s, `"`); ok {
			tag, s, _ = strings.Cut(rest, `"`)
		} else if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
			tag, s = s[:i], s[i:]
		} else {
			tag, s = s, ""
		}
		tag = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(tag), "#"))
		name, _, valued := strings.Cut(tag, "=")
		if machine := valued && strings.Contains(name, ":"); tag != "" && !machine {
			out = append(out, tag)
		}
	}
	return text.Each(out)
}

// ParsePost converts a track to a post; see [ParseProfile].
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn_
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var t track
	err := wire.Decode(ctx, raw, &t)
	p, _ := t.post(raw)
	return p, err
}

// ParseTrack converts a track; see [ParseProfile].
func ParseTrack(ctx context.Context, raw json.RawMessage) (schema.Track, error) {
	var t track
	err := wire.Decode(ctx, raw, &t)
	out, _ := t.track(raw)
	return out, err
}
