package server

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// answer writes a successful answer: headers that repeat meta for those who do not read bodies, and the envelope.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, o *operation.Operation, a *operation.Answer) {
	h := w.Header()
	if o.Bare {
		h.Set("Cache-Control", "no-store")
		write(w, a.Data)
		return
	}
	metaHeaders(h, a)
	if a.Meta.NextCursor != "" {
		h.Set("Link", "<"+nextURL(r.URL, a.Meta.NextCursor)+`>; rel="next"`)
	}
	if a.Tag != "" {
		tag := `W/"` + a.Tag + `"`
		h.Set("ETag", tag)
		if matches(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	meta, err := schema.Marshal(a.Meta)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// The data is encoded already: it goes out as it stands in the cache.
	write(w, []byte(`{"data":`), a.Data, []byte(`,"meta":`), meta, []byte(`}`))
}

// write writes a body that is in parts.
func write(w http.ResponseWriter, parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(n))
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // a caller who has gone has paid: the books were closed before
		}
	}
}

func metaHeaders(h http.Header, a *operation.Answer) {
	age := strconv.FormatInt(a.Meta.DataAgeS, 10)
	h.Set("X-Cache", string(a.Meta.Cache))
	h.Set("X-Data-Age", age)
	h.Set("X-Credits-Used", strconv.FormatInt(a.Meta.CreditsUsed, 10))
	h.Set("X-Credits-Remaining", strconv.FormatInt(a.Meta.CreditsRemaining, 10))
	if a.Replayed {
		h.Set("X-Idempotent-Replay", "true")
	}
	if a.Pending {
		h.Set("Retry-After", "2")
	}
	if a.Tag == "" {
		h.Set("Cache-Control", "no-store")
		return
	}
	ttl := strconv.FormatInt(int64(a.TTL.Seconds()), 10)
	h.Set("Cache-Control", "private, max-age="+ttl)
	h.Set("Vary", "Authorization")
	if a.Meta.Cache == schema.Hit {
		h.Set("Age", age)
		h.Set("Cache-Status", "socialdata; hit; ttl="+ttl) // RFC 9211
	} else {
		h.Set("Cache-Status", "socialdata; fwd=miss; stored")
	}
}

// nextURL returns the URL of the next page, relative to the request's: the handler may be mounted anywhere.
func nextURL(u *url.URL, cursor string) string {
	q := u.Query()
	q.Set("cursor", cursor)
	return "?" + q.Encode()
}

// matches tells whether one of the tags of If-None-Match is tag, by weak comparison.
// https://www.rfc-editor.org/rfc/rfc9110#field.if-none-match
func matches(headers []string, tag string) bool {
	for _, h := range headers {
		for t := range strings.SplitSeq(h, ",") {
			t = strings.TrimSpace(t)
			if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// limitHeaders tells the state of the key's bucket.
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
func limitHeaders(h http.Header, a keys.Allowance) {
	full := float64(a.Rate.Capacity)
	h.Set("RateLimit-Policy", fmt.Sprintf(`"key";q=%d;w=%d`, a.Rate.Capacity, seconds(full/a.Rate.Refill)))
	h.Set("RateLimit", fmt.Sprintf(`"key";r=%d;t=%d`, int64(a.Remaining), seconds((full-a.Remaining)/a.Rate.Refill)))
}

func seconds(s float64) int64 { return int64(math.Ceil(max(0, s))) }

// writeProblem writes a problem document.
// https://www.rfc-editor.org/rfc/rfc9457
func writeProblem(w http.ResponseWriter, p *problem.Error) {
	h := w.Header()
	for _, name := range []string{"ETag", "Link", "Content-Length", "Age", "Cache-Status"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Code == problem.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.RetryAfter > 0 || p.Code == problem.RateLimited {
		h.Set("Retry-After", strconv.FormatInt(p.RetryAfterSeconds(), 10))
	}
	body, err := schema.Marshal(p)
	if err != nil {
		body = []byte(`{}`)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.HTTPStatus())
	_, _ = w.Write(body)
}
