package soundcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const pageSize = "50" // of every list; at most 200 upstream

// everything asks for tracks that may not be played here too, which are left out by default.
const everything = "playable,preview,blocked"

// pages asks for a page of a list.
func pages(segments ...string) upstream.Request {
	return upstream.Get(segments...).With("linked_partitioning", "true").With("limit", pageSize)
}

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	ts, next, err := c.uploads(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("soundcloud: posts of %q: %w", handle, err)
	}
	return providers.Page[schema.Post]{Items: convert(ts, track.post), Next: next}, nil
}

func (c *client) tracks(ctx context.Context, handle, cursor string) (providers.Page[schema.Track], error) {
	ts, next, err := c.uploads(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Track]{}, fmt.Errorf("soundcloud: tracks of %q: %w", handle, err)
	}
	return providers.Page[schema.Track]{Items: convert(ts, track.track), Next: next}, nil
}

// uploads reads an account's tracks, newest first.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn__tracks
func (c *client) uploads(ctx context.Context, handle, cursor string) ([]upstream.Object[track], string, error) {
	u, err := c.account(ctx, handle)
	if err != nil {
		return nil, "", err
	}
	return read[track](ctx, c.http, pages("users", u.V.urn(), "tracks").With("sort", "desc").With("access", everything), cursor)
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	t, err := object[track](ctx, c, "tracks", id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("soundcloud: post %q: %w", id, err)
	}
	return t.V.post(t.Raw), nil
}

func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := object[track](ctx, c, "tracks", id)
	if err != nil {
		return schema.Track{}, fmt.Errorf("soundcloud: track %q: %w", id, err)
	}
	return t.V.track(t.Raw), nil
}

// track is the answer of GET /tracks/{urn}.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn_
type track struct {
	Kind           string       `json:"kind"`
	ID             upstream.ID  `json:"id"`
	URN            string       `json:"urn"`
	Page           string       `json:"permalink_url"`
	Title          string       `json:"title"`
	Description    string       `json:"description"`
	User           user         `json:"user"`
	CreatedAt      string       `json:"created_at"`
	Artwork        string       `json:"artwork_url"` // often null
	Duration       *float64     `json:"duration"`    // milliseconds
	Favoritings    upstream.Int `json:"favoritings_count"`
	Likes          upstream.Int `json:"likes_count"` // beside favoritings_count in searches, and not always the same
	Comments       upstream.Int `json:"comment_count"`
	Reposts        upstream.Int `json:"reposts_count"`
	Plays          upstream.Int `json:"playback_count"`
	RevealStats    *bool        `json:"reveal_stats"`
	RevealComments *bool        `json:"reveal_comments"`
	Commentable    *bool        `json:"commentable"`
	TagList        string       `json:"tag_list"` // words, those of several words in quotes
	MetadataArtist string       `json:"metadata_artist"`
	ReleaseYear    upstream.Int `json:"release_year"`
	ReleaseMonth   upstream.Int `json:"release_month"`
	ReleaseDay     upstream.Int `json:"release_day"`

	// Of the website's interface.
	FullDuration *float64 `json:"full_duration"` // duration is that of the sample where only one is free
	ReleaseDate  string   `json:"release_date"`
	Publisher    struct {
		Artist   string `json:"artist"`
		Album    string `json:"album_title"`
		Explicit *bool  `json:"explicit"`
	} `json:"publisher_metadata"`
}

func (t track) is() string { return t.Kind }
func (t track) id() string { return id(t.URN, t.ID) }

// quiet tells whether the owner has closed the comments.
func (t track) quiet() bool { return no(t.Commentable) || no(t.RevealComments) }

func no(b *bool) bool { return b != nil && !*b }

// url falls back on the page that SoundCloud redirects from.
func (t track) url() string {
	if u := public(t.Page); u != "" {
		return u
	}
	return "https://api.soundcloud.com/tracks/" + t.id()
}

func (t track) seconds() *float64 {
	ms := t.FullDuration
	if ms == nil {
		ms = t.Duration
	}
	if ms == nil {
		return nil
	}
	return new(*ms / 1000)
}

func (t track) post(raw []byte) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: t.id(), URL: t.url(), Raw: raw},
		Author:    t.User.actor(),
		Text:      text.Join(t.Title, t.Description),
		CreatedAt: date(t.CreatedAt),
		Engagement: schema.Engagement{
			Likes: larger(t.Favoritings.V, t.Likes.V), Comments: t.Comments.V, Shares: t.Reposts.V, Views: t.Plays.V,
		},
	}
	if no(t.RevealStats) {
		p.Engagement.Likes, p.Engagement.Views = nil, nil
	}
	if t.quiet() {
		p.Engagement.Comments = nil
	}
	// The sound itself needs a token, so its page stands for it.
	sound := schema.Media{Type: schema.Audio, URL: p.URL, ThumbnailURL: text.URL(t.Artwork), DurationS: t.seconds()}
	if sound.ThumbnailURL == nil {
		sound.ThumbnailURL = t.User.avatar()
	}
	p.Media = []schema.Media{sound}
	p.Hashtags = tags(t.TagList)
	for _, tag := range text.Hashtags(p.Text) {
		if !slices.Contains(p.Hashtags, tag) {
			p.Hashtags = append(p.Hashtags, tag)
		}
	}
	p.Mentions = text.Mentions(p.Text)
	return p
}

func (t track) track(raw []byte) schema.Track {
	out := schema.Track{
		Common:     schema.Common{ID: t.id(), URL: t.url(), Raw: raw},
		Title:      t.Title,
		Album:      text.NonEmpty(t.Publisher.Album),
		DurationS:  t.seconds(),
		CoverURL:   text.URL(t.Artwork),
		ReleasedAt: t.released(),
		Explicit:   t.Publisher.Explicit,
	}
	if !no(t.RevealStats) {
		out.Plays = t.Plays.V
	}
	for _, artist := range []string{t.MetadataArtist, t.Publisher.Artist, t.User.Username} {
		if artist = strings.TrimSpace(artist); artist != "" {
			out.Artists = []string{artist}
			break
		}
	}
	return out
}

func (t track) released() *time.Time {
	if t.ReleaseYear.V == nil || *t.ReleaseYear.V <= 0 {
		return date(t.ReleaseDate)
	}
	part := func(n upstream.Int) int {
		if n.V == nil || *n.V <= 0 {
			return 1
		}
		return int(*n.V)
	}
	return new(time.Date(int(*t.ReleaseYear.V), time.Month(part(t.ReleaseMonth)), part(t.ReleaseDay), 0, 0, 0, 0, time.UTC))
}

// larger returns the larger of two counts that may be missing.
func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// tags takes a tag list apart and leaves out tags for machines, such as soundcloud:source=iphone-record.
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
		if machine := valued && strings.Contains(name, ":"); tag != "" && !machine && !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out
}

// convert turns those of a list's objects that are there into what conv makes of them.
func convert[T interface{ id() string }, O any](list []upstream.Object[T], conv func(v T, raw []byte) O) []O {
	var out []O
	for _, o := range list {
		if o.V.id() != "" {
			out = append(out, conv(o.V, o.Raw))
		}
	}
	return out
}
