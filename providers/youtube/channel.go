package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/languages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const channelParts = "snippet,statistics,contentDetails,brandingSettings,status,topicDetails"

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	ch, err := c.channel(ctx, handle, channelParts)
	if err != nil {
		return schema.Profile{}, err
	}
	return ch.V.profile(ch.Raw), nil
}

// profilesByID reads channels by their ids; handles are read by profile, because YouTube accepts one handle at a time.
func (c *client) profilesByID(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := byID(ctx, c, upstream.Get("channels").With("part", channelParts).With("maxResults", pageSize),
		providers.Together(handles, channelID.MatchString), func(ch channel) string { return ch.ID })
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		if !channelID.MatchString(handle) {
			return schema.Profile{}, providers.Alone()
		}
		ch, err := found.find("channel", func(ch channel) bool { return ch.ID == handle })
		if err != nil {
			return schema.Profile{}, err
		}
		return ch.V.profile(ch.Raw), nil
	})
}

// channel reads the given parts of a channel by its normalized handle.
func (c *client) channel(ctx context.Context, handle, parts string) (wire.Object[channel], error) {
	r := upstream.Get("channels").With("part", parts)
	if name, ok := strings.CutPrefix(handle, legacy); ok {
		r = r.With("forUsername", name)
	} else if channelID.MatchString(handle) {
		r = r.With("id", handle)
	} else {
		r = r.With("forHandle", "@"+handle)
	}
	found, err := get[channel](ctx, c, r)
	if err != nil {
		return wire.Object[channel]{}, err
	}
	for _, o := range found.Items.All() {
		return o, o.V.is(ctx, handle)
	}
	return wire.Object[channel]{}, providers.NotFound("no such channel")
}

// is returns an error unless c is the requested channel. Its former user name, if that was requested, is not in the
// answer.
func (c channel) is(ctx context.Context, handle string) error {
	if err := wire.Need(ctx, "items[].id", channelID.MatchString(c.ID)); err != nil {
		return err
	}
	if channelID.MatchString(handle) {
		return wire.Same(ctx, "channel", handle, c.ID)
	}
	if now, ok := strings.CutPrefix(c.Snippet.CustomURL, "@"); ok && !strings.HasPrefix(handle, legacy) {
		return wire.SameFold(ctx, "channel", handle, now)
	}
	return nil
}

func (c *client) channelsByID(ctx context.Context, ids []string) (batch[channel], error) {
	return byID(ctx, c, upstream.Get("channels").With("part", channelParts), ids, func(ch channel) string { return ch.ID })
}

// channel is an item of GET channels, with the requested parts.
// https://developers.google.com/youtube/v3/docs/channels#resource
type channel struct {
	ID      string `json:"id"`
	Snippet struct {
		Title       string     `json:"title"`
		Description string     `json:"description"`
		CustomURL   string     `json:"customUrl"` // the handle; without @ in older answers, and missing for a few channels
		Language    string     `json:"defaultLanguage"`
		Country     string     `json:"country"`
		Thumbnails  thumbnails `json:"thumbnails"`
	} `json:"snippet"`
	Statistics struct {
		Subscribers wire.Count `json:"subscriberCount"`
		Hidden      wire.Bool  `json:"hiddenSubscriberCount"`
		Videos      wire.Count `json:"videoCount"`
	} `json:"statistics"`
	ContentDetails struct {
		Related struct {
			Uploads string `json:"uploads"`
		} `json:"relatedPlaylists"`
	} `json:"contentDetails"`
	Branding struct {
		Channel struct {
			Language string `json:"defaultLanguage"`
		} `json:"channel"`
	} `json:"brandingSettings"`
}

func (c channel) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: inForm(channelID, c.ID), URL: c.url(), Raw: raw},
		Handle:      c.handle(),
		DisplayName: text.NonEmpty(c.Snippet.Title),
		Bio:         text.NonEmpty(c.Snippet.Description),
		AvatarURL:   c.Snippet.Thumbnails.avatar(),
		PostsCount:  c.Statistics.Videos.V,
		Lang:        languages.Tag(c.Snippet.Language, c.Branding.Channel.Language),
		Links:       text.Addresses(c.Snippet.Description),
	}
	if hidden := c.Statistics.Hidden.V; hidden != nil && !*hidden {
		p.Followers = c.Statistics.Subscribers.V
	}
	p.Country = &c.Snippet.Country
	return p
}

// uploads returns the playlist of the channel's uploads, whose id is derived from the channel's.
func (c channel) uploads() string {
	return cmp.Or(c.ContentDetails.Related.Uploads, "UU"+strings.TrimPrefix(c.ID, "UC"))
}

func (c channel) handle() string { return cmp.Or(strings.TrimPrefix(c.Snippet.CustomURL, "@"), c.ID) }

func (c channel) url() string {
	if len(c.Snippet.CustomURL) > 1 && c.Snippet.CustomURL[0] == '@' {
		if u := text.URL("https://www.youtube.com/" + c.Snippet.CustomURL); u != nil {
			return *u
		}
	}
	return channelURL(c.ID)
}

func (c channel) actor() schema.Actor {
	return schema.Actor{
		ID: c.ID, Handle: c.handle(), DisplayName: text.NonEmpty(c.Snippet.Title), AvatarURL: c.Snippet.Thumbnails.avatar(),
	}
}

func channelURL(id string) string { return "https://www.youtube.com/channel/" + id }

// owner returns the channel of a video or playlist. Videos and playlists have neither its handle nor its picture: those
// are taken from known, if that is the same channel.
func owner(id, title string, known *schema.Actor) schema.Actor {
	switch {
	case known != nil && (id == known.ID || id == ""):
		return *known
	case id == "":
		return schema.UnknownActor()
	}
	return schema.Actor{ID: id, Handle: id, DisplayName: text.NonEmpty(title)}
}

// thumbnails are the sizes of a picture, any of which may be missing.
type thumbnails struct {
	Default  thumbnail `json:"default"`
	Medium   thumbnail `json:"medium"`
	High     thumbnail `json:"high"`
	Standard thumbnail `json:"standard"`
	MaxRes   thumbnail `json:"maxres"`
}

type thumbnail struct {
	URL string `json:"url"`
}

func (t thumbnails) avatar() *string { return first(t.High, t.Medium, t.Default) }
func (t thumbnails) best() *string {
	return first(t.MaxRes, t.Standard, t.High, t.Medium, t.Default)
}

func first(sizes ...thumbnail) *string {
	for _, s := range sizes {
		if u := text.URL(s.URL); u != nil {
			return u
		}
	}
	return nil
}
