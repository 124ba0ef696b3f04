package server

import (
	"errors"
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
func (s *Server) answer(w *response, r *http.Request, o *operation.Operation, a *operation.Answer) {
	h := w.Header()
	if o.Bare {
		h.Set("Cache-Control", "no-store")
		s.write(w, r, http.StatusOK, "application/json", a.Data)
		return
	}
	metaHeaders(h, a)
	if a.Meta.NextCursor != "" {
		linkHeader(h, nextURL(r.URL, a.Meta.NextCursor))
	}
	if a.Tag != "" {
		tag := `W/"` + a.Tag + `"`
		h.Set("ETag", tag)
		if matches(r.Header.Values("If-None-Match"), tag) {
			h.Add("Vary", "Accept-Encoding")
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
	s.write(w, r, http.StatusOK, "application/json", []byte(`{"data":`), a.Data, []byte(`,"meta":`), meta, []byte(`}`))
}

// write writes a body that is in parts, compressed for whoever can read that.
func (s *Server) write(w *response, r *http.Request, status int, contentType string, parts ...[]byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Add("Vary", "Accept-Encoding")
	if size(parts) > gzipFrom && wantsGzip(r) {
		zipped, err := s.zips.compress(parts...)
		if err == nil {
			h.Set("Content-Encoding", "gzip")
			parts = [][]byte{zipped}
		}
	}
	h.Set("Content-Length", strconv.Itoa(size(parts)))
	enter(r, writing)
	w.WriteHeader(status)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // a caller who has gone has paid: the books were closed before
		}
	}
}

func size(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

func metaHeaders(h http.Header, a *operation.Answer) {
	tellCache(h, a.Meta.Cache, a.Meta.DataAgeS)
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
	if a.Fresh { // a copy must not answer who asks for what is new
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "Authorization")
	if a.Meta.Cache == schema.Hit {
		h.Set("Age", strconv.FormatInt(a.Meta.DataAgeS, 10))
		h.Set("Cache-Status", "socialdata; hit; ttl="+ttl) // RFC 9211
	} else {
		h.Set("Cache-Status", "socialdata; fwd=miss; stored")
	}
}

// tellCache tells how the cache was used, and the age of the data in seconds.
func tellCache(h http.Header, state schema.CacheState, age int64) {
	h.Set("X-Cache", string(state))
	h.Set("X-Data-Age", strconv.FormatInt(age, 10))
}

// maxLink is how long a Link field may be: some proxies refuse answers with long ones. The cursor is in meta too.
const maxLink = 1 << 10

func linkHeader(h http.Header, next string) {
	if link := "<" + next + `>; rel="next"`; len(link) <= maxLink {
		h.Set("Link", link)
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

// fail writes an error as a problem document.
// https://www.rfc-editor.org/rfc/rfc9457
func (s *Server) fail(w *response, r *http.Request, err error) {
	p := s.problemOf(r, err)
	w.code = p.Code
	h := w.Header()
	for _, name := range []string{"ETag", "Link", "Content-Length", "Age", "Cache-Status", "Vary"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if tellsCache(r.URL.Path) {
		tellCache(h, schema.Miss, 0)
	}
	if p.Remembered {
		tellCache(h, schema.Hit, int64(p.Age.Seconds()))
	}
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
	s.write(w, r, p.HTTPStatus(), "application/problem+json", body)
}

// maxDetail is how much is told of what was wrong: it may quote what the caller sent, which can be long.
const maxDetail = 1000

// problemOf returns an error as the caller of this request sees it, and logs what is not for callers.
func (s *Server) problemOf(r *http.Request, err error) *problem.Error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		p = problem.Wrap(err, problem.InternalError, "something went wrong on our side")
	}
	own := *p
	if own.RequestID != requestID(r) && own.Code == problem.InternalError { // else the engine has logged it under this id
		s.log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r), "error", errors.Join(p, p.Unwrap()))
	}
	own.RequestID, own.Detail = requestID(r), clip(own.Detail, maxDetail)
	return &own
}
