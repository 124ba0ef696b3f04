package snapchat

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// post reads the page of a Spotlight video, which also shows videos of others.
func (s site) post(ctx context.Context, id string) (schema.Post, error) {
	p, _, err := s.open(ctx, "spotlight", id)
	if err != nil {
		return schema.Post{}, err
	}
	if err := p.Feed.Stories.Check(ctx, "spotlightFeed.spotlightStories"); err != nil {
		return schema.Post{}, err
	}
	for _, row := range p.Feed.Stories.All() {
		if v := row.V; v.Story.V.id() == id {
			if err := wire.Need(ctx, "spotlightStories.metadata", v.Metadata.Raw != nil); err != nil {
				return schema.Post{}, err
			}
			return v.post(v.Metadata.V.Video.Creator.actor(), row.Raw), nil
		}
	}
	return schema.Post{}, wire.Same(ctx, "post", id, "")
}

// spotlight is a video with its metadata. The page of a video has both in one object, that of an account in two lists.
type spotlight struct {
	Story    wire.Object[story]    `json:"story"`
	Metadata wire.Object[metadata] `json:"metadata"`
}

type metadata struct {
	Description string   `json:"description"`
	Hashtags    []string `json:"hashtags"` // with or without #
	Video       struct {
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Caption     string     `json:"embeddedTextCaption"`
		Thumbnail   string     `json:"thumbnailUrl"`
		Content     string     `json:"contentUrl"`
		Uploaded    wire.Time  `json:"uploadDateMs"`
		Duration    wire.Float `json:"durationMs"`
		Views       wire.Count `json:"viewCount"`
		Creator     creator    `json:"creator"`
	} `json:"videoMetadata"`
	Stats struct {
		Views      wire.Count `json:"viewCount"`
		Shares     wire.Count `json:"shareCount"`
		Comments   wire.Count `json:"commentCount"`
		Recommends wire.Count `json:"recommendCount"`
	} `json:"engagementStats"`
	Links struct {
		Deep string `json:"deepLinkUrl"` // identifies the video
	} `json:"oneLinkParams"`
}

// creator is the author of a video. The page has no id, and only a placeholder for the followers.
type creator struct {
	Person struct {
		Username string `json:"username"`
		Name     string `json:"name"`
	} `json:"personCreator"`
}

func (c creator) actor() schema.Actor {
	handle := strings.ToLower(c.Person.Username)
	if handle == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: handle, Handle: handle, DisplayName: text.NonEmpty(c.Person.Name)}
}

// id returns the id of a Spotlight video, which is that of its only snap too.
func (s story) id() string { return cmp.Or(s.ID.V, s.first().ID.V) }

func (s story) first() snap {
	for i, r := range s.Snaps.All() {
		if i == 0 {
			return r.V
		}
	}
	return snap{}
}

// spotlights returns the videos on the page of an account.
func (p props) spotlights(ctx context.Context) ([]schema.Post, error) {
	u := p.User.V.Public
	if err := listed(ctx, p, "spotlightHighlights", p.Spotlights, u.HasSpotlights); err != nil {
		return nil, err
	}
	all := p.Metadata
	if !all.Here() {
		all = p.Older
	}
	if err := wire.Need(ctx, "spotlightStoryMetadata", all.Here() || p.Spotlights.Len() == 0); err != nil {
		return nil, err
	}
	known := match(all)
	var out []schema.Post
	for i, row := range p.Spotlights.All() {
		if row.V.isPlaceholder(row.Raw) {
			continue
		}
		v := spotlight{Story: row, Metadata: known.of(row.V.id(), i)}
		raw, err := schema.Marshal(map[string]json.RawMessage{"story": row.Raw, "metadata": v.Metadata.Raw})
		if err != nil {
			return nil, err
		}
		out = append(out, v.post(u.actor(), raw))
	}
	return out, nil
}

// matched is the metadata of videos, by the id that it names, or else by position.
type matched struct {
	byID    map[string]wire.Object[metadata]
	byPlace map[int]wire.Object[metadata]
}

func match(all wire.Rows[metadata]) matched {
	m := matched{map[string]wire.Object[metadata]{}, map[int]wire.Object[metadata]{}}
	for i, row := range all.All() {
		if id := row.V.names(); id != "" {
			m.byID[id] = row
		} else {
			m.byPlace[i] = row
		}
	}
	return m
}

func (m matched) of(id string, place int) wire.Object[metadata] {
	if row, ok := m.byID[id]; ok {
		return row
	}
	return m.byPlace[place]
}

// names returns the id of the video to which the link into the app leads, "" when there is none.
func (m metadata) names() string {
	u, err := url.Parse(m.Links.Deep)
	if err != nil || path.Base(path.Dir(u.Path)) != "spotlight" {
		return ""
	}
	return path.Base(u.Path)
}

// post converts v. Without metadata, only its snap is used.
func (v spotlight) post(by schema.Actor, raw json.RawMessage) schema.Post {
	id, m := v.Story.V.id(), v.Metadata.V
	p := v.Story.V.first().post(by, raw)
	p.ID, p.URL = id, spotlightURL(id)
	if v.Metadata.Raw == nil {
		return p
	}
	p.Text = m.text()
	p.CreatedAt = cmp.Or(m.Video.Uploaded.V, p.CreatedAt)
	p.Media = m.media(p.URL)
	p.Engagement = schema.Engagement{
		Likes: m.Stats.Recommends.V, Comments: m.Stats.Comments.V, Shares: m.Stats.Shares.V,
		Views: cmp.Or(m.Stats.Views.V, m.Video.Views.V),
	}
	var tags []string
	for _, tag := range m.Hashtags {
		tags = append(tags, strings.TrimPrefix(strings.TrimSpace(tag), "#"))
	}
	p.Hashtags = text.Each(slices.Concat(tags, text.Hashtags(p.Text)))
	p.Mentions = text.Mentions(p.Text)
	return p
}

// fillers are placeholder texts for videos without a description.
var fillers = []string{"Another Spotlight Snap brought to you by Snapchat", "Spotlight Snap"}

func (m metadata) text() string {
	for _, s := range []string{m.Description, m.Video.Description, m.Video.Name, m.Video.Caption} {
		s = strings.TrimSpace(s)
		isFiller := slices.ContainsFunc(fillers, func(f string) bool { return strings.EqualFold(strings.TrimSuffix(s, "."), f) })
		if s != "" && !isFiller {
			return s
		}
	}
	return ""
}

// media returns the video, with the address of the page when the file's is missing.
func (m metadata) media(page string) []schema.Media {
	out := schema.Media{Type: schema.Video, ThumbnailURL: text.URL(m.Video.Thumbnail)}
	if ms := m.Video.Duration.V; ms != nil && *ms > 0 {
		out.DurationS = new(*ms / 1000)
	}
	address := text.URL(m.Video.Content)
	if address == nil && (out.ThumbnailURL != nil || out.DurationS != nil) {
		address = text.URL(page)
	}
	if address == nil {
		return nil
	}
	out.URL = *address
	return []schema.Media{out}
}
