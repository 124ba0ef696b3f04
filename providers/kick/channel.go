package kick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// patience is how long to wait for what an object can do without.
const patience = 3 * time.Second

const site = "https://kick.com/"

func (o *official) profile(ctx context.Context, handle string) (schema.Profile, error) {
	c, err := o.channel(ctx, handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("kick: profile %q: %w", handle, err)
	}
	return c.V.profile(o.user(ctx, c.V.UserID), c.Raw), nil
}

func (o *official) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	c, err := o.channel(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, fmt.Errorf("kick: live %q: %w", handle, err)
	}
	return c.V.live(o.user(ctx, c.V.UserID), c.Raw), nil
}

// answer is what every read of the official interface gives.
type answer[T any] struct {
	Data []T `json:"data"`
}

// errNoList says that an answer, though JSON, holds no list: to pass it on as an empty one would be a lie.
var errNoList = errors.New("kick: the answer holds no data")

// channel looks up a slug. One that does not exist comes as an empty list.
func (o *official) channel(ctx context.Context, handle string) (upstream.Object[officialChannel], error) {
	var a answer[upstream.Object[officialChannel]]
	if _, err := o.http.JSON(ctx, upstream.Get("public", "v1", "channels").With("slug", handle), &a); err != nil {
		return upstream.Object[officialChannel]{}, err
	}
	if a.Data == nil {
		return upstream.Object[officialChannel]{}, providers.Unreadable(errNoList)
	}
	for _, c := range a.Data {
		if strings.EqualFold(c.V.Slug, handle) && c.V.UserID != "" && c.V.UserID != "0" {
			c.Raw = withoutKey(c.Raw)
			return c, nil
		}
	}
	return upstream.Object[officialChannel]{}, providers.NotFound("Kick has no such channel")
}

// user looks up the name and picture behind a channel, which the channel can do without.
func (o *official) user(ctx context.Context, id upstream.ID) officialUser {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var a answer[officialUser]
	if _, err := o.http.JSON(ctx, upstream.Get("public", "v1", "users").With("id", string(id)), &a); err != nil {
		return officialUser{}
	}
	for _, u := range a.Data {
		if u.ID == id {
			return u
		}
	}
	return officialUser{}
}

// officialUser is one of GET /public/v1/users.
// https://docs.kick.com/apis/users
type officialUser struct {
	ID             upstream.ID `json:"user_id"`
	Name           string      `json:"name"`
	ProfilePicture string      `json:"profile_picture"`
}

// officialChannel is one of GET /public/v1/channels. Off the air the fields of the stream are empty, and its time is the
// year 1.
// https://docs.kick.com/apis/channels
type officialChannel struct {
	UserID      upstream.ID `json:"broadcaster_user_id"`
	Slug        string      `json:"slug"`
	Description string      `json:"channel_description"`
	StreamTitle string      `json:"stream_title"`
	Stream      struct {
		IsLive      bool         `json:"is_live"`
		Language    string       `json:"language"`
		StartTime   string       `json:"start_time"`
		Thumbnail   string       `json:"thumbnail"`
		ViewerCount upstream.Int `json:"viewer_count"`
	} `json:"stream"`
}

func (c officialChannel) profile(u officialUser, raw []byte) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Handle:      c.Slug,
		DisplayName: text.NonEmpty(u.Name),
		Bio:         text.NonEmpty(c.Description),
		AvatarURL:   text.URL(u.ProfilePicture),
	}
	if c.Stream.IsLive {
		p.Lang = language(c.Stream.Language)
	}
	return p
}

func (c officialChannel) live(u officialUser, raw []byte) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: string(c.UserID), URL: site + c.Slug, Raw: raw},
		Host: schema.Actor{
			ID: string(c.UserID), Handle: c.Slug, DisplayName: text.NonEmpty(u.Name), AvatarURL: text.URL(u.ProfilePicture),
		},
		IsLive:       c.Stream.IsLive,
		Title:        text.NonEmpty(c.StreamTitle),
		StartedAt:    timeOf(c.Stream.StartTime),
		ThumbnailURL: text.URL(c.Stream.Thumbnail),
	}
	if l.IsLive {
		l.Viewers = c.Stream.ViewerCount.V
	}
	return l
}

// timeOf reads a time in any of Kick's forms, nil for the year 1, which stands for none.
func timeOf(s string) *time.Time {
	t := dates.Parse(s, time.RFC3339, time.DateTime)
	if t == nil || t.Year() <= 1 {
		return nil
	}
	return t
}

// forward reads a route unchanged, but for the stream keys.
func (o *official) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	raw, err := o.http.Forward(ctx, path, query)
	if err != nil {
		return nil, err
	}
	var whole map[string]json.RawMessage
	var rows answer[json.RawMessage]
	if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(raw, &rows) != nil || rows.Data == nil {
		return raw, nil
	}
	for i, row := range rows.Data {
		rows.Data[i] = withoutKey(row)
	}
	if whole["data"], err = schema.Marshal(rows.Data); err != nil {
		return nil, providers.Unreadable(err)
	}
	return schema.Marshal(whole)
}

// withoutKey takes the address and the key that a channel streams to out of it: whoever has them is on air in its name.
func withoutKey(raw json.RawMessage) json.RawMessage {
	var channel, stream map[string]json.RawMessage
	if json.Unmarshal(raw, &channel) != nil || json.Unmarshal(channel["stream"], &stream) != nil {
		return raw
	}
	delete(stream, "key")
	delete(stream, "url")
	// Maps of JSON always marshal.
	channel["stream"], _ = schema.Marshal(stream)
	out, _ := schema.Marshal(channel)
	return out
}
