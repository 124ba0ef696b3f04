// Package cache stores answers for later callers with the same request.
//
// The engine stores encoded answers ([Entry]) under a key that identifies the request, never the caller. [NewMemory]
// keeps them in the process, limited in bytes. Other implementations must pass the suite of cache/cachetest. The
// package has no typed resources and no rule for how long an answer is valid, which is up to the engine. A store that
// several processes share is a [Shared]: when several of them miss an answer, it lets one at a time make it.
package cache

import (
	"context"
	"slices"
	"time"

	"github.com/socialdata/socialdata/privacy"
)

// Entry is one encoded answer. An entry in a store must not be modified, since it is shared.
type Entry struct {
	Data      string        // the answer's data as JSON, without raw
	Raw       []string      // each object's raw as JSON, in the order of Data, "" for one without; nil when none has any
	Page      string        // the raw of the page as JSON, if objects have none of their own; else ""
	Next      string        // the place of the next page, as unsealed text; "" when there is none
	Tag       string        // changes whenever Data or Next does
	Provider  string        // the provider that returned it
	FetchedAt time.Time     // when it was fetched
	TTL       time.Duration // how long it is valid, from FetchedAt
	Keep      time.Duration // how long it is kept past its time to live, at most [MostKept]
	Failed    []string      // parts that could not be read and are not charged; nil for none
	Unknown   []string      // fields that secondary requests did not bring, such as host.avatar_url; nil for none
	NotFound  bool          // the answer is that the thing does not exist
	Detail    string        // of a NotFound, as text
	Subjects  privacy.Marks // of everyone in it, by which it is found when one of them is erased
	// Value is the decoded Data, if a [Near] store was given it to keep; else nil. It stays in the process.
	Value any
}

// MostKept is the maximum time for which an entry is kept past its time to live.
const MostKept = 24 * time.Hour

// entrySize is the memory that an entry takes besides its texts: the struct, its entry in a map and in a list.
const entrySize = 450

// Size returns the approximate memory of e in bytes.
func (e *Entry) Size() int {
	n := entrySize + len(e.Subjects) + len(e.Data) + len(e.Page) + len(e.Next) + len(e.Tag) + len(e.Provider) + len(e.Detail)
	for _, texts := range [...][]string{e.Raw, e.Failed, e.Unknown} {
		for _, text := range texts {
			n += 24 + len(text)
		}
	}
	if e.Value != nil {
		n += 2 * len(e.Data) // objects with few values take more than their text, long texts the same
	}
	return n
}

// Mentions reports whether e mentions s and does not contain it. It is for implementations of
// [privacy.MentionCounter].
func (e *Entry) Mentions(s privacy.Subject) bool {
	if s.In(e.Subjects) {
		return false
	}
	mentioned := func(text string) bool { return s.Mentioned([]byte(text)) }
	return mentioned(e.Data) || mentioned(e.Page) || mentioned(e.Detail) ||
		slices.ContainsFunc(e.Raw, func(raw string) bool {
			return mentioned(`"` + string(s.Platform) + `"` + raw) // which does not say whose it is
		})
}

// Store stores entries. Implementations are safe for concurrent use. A store may lose any entry at any time. It never
// returns an entry for another key, or one that is past its time to live by more than its Keep. An entry that is past
// it by less is returned like any other: the caller decides whether to use it.
type Store interface {
	// Get returns the entry under key, or nil when there is none. It is shared and read-only.
	Get(ctx context.Context, key string) (*Entry, error)
	// Set stores a copy of e under key for ttl, its time to live from now, and for its Keep after that. It replaces any
	// other entry. A copy outside of the process has no Value.
	Set(ctx context.Context, key string, e *Entry, ttl time.Duration) error
	// Erase removes the entries of which s is a subject, and counts them as "cache entries". Other processes remove what
	// is in their own memory: see [Local].
	privacy.Eraser
}

// Local is implemented by a [Store] that has entries in the memory of this process.
type Local interface {
	// Forget removes from this process's memory the entries that have one of names among their subjects, and returns how
	// many of them were nowhere else.
	Forget(names map[privacy.Name]struct{}) int
}

// Shared is a [Store] that several engines share, in one process or in several. Of all callers that want the entry of a
// key, one at a time makes it, and the others wait.
type Shared interface {
	Store
	// Join waits until the key has an entry within its time to live, the caller that makes it has failed, this
	// caller may make it, or ctx ends. If a caller dies during its claim, a waiting one gets the claim. A store that
	// cannot know, or whose caller has waited until the end of ctx, grants it: two callers may then make an entry.
	Join(ctx context.Context, key string) Claim
}

// Claim is the result of [Shared.Join]. Exactly one of its fields is set, except that a claim to make an entry may come
// with the previous one.
type Claim struct {
	// Entry is the entry under the key; together with Done, an expired one, if there is any. It is shared and read-only.
	Entry *Entry
	// Failure is the error of another caller whose attempt was in progress when this caller joined.
	Failure string
	// Done ends the claim of a caller that was to make the entry, and has stored it or failed. Waiting callers get the
	// failure; for "" one of them gets the claim, unless there is an entry. The claim also ends with the context that was
	// passed to Join, so that no caller waits forever.
	Done func(ctx context.Context, failure string)
}

// Near is implemented by a [Store] that has some or all of its entries in this process. It returns these immediately,
// with their decoded values.
type Near interface {
	// Peek is Get for entries in this process: it returns nil for one that is only elsewhere.
	Peek(key string) *Entry
	// Keep makes value the Value of e, which Get or Peek returned for key, if e is still stored. Value must not be
	// modified any more.
	Keep(key string, e *Entry, value any)
}
