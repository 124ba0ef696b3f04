package mock

import (
	"strconv"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// livelyWord is an account whose life goes by the clock, unlike that of any other: what is read of it changes.
const livelyWord = "lively"

// What happens to lively: it posts at the beginning of each livelyPosts, changes the text of each post once when it is
// livelyEdits old, takes every fifth post away again at livelyGone, and goes to something else in its broadcast with each
// livelyTitles.
const (
	livelyPosts  = 5 * time.Minute
	livelyEdits  = 10 * time.Minute
	livelyGone   = 20 * time.Minute
	livelyTitles = 20 * time.Second
	livelyLength = 40 // posts
)

// lively reports whether a handle is that of the account that goes by the clock.
func (s *sandbox) lively(handle string) bool {
	w := s.magic([]string{handle})
	return w.Word == livelyWord
}

// livelyPost returns when the post with an id was made; ok is false for posts of others.
func (s *sandbox) livelyPost(id string) (made time.Time, ok bool) {
	parent, kind, n, ok := parse(id)
	if !ok || kind != "post" || !s.lively(parent) {
		return made, false
	}
	return time.Unix(0, 0).Add(time.Duration(n) * livelyPosts).UTC(), true
}

// livelyPosts lists the posts that there are now.
func (s *sandbox) livelyPosts(handle string) series[schema.Post] {
	now := s.now()
	newest := int(now.UnixNano() / int64(livelyPosts))
	var ids []string
	for n := newest; len(ids) < livelyLength; n-- {
		if id := child(handle, "post", n); s.livelyThere(id, now) {
			ids = append(ids, id)
		}
	}
	return series[schema.Post]{n: len(ids), at: func(i int) schema.Post { return s.item(ids[i%len(ids)]).post() }}
}

// livelyThere reports whether a post of lively exists at that time.
func (s *sandbox) livelyThere(id string, now time.Time) bool {
	made, _ := s.livelyPost(id)
	_, _, n, _ := parse(id)
	return !made.After(now) && (n%5 != 0 || now.Sub(made) < livelyGone)
}

// livelyItem is what becomes of a post of lively.
func (s *sandbox) livelyItem(p item, made time.Time) item {
	age := s.now().Sub(made)
	p.PostedAt = made.Unix()
	if age >= livelyEdits {
		p.Body += " (edited)"
	}
	p.Hearts = new(10 + int64(max(0, age)/time.Minute))
	return p
}

// livelyRoom is the broadcast of lively: always on air.
func (s *sandbox) livelyRoom(r room) room {
	now := s.now()
	turn := now.UnixNano() / int64(livelyTitles)
	d := roll("lively", strconv.FormatInt(turn, 10))
	r.OnAir = true
	r.Title = new(pick(d, titles["en"]) + " " + strconv.FormatInt(turn%1000, 10))
	r.Watching = new(int64(d.between(500, 5000)))
	r.Since = new(now.Truncate(24 * time.Hour).Unix())
	return r
}

// livelyUser is the account of lively: it has one follower more each second, and another motto each hour.
func (s *sandbox) livelyUser(u user) user {
	now := s.now()
	u.About = new("Hour " + now.UTC().Format("15") + " of a lively day")
	u.Fans = new(now.Unix() % 10_000_000)
	return u
}
