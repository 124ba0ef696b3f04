// Package cache is where answers wait for the next caller who asks the same.
//
// The engine stores encoded answers ([Entry]) under a key that says what was asked, never who asked. [NewMemory] keeps
// them in the process, bounded by bytes. Whoever writes another store runs the suite of cache/cachetest over it.
// There are no typed resources here and no rule about how long an answer is good: that is the engine's. A store that
// several processes share is a [Shared]: it lets one of them at a time make an answer that all of them miss.
package cache

import (
	"context"
	"time"
)

// Entry is one answer, encoded. Nobody writes to an entry that is in a store: many share it.
type Entry struct {
	Data      string        // the answer's data as JSON, without raw
	Raw       []string      // each object's raw as JSON, in the order of Data, "" for one without; nil where no object has any
	Page      string        // the raw of the page as JSON, where objects have none of their own; else ""
	Next      string        // the place of the next page, as text that is not sealed; "" when there is none
	Tag       string        // changes when Data or Next does
	Provider  string        // who delivered it
	FetchedAt time.Time     // when
	TTL       time.Duration // how long it is good, from FetchedAt
	Failed    []string      // parts that could not be read and are not charged; nil for none
	NotFound  bool          // the answer is that there is no such thing
	Detail    string        // of a NotFound, in words
	// Value is what Data decodes to, where a [Near] store was given that to keep; else nil. It stays in the process.
	Value any
}

// entrySize is what an entry takes beside its texts: itself, its place in a map and in a list.
const entrySize = 450

// Size returns about how many bytes e takes.
func (e *Entry) Size() int {
	n := entrySize + len(e.Data) + len(e.Page) + len(e.Next) + len(e.Tag) + len(e.Provider) + len(e.Detail)
	for _, r := range e.Raw {
		n += 24 + len(r)
	}
	for _, f := range e.Failed {
		n += 24 + len(f)
	}
	if e.Value != nil {
		n += 2 * len(e.Data) // objects with few values take more than their text, long texts the same
	}
	return n
}

// Store keeps entries. Implementations are safe for concurrent use. A store may lose any entry at any time; it never
// returns one under another key, or one older than its time to live.
type Store interface {
	// Get returns the entry under key, or nil when there is none. Others may hold it too: it is read only.
	Get(ctx context.Context, key string) (*Entry, error)
	// Set stores a copy of e under key for ttl, over whatever stood there. What lies elsewhere is stored without Value.
	Set(ctx context.Context, key string, e *Entry, ttl time.Duration) error
}

// Shared is a [Store] that several engines share, in one process or in many. Of all who want the entry of a key, one at
// a time makes it, and the others wait.
type Shared interface {
	Store
	// Join waits until there is an entry under key, until whoever makes it has failed, until it is the caller's turn to
	// make it, or until ctx ends. Whoever makes an entry and dies loses the turn to somebody who waits. A store that
	// cannot tell, or whose caller has waited until the end of ctx, gives out the turn: two may then make one entry.
	Join(ctx context.Context, key string) Turn
}

// Turn is what [Shared.Join] came to. Just one of its fields is set.
type Turn struct {
	// Entry is the entry under the key. Others may hold it too: it is read only.
	Entry *Entry
	// Failure is what somebody else has told of an attempt that was under way when the caller joined.
	Failure string
	// Done ends the turn of a caller who was to make the entry, and has stored it or failed. Those who wait are told
	// the failure; for "" one of them gets the turn, unless there is an entry. The end of the context that Join was
	// given ends the turn as well, so that nobody waits for what never comes.
	Done func(ctx context.Context, failure string)
}

// Near is implemented by a [Store] that has entries in this process, some or all of them. What it has there it hands
// out at once, and with what they decode to.
type Near interface {
	// Peek is Get for what is in this process: nil when it is not, even if it is elsewhere.
	Peek(key string) *Entry
	// Keep makes value the Value of e, which Get or Peek has returned for key, if it still stands there. Nobody writes to
	// value any more.
	Keep(key string, e *Entry, value any)
}
