package mock

import (
	"time"

	"github.com/socialdata/socialdata/schema"
)

// live returns the broadcast of an account. Two handles always have the same state: on_air and off_air.
func (s *sandbox) live(handle string) (schema.LiveStream, error) {
	return s.room(handle).live(), nil
}

// room is a broadcast in the format of the sandbox platform. While offline, everything except the host is null.
type room struct {
	RoomID   string  `json:"room_id"`
	Link     string  `json:"link"`
	Host     account `json:"host"`
	OnAir    bool    `json:"on_air"`
	Title    *string `json:"title"`
	Watching *int64  `json:"watching"`
	Hearts   *int64  `json:"hearts"`
	Since    *int64  `json:"since"` // Unix seconds
	Picture  *string `json:"picture"`
}

func (g *generator) room(handle string) room {
	d := roll("live", handle)
	r := room{RoomID: child(handle, "live", 1), Link: g.page("@"+handle, "live"), Host: g.account(handle), OnAir: d.often(50)}
	if g.lively.is(handle) {
		return g.lively.room(r)
	}
	switch handle {
	case "on_air":
		r.OnAir = true
	case "off_air":
		r.OnAir = false
	}
	if !r.OnAir {
		return r
	}
	lang := homeOf(handle).lang
	r.Title = hide(d, 10, pick(d, titles[lang])+" "+pick(d, emoji))
	r.Watching = hide(d, 10, d.count(5))
	r.Hearts = hide(d, 30, d.count(6))
	r.Since = new(g.ago(time.Duration(d.between(1, 180)) * time.Minute))
	r.Picture = hide(d, 20, g.file("live", handle+".jpg"))
	return r
}

func (r room) live() schema.LiveStream {
	return schema.LiveStream{
		Common:       common(r.RoomID, r.Link, r),
		Host:         r.Host.actor(),
		IsLive:       r.OnAir,
		Title:        r.Title,
		Viewers:      r.Watching,
		Likes:        r.Hearts,
		StartedAt:    atOrNil(r.Since),
		ThumbnailURL: r.Picture,
	}
}
