package mock

import (
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// livelyWord is an account whose data changes with the clock, unlike that of all others.
const livelyWord = "lively"

// The changes of lively: it publishes a post at the beginning of each livelyPosts, changes the text of each post once
// when the post is livelyEdits old, deletes every fifth post at the age of livelyGone, and changes the title of its
// broadcast every livelyTitles.
const (
	livelyPosts  = 5 * time.Minute
	livelyEdits  = 10 * time.Minute
	livelyGone   = 20 * time.Minute
	livelyTitles = 20 * time.Second
	livelyLength = 40 // posts
)

// lively is the account of livelyWord in the sandbox of a platform.
type lively struct {
	id  platform.ID
	now func() time.Time
}

// is reports whether a handle is that of the account.
func (l lively) is(handle string) bool { return magic(l.id, []string{handle}).Word == livelyWord }

// published returns when the post with an id was published; ok is false for posts of other accounts.
func (l lively) published(id string) (at time.Time, ok bool) {
	parent, kind, n, ok := parse(id)
	if !ok || kind != "post" || !l.is(parent) {
		return at, false
	}
	return time.Unix(0, 0).Add(time.Duration(n) * livelyPosts).UTC(), true
}

// livelyPosts lists the posts that exist now.
func (g *generator) livelyPosts(handle string) series[schema.Post] {
	now := g.lively.now()
	newest := int(now.UnixNano() / int64(livelyPosts))
	var ids []string
	for n := newest; len(ids) < livelyLength; n-- {
		if id := child(handle, "post", n); g.lively.exists(id, now) {
			ids = append(ids, id)
		}
	}
	return series[schema.Post]{n: len(ids), at: func(i int) schema.Post { return g.item(ids[i%len(ids)]).post() }}
}

// exists reports whether a post of the account exists at that time.
func (l lively) exists(id string, now time.Time) bool {
	published, _ := l.published(id)
	_, _, n, _ := parse(id)
	return !published.After(now) && (n%5 != 0 || now.Sub(published) < livelyGone)
}

// item applies the changes of a post of the account.
func (l lively) item(p item, published time.Time) item {
	age := l.now().Sub(published)
	p.PostedAt = published.Unix()
	if age >= livelyEdits {
		p.Body += " (edited)"
	}
	p.Hearts = new(10 + int64(max(0, age)/time.Minute))
	return p
}

// room is the broadcast of the account, which is always live.
func (l lively) room(r room) room {
	now := l.now()
	turn := now.UnixNano() / int64(livelyTitles)
	d := roll("lively", strconv.FormatInt(turn, 10))
	r.OnAir = true
	r.Title = new(pick(d, titles["en"]) + " " + strconv.FormatInt(turn%1000, 10))
	r.Watching = new(int64(d.between(500, 5000)))
	r.Since = new(now.Truncate(24 * time.Hour).Unix())
	return r
}

// user is the account: it gains a follower each second, and has a new bio each hour.
func (l lively) user(u user) user {
	now := l.now()
	u.About = new("Hour " + now.UTC().Format("15") + " of a lively day")
	u.Fans = new(now.Unix() % 10_000_000)
	return u
}
