package scrapecreators

import (
	"strconv"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// window is one of the spans of time to which the vendor can bound a search.
type window struct {
	name    string
	reaches time.Duration
}

const day = 24 * time.Hour

// reaching returns the name of the first of windows, the narrowest first, that reaches back to since; "" where none does, or
// since is zero.
func reaching(since time.Time, windows ...window) string {
	for _, w := range windows {
		if time.Since(since) <= w.reaches {
			return w.name
		}
	}
	return ""
}

// before tells whether something is known to be older than since.
func before(at *time.Time, since time.Time) bool { return at != nil && at.Before(since) }

// indexed are the windows of what the vendor searches by a search engine.
var indexed = []window{
	{"last-hour", time.Hour}, {"last-day", day}, {"last-week", 7 * day}, {"last-month", 30 * day}, {"last-year", 365 * day},
}

// indexedPages is how many pages the vendor has of what a search engine has found: it refuses to look for another.
const indexedPages = 11

// indexedNext is the token of the page that follows in such a search; "" behind the last.
func indexedNext(token string) string {
	if n, err := strconv.Atoi(token); err == nil && n > indexedPages {
		return ""
	}
	return token
}

// within converts a row of a search that is bounded by times which are not zero: a post from elsewhere does not belong, and
// one of unknown time becomes the zero object, as in [parsed].
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
