package schema

import "time"

// CollectionKind is the kind of a [Collection].
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

// Collection is a set of posts or tracks, such as a playlist.
type Collection struct {
	Common
	Kind        CollectionKind `json:"kind"`                 // its kind
	Title       string         `json:"title"`                // its name
	Description *string        `json:"description"`          // its description, as plain text
	Owner       *Actor         `json:"owner"`                // the account that created it
	ItemsCount  *int64         `json:"items_count" min:"0"`  // number of posts or tracks in it
	CoverURL    *string        `json:"cover_url" form:"uri"` // its cover picture
	CreatedAt   *time.Time     `json:"created_at"`           // when it was created or released
}

// Check implements [Object].
func (c *Collection) Check() error { return validate(c) }

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
	Artists    []string   `json:"artists"`              // the names of the artists, main artist first
	Album      *string    `json:"album"`                // the name of its album
	DurationS  *float64   `json:"duration_s" min:"0"`   // its duration, in seconds
	CoverURL   *string    `json:"cover_url" form:"uri"` // its cover picture
	AudioURL   *string    `json:"audio_url" form:"uri"` // the audio or a preview of it; the address may expire
	ReleasedAt *time.Time `json:"released_at"`          // when it was released
	Plays      *int64     `json:"plays" min:"0"`        // number of plays
	PostsCount *int64     `json:"posts_count" min:"0"`  // number of posts that use the sound
	Explicit   *bool      `json:"explicit"`             // whether the platform marks its lyrics as explicit
}

// Check implements [Object].
func (t *Track) Check() error { return validate(t) }

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
