package schema

import "time"

// Post is what an account publishes: a message, a video, a repository, an album.
type Post struct {
	Common
	Author    Actor      `json:"author"`       // who published it
	Text      string     `json:"text"`         // what it says, as plain text: title, blank line, body
	Lang      *string    `json:"lang" min:"2"` // its language as the platform tells it, never guessed
	CreatedAt *time.Time `json:"created_at"`   // when it was published
	Media     []Media    `json:"media"`        // what it shows, in its order
	// what people did with it
	Engagement Engagement `json:"engagement"`
	Hashtags   []string   `json:"hashtags"` // its hashtags without #, in order of appearance
	Mentions   []string   `json:"mentions"` // the handles that it names, without @, in order
	IsAd       bool       `json:"is_ad"`    // whether the platform marks it as paid; false where it does not tell
}

// Validate implements [Object].
func (p *Post) Validate() error { return validate(p) }

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

// Engagement counts what people did with a post, each null where the platform does not tell.
type Engagement struct {
	Likes    *int64 `json:"likes" min:"0"`    // likes, hearts, stars or points
	Comments *int64 `json:"comments" min:"0"` // comments, with the answers to them where the platform counts those too
	Shares   *int64 `json:"shares" min:"0"`   // reposts, quotes or forks
	Views    *int64 `json:"views" min:"0"`    // how often it was seen or played
	Saves    *int64 `json:"saves" min:"0"`    // bookmarks, or how often it was kept in a collection
}

// MediaType says what a [Media] shows.
type MediaType string

// The types of media.
const (
	Image MediaType = "image"
	Video MediaType = "video"
	Audio MediaType = "audio"
)

// MediaTypes lists every type of media.
func MediaTypes() []MediaType { return []MediaType{Image, Video, Audio} }

// Media is a picture, film or sound inside another object.
type Media struct {
	Type         MediaType `json:"type"`                         // what it is
	URL          string    `json:"url" form:"uri"`               // the file, or the page that plays it; it may expire
	ThumbnailURL *string   `json:"thumbnail_url" form:"uri"`     // a still picture of it
	DurationS    *float64  `json:"duration_s,omitempty" min:"0"` // how long it plays, in seconds; absent when unknown
}

// Comment answers a post, or another comment.
type Comment struct {
	Common
	PostID    string     `json:"post_id" min:"1" form:"id"` // the post that it stands under
	Author    Actor      `json:"author"`                    // who wrote it
	Text      string     `json:"text"`                      // what it says, as plain text
	Lang      *string    `json:"lang" min:"2"`              // its language as the platform tells it, never guessed
	CreatedAt *time.Time `json:"created_at"`                // when it was written
	Likes     *int64     `json:"likes" min:"0"`             // likes or points
	ReplyToID *string    `json:"reply_to_id" form:"id"`     // the comment that this one answers; null at the top level
}

// Validate implements [Object].
func (c *Comment) Validate() error { return validate(c) }

// Fill implements [Object].
func (c *Comment) Fill() {}

// EnrichText implements [Object].
func (c *Comment) EnrichText() string { return c.Text }

// Actors returns the author.
func (c *Comment) Actors() []*Actor { return actors(&c.Author) }

// Transcript is what is said in a post's video or sound.
type Transcript struct {
	Common
	PostID   string              `json:"post_id" min:"1" form:"id"` // the post in which it is said
	Lang     *string             `json:"lang"`                      // the language that is spoken
	Text     string              `json:"text"`                      // all that is said, as plain text
	Segments []TranscriptSegment `json:"segments"`                  // its lines in order; may be empty beside a text
}

// TranscriptSegment is one line of a [Transcript].
type TranscriptSegment struct {
	StartS *float64 `json:"start_s" min:"0"` // when the line begins, in seconds from the beginning
	EndS   *float64 `json:"end_s" min:"0"`   // when the line ends, in seconds from the beginning
	Text   string   `json:"text"`            // what is said
}

// Validate implements [Object].
func (t *Transcript) Validate() error { return validate(t) }

// Fill implements [Object].
func (t *Transcript) Fill() { nonNil(&t.Segments) }

// EnrichText implements [Object].
func (t *Transcript) EnrichText() string { return t.Text }

// LiveStream is an account's broadcast, on air or not.
type LiveStream struct {
	Common
	Host         Actor      `json:"host"`                     // whose broadcast it is
	IsLive       bool       `json:"is_live"`                  // whether it is on air now
	Title        *string    `json:"title"`                    // its title as the host wrote it
	Viewers      *int64     `json:"viewers" min:"0"`          // how many people watch now
	Likes        *int64     `json:"likes" min:"0"`            // likes of this broadcast
	StartedAt    *time.Time `json:"started_at"`               // when it went on air
	ThumbnailURL *string    `json:"thumbnail_url" form:"uri"` // a still picture of it
}

// Validate implements [Object].
func (l *LiveStream) Validate() error { return validate(l) }

// Fill implements [Object].
func (l *LiveStream) Fill() {}

// EnrichText implements [Object].
func (l *LiveStream) EnrichText() string { return deref(l.Title) }

// Actors returns the host.
func (l *LiveStream) Actors() []*Actor { return actors(&l.Host) }
