package mock

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// MagicWord is a handle, id or query with which the sandbox produces a state that a client must handle.
type MagicWord struct {
	Word   string // "" if no word produces the state
	Where  string // the operations where it has an effect; elsewhere it is an ordinary word
	Status int    // of the HTTP answer
	Does   string
	Region string // a small country that has the same effect as the region of trending, which has no key
}

const (
	everywhere = "every operation"
	lists      = "every list"
	walks      = "every list in pages"
	searches   = "every operation, especially fan-out search"
	enriched   = "every operation that can be enriched"
)

// Magic returns every magic word, and the states that no word produces with what produces them instead. The caller owns
// the slice.
//
// A word works as the handle, the id or the query of a call; as a domain it may be written as a host, such as
// not-found.example. With the suffix _on_ and a platform (upstream_error_on_tiktok), it only works in the sandbox for
// that platform, so that a part of a fan-out search fails.
func Magic() []MagicWord {
	var out []MagicWord
	for _, w := range words {
		out = append(out, w.MagicWord)
	}
	return append(out,
		MagicWord{Where: "enrich", Status: 503, Does: "a text that contains " + FailEnrichment + " cannot be enriched"},
		MagicWord{Where: "fan-out search", Status: 200, Does: "a partial answer: add _on_ and a platform to any word, such as upstream_error_on_mock, and search several platforms"},
		MagicWord{Where: everywhere, Status: 400, Does: "a missing, mistyped or repeated parameter, a forged cursor, or the URL of another site"},
		MagicWord{Where: everywhere, Status: 401, Does: "a call without a key, or with one letter of it changed"},
		MagicWord{Where: everywhere, Status: 402, Does: "a key of an account with fewer credits than the call costs"},
		MagicWord{Where: everywhere, Status: 429, Does: "the limit of your own key: make a key with a small rate, and call faster than that"},
	)
}

// word is a magic word with its effects. Each function may be nil.
type word struct {
	MagicWord
	fault bool                                                         // requires [Config] Faults
	enter func(ctx context.Context, s *sandbox, op providers.Op) error // waits, or fails the call
	turn  func(number int) (turn, error)                               // pages a list in its own way
	touch func(i int, o any)                                           // changes the i-th object of a page
}

// turn is the part of a series that makes up a page, and the number of the page that it states as the next, 0 if there
// is none.
type turn struct{ from, to, next int }

// longestSlow is the longest wait that a word may cause without Faults.
const longestSlow = 5 * time.Second

