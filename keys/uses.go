package keys

import (
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// mostUses is how many keys may have a time of use that is not yet written. Further times are dropped: the key's next
// call brings another.
const mostUses = 65_536

// Uses records when keys were last used, for a [Store] that writes these times in batches. It is safe for concurrent
// use.
type Uses struct {
	most    int
	latest  *lru.Cache[string, time.Time] // by key, written or not
	crowded chan struct{}

	mu      sync.Mutex
	waiting map[string]time.Time // by key, not written yet
}

// NewUses returns empty Uses. It remembers the latest use of that many keys, at least 1, and holds up to most times
// until they are taken; 0 means 65,536.
func NewUses(remembered, most int) *Uses {
	if most == 0 {
		most = mostUses
	}
	latest, _ := lru.New[string, time.Time](remembered) // only fails for a size below 1
	return &Uses{most: most, latest: latest, crowded: make(chan struct{}, 1), waiting: map[string]time.Time{}}
}

// Note records that the key with that id was used.
func (u *Uses) Note(id string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at = at.UTC().Truncate(time.Microsecond)
	if latest, ok := u.latest.Get(id); !ok || latest.Before(at) {
		u.latest.Add(id, at)
	}
	if u.wait(id, at) && len(u.waiting) == u.most/2 {
		select {
		case u.crowded <- struct{}{}:
		default: // already signalled
		}
	}
}

// wait adds a time to those to be written, and reports whether there was space for it.
func (u *Uses) wait(id string, at time.Time) bool {
	before, ok := u.waiting[id]
	if !ok && len(u.waiting) >= u.most || ok && !before.Before(at) {
		return false
	}
	u.waiting[id] = at
	return true
}

// In returns k with its latest known time of use.
func (u *Uses) In(k Key) Key {
	if at, ok := u.latest.Get(k.ID); ok && (k.LastUsedAt == nil || k.LastUsedAt.Before(at)) {
		k.LastUsedAt = &at
	}
	return k
}

// Take returns the times to be written, by id, and removes them.
func (u *Uses) Take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	waiting := u.waiting
	u.waiting = map[string]time.Time{}
	return waiting
}

// Return puts back times from Take that could not be written. It does not signal Crowded, since writing has just been
// tried.
func (u *Uses) Return(taken map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range taken {
		u.wait(id, at)
	}
}

// Flush calls write with the times to be written, at most atOnce keys at a time and in the order of their ids. Times
// that could not be written are kept for the next time.
func (u *Uses) Flush(atOnce int, write func(ids []string, at map[string]time.Time) error) error {
	used := u.Take()
	for part := range slices.Chunk(slices.Sorted(maps.Keys(used)), atOnce) {
		if err := write(part, used); err != nil {
			u.Return(used)
			return err
		}
		for _, id := range part {
			delete(used, id)
		}
	}
	return nil
}

// Crowded receives when half of the space is used: it is time to write.
func (u *Uses) Crowded() <-chan struct{} { return u.crowded }
