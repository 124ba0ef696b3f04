package kick

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// patience is the maximum wait for optional parts of an object.
const patience = 3 * time.Second

const site = "https://kick.com/"

func (o *official) profile(ctx context.Context, handle string) (schema.Profile, error) {
	c, err := o.channel(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return c.V.profile(o.user(ctx, c.V.UserID), c.V.airing(ctx), c.Raw), nil
}

// profiles reads many profiles: all channels in one request, and their users in another.
func (o *official) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := o.channels(ctx, handles)
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		c, err := found.of(handle)
		if err != nil {
			return schema.Profile{}, err
		}
		return c.V.profile(found.users[c.V.UserID], c.V.airing(ctx), c.Raw), nil
	})
}

func (o *official) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	c, err := o.channel(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	on, err := c.V.onAir(ctx)
	if err != nil {
		return schema.LiveStream{}, err
	}
	return c.V.live(o.user(ctx, c.V.UserID), on, c.Raw), nil
}

// lives reads the broadcasts of many channels, in the same requests as profiles.
func (o *official) lives(ctx context.Context, handles []string) (map[string]schema.LiveStream, error) {
	found, err := o.channels(ctx, handles)
	return providers.PerKey(handles, err, func(handle string) (schema.LiveStream, error) {
		c, err := found.of(handle)
		if err != nil {
			return schema.LiveStream{}, err
		}
		on, err := c.V.onAir(ctx)
		if err != nil {
			return schema.LiveStream{}, err
		}
		return c.V.live(found.users[c.V.UserID], on, c.Raw), nil
	})
}

// channels are the results for some slugs.
type channels struct {
	rows  wire.Keyed[officialChannel]
	users map[wire.Serial]officialUser // those that could be read
}

// channels looks up slugs, and their users.
// https://docs.kick.com/apis/channels
func (o *official) channels(ctx context.Context, handles []string) (found channels, err error) {
	r := upstream.Get("public", "v1", "channels").Each("slug", handles)
	r.Input = true
	var a answer[officialChannel]
	if _, err = o.http.Read(ctx, r, &a); err != nil {
		return found, err
	}
	found.rows, err = wire.ByKey(ctx, "data", a.Data, handles, func(c officialChannel) string { return strings.ToLower(c.Slug) })
	if err != nil {
		return found, err
	}
	var ids []string
	for _, handle := range handles {
		if c, err := found.of(handle); err == nil {
			ids = append(ids, string(c.V.UserID))
		}
	}
	if len(ids) > 0 {
		found.users = o.users(ctx, ids)
	}
	return found, nil
}

// of returns the channel of a slug.
func (f channels) of(handle string) (wire.Object[officialChannel], error) {
	c, err := f.rows.Of(handle, noChannel())
	switch {
	case err != nil:
	case c.V.UserID == "":
		err = providers.Unreadable(nil)
	default:
		c.Raw = withoutKey(c.Raw)
	}
	return c, err
}

func noChannel() error { return providers.NotFound("Kick has no such channel") }

// answer is the envelope of every answer of the official API.
type answer[T any] struct {
	Data wire.Rows[T] `json:"data"`
}

// channel looks up a slug. For one that does not exist, the answer is an empty list.
func (o *official) channel(ctx context.Context, handle string) (wire.Object[officialChannel], error) {
	var none wire.Object[officialChannel]
	var a answer[officialChannel]
	if _, err := o.http.Read(ctx, upstream.Get("public", "v1", "channels").Says("slug", handle), &a); err != nil {
		return none, err
	}
	if err := a.Data.Check(ctx, "data"); err != nil {
		return none, err
	}
	for _, c := range a.Data.All() {
		if strings.EqualFold(c.V.Slug, handle) && c.V.UserID != "" {
			c.Raw = withoutKey(c.Raw)
			return c, nil
		}
	}
	if a.Data.Len() > 0 {
		return none, wire.Same(ctx, "channel", handle, "")
	}
	return none, noChannel()
}

// user looks up the name and picture of a channel's user. They are optional.
func (o *official) user(ctx context.Context, id wire.Serial) officialUser {
	return o.users(ctx, []string{string(id)})[id]
}

// users is user for several channels.
func (o *official) users(ctx context.Context, ids []string) map[wire.Serial]officialUser {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := map[wire.Serial]officialUser{}
	var a answer[officialUser]
	if _, err := o.http.Read(ctx, upstream.Get("public", "v1", "users").Each("id", ids), &a); err == nil {
		for _, u := range a.Data.All() {
			if _, twice := found[u.V.ID]; !twice {
				found[u.V.ID] = u.V
			}
		}
	}
	for _, id := range ids {
		if _, ok := found[wire.Serial(id)]; !ok {
			callctx.Of(ctx).Trace.Unknown("display_name", "avatar_url", "host.display_name", "host.avatar_url")
		}
	}
	return found
}

// officialUser is an element of GET /public/v1/users.
// https://docs.kick.com/apis/users
type officialUser struct {
	ID             wire.Serial `json:"user_id"`
	Name           string      `json:"name"`
	ProfilePicture string      `json:"profile_picture"`
}

