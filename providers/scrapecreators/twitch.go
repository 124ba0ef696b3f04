package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// twitchReads reads data of Twitch's website.
type twitchReads struct{ *client }

func (c *client) twitch() providers.Provider {
	r := twitchReads{c}
	return providers.Provider{
		Platform: platform.Twitch,
		Profile:  one(c, by("v1/twitch/profile", "handle"), "", wire.As(twitchUser.profile), sameAccount),
		Posts:    list(c, by("v1/twitch/user/videos", "handle"), upstream.List{Rows: "allVideos"}, rows(certain(twitchVideo.post)), wrote),
		Post:     r.post,
		Live:     r.live,
		Events:   r.events,
		Filters:  map[providers.Op]providers.Filters{providers.OpEvents: {}},
		Notes: map[providers.Op]string{
			providers.OpPosts: "the reseller has one page",
			providers.OpPost:  "the reseller only has clips",
		},
	}
}

const twitchSite = "https://www.twitch.tv/"

func (r twitchReads) live(ctx context.Context, handle string) (l schema.LiveStream, err error) {
	u, err := upstream.Object[twitchUser](ctx, r.http, upstream.Get("v1/twitch/profile").Says("handle", handle), "")
	if err != nil {
		return l, err
	}
	if err := wire.SameFold(ctx, "account", handle, u.V.Login); err != nil {
		return l, err
	}
	if err := wire.Need(ctx, "isLive", u.V.IsLive.V != nil); err != nil {
		return l, err
	}
	return u.V.live(u.Raw), nil
}

// post reads a clip. The answer is that of several queries at once, the first of which has the clip.
func (r twitchReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	if links.Digits(id) {
		return p, providers.Unsupported("ScrapeCreators has no single videos, only clips")
	}
	var answers wire.Rows[struct {
		Data struct {
			Clip sole[twitchClip] `json:"clip"`
		} `json:"data"`
	}]
	if _, err := r.http.Read(ctx, upstream.Get("v1/twitch/clip").Says("url", "https://clips.twitch.tv/"+id), &answers); err != nil {
		return p, err
	}
	if err := answers.Check(ctx, "clip"); err != nil {
		return p, err
	}
	var clip sole[twitchClip]
	for _, a := range answers.All() {
		if !clip.Here() && (a.V.Data.Clip.Here() || a.V.Data.Clip.null) {
			clip = a.V.Data.Clip
		}
	}
	if err := clip.check(ctx, "data.clip"); err != nil {
		return p, err
	}
	if err := wire.Same(ctx, "clip", id, clip.V.Slug); err != nil {
		return p, err
	}
	return clip.V.post(clip.Raw), nil
}

// events reads the part of the channel's schedule that the site shows, all at once.
func (r twitchReads) events(
	ctx context.Context, q providers.EventsQuery, _ string,
) (page providers.Page[schema.Event], err error) {
	if q.Handle == "" {
		return page, providers.Invalid("Twitch only has events of a channel: use handle")
	}
	var a struct {
		ID      wire.Serial `json:"id"`
		Channel wire.Object[struct {
			Schedule wire.Object[struct {
				Segments wire.Rows[twitchSegment] `json:"segments"`
			}] `json:"schedule"` // null when the channel has none
		}] `json:"channel"`
	}
	if _, err := r.http.Read(ctx, upstream.Get("v1/twitch/user/schedule").Says("handle", q.Handle), &a); err != nil {
		return page, err
	}
	if err := wire.Need(ctx, "id and channel", a.ID != "" && a.Channel.Here()); err != nil {
		return page, err
	}
	schedule := a.Channel.V.Schedule
	if !schedule.Here() {
		return page, schedule.Optional(ctx, "channel.schedule")
	}
	host := schema.Actor{ID: string(a.ID), Handle: q.Handle}
	page.Items, err = wire.Items(ctx, "channel.schedule.segments", schedule.V.Segments,
		func(s twitchSegment, raw json.RawMessage) (schema.Event, bool) {
			return s.event(host, raw), !s.Cancelled.Is()
		})
	return page, err
}

type twitchUser struct {
	ID          wire.Serial `json:"id"`
	Login       string      `json:"handle"`
	Name        string      `json:"displayName"`
	Description string      `json:"description"`
	Picture     string      `json:"profileImageURL"`
	Followers   wire.Count  `json:"followers"`
	Partner     bool        `json:"isPartner"`
	IsLive      wire.Bool   `json:"isLive"`
	Viewers     wire.Count  `json:"currentViewersCount"`
	Stream      struct {
		ID        wire.Serial `json:"id"`
		CreatedAt wire.Time   `json:"createdAt"`
		Title     string      `json:"title"`
	} `json:"stream"` // null or {} when it is unknown
}

func (u twitchUser) actor() schema.Actor {
	return schema.Actor{
		ID: string(u.ID), Handle: u.Login, DisplayName: text.NonEmpty(u.Name), AvatarURL: text.URL(u.Picture),
	}
}

