package server

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

func metaHeaders(w *response, a *operation.Answer) {
	setCacheFields(w, a.Meta.Cache, a.Meta.DataAgeS)
	w.number("X-Credits-Used", "", a.Meta.CreditsUsed)
	w.number("X-Credits-Remaining", "", a.Meta.CreditsRemaining)
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
		w.number("Cache-Control", "private, max-age=", max(0, ttl))
	}
	w.vary("Authorization")
	if a.Meta.Cache == schema.Hit {
		w.set("Age", strconv.FormatInt(a.Meta.DataAgeS, 10))
		w.number("Cache-Status", "socialdata; hit; ttl=", ttl) // negative when it is stale (RFC 9211)
	} else {
		w.set("Cache-Status", "socialdata; fwd=miss; stored")
	}
}

// number sets a header field whose value is or ends in a prefix and a number.
func (w *response) number(name, prefix string, n int64) {
	w.set(name, prefix+strconv.FormatInt(n, 10))
}

// hasCacheFields reports whether every response of a path has the header fields of [setCacheFields] (D61).
func hasCacheFields(path string) bool {
	return path == "/health" || path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// setCacheFields sets the header fields for how the cache was used, and for the age of the data in seconds.
func setCacheFields(w *response, state schema.CacheState, age int64) {
	w.set("X-Cache", string(state))
	w.set("X-Data-Age", strconv.FormatInt(age, 10))
}

// maxLink is the maximum length of a Link field: some proxies refuse answers with long ones. The cursor is in meta too.
const maxLink = 1 << 10

// linkHeader links to the next page, if there is one, and to the other calls to which a call was redirected, as many as
// fit.
func linkHeader(w *response, next string, made *operation.Made) {
	var links []string
	left := maxLink
	add := func(target, rel string) {
		if link := "<" + target + `>; rel="` + rel + `"`; len(link) <= left {
			links = append(links, link)
			left -= len(link)
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
	w.set("Ratelimit-Policy", fmt.Sprintf(`"key";q=%d;w=%d`, a.Rate.Capacity, seconds(full/a.Rate.Refill)))
	w.set("Ratelimit", fmt.Sprintf(`"key";r=%d;t=%d`, int64(a.Remaining), seconds((full-a.Remaining)/a.Rate.Refill)))
}

func seconds(s float64) int64 { return int64(math.Ceil(max(0, s))) }
