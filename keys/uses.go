package keys

import (
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// mostUses bounds how many keys wait for their time of use to be written. Beyond it a time is dropped: the key's next call
// brings another.
const mostUses = 65_536

// Uses is when keys were last used, for a [Store] that writes that down now and then. It is safe for concurrent use.
type Uses struct {
	most    int
	latest  *lru.Cache[string, time.Time] // by key, written or not
	crowded chan struct{}

	mu      sync.Mutex
	waiting map[string]time.Time // by key, not written yet
}

// NewUses returns no uses yet. It remembers the latest one of so many keys, 1 or more, and keeps those of most keys until
// they are taken; 0 means 65,536.
func NewUses(remembered, most int) *Uses {
	if most == 0 {
		most = mostUses
	}
	latest, _ := lru.New[string, time.Time](remembered) // fails on a size below 1 only
	return &Uses{most: most, latest: latest, crowded: make(chan struct{}, 1), waiting: map[string]time.Time{}}
}

// Note notes that the key with that id was used.
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
		default: // said already
		}
	}
}

// wait lets a time wait to be written, and tells whether it does.
func (u *Uses) wait(id string, at time.Time) bool {
	before, ok := u.waiting[id]
	if !ok && len(u.waiting) >= u.most || ok && !before.Before(at) {
		return false
	}
	u.waiting[id] = at
	return true
}

// In returns k with the latest time of use that is known.
func (u *Uses) In(k Key) Key {
	if at, ok := u.latest.Get(k.ID); ok && (k.LastUsedAt == nil || k.LastUsedAt.Before(at)) {
		k.LastUsedAt = &at
	}
	return k
}

// Take returns what waits to be written, by id, and forgets it.
func (u *Uses) Take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	waiting := u.waiting
	u.waiting = map[string]time.Time{}
	return waiting
}

// Return puts back what Take returned and could not be written. Nobody is told that it is time to write it: that was
// just tried.
func (u *Uses) Return(taken map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range taken {
		u.wait(id, at)
	}
}

// Flush has write write what waits, so many keys at a time and in the order of their ids. What could not be written waits for
// the next time.
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

// Crowded receives when there is half as much as can wait: it is time to write it.
func (u *Uses) Crowded() <-chan struct{} { return u.crowded }