func (u twitchUser) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: twitchSite + u.Login, Raw: raw},
		Handle:      u.Login,
		DisplayName: text.NonEmpty(u.Name),
		Bio:         text.NonEmpty(u.Description),
		AvatarURL:   text.URL(u.Picture),
		Verified:    u.Partner,
		Followers:   u.Followers.V,
		Links:       text.Addresses(u.Description),
	}
}

func (u twitchUser) live(raw json.RawMessage) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: string(u.ID), URL: twitchSite + u.Login, Raw: raw},
		Host:   u.actor(), IsLive: u.IsLive.Is(),
	}
	if l.IsLive {
		l.ID = cmp.Or(string(u.Stream.ID), l.ID)
		l.Title, l.Viewers, l.StartedAt = text.NonEmpty(u.Stream.Title), u.Viewers.V, u.Stream.CreatedAt.V
	}
	return l
}

type twitchVideo struct {
	ID        wire.Serial `json:"id"`
	Title     string      `json:"title"`
	Published wire.Time   `json:"publishedAt"`
	Views     wire.Count  `json:"viewCount"`
	Seconds   wire.Float  `json:"lengthSeconds"`
	Preview   string      `json:"previewThumbnailURL"`
	Owner     twitchOwner `json:"owner"`
}

type twitchOwner struct {
	ID      wire.Serial `json:"id"`
	Login   string      `json:"login"`
	Name    string      `json:"displayName"`
	Picture string      `json:"profileImageURL"`
}

func (o twitchOwner) actor() schema.Actor {
	if o.ID == "" || o.Login == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: string(o.ID), Handle: o.Login, DisplayName: text.NonEmpty(o.Name), AvatarURL: text.URL(o.Picture)}
}

func (v twitchVideo) post(raw json.RawMessage) schema.Post {
	page := twitchSite + "videos/" + string(v.ID)
	film := schema.Media{Type: schema.Video, URL: page, DurationS: v.Seconds.V}
	if !strings.Contains(v.Preview, "/_404/") { // a placeholder until it has been generated
		film.ThumbnailURL = text.URL(v.Preview)
	}
	return schema.Post{
		Common: schema.Common{ID: string(v.ID), URL: page, Raw: raw}, Author: v.Owner.actor(),
		Text: strings.TrimSpace(v.Title), CreatedAt: v.Published.V, Media: []schema.Media{film},
		Engagement: schema.Engagement{Views: v.Views.V},
		Hashtags:   text.Hashtags(v.Title), Mentions: text.Mentions(v.Title),
	}
}

type twitchClip struct {
	Slug        string      `json:"slug"`
	URL         string      `json:"url"`
	Title       string      `json:"title"`
	Views       wire.Count  `json:"viewCount"`
	Language    string      `json:"language"` // "ES"
	CreatedAt   wire.Time   `json:"createdAt"`
	Seconds     wire.Float  `json:"durationSeconds"`
	Thumbnail   string      `json:"thumbnailURL"`
	VideoURL    string      `json:"videoURL"`
	Broadcaster twitchOwner `json:"broadcaster"`
}

func (c twitchClip) post(raw json.RawMessage) schema.Post {
	page := text.URLOr(c.URL, "https://clips.twitch.tv/"+c.Slug)
	p := schema.Post{
		Common: schema.Common{ID: c.Slug, URL: page, Raw: raw}, Author: c.Broadcaster.actor(),
		Text: strings.TrimSpace(c.Title), CreatedAt: c.CreatedAt.V,
		Media: []schema.Media{{
			Type: schema.Video, URL: text.URLOr(c.VideoURL, page), ThumbnailURL: text.URL(c.Thumbnail), DurationS: c.Seconds.V,
		}},
		Engagement: schema.Engagement{Views: c.Views.V},
		Hashtags:   text.Hashtags(c.Title), Mentions: text.Mentions(c.Title),
	}
	if len(c.Language) == 2 {
		p.Lang = new(strings.ToLower(c.Language))
	}
	return p
}

type twitchSegment struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Start      wire.Time `json:"startAt"`
	End        wire.Time `json:"endAt"`
	Cancelled  wire.Bool `json:"isCancelled"`
	Categories []struct {
		Name string `json:"displayName"`
	} `json:"categories"`
}

// event converts s. It returns the zero event when it is unknown whether it takes place.
func (s twitchSegment) event(host schema.Actor, raw json.RawMessage) schema.Event {
	if s.Cancelled.V == nil {
		return schema.Event{}
	}
	e := schema.Event{
		Common: schema.Common{ID: s.ID, URL: twitchSite + host.Handle + "/schedule", Raw: raw},
		Name:   s.Title, StartsAt: s.Start.V, EndsAt: s.End.V, Host: &host, IsOnline: new(true),
	}
	if len(s.Categories) > 0 {
		e.Description = text.NonEmpty(s.Categories[0].Name)
	}
	return e
}
