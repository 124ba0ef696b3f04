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
	Kind        CollectionKind `json:"kind"`
	Title       string         `json:"title"`
	Description *string        `json:"description"`
	Owner       *Actor         `json:"owner"`
	ItemsCount  *int64         `json:"items_count"`
	CoverURL    *string        `json:"cover_url"`
	CreatedAt   *time.Time     `json:"created_at"`
}

// Validate implements [Object].
func (c *Collection) Validate() error {
	k := check{c.validate()}
	switch c.Kind {
	case Playlist, Board, Highlight, Album, Podcast:
	default:
		k.failf("kind: %q is not a kind of collection", c.Kind)
	}
	if c.Owner != nil {
		k.within("owner", c.Owner.validate())
	}
	k.count("items_count", c.ItemsCount)
	k.uriOrNil("cover_url", c.CoverURL)
	return k.err
}

// Fill implements [Object].
func (c *Collection) Fill() {}

// EnrichText implements [Object].
func (c *Collection) EnrichText() string { return join(c.Title, c.Description) }

// Actors returns the owner.
func (c *Collection) Actors() []*Actor { return actors(c.Owner) }

// Track is a piece of music, or a sound that posts use.
type Track struct {
	Common
	Title      string     `json:"title"`
	Artists    []string   `json:"artists"` // names, main artist first
	Album      *string    `json:"album"`
	DurationS  *float64   `json:"duration_s"` // seconds
	CoverURL   *string    `json:"cover_url"`
	AudioURL   *string    `json:"audio_url"`
	ReleasedAt *time.Time `json:"released_at"`
	Plays      *int64     `json:"plays"`
	PostsCount *int64     `json:"posts_count"` // posts that use the sound
	Explicit   *bool      `json:"explicit"`
}

// Validate implements [Object].
func (t *Track) Validate() error {
	k := check{t.validate()}
	k.seconds("duration_s", t.DurationS)
	k.uriOrNil("cover_url", t.CoverURL)
	k.uriOrNil("audio_url", t.AudioURL)
	k.count("plays", t.Plays)
	k.count("posts_count", t.PostsCount)
	return k.err
}

// Fill implements [Object].
func (t *Track) Fill() { nonNil(&t.Artists) }

// EnrichText implements [Object].
func (t *Track) EnrichText() string { return t.Title }

// join puts a title and a body together as D34 says.
func join(title string, body *string) string {
	switch {
	case body == nil || *body == "":
		return title
	case title == "":
		return *body
	}
	return title + "\n\n" + *body
}
