package snapchat

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// boxed is a value written as {"value": …}, or null when there is none.
type boxed[T any] struct {
	V T `json:"value"`
}

// loose is an id that is boxed or plain; a plain one is a UUID.
type loose string

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// UnmarshalJSON never fails.
func (l *loose) UnmarshalJSON(b []byte) error {
	var box struct {
		V string `json:"value"`
	}
	if json.Unmarshal(b, &box) != nil && (json.Unmarshal(b, &box.V) != nil || !uuid.MatchString(box.V)) {
		box.V = ""
	}
	*l = loose(box.V)
	return nil
}

// story is a row of snaps: an account's story of the day, a highlight, or the single snap of a Spotlight video.
type story struct {
	ID          boxed[string]   `json:"storyId"`
	HighlightID loose           `json:"highlightId"` // pages of 2021 have none
	Title       boxed[string]   `json:"storyTitle"`
	Thumbnail   boxed[string]   `json:"thumbnailUrl"`
	Snaps       wire.Rows[snap] `json:"snapList"`
}

type snap struct {
	ID        boxed[string]    `json:"snapId"`
	MediaType wire.Count       `json:"snapMediaType"` // 0 image, 1 and 2 video
	Title     boxed[string]    `json:"snapTitle"`
	Time      boxed[wire.Time] `json:"timestampInSec"`
	Sponsored boxed[bool]      `json:"isSponsored"`
	URLs      struct {
		Media   string        `json:"mediaUrl"`
		Preview boxed[string] `json:"mediaPreviewUrl"`
	} `json:"snapUrls"`
}

// isPlaceholder reports whether s, read from raw, is an empty slot: Snapchat fills a list up with rows that have a null
// id and no snaps.
func (s story) isPlaceholder(raw json.RawMessage) bool {
	var slot struct {
		ID json.RawMessage `json:"storyId"`
	}
	return s.Snaps.Here() && s.Snaps.Len() == 0 && s.Snaps.Lost() == 0 && s.HighlightID == "" &&
		json.Unmarshal(raw, &slot) == nil && string(slot.ID) == "null"
}

// snaps returns the story of the day as posts, newest first. The page has no counts for them; rows is how many videos
// the page has beside them.
func (p props) snaps(ctx context.Context, rows int) ([]schema.Post, error) {
	var s story
	if here, err := decode(ctx, p.Story, &s); err != nil || !here {
		return nil, err
	}
	by := p.User.V.Public.actor()
	if err := s.Snaps.Check(ctx, "story.snapList"); err != nil {
		return nil, err
	}
	has := p.User.V.Public.HasStory
	if w := (wire.Witness{Rows: s.Snaps.Len() + rows, Words: has.V != nil && !*has.V}); !p.believed {
		if err := w.Check(ctx, "story.snapList"); err != nil {
			return nil, err
		}
	}
	posts, err := wire.Items(ctx, "story.snapList", s.Snaps, func(s snap, raw json.RawMessage) (schema.Post, bool) {
		return s.post(by, raw), true
	})
	slices.Reverse(posts)
	return posts, err
}

// decode decodes a part that may be absent or null, but must not be of another type.
func decode(ctx context.Context, raw json.RawMessage, dst any) (here bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return false, nil
	}
	return true, wire.Decode(ctx, raw, dst)
}

func (s snap) post(by schema.Actor, raw json.RawMessage) schema.Post {
	return schema.Post{
		Common:    schema.Common{ID: s.ID.V, URL: profileURL(by.Handle), Raw: raw},
		Author:    by,
		Text:      s.Title.V,
		CreatedAt: s.Time.V.V,
		Media:     s.media(),
		Hashtags:  text.Hashtags(s.Title.V),
		Mentions:  text.Mentions(s.Title.V),
		IsAd:      s.Sponsored.V,
	}
}

func (s snap) media() []schema.Media {
	address := text.URL(s.URLs.Media)
	if address == nil || s.MediaType.V == nil {
		return nil
	}
	m := schema.Media{Type: schema.Video, URL: *address, ThumbnailURL: text.URL(s.URLs.Preview.V)}
	switch *s.MediaType.V {
	case 0:
		m.Type = schema.Image
	case 1, 2:
	default:
		return nil
	}
	return []schema.Media{m}
}
