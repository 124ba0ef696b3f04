package tiktok

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// roomID is the number of a room, "" when there is none.
type roomID struct {
	V     string
	known bool // set if the field was readable
}

// UnmarshalJSON never fails.
func (r *roomID) UnmarshalJSON(b []byte) error {
	var id wire.Serial
	_ = id.UnmarshalJSON(b) // nor does this
	*r = roomID{string(id), id != "" || string(b) == `""` || string(bytes.Trim(b, `"`)) == "0"}
	return nil
}

// room is the answer of webcast/room/info.
type room struct {
	ID        wire.Serial `json:"id_str"`
	Title     string      `json:"title"`
	Status    wire.Count  `json:"status"` // 2 on air, 4 over
	Viewers   wire.Count  `json:"user_count"`
	Likes     wire.Count  `json:"like_count"`
	CreatedAt wire.Time   `json:"create_time"`
	Cover     struct {
		URLs []string `json:"url_list"`
	} `json:"cover"`
	Owner struct {
		ID       wire.Serial `json:"id_str"`
		Handle   string      `json:"display_id"`
		Nickname string      `json:"nickname"`
	} `json:"owner"`
}

// onAir is the status of a room with a broadcast.
const onAir = 2

// live reads the room of an account, which has one only while it broadcasts.
func (w *web) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	d, err := w.user(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	u := d.V.Info.User
	out := schema.LiveStream{
		Common: schema.Common{ID: string(u.ID), URL: profileURL(u.UniqueID) + "/live", Raw: d.Raw}, Host: u.actor(),
	}
	if err := wire.Need(ctx, "webapp.user-detail.userInfo.user.roomId", u.Room.known); err != nil || u.Room.V == "" {
		return out, err
	}
	r, err := w.room(ctx, u.Room.V)
	if err != nil {
		return out, err
	}
	return r.V.broadcast(out, r.Raw), nil
}

func (w *web) room(ctx context.Context, id string) (wire.Object[room], error) {
	var answer struct {
		Data wire.Object[room] `json:"data"`
	}
	_, err := w.webcast.Read(ctx, upstream.Get("webcast/room/info/").With("aid", "1988").With("room_id", id), &answer)
	if err != nil {
		return wire.Object[room]{}, err
	}
	if err := wire.Need(ctx, "data.status", answer.Data.V.Status.V != nil); err != nil {
		return wire.Object[room]{}, err
	}
	err = wire.Same(ctx, "room", id, string(answer.Data.V.ID))
	return answer.Data, err
}

// broadcast completes the data from the page of the account.
func (r room) broadcast(out schema.LiveStream, raw json.RawMessage) schema.LiveStream {
	if *r.Status.V != onAir {
		return out
	}
	out.ID, out.Raw, out.IsLive = string(r.ID), raw, true
	out.Title, out.StartedAt, out.ThumbnailURL = text.NonEmpty(r.Title), r.CreatedAt.V, text.URL(text.First(r.Cover.URLs))
	out.Viewers, out.Likes = r.Viewers.V, r.Likes.V
	return out
}
