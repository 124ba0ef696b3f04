package kick

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// website reads the API of kick.com's own pages. It is undocumented, so the wire structs have no links.
type website struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	w := &website{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.OwnURL, "https://kick.com"), Check: check, Absent: absent,
		Header: http.Header{"User-Agent": {browser.Agent}, "Referer": {site}}, // others are refused
		Quota:  upstream.NewQuota(0, 0),
	})}
	p := providers.Provider{
		Name: "kick_own", Platform: platform.Kick, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf("20", providers.OpReels), // as Kick decides
		Profile:   w.profile,
		Live:      w.live,
		Posts:     w.posts,
		Post:      w.post,
		Reels:     w.reels,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpProfile: "from the website, behind a bot check: off unless the setting own is on",
			providers.OpPosts:   "recordings, one page; only from the website, behind a bot check: off unless the setting own is on",
			providers.OpPost:    "a recording or a clip; only from the website, behind a bot check: off unless the setting own is on",
			providers.OpReels:   "clips, newest first; only from the website, behind a bot check: off unless the setting own is on",
		},
	}
	return p.IfOwn(cfg.Own, false)
}

func (w *website) profile(ctx context.Context, handle string) (schema.Profile, error) {
	c, err := w.channel(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return c.V.profile(c.Raw), nil
}

func (w *website) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	c, err := w.channel(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	on, err := c.V.onAir(ctx)
	if err != nil {
		return schema.LiveStream{}, err
	}
	return c.V.live(on, c.Raw), nil
}

func (w *website) channel(ctx context.Context, handle string) (wire.Object[channel], error) {
	var c wire.Object[channel]
	if _, err := w.http.Read(ctx, upstream.Get("api", "v2", "channels", handle), &c); err != nil {
		return c, err
	}
	if err := wire.SameFold(ctx, "channel", handle, c.V.Slug); err != nil {
		return c, err
	}
	if err := wire.Need(ctx, "user_id", c.V.UserID != ""); err != nil {
		return c, err
	}
	if err := wire.Need(ctx, "is_banned", c.V.IsBanned.Is() || c.V.IsBanned.Not()); err != nil {
		return c, err
	}
	if c.V.IsBanned.Is() {
		return c, providers.NotFound("Kick has banned this channel")
	}
	return c, nil
}

// channel is the answer of GET /api/v2/channels/{slug}. Within a recording it has only the first three fields and a
// part of the user.
type channel struct {
	ID          wire.Serial     `json:"id"` // of the channel; the official API only has the id of the user
	UserID      wire.Serial     `json:"user_id"`
	Slug        string          `json:"slug"`
	IsBanned    wire.Bool       `json:"is_banned"`
	Verified    truthy          `json:"verified"` // true, or an object with the date
	Followers   wire.Count      `json:"followers_count"`
	OfFollowers wire.Count      `json:"followersCount"` // in older answers
	Livestream  json.RawMessage `json:"livestream"`     // a [broadcast]; null while offline
	User        struct {
		Username   string `json:"username"`
		Bio        string `json:"bio"`
		ProfilePic string `json:"profile_pic"`
		Picture    string `json:"profilepic"` // in older answers
		Country    string `json:"country"`    // the name of the country
		Instagram  string `json:"instagram"`  // these six are names or URLs
		Twitter    string `json:"twitter"`
		YouTube    string `json:"youtube"`
		Discord    string `json:"discord"`
		TikTok     string `json:"tiktok"`
		Facebook   string `json:"facebook"`
	} `json:"user"`
}

// truthy is a flag that is written as true or as any object.
type truthy bool

// UnmarshalJSON reads everything as true except false, null, 0, "" and an empty list.
func (t *truthy) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "false", "null", "0", `""`, "[]":
		*t = false
	default:
		*t = true
	}
	return nil
}

func (c channel) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Handle:      c.Slug,
		DisplayName: text.NonEmpty(c.User.Username),
		Bio:         text.NonEmpty(c.User.Bio),
		AvatarURL:   text.URL(cmp.Or(c.User.ProfilePic, c.User.Picture)),
		Verified:    bool(c.Verified),
		Followers:   cmp.Or(c.Followers.V, c.OfFollowers.V),
		Links:       c.links(),
	}
	if country := strings.TrimSpace(c.User.Country); twoLetters.MatchString(country) {
		p.Country = new(strings.ToUpper(country))
	}
	return p
}

var (
	twoLetters = regexp.MustCompile(`^[A-Za-z]{2}$`)
	bareName   = regexp.MustCompile(`^[\pL\pN_@./-]+$`)
)

func (c channel) links() []string {
	var urls []string
	for _, l := range []struct{ host, prefix, name string }{
		{"instagram.com", "https://instagram.com/", strings.TrimPrefix(c.User.Instagram, "@")},
		{"twitter.com", "https://x.com/", strings.TrimPrefix(c.User.Twitter, "@")},
		{"youtube.com", "https://youtube.com/", c.User.YouTube},
		{"discord.", "https://discord.gg/", c.User.Discord},
		{"tiktok.com", "https://tiktok.com/@", strings.TrimPrefix(c.User.TikTok, "@")},
		{"facebook.com", "https://facebook.com/", c.User.Facebook},
	} {
		name := strings.Trim(strings.TrimSpace(l.name), "/")
		switch {
		case strings.Contains(name, "://") || strings.Contains(name, l.host) || strings.HasPrefix(name, "x.com/"):
			urls = append(urls, name)
		case bareName.MatchString(name):
			urls = append(urls, l.prefix+name)
		}
	}
	return text.URLs(urls...)
}

// actor returns the channel within another object. If the id of the user is unknown, it is that of the channel, and ""
// if that is unknown too.
func (c channel) actor() schema.Actor {
	if c.Slug == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(cmp.Or(c.UserID, c.ID, wire.Serial(schema.UnknownActor().ID))), Handle: c.Slug,
		DisplayName: text.NonEmpty(c.User.Username), AvatarURL: text.URL(cmp.Or(c.User.ProfilePic, c.User.Picture)),
	}
}

// onAir returns the current broadcast of the channel, nil while it is offline. It returns an error if that is unknown.
func (c channel) onAir(ctx context.Context) (*broadcast, error) {
	return broadcasts(ctx, "livestream", c.Livestream, func(b broadcast) wire.Bool { return b.IsLive })
}

// live uses the id of the channel's user, as the official API does.
func (c channel) live(on *broadcast, raw json.RawMessage) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Host:   c.actor(),
	}
	if on == nil {
		return l
	}
	l.IsLive, l.Title, l.StartedAt = on.IsLive.Is(), text.NonEmpty(on.SessionTitle), on.started()
	l.ThumbnailURL = text.URL(string(on.Thumbnail))
	if l.IsLive {
		l.Viewers = cmp.Or(on.ViewerCount.V, on.Viewers.V)
	}
	return l
}
