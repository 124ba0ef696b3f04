package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) telegram() providers.Provider {
	return providers.Provider{
		Platform: platform.Telegram,
		Profile:  one(c, by("v1/telegram/channel", "handle"), "", wire.As(telegramChannel.profile), sameAccount),
		Posts: list(c, by("v1/telegram/channel/posts", "handle"),
			upstream.List{Rows: "posts", Next: "cursor", More: "has_more"}, rows(telegramPost.row), wrote),
		Post: one(c, byURL("v1/telegram/post", after("https://t.me/")), "", alone(telegramPost.row), telegramSame),
	}
}

// telegramSame ignores case, as Telegram does in the name of a channel.
func telegramSame(ctx context.Context, id string, p schema.Post) error {
	return wire.SameFold(ctx, "post", id, p.ID)
}

type telegramChannel struct {
	Handle      string     `json:"handle"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	URL         string     `json:"url"`
	Picture     string     `json:"avatar_url"`
	Verified    bool       `json:"is_verified"`
	Subscribers wire.Count `json:"subscriber_count"`
	Members     wire.Count `json:"member_count"` // of a group
}

func (c telegramChannel) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: strings.ToLower(c.Handle), URL: text.URLOr(c.URL, "https://t.me/"+c.Handle), Raw: raw},
		Handle:      c.Handle,
		DisplayName: text.NonEmpty(c.Name),
		Bio:         text.NonEmpty(c.Description),
		AvatarURL:   text.URL(c.Picture),
		Verified:    c.Verified,
		Followers:   c.Subscribers.V,
		Links:       text.Addresses(c.Description),
	}
	if p.Followers == nil {
		p.Followers = c.Members.V
	}
	return p
}

type telegramPost struct {
	ID        wire.Serial                 `json:"id"`
	Channel   string                      `json:"channel_handle"`
	URL       string                      `json:"url"`
	Author    string                      `json:"author_name"`
	Text      string                      `json:"text"`
	At        wire.Time                   `json:"published_at"`
	Views     wire.Count                  `json:"view_count"`
	Reactions wire.Rows[telegramReaction] `json:"reactions"`
	Reacted   wire.Count                  `json:"reaction_count"` // including paid ones
	Media     []telegramMedium            `json:"media"`
}

type telegramReaction struct {
	Emoji string     `json:"emoji"`    // null when it is a picture
	ID    wire.ID    `json:"emoji_id"` // of the picture
	Count wire.Count `json:"count"`
}

// paid is the star that readers buy, which does not count as a like.
const paid = "⭐"

type telegramMedium struct {
	Type      string     `json:"type"` // "photo", "video" …
	URL       string     `json:"url"`
	Thumbnail string     `json:"thumbnail_url"`
	Seconds   wire.Float `json:"duration"`
}

// row converts p. It always reports true. A post without its channel could not be requested again.
func (p telegramPost) row(raw json.RawMessage) (schema.Post, bool) {
	if p.ID == "" || p.Channel == "" {
		return schema.Post{}, true
	}
	id := p.Channel + "/" + string(p.ID)
	return schema.Post{
		Common:     schema.Common{ID: id, URL: text.URLOr(p.URL, "https://t.me/"+id), Raw: raw},
		Author:     schema.Actor{ID: strings.ToLower(p.Channel), Handle: p.Channel, DisplayName: text.NonEmpty(p.Author)},
		Text:       p.Text,
		CreatedAt:  p.At.V,
		Media:      p.media(),
		Engagement: schema.Engagement{Likes: p.likes(), Views: p.Views.V},
		Hashtags:   text.Hashtags(p.Text),
		Mentions:   text.Mentions(p.Text),
	}, true
}

// likes returns the number of reactions without the paid ones, nil when those are unknown.
func (p telegramPost) likes() *int64 {
	if !p.Reactions.Here() || p.Reactions.Lost() > 0 || p.Reacted.V == nil {
		return nil
	}
	n := *p.Reacted.V
	for _, r := range p.Reactions.All() {
		switch {
		case r.V.Emoji == "" && r.V.ID == "", r.V.Emoji == paid && r.V.Count.V == nil:
			return nil
		case r.V.Emoji == paid:
			n -= *r.V.Count.V
		}
	}
	return new(max(n, 0))
}

func (p telegramPost) media() []schema.Media {
	var out []schema.Media
	for _, m := range p.Media {
		kind := schema.Image
		switch {
		case strings.Contains(m.Type, "video"):
			kind = schema.Video
		case strings.Contains(m.Type, "audio"), strings.Contains(m.Type, "voice"):
			kind = schema.Audio
		case strings.Contains(m.Type, "document"), strings.Contains(m.Type, "file"): // a file is not media
			continue
		}
		if u := text.URL(m.URL); u != nil {
			out = append(out, schema.Media{Type: kind, URL: *u, ThumbnailURL: text.URL(m.Thumbnail), DurationS: m.Seconds.V})
		}
	}
	return out
}
