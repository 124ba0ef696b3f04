package scrapecreators

import (
	"strconv"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// window is one of the time spans to which the vendor can limit a search.
type window struct {
	name    string
	reaches time.Duration
}

const day = 24 * time.Hour

// reaching returns the name of the first of windows, narrowest first, that reaches back to since; "" when none does, or
// since is zero.
func reaching(since time.Time, windows ...window) string {
	for _, w := range windows {
		if time.Since(since) <= w.reaches {
			return w.name
		}
	}
	return ""
}

// before reports whether something is known to be older than since.
func before(at *time.Time, since time.Time) bool { return at != nil && at.Before(since) }

// indexed are the windows of searches with a search engine.
var indexed = []window{
	{"last-hour", time.Hour}, {"last-day", day}, {"last-week", 7 * day}, {"last-month", 30 * day}, {"last-year", 365 * day},
}

// indexedPages is how many pages of a search engine's results the vendor has: it refuses to search for another.
const indexedPages = 11

// indexedNext returns the token of the next page in such a search; "" after the last one.
func indexedNext(token string) string {
	n, err := strconv.Atoi(token)
	if err != nil || n <= indexedPages {
		return token
	}
	return ""
}

// within converts a row of a search with bounds that are not zero: a post outside of them does not belong, and one with
// unknown time becomes the zero object, as in [parsed].
func within(since, until time.Time, p schema.Post) (schema.Post, bool) {
	switch at := p.CreatedAt; {
	case since.IsZero() && until.IsZero():
		return p, true
	case at == nil:
		return schema.Post{}, true
	default:
		return p, !at.Before(since) && (until.IsZero() || at.Before(until))
	}
}
