package twitch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// live reads the stream of a channel. If there is none, the channel is looked up, because the answer is the same for an
// offline channel and a missing one.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	if !login.MatchString(handle) {
		_, err := c.named(ctx, handle)
		return schema.LiveStream{}, err
	}
	rows, _, err := list[stream](ctx, c, upstream.Get("streams").Says("user_login", handle), "")
	if err != nil {
		return schema.LiveStream{}, err
	}
	s, err := streamOf(ctx, rows, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	if s == nil {
		u, err := c.named(ctx, handle)
		if err != nil {
			return schema.LiveStream{}, err
		}
		return offAir(u), nil
	}
	host, err := c.host(ctx, s.V, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	return s.V.stream(host, s.Raw), nil
}

// errOffAir means that a channel has no stream.
var errOffAir = errors.New("offline")

// lives reads the streams of channels, and their accounts.
// https://dev.twitch.tv/docs/api/reference/#get-streams
func (c *client) lives(ctx context.Context, handles []string) (map[string]schema.LiveStream, error) {
	known := providers.Together(handles, together.MatchString)
	var on airing
	var err error
	on.accounts, on.unknown = c.accounts(ctx, handles)
	logins := map[wire.Serial]string{}
	for _, handle := range known {
		if u, err := on.accounts.of(handle); err == nil {
			logins[u.V.ID] = handle
		}
	}
	on.streams, err = several(ctx, c, upstream.Get("streams").With("first", pageSize), "user_login", known, func(s stream) string {
		return cmp.Or(strings.ToLower(s.UserLogin), logins[s.UserID], strings.ToLower(s.UserName))
	})
	if on.unknown != nil && (ctx.Err() != nil || !slices.ContainsFunc(known, on.isOn)) {
		err = on.unknown
	}
	return providers.PerKey(handles, err, func(handle string) (schema.LiveStream, error) { return on.live(ctx, handle) })
}

// airing are the broadcasts of some channels, and their accounts.
type airing struct {
	streams  wire.Keyed[stream]
	accounts accounts
	unknown  error // why the accounts could not be read; they are optional
}

func (a airing) isOn(handle string) bool {
	_, err := a.streams.Of(handle, errOffAir)
	return err == nil
}

// on returns the stream of a channel, and whether it is running.
func (a airing) on(ctx context.Context, handle string) (s wire.Object[stream], on bool, err error) {
	s, err = a.streams.Of(handle, errOffAir)
	if errors.Is(err, errOffAir) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	on, err = s.V.live(ctx)
	return s, on, err
}

func (a airing) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	u, unknown := a.accounts.of(handle)
	if !together.MatchString(handle) {
		return schema.LiveStream{}, unknown
	}
	s, on, err := a.on(ctx, handle)
	switch unknown = cmp.Or(a.unknown, unknown); {
	case err != nil:
		return schema.LiveStream{}, err
	case on:
		host, err := s.V.host(ctx, handle, u.V, unknown)
		return s.V.stream(host, s.Raw), err
	case unknown != nil:
		return schema.LiveStream{}, unknown
	}
	return offAir(u), nil
}

// live reports whether s is a running stream. It returns an error if that is unknown.
func (s stream) live(ctx context.Context) (bool, error) {
	if s.Type.V == "live" {
		return true, nil
	}
	return false, wire.Need(ctx, "data[].type", s.Type.Raw != nil && s.Type.V == "") // "" after an error inside Twitch
}

// offAir returns the channel of an account without a stream.
func offAir(u wire.Object[user]) schema.LiveStream {
	return schema.LiveStream{
		Common: schema.Common{ID: string(u.V.ID), URL: site + u.V.Login, Raw: u.Raw}, Host: u.V.actor(),
	}
}

// host returns the channel of s. The account is looked up for its picture, which is optional.
func (c *client) host(ctx context.Context, s stream, handle string) (schema.Actor, error) {
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := c.named(brief, handle)
	return s.host(ctx, handle, u.V, err)
}

// host returns the channel of s, with the data of the account u unless err is set.
func (s stream) host(ctx context.Context, handle string, u user, err error) (schema.Actor, error) {
	host := schema.Actor{ID: string(s.UserID), Handle: cmp.Or(s.UserLogin, handle), DisplayName: text.NonEmpty(s.UserName)}
	switch {
	case err != nil:
		callctx.Of(ctx).Trace.Unknown("host.avatar_url")
		return host, nil //nolint:nilerr // see above
	case s.UserID != "" && s.UserID != u.ID:
		return host, wire.Same(ctx, "account", string(u.ID), string(s.UserID))
	}
	host.ID, host.AvatarURL = string(u.ID), text.URL(u.ProfileImageURL)
	return host, nil
}

// streamOf returns the row of a login, nil if the channel is offline. A single row is accepted without a login: only
// this login was requested, and old answers have none.
func streamOf(ctx context.Context, rows wire.Rows[stream], handle string) (*wire.Object[stream], error) {
	for _, s := range rows.All() {
		named := strings.EqualFold(s.V.UserLogin, handle) || s.V.UserLogin == "" && strings.EqualFold(s.V.UserName, handle)
		switch {
		case !named && rows.Len()+rows.Lost() > 1:
		default:
			on, err := s.V.live(ctx)
			if !on {
				return nil, err
			}
			return &s, nil
		}
	}
	if rows.Len() == 0 {
		return nil, nil
	}
	return nil, wire.Same(ctx, "account", handle, "")
}

// stream is an element of GET /streams.
// https://dev.twitch.tv/docs/api/reference/#get-streams
type stream struct {
	ID           wire.ID             `json:"id"`
	UserID       wire.Serial         `json:"user_id"`
	UserLogin    string              `json:"user_login"` // absent in old answers
	UserName     string              `json:"user_name"`
	Type         wire.Object[string] `json:"type"` // "live"; "" or missing if unknown
	Title        string              `json:"title"`
	ViewerCount  wire.Count          `json:"viewer_count"`
	StartedAt    wire.Time           `json:"started_at"`
	ThumbnailURL string              `json:"thumbnail_url"` // a template
}

func (s stream) stream(host schema.Actor, raw json.RawMessage) schema.LiveStream {
	return schema.LiveStream{
		Common:       schema.Common{ID: string(s.ID), URL: site + host.Handle, Raw: raw},
		Host:         host,
		IsLive:       true,
		Title:        text.NonEmpty(s.Title),
		Viewers:      s.ViewerCount.V,
		StartedAt:    s.StartedAt.V,
		ThumbnailURL: thumbnail(s.ThumbnailURL),
	}
}