// words is the table of magic words. Read only.
var words = []word{
	{
		MagicWord: MagicWord{"not_found", everywhere, 404, "it does not exist", "AQ"},
		enter:     fails(providers.NotFound("there is no such thing in the sandbox")),
	},
	{
		MagicWord: MagicWord{"private", everywhere, 404, "its owner only shows it to friends", "BV"},
		enter:     fails(providers.NotFound("this account is private")),
	},
	{
		MagicWord: MagicWord{"suspended", everywhere, 404, "the platform has removed it", "HM"},
		enter:     fails(providers.NotFound("this account is suspended")),
	},
	{
		MagicWord: MagicWord{"disabled", everywhere, 404, "its owner has disabled it: comments are disabled, a video has no transcript", "TF"},
		enter:     disabled,
	},
	{
		MagicWord: MagicWord{"refused_input", everywhere, 400, "the upstream rejects the input", "UM"},
		enter:     fails(providers.Invalid("the sandbox refuses this input")),
	},
	{
		MagicWord: MagicWord{"upstream_error", everywhere, 503, "the upstream answers 500", "GS"},
		enter:     fails(providers.Unavailable(providers.Cause("mock: status 500"), "the sandbox answered 500")),
	},
	{
		MagicWord: MagicWord{"rate_limited_upstream", everywhere, 503, "the upstream is rate limiting us, with Retry-After: 30; this is not the limit of your key", "IO"},
		enter:     fails(providers.Limited("the sandbox is rate limiting us", 30*time.Second)),
	},
	{
		MagicWord: MagicWord{"refused_credential", everywhere, 503, "the upstream refuses the service's own credential", "PN"},
		enter:     fails(providers.Unavailable(providers.Cause("mock: status 401"), "the sandbox refused our credential")),
	},
	{
		MagicWord: MagicWord{"timeout", everywhere, 504, "the upstream does not answer in time; the call returns at once", "AX"},
		enter:     fails(&providers.Error{Kind: providers.ErrTimeout, Detail: "the sandbox did not answer in time"}),
	},
	{
		MagicWord: MagicWord{"hang", everywhere, 504, "the upstream never answers: the call lasts until the service's time-out; only if serve runs with --sandbox, otherwise a 400", "SJ"},
		fault:     true,
		enter:     func(ctx context.Context, _ *sandbox, _ providers.Op) error { return wait(ctx, nil) },
	},
	{
		MagicWord: MagicWord{"slow", everywhere, 200, "answers after 2 seconds, or after the configured time", "CC"},
		enter:     func(ctx context.Context, s *sandbox, _ providers.Op) error { return sleep(ctx, s.slow) },
	},
	{
		MagicWord: MagicWord{"slow_5s", everywhere, 200, "answers after that time; so does slow_ with any shorter duration, such as slow_300ms, and with --sandbox any longer one", "CX"},
		enter:     func(ctx context.Context, _ *sandbox, _ providers.Op) error { return sleep(ctx, 5*time.Second) },
	},
	{
		MagicWord: MagicWord{"pending", searches, 200, "as slow; with wait_s=1 the platform is pending, and its job completes", "NF"},
		enter:     pending,
	},
	{
		MagicWord: MagicWord{"panic", everywhere, 500, "the provider panics; only if serve runs with --sandbox, otherwise a 400", "NU"},
		fault:     true,
		enter:     func(context.Context, *sandbox, providers.Op) error { panic("mock: the word panic was asked for") },
	},
	{
		MagicWord: MagicWord{"broken_schema", everywhere, 503, "the object in the upstream's answer has no id; in a list, none of the objects has one", "TK"},
		touch:     func(_ int, o any) { spoil(o) },
	},
	{
		MagicWord: MagicWord{"broken_item", lists, 200, "the second object of each page has no id, and is left out", "WF"},
		touch: func(i int, o any) {
			if i == 1 {
				spoil(o)
			}
		},
	},
	{
		MagicWord: MagicWord{"sparse", everywhere, 200, "every field that may be null is null, and every field that may be empty is empty", "BL"},
		touch:     func(_ int, o any) { strip(o) },
	},
	{
		MagicWord: MagicWord{"fail_enrichment", enriched, 200, "enrichment of the object, and of the first one of each page, fails: it is null and the 3 credits are refunded", "MF"},
		touch: func(i int, o any) {
			if i == 0 {
				mark(o)
			}
		},
	},
	{
		MagicWord: MagicWord{"empty", lists, 200, "an empty page without a cursor", "PM"},
		turn:      func(int) (turn, error) { return turn{}, nil },
	},
	{
		MagicWord: MagicWord{"one_page", walks, 200, "ten objects and no cursor", "YT"},
		turn:      func(int) (turn, error) { return turn{to: 10}, nil },
	},
	{
		MagicWord: MagicWord{"dead_cursor", walks, 200, "the cursor of page one has expired: page two is a 400", "GF"},
		turn:      deadCursor,
	},
	{
		MagicWord: MagicWord{"empty_middle", walks, 200, "page two of three has no objects, but a cursor", "GP"},
		turn:      emptyMiddle,
	},
	{
		MagicWord: MagicWord{"repeats", walks, 200, "each of four pages begins with the last five objects of the previous one", "MQ"},
		turn:      repeats,
	},
	{
		MagicWord: MagicWord{"loops", walks, 200, "the cursor of page three leads to page one", "RE"},
		turn:      func(n int) (turn, error) { return turn{10 * (n - 1), 10 * n, n%3 + 1}, nil },
	},
	{
		MagicWord: MagicWord{"backwards", walks, 200, "the cursor of page three leads to page two", "FK"},
		turn:      backwards,
	},
	{
		MagicWord: MagicWord{"stuck", walks, 200, "every page is the same, and its cursor leads to itself", "SH"},
		turn:      func(int) (turn, error) { return turn{0, pageSize, 2}, nil },
	},
	{
		MagicWord: MagicWord{"endless", walks, 200, "there is always one more page, with new objects", "SX"},
		turn:      func(n int) (turn, error) { return turn{pageSize * (n - 1), pageSize * n, n + 1}, nil },
	},
	{MagicWord: MagicWord{livelyWord, "profile, live, posts, post", 200, "changes with the clock, for testing monitors: it posts every 5 minutes, edits and deletes posts, and changes its broadcast every 20 seconds", "BQ"}},
}

