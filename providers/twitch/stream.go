package twitch

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// live reads the stream of a channel. A channel off the air has none, like one that does not exist, so it is looked up.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	l, err := c.onAir(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, fmt.Errorf("twitch: live %q: %w", handle, err)
	}
	return l, nil
}

func (c *client) onAir(ctx context.Context, handle string) (schema.LiveStream, error) {
	if !login.MatchString(handle) {
		_, err := c.named(ctx, handle)
		return schema.LiveStream{}, err
	}
	rows, err := get[stream](ctx, c, upstream.Get("streams").With("user_login", handle))
	if err != nil {
		return schema.LiveStream{}, err
	}
	s := streamOf(rows, handle)
	if s == nil {
		u, err := c.named(ctx, handle)
		if err != nil {
			return schema.LiveStream{}, err
		}
		return schema.LiveStream{Common: schema.Common{ID: u.V.ID, URL: site + u.V.Login, Raw: u.Raw}, Host: u.V.actor()}, nil
	}
	host := schema.Actor{ID: s.V.UserID, Handle: cmp.Or(s.V.UserLogin, handle), DisplayName: text.NonEmpty(s.V.UserName)}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if u, err := c.named(brief, handle); err == nil { // for the picture, which the stream can do without
		host.AvatarURL = text.URL(u.V.ProfileImageURL)
	}
	return s.V.stream(host, s.Raw), nil
}

// streamOf picks the row of a login, nil when there is none. A row that stands alone is taken whatever it names: Helix
// was asked for this login only, and old answers name none.
func streamOf(rows []upstream.Object[stream], handle string) *upstream.Object[stream] {
	for i, s := range rows {
		named := strings.EqualFold(s.V.UserLogin, handle) || s.V.UserLogin == "" && strings.EqualFold(s.V.UserName, handle)
		if (named || len(rows) == 1) && s.V.Type == "live" { // "" when Twitch itself is at a loss
			return &rows[i]
		}
	}
	return nil
}

// stream is one of GET /streams.
// https://dev.twitch.tv/docs/api/reference/#get-streams
type stream struct {
	ID           string `json:"id"`
	UserID       string `json:"user_id"`
	UserLogin    string `json:"user_login"` // absent in old answers
	UserName     string `json:"user_name"`
	Type         string `json:"type"`
	Title        string `json:"title"`
	ViewerCount  *int64 `json:"viewer_count"`
	StartedAt    string `json:"started_at"`
	ThumbnailURL string `json:"thumbnail_url"` // a template
}

func (s stream) stream(host schema.Actor, raw []byte) schema.LiveStream {
	return schema.LiveStream{
		Common:       schema.Common{ID: s.ID, URL: site + host.Handle, Raw: raw},
		Host:         host,
		IsLive:       true,
		Title:        text.NonEmpty(s.Title),
		Viewers:      s.ViewerCount,
		StartedAt:    timeOf(s.StartedAt),
		ThumbnailURL: thumbnail(s.ThumbnailURL),
	}
}
