// Package cache is where answers wait for the next caller who asks the same.
//
// The engine stores encoded answers ([Entry]) under a key that says what was asked, never who asked. [NewMemory] keeps
// them in the process, bounded by bytes. Whoever writes another store runs the suite of cache/cachetest over it.
// There are no typed resources here and no rule about how long an answer is good: that is the engine's.
package cache

import (
	"context"
	"time"
)

// Entry is one answer, encoded. Its encodings are strings, so that the many who share one cannot write into it.
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
}

// Size returns about how many bytes e takes.
func (e *Entry) Size() int {
	n := 200 + len(e.Data) + len(e.Page) + len(e.Next) + len(e.Tag) + len(e.Provider) + len(e.Detail)
	for _, r := range e.Raw {
		n += 24 + len(r)
	}
	for _, f := range e.Failed {
		n += 24 + len(f)
	}
	return n
}

// Store keeps entries. Implementations are safe for concurrent use. A store may lose any entry at any time; it never
// returns one under another key, or one older than its time to live.
type Store interface {
	// Get returns the entry under key, or nil when there is none. The caller may change what it got: nobody else sees it.
	Get(ctx context.Context, key string) (*Entry, error)
	// Set stores a copy of e under key for ttl, over whatever stood there.
	Set(ctx context.Context, key string, e *Entry, ttl time.Duration) error
}