// magic returns the first of the keys that is a magic word in the sandbox of a platform, or a word without effect.
func magic(on platform.ID, keys []string) word {
	for _, key := range keys {
		if w, ok := lookup(on, strings.ToLower(strings.TrimLeft(key, "@#"))); ok {
			return w
		}
	}
	return word{}
}

func lookup(on platform.ID, key string) (word, bool) {
	if i := strings.LastIndex(key, "_on_"); i > 0 && platform.ID(key[i+len("_on_"):]).Valid() {
		if key[i+len("_on_"):] != string(on) {
			return word{}, false
		}
		key = key[:i]
	}
	if i := slices.IndexFunc(words, func(w word) bool { return w.Word == key }); i >= 0 {
		return words[i], true
	}
	if text, ok := strings.CutPrefix(key, "slow_"); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return word{MagicWord: MagicWord{Word: key}, fault: d > longestSlow, enter: func(ctx context.Context, _ *sandbox, _ providers.Op) error { return sleep(ctx, d) }}, true
		}
	}
	return word{}, false
}

// magicRegion returns the word for a region of trending, "" if it is an ordinary region.
func magicRegion(region string) string {
	for _, w := range words {
		if w.Region == region {
			return w.Word
		}
	}
	return ""
}

// fails returns an effect that fails with err for every operation.
func fails(err error) func(context.Context, *sandbox, providers.Op) error {
	return func(context.Context, *sandbox, providers.Op) error { return err }
}

func disabled(_ context.Context, _ *sandbox, op providers.Op) error {
	switch op {
	case providers.OpComments, providers.OpReplies:
		return providers.NotFound("comments are disabled on this post")
	case providers.OpTranscript:
		return providers.NotFound("this post has no transcript")
	default:
		return providers.NotFound("its owner has disabled this")
	}
}

func pending(ctx context.Context, s *sandbox, _ providers.Op) error {
	if s.release != nil {
		return wait(ctx, s.release)
	}
	return sleep(ctx, s.slow)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return gone(ctx)
	}
}

func wait(ctx context.Context, until <-chan struct{}) error {
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return gone(ctx)
	}
}

func deadCursor(number int) (turn, error) {
	if number > 1 {
		return turn{}, providers.ErrCursor
	}
	return turn{0, pageSize, 2}, nil
}

func emptyMiddle(number int) (turn, error) {
	switch number {
	case 1:
		return turn{0, pageSize, 2}, nil
	case 2:
		return turn{next: 3}, nil
	default:
		return turn{pageSize, 2 * pageSize, 0}, nil
	}
}

func backwards(number int) (turn, error) {
	t := turn{10 * (number - 1), 10 * number, number + 1}
	if number >= 3 {
		t.next = number - 1
	}
	return t, nil
}

func repeats(number int) (turn, error) {
	t := turn{15 * (number - 1), 15*(number-1) + pageSize, number + 1}
	if number >= 4 {
		t.next = 0
	}
	return t, nil
}
