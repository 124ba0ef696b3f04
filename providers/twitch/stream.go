package twitch

import (
	"cmp"
	"context"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// live reads the stream of a channel. A channel off the air has none, like one that does not exist, so it is looked up.
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
		off := schema.Common{ID: string(u.V.ID), URL: site + u.V.Login, Raw: u.Raw}
		return schema.LiveStream{Common: off, Host: u.V.actor()}, nil
	}
	host, err := c.host(ctx, s.V, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	return s.V.stream(host, s.Raw), nil
}

// host returns whose stream s is. The account is looked up for its picture, which a stream can do without.
func (c *client) host(ctx context.Context, s stream, handle string) (schema.Actor, error) {
	host := schema.Actor{ID: string(s.UserID), Handle: cmp.Or(s.UserLogin, handle), DisplayName: text.NonEmpty(s.UserName)}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := c.named(ctx, handle)
	switch {
	case err != nil:
		return host, nil //nolint:nilerr // see above
	case s.UserID != "" && s.UserID != u.V.ID:
		return host, wire.Same(ctx, "account", string(u.V.ID), string(s.UserID))
	}
	host.ID, host.AvatarURL = string(u.V.ID), text.URL(u.V.ProfileImageURL)
	return host, nil
}

// streamOf picks the row of a login, nil when the channel is off the air. A row that stands alone is taken whatever it
// names: Helix was asked for this login only, and old answers name none.
func streamOf(ctx context.Context, rows wire.Rows[stream], handle string) (*wire.Object[stream], error) {
	for _, s := range rows.All() {
		named := strings.EqualFold(s.V.UserLogin, handle) || s.V.UserLogin == "" && strings.EqualFold(s.V.UserName, handle)
		switch {
		case !named && rows.Len()+rows.Lost() > 1:
		case s.V.Type.V == "live":
			return &s, nil
		default: // "" when Twitch itself is at a loss
			return nil, wire.Need(ctx, "data[].type", s.V.Type.Raw != nil && s.V.Type.V == "")
		}
	}
	if rows.Len() == 0 {
		return nil, nil
	}
	return nil, wire.Same(ctx, "account", handle, "")
}

// stream is one of GET /streams.
// https://dev.twitch.tv/docs/api/reference/#get-streams
type stream struct {
	ID           wire.ID             `json:"id"`
	UserID       wire.Serial         `json:"user_id"`
	UserLogin    string              `json:"user_login"` // absent in old answers
	UserName     string              `json:"user_name"`
	Type         wire.Object[string] `json:"type"` // "live"; "" is no word, and none at all is not known
	Title        string              `json:"title"`
	ViewerCount  wire.Count          `json:"viewer_count"`
	StartedAt    wire.Time           `json:"started_at"`
	ThumbnailURL string              `json:"thumbnail_url"` // a template
}

func (s stream) stream(host schema.Actor, raw []byte) schema.LiveStream {
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
