package schema

import "time"

// Post is a publication of an account: a message, a video, a repository, an album.
type Post struct {
	Common
	Author    Actor      `json:"author"`       // the account that published it
	Text      string     `json:"text"`         // its text, as plain text: title, blank line, body
	Lang      *string    `json:"lang" min:"2"` // its language according to the platform, never guessed
	CreatedAt *time.Time `json:"created_at"`   // when it was published
	Media     []Media    `json:"media"`        // its media, in order
	// the reactions to it
	Engagement Engagement `json:"engagement"`
	Hashtags   []string   `json:"hashtags"` // its hashtags without #, in order of appearance
	Mentions   []string   `json:"mentions"` // the handles that are mentioned in it, without @, in order
	IsAd       bool       `json:"is_ad"`    // whether the platform marks it as paid; false if unknown
}

// Check implements [Object].
func (p *Post) Check() error { return validate(p) }

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

// Engagement counts the reactions to a post; each is null if the platform does not provide it.
type Engagement struct {
	Likes    *int64 `json:"likes" min:"0"`    // likes, hearts, stars or points
	Comments *int64 `json:"comments" min:"0"` // comments, including replies to them if the platform counts those
	Shares   *int64 `json:"shares" min:"0"`   // reposts, quotes or forks
	Views    *int64 `json:"views" min:"0"`    // number of views or plays
	Saves    *int64 `json:"saves" min:"0"`    // bookmarks, or additions to collections
}

// MediaType is the type of a [Media].
type MediaType string

// The types of media.
const (
	Image MediaType = "image"
	Video MediaType = "video"
	Audio MediaType = "audio"
)

// MediaTypes lists every type of media.
func MediaTypes() []MediaType { return []MediaType{Image, Video, Audio} }

// Media is a picture, video or sound in another object.
type Media struct {
	Type         MediaType `json:"type"`                         // its type
	URL          string    `json:"url" form:"uri"`               // the file, or the page that plays it; it may expire
	ThumbnailURL *string   `json:"thumbnail_url" form:"uri"`     // a preview picture
	DurationS    *float64  `json:"duration_s,omitempty" min:"0"` // its duration, in seconds; absent if unknown
}

// Comment is a reply to a post, or to another comment.
type Comment struct {
	Common
	PostID    string     `json:"post_id" min:"1" form:"id"` // the id of the post
	Author    Actor      `json:"author"`                    // the account that wrote it
	Text      string     `json:"text"`                      // its text, as plain text
	Lang      *string    `json:"lang" min:"2"`              // its language according to the platform, never guessed
	CreatedAt *time.Time `json:"created_at"`                // when it was written
	Likes     *int64     `json:"likes" min:"0"`             // likes or points
	ReplyToID *string    `json:"reply_to_id" form:"id"`     // the id of the comment that this one replies to; null at the top level
}

// Check implements [Object].
func (c *Comment) Check() error { return validate(c) }

// Fill implements [Object].
func (c *Comment) Fill() {}

// EnrichText implements [Object].
func (c *Comment) EnrichText() string { return c.Text }

// Actors returns the author.
func (c *Comment) Actors() []*Actor { return actors(&c.Author) }

// Transcript is the speech in a post's video or audio, as text.
type Transcript struct {
	Common
	PostID   string              `json:"post_id" min:"1" form:"id"` // the id of the post
	Lang     *string             `json:"lang"`                      // the spoken language
	Text     string              `json:"text"`                      // the whole speech, as plain text
	Segments []TranscriptSegment `json:"segments"`                  // its lines in order; may be empty although there is a text
}

// TranscriptSegment is one line of a [Transcript].
type TranscriptSegment struct {
	StartS *float64 `json:"start_s" min:"0"` // when the line begins, in seconds from the beginning
	EndS   *float64 `json:"end_s" min:"0"`   // when the line ends, in seconds from the beginning
	Text   string   `json:"text"`            // the text of the line
}

// Check implements [Object].
func (t *Transcript) Check() error { return validate(t) }

// Fill implements [Object].
func (t *Transcript) Fill() { nonNil(&t.Segments) }

// EnrichText implements [Object].
func (t *Transcript) EnrichText() string { return t.Text }

// LiveStream is an account's broadcast, live or not.
type LiveStream struct {
	Common
	Host         Actor      `json:"host"`                     // the account that is broadcasting
	IsLive       bool       `json:"is_live"`                  // whether it is live now
	Title        *string    `json:"title"`                    // its title as the host wrote it
	Viewers      *int64     `json:"viewers" min:"0"`          // number of current viewers
	Likes        *int64     `json:"likes" min:"0"`            // likes of this broadcast
	StartedAt    *time.Time `json:"started_at"`               // when the broadcast began
	ThumbnailURL *string    `json:"thumbnail_url" form:"uri"` // a preview picture
}

// Check implements [Object].
func (l *LiveStream) Check() error { return validate(l) }

// Fill implements [Object].
func (l *LiveStream) Fill() {}

// EnrichText implements [Object].
func (l *LiveStream) EnrichText() string { return deref(l.Title) }

// Actors returns the host.
func (l *LiveStream) Actors() []*Actor { return actors(&l.Host) }