// officialChannel is an element of GET /public/v1/channels.
// https://docs.kick.com/apis/channels
type officialChannel struct {
	UserID      wire.Serial     `json:"broadcaster_user_id"`
	Slug        string          `json:"slug"`
	Description string          `json:"channel_description"`
	StreamTitle string          `json:"stream_title"`
	Stream      json.RawMessage `json:"stream"` // an [officialStream]; null while offline
}

// officialStream is the broadcast of a channel. While the channel is offline its fields are empty, and its time is in
// the year 1.
type officialStream struct {
	IsLive      wire.Bool  `json:"is_live"`
	Language    string     `json:"language"`
	StartTime   wire.Time  `json:"start_time"`
	Thumbnail   string     `json:"thumbnail"`
	ViewerCount wire.Count `json:"viewer_count"`
}

// onAir returns the current or last broadcast of the channel, nil if there is none. It returns an error if it is
// unknown whether the channel is live.
func (c officialChannel) onAir(ctx context.Context) (*officialStream, error) {
	return broadcasts(ctx, "stream", c.Stream, func(s officialStream) wire.Bool { return s.IsLive })
}

// broadcasts decodes the part of a channel that shows whether it is live. Null means that it is offline. If the part is
// missing or unreadable, that is unknown, and the result is an error.
func broadcasts[T any](ctx context.Context, part string, raw json.RawMessage, live func(T) wire.Bool) (*T, error) {
	if err := wire.Need(ctx, part, raw != nil); err != nil {
		return nil, err
	}
	if string(raw) == "null" {
		return nil, nil
	}
	var v T
	if err := wire.Decode(ctx, raw, &v); err != nil {
		return nil, err
	}
	return &v, wire.Need(ctx, part+".is_live", live(v).V != nil)
}

// airing is onAir for callers that do not need the broadcast.
func (c officialChannel) airing(ctx context.Context) *officialStream {
	on, err := c.onAir(ctx)
	if err != nil {
		return nil
	}
	return on
}

func (c officialChannel) profile(u officialUser, on *officialStream, raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Handle:      c.Slug,
		DisplayName: text.NonEmpty(u.Name),
		Bio:         text.NonEmpty(c.Description),
		AvatarURL:   text.URL(u.ProfilePicture),
	}
	if on != nil && on.IsLive.Is() {
		p.Lang = language(on.Language)
	}
	return p
}

func (c officialChannel) live(u officialUser, on *officialStream, raw json.RawMessage) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Host: schema.Actor{
			ID: string(c.UserID), Handle: c.Slug, DisplayName: text.NonEmpty(u.Name), AvatarURL: text.URL(u.ProfilePicture),
		},
		Title: text.NonEmpty(c.StreamTitle),
	}
	if on == nil {
		return l
	}
	l.IsLive, l.StartedAt, l.ThumbnailURL = on.IsLive.Is(), on.StartTime.V, text.URL(on.Thumbnail)
	if l.IsLive {
		l.Viewers = on.ViewerCount.V
	}
	return l
}

// forward reads a route unchanged, except that it removes stream keys.
func (o *official) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	raw, err := o.http.Forward(ctx, path, query)
	if err != nil {
		return nil, err
	}
	var whole map[string]json.RawMessage
	if json.Unmarshal(raw, &whole) != nil || !bytes.HasPrefix(whole["data"], []byte("[")) {
		return raw, nil
	}
	rows, n := []byte{'['}, 0
	for row := range wire.Split(whole["data"]) {
		if n++; n > wire.MaxRows {
			return nil, providers.Unreadable(providers.Cause("too many rows"))
		}
		if n > 1 {
			rows = append(rows, ',')
		}
		rows = append(rows, withoutKey(row)...)
	}
	whole["data"] = append(rows, ']')
	return schema.Marshal(whole)
}

// withoutKey removes the ingest address and the stream key of a channel: with them, anyone can broadcast on it.
func withoutKey(raw json.RawMessage) json.RawMessage {
	var channel, stream map[string]json.RawMessage
	if json.Unmarshal(raw, &channel) != nil || json.Unmarshal(channel["stream"], &stream) != nil {
		return raw
	}
	delete(stream, "key")
	delete(stream, "url")
	// Decoded JSON always marshals.
	channel["stream"], _ = schema.Marshal(stream)
	out, _ := schema.Marshal(channel)
	return out
}

// languages maps the English names that the website uses to codes.
var languages = map[string]string{
	"albanian": "sq", "arabic": "ar", "bulgarian": "bg", "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da",
	"dutch": "nl", "english": "en", "estonian": "et", "filipino": "fil", "finnish": "fi", "french": "fr", "georgian": "ka",
	"german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "italian": "it",
	"japanese": "ja", "korean": "ko", "latvian": "lv", "lithuanian": "lt", "malay": "ms", "norwegian": "no", "persian": "fa",
	"polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "slovak": "sk", "slovenian": "sl",
	"spanish": "es", "swedish": "sv", "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}

// language returns the code of a language given as an English name, and a code unchanged.
func language(s string) *string {
	return new(cmp.Or(languages[strings.ToLower(strings.TrimSpace(s))], s))
}
