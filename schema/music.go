package schema

import "time"

// CollectionKind says what a [Collection] is.
type CollectionKind string

// The kinds of collection.
const (
	Playlist  CollectionKind = "playlist"
	Board     CollectionKind = "board"
	Highlight CollectionKind = "highlight"
	Album     CollectionKind = "album"
	Podcast   CollectionKind = "podcast"
)

// CollectionKinds lists every kind of collection.
func CollectionKinds() []CollectionKind {
	return []CollectionKind{Playlist, Board, Highlight, Album, Podcast}
}

// Collection is a set of posts or tracks that somebody put together.
type Collection struct {
	Common
	Kind        CollectionKind `json:"kind"`                 // what it is
	Title       string         `json:"title"`                // its name
	Description *string        `json:"description"`          // what it says of itself, as plain text
	Owner       *Actor         `json:"owner"`                // who put it together
	ItemsCount  *int64         `json:"items_count" min:"0"`  // how many posts or tracks are in it
	CoverURL    *string        `json:"cover_url" form:"uri"` // its picture
	CreatedAt   *time.Time     `json:"created_at"`           // when it was made or released
}

// Validate implements [Object].
func (c *Collection) Validate() error { return validate(c) }

// Fill implements [Object].
func (c *Collection) Fill() {}

// EnrichText implements [Object].
func (c *Collection) EnrichText() string { return join(c.Title, c.Description) }

// Actors returns the owner.
func (c *Collection) Actors() []*Actor { return actors(c.Owner) }

// Track is a piece of music, or a sound that posts use.
type Track struct {
	Common
	Title      string     `json:"title"`                // its name
	Artists    []string   `json:"artists"`              // the names of who plays it, main artist first
	Album      *string    `json:"album"`                // the name of the album that it is on
	DurationS  *float64   `json:"duration_s" min:"0"`   // how long it plays, in seconds
	CoverURL   *string    `json:"cover_url" form:"uri"` // its picture
	AudioURL   *string    `json:"audio_url" form:"uri"` // the sound or a preview of it; the address may expire
	ReleasedAt *time.Time `json:"released_at"`          // when it came out
	Plays      *int64     `json:"plays" min:"0"`        // how often it was played
	PostsCount *int64     `json:"posts_count" min:"0"`  // how many posts use the sound
	Explicit   *bool      `json:"explicit"`             // whether the platform marks its words as explicit
}

// Validate implements [Object].
func (t *Track) Validate() error { return validate(t) }

// Fill implements [Object].
func (t *Track) Fill() { nonNil(&t.Artists) }

// EnrichText implements [Object].
func (t *Track) EnrichText() string { return t.Title }

// join joins a title and a body, as defined in D34.
func join(title string, body *string) string {
	switch {
	case body == nil || *body == "":
		return title
	case title == "":
		return *body
	}
	return title + "\n\n" + *body
}
