package cursor

import (
	"hash/fnv"
	"slices"

	"github.com/socialdata/socialdata/schema"
)

const idSize = 6 // bytes kept of a hash: one false match in 10^12

// Identity returns a hash that distinguishes an object from the others in a list.
func Identity(o schema.Object) uint64 {
	c := o.Shared()
	return Hash(string(c.Platform), c.ID, c.URL)
}

// Hash returns a hash that is the same in every process, cut to what a cursor keeps.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64() & (1<<(8*idSize) - 1)
}

// Listed are the items of the pages of a list, by their hashes. The zero value is a list that begins.
type Listed struct {
	earlier map[uint64]bool
	page    []uint64
}

// Again reports whether an item was on an earlier page; if not, it belongs to this one.
func (l *Listed) Again(id uint64) bool {
	if l.earlier[id] {
		return true
	}
	l.page = append(l.page, id)
	return false
}

// Turn ends a page.
func (l *Listed) Turn() {
	if l.earlier == nil {
		l.earlier = map[uint64]bool{}
	}
	for _, id := range l.page {
		l.earlier[id] = true
	}
	l.page = l.page[:0]
}

// KeepLast returns the last n of ids.
func KeepLast(ids []uint64, n int) []uint64 { return ids[max(0, len(ids)-n):] }

// Pass notes that a page has been read. next is the token of the page after it, again are its objects that were on
// earlier pages, and ids are its new ones. Repeated objects move to the end of Seen, so that an object that is on every
// page is only returned once, however long the walk is.
func (c *Cursor) Pass(next string, again, ids []uint64) {
	if c.Token != "" && next != c.Token {
		c.Used = append(c.Used, Hash(c.Token))
	}
	if len(again) > 0 {
		met := make(map[uint64]bool, len(again))
		for _, id := range again {
			met[id] = true
		}
		c.Seen = slices.DeleteFunc(c.Seen, func(id uint64) bool { return met[id] })
	}
	c.Seen = slices.Concat(c.Seen, again, ids)
	c.Used = KeepLast(c.Used, MaxUsed)
	c.Seen = KeepLast(c.Seen, max(MaxSeen, len(again)+len(ids)))
}
