package server

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

func metaHeaders(w *response, a *operation.Answer) {
	tellCache(w, a.Meta.Cache, a.Meta.DataAgeS)
	var f fields
	f.number("X-Credits-Used", "", a.Meta.CreditsUsed)
	f.number("X-Credits-Remaining", "", a.Meta.CreditsRemaining)
	defer f.set(w)
	if a.Replayed {
		w.set("X-Idempotent-Replay", "true")
	}
	if a.Pending {
		w.set("Retry-After", "2")
	}
	if a.Tag == "" {
		w.set("Cache-Control", "no-store")
		return
	}
	ttl := int64(a.TTL.Seconds())
	if a.Fresh { // caches must not return a copy for a request with fresh
		w.set("Cache-Control", "private, no-cache")
	} else {
		f.number("Cache-Control", "private, max-age=", max(0, ttl))
	}
	w.vary("Authorization")
	if a.Meta.Cache == schema.Hit {
		w.set("Age", strconv.FormatInt(a.Meta.DataAgeS, 10))
		f.number("Cache-Status", "socialdata; hit; ttl=", ttl) // negative when it is stale (RFC 9211)
	} else {
		w.set("Cache-Status", "socialdata; fwd=miss; stored")
	}
}

// fields are values of header fields that end in a number. They are parts of one string, since a string for each takes
// an allocation.
type fields struct {
	text  [160]byte
	size  int
	names [4]string
	ends  [4]int
	n     int
}

// part begins the value of the next field with a prefix and a number.
func (f *fields) part(prefix string, n int64) {
	f.size = len(strconv.AppendInt(append(f.text[:f.size], prefix...), n, 10))
}

// number adds a field, whose value is or ends in a prefix and a number.
func (f *fields) number(name, prefix string, n int64) {
	f.part(prefix, n)
	f.names[f.n], f.ends[f.n] = name, f.size
	f.n++
}

// set sets the header fields.
func (f *fields) set(w *response) {
	text, from := string(f.text[:f.size]), 0
	for i, name := range f.names[:f.n] {
		w.set(name, text[from:f.ends[i]])
		from = f.ends[i]
	}
}

// tellsCache reports whether every response of a path has the header fields of [tellCache] (D61).
func tellsCache(path string) bool {
	return path == "/health" || path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// tellCache sets the header fields for how the cache was used, and for the age of the data in seconds.
func tellCache(w *response, state schema.CacheState, age int64) {
	w.set("X-Cache", string(state))
	w.set("X-Data-Age", strconv.FormatInt(age, 10))
}

// maxLink is the maximum length of a Link field: some proxies refuse answers with long ones. The cursor is in meta too.
const maxLink = 1 << 10

// linkHeader links to the next page, if there is one, and to the other calls to which a call was redirected, as many as
// fit.
func linkHeader(w *response, next string, made *operation.Made) {
	var links []string
	room := maxLink
	add := func(target, rel string) {
		if link := "<" + target + `>; rel="` + rel + `"`; len(link) <= room {
			links = append(links, link)
			room -= len(link)
		}
	}
	if next != "" {
		add(next, "next")
	}
	if made != nil {
		for _, path := range made.Related {
			add(path, "related")
		}
	}
	if links != nil {
		w.Header()["Link"] = links
	}
}

// nextURL returns the URL of the next page, relative to that of the request because the handler may be mounted
// anywhere.
func nextURL(u *url.URL, cursor string) string {
	q := u.Query()
	q.Set("cursor", cursor)
	return "?" + q.Encode()
}

// limitHeaders sets the header fields for the rate limit of the key.
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
func limitHeaders(w *response, a keys.Allowance) {
	full := float64(a.Rate.Capacity)
	var f fields
	f.part(`"key";q=`, a.Rate.Capacity)
	f.number("Ratelimit-Policy", ";w=", seconds(full/a.Rate.Refill))
	f.part(`"key";r=`, int64(a.Remaining))
	f.number("Ratelimit", ";t=", seconds((full-a.Remaining)/a.Rate.Refill))
	f.set(w)
}

func seconds(s float64) int64 { return int64(math.Ceil(max(0, s))) }
