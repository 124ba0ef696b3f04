package rumble

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// mostMarked is the maximum number of videos marked as live that are checked: the mark may outlive the broadcast.
const mostMarked = 3

// live looks for a video that the account's page marks as live, and checks with its player.
func (s *site) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	p, h, err := s.channel(ctx, handle, "")
	if err != nil {
		return schema.LiveStream{}, err
	}
	rows, err := p.listing(ctx, "")
	if err != nil {
		return schema.LiveStream{}, err
	}
	asked := map[string]bool{}
	for _, r := range rows {
		if !r.Live || asked[r.Number] || len(asked) == mostMarked {
			continue
		}
		asked[r.Number] = true
		l, err := s.onAir(ctx, h, r)
		if err != nil || l.IsLive {
			return l, err
		}
	}
	return schema.LiveStream{
		Common: schema.Common{ID: h.Account.id(), URL: h.Account.url(), Raw: raw(h)},
		Host:   h.actor(),
	}, nil
}

// onAir reads the player of a video that is marked as live, and the number of viewers if it is live.
func (s *site) onAir(ctx context.Context, h header, r row) (l schema.LiveStream, err error) {
	if err := wire.Need(ctx, "data-video-id", r.ID != "" && playerOf(r.Number) != ""); err != nil {
		return l, err
	}
	p, err := s.player(ctx, playerOf(r.Number))
	if err != nil {
		return l, behind(err)
	}
	if other := pageID(p.V.Page); other != "" {
		err = wire.Same(ctx, "video", r.ID, other)
	}
	if err != nil {
		return l, err
	}
	live, err := p.V.isLive(ctx)
	if err != nil || !live {
		return l, err
	}
	viewers, rawViewers, err := s.viewers(ctx, r.Number)
	if err != nil {
		return l, err
	}
	return schema.LiveStream{
		Common: schema.Common{ID: r.ID, URL: pageURL(r.URL), Raw: raw(struct {
			Player   json.RawMessage `json:"player"`
			Watching json.RawMessage `json:"watching"`
		}{p.Raw, rawViewers})},
		Host:         h.actor(),
		IsLive:       true,
		Title:        text.NonEmpty(cmp.Or(p.V.title(), r.Title)),
		Viewers:      viewers,
		StartedAt:    p.V.Published.V,
		ThumbnailURL: absolute(cmp.Or(p.V.Picture, r.Picture)),
	}, nil
}

// watching is the current number of viewers.
type watching struct {
	Number  wire.ID    `json:"video_id"`
	Viewers wire.Count `json:"viewer_count"`
	Older   wire.Count `json:"num_watching_now"`
}

func (s *site) viewers(ctx context.Context, number string) (*int64, json.RawMessage, error) {
	var answer struct {
		Data wire.Object[watching] `json:"data"`
	}
	r := upstream.Get("service.php").With("name", "video.watching-now").With("video_id", number)
	if _, err := s.watching.Read(ctx, r, &answer); err != nil {
		return nil, nil, behind(err)
	}
	w := answer.Data.V
	if w.Number != "" {
		if err := wire.Same(ctx, "video", number, string(w.Number)); err != nil {
			return nil, nil, err
		}
	}
	viewers := cmp.Or(w.Viewers.V, w.Older.V)
	return viewers, answer.Data.Raw, wire.Need(ctx, "data.viewer_count", viewers != nil)
}
