package schema

import "time"

// Post is what an account publishes: a message, a video, a repository, an album.
type Post struct {
	Common
	Author     Actor      `json:"author"`
	Text       string     `json:"text"` // plain text; title, blank line, body where the platform has both
	Lang       *string    `json:"lang"` // from a language field of the platform, never guessed
	CreatedAt  *time.Time `json:"created_at"`
	Media      []Media    `json:"media"`
	Engagement Engagement `json:"engagement"`
	Hashtags   []string   `json:"hashtags"` // without #, in order of appearance
	Mentions   []string   `json:"mentions"` // handles without @, in order of appearance
	IsAd       bool       `json:"is_ad"`
}

// Validate implements [Object].
func (p *Post) Validate() error {
	k := check{p.validate()}
	k.within("author", p.Author.validate())
	k.lang(p.Lang)
	k.within("media", validMedia(p.Media))
	for _, c := range []struct {
		name string
		n    *int64
	}{
		{"likes", p.Engagement.Likes},
		{"comments", p.Engagement.Comments},
		{"shares", p.Engagement.Shares},
		{"views", p.Engagement.Views},
		{"saves", p.Engagement.Saves},
	} {
		k.count("engagement."+c.name, c.n)
	}
	return k.err
}

// Fill implements [Object].
func (p *Post) Fill() {
	nonNil(&p.Media)
	nonNil(&p.Hashtags)
	nonNil(&p.Mentions)
}

// EnrichText implements [Object].
func (p *Post) EnrichText() string { return p.Text }

// Actors returns the author.
func (p *Post) Actors() []*Actor { return actors(&p.Author) }

// Engagement counts what people did with a post; nil where the platform does not tell.
type Engagement struct {
	Likes    *int64 `json:"likes"`
	Comments *int64 `json:"comments"`
	Shares   *int64 `json:"shares"`
	Views    *int64 `json:"views"`
	Saves    *int64 `json:"saves"`
}

// MediaType says what a [Media] shows.
type MediaType string

// The types of media.
const (
	Image MediaType = "image"
	Video MediaType = "video"
	Audio MediaType = "audio"
)

// Media is a picture, film or sound inside another object.
type Media struct {
	Type         MediaType `json:"type"`
	URL          string    `json:"url"`
	ThumbnailURL *string   `json:"thumbnail_url"`
	DurationS    *float64  `json:"duration_s,omitempty"` // seconds; absent when unknown
}

func validMedia(ms []Media) error {
	var k check
	for _, m := range ms {
		if m.Type != Image && m.Type != Video && m.Type != Audio {
			k.failf("type: %q is not a type of media", m.Type)
		}
		k.uri("url", m.URL)
		k.uriOrNil("thumbnail_url", m.ThumbnailURL)
		k.seconds("duration_s", m.DurationS)
	}
	return k.err
}

// Comment answers a post, or another comment.
type Comment struct {
	Common
	PostID    string     `json:"post_id"`
	Author    Actor      `json:"author"`
	Text      string     `json:"text"`
	Lang      *string    `json:"lang"`
	CreatedAt *time.Time `json:"created_at"`
	Likes     *int64     `json:"likes"`
	ReplyToID *string    `json:"reply_to_id"` // the comment that this one answers; nil at the top level
}

// Validate implements [Object].
func (c *Comment) Validate() error {
	k := check{c.validate()}
	k.notEmpty("post_id", c.PostID)
	k.within("author", c.Author.validate())
	k.lang(c.Lang)
	k.count("likes", c.Likes)
	return k.err
}

// Fill implements [Object].
func (c *Comment) Fill() {}

// EnrichText implements [Object].
func (c *Comment) EnrichText() string { return c.Text }

// Actors returns the author.
func (c *Comment) Actors() []*Actor { return actors(&c.Author) }

// Transcript is what is said in a post's video or sound.
type Transcript struct {
	Common
	PostID   string              `json:"post_id"`
	Lang     *string             `json:"lang"`
	Text     string              `json:"text"`
	Segments []TranscriptSegment `json:"segments"` // in order; may be empty beside a text
}

// TranscriptSegment is one line of a [Transcript].
type TranscriptSegment struct {
	StartS *float64 `json:"start_s"` // seconds from the beginning
	EndS   *float64 `json:"end_s"`
	Text   string   `json:"text"`
}

// Validate implements [Object].
func (t *Transcript) Validate() error {
	k := check{t.validate()}
	k.notEmpty("post_id", t.PostID)
	for _, s := range t.Segments {
		k.seconds("segments.start_s", s.StartS)
		k.seconds("segments.end_s", s.EndS)
	}
	return k.err
}

// Fill implements [Object].
func (t *Transcript) Fill() { nonNil(&t.Segments) }

// EnrichText implements [Object].
func (t *Transcript) EnrichText() string { return t.Text }

// LiveStream is an account's broadcast, on air or not.
type LiveStream struct {
	Common
	Host         Actor      `json:"host"`
	IsLive       bool       `json:"is_live"`
	Title        *string    `json:"title"`
	Viewers      *int64     `json:"viewers"`
	Likes        *int64     `json:"likes"`
	StartedAt    *time.Time `json:"started_at"`
	ThumbnailURL *string    `json:"thumbnail_url"`
}

// Validate implements [Object].
func (l *LiveStream) Validate() error {
	k := check{l.validate()}
	k.within("host", l.Host.validate())
	k.count("viewers", l.Viewers)
	k.count("likes", l.Likes)
	k.uriOrNil("thumbnail_url", l.ThumbnailURL)
	return k.err
}

// Fill implements [Object].
func (l *LiveStream) Fill() {}

// EnrichText implements [Object].
func (l *LiveStream) EnrichText() string { return deref(l.Title) }

// Actors returns the host.
func (l *LiveStream) Actors() []*Actor { return actors(&l.Host) }
