package server

import (
	"errors"
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
	if o.Bare {
		w.set("Cache-Control", "no-store")
		s.write(w, r, http.StatusOK, "application/json", a.Data)
		return
	}
	metaHeaders(w, a)
	if a.Meta.NextCursor != "" {
		linkHeader(w, nextURL(r.URL, a.Meta.NextCursor))
	}
	if a.Tag != "" {
		tag := `W/"` + a.Tag + `"`
		w.set("Etag", tag)
		if matches(r.Header["If-None-Match"], tag) {
			w.vary("Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	meta, err := a.Meta.AppendJSON(make([]byte, 0, 256))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// The data is encoded already: it goes out as it stands in the cache.
	s.write(w, r, http.StatusOK, "application/json", beforeData, a.Data, beforeMeta, meta, behindMeta)
}

// The parts of an envelope. Nobody writes to them.
var (
	beforeData = []byte(`{"data":`)
	beforeMeta = []byte(`,"meta":`)
	behindMeta = []byte(`}`)
)

// vary adds one more request header to those that the answer depends on.
func (w *response) vary(name string) {
	switch before := w.Header()["Vary"]; len(before) {
	case 0:
		w.set("Vary", name)
	case 1:
		w.set("Vary", before[0], name)
	default: // whoever stands before us has said more
		w.Header().Add("Vary", name)
	}
}

// write writes a body that is in parts, compressed for whoever can read that.
func (s *Server) write(w *response, r *http.Request, status int, contentType string, parts ...[]byte) {
	w.set("Content-Type", contentType)
	w.vary("Accept-Encoding")
	if size(parts) > gzipFrom && wantsGzip(r) {
		zipped, err := s.zips.compress(parts...)
		if err == nil {
			w.set("Content-Encoding", "gzip")
			parts = [][]byte{zipped}
		}
	}
	w.set("Content-Length", strconv.Itoa(size(parts)))
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

func metaHeaders(w *response, a *operation.Answer) {
	tellCache(w, a.Meta.Cache, a.Meta.DataAgeS)
	w.set("X-Credits-Used", strconv.FormatInt(a.Meta.CreditsUsed, 10))
	w.set("X-Credits-Remaining", strconv.FormatInt(a.Meta.CreditsRemaining, 10))
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
	ttl := strconv.FormatInt(int64(a.TTL.Seconds()), 10)
	if a.Fresh { // a copy must not answer who asks for what is new
		w.set("Cache-Control", "private, no-cache")
	} else {
		w.set("Cache-Control", "private, max-age="+ttl)
	}
	w.vary("Authorization")
	if a.Meta.Cache == schema.Hit {
		w.set("Age", strconv.FormatInt(a.Meta.DataAgeS, 10))
		w.set("Cache-Status", "socialdata; hit; ttl="+ttl) // RFC 9211
	} else {
		w.set("Cache-Status", "socialdata; fwd=miss; stored")
	}
}

// tellCache tells how the cache was used, and the age of the data in seconds.
func tellCache(w *response, state schema.CacheState, age int64) {
	w.set("X-Cache", string(state))
	w.set("X-Data-Age", strconv.FormatInt(age, 10))
}

// maxLink is how long a Link field may be: some proxies refuse answers with long ones. The cursor is in meta too.
const maxLink = 1 << 10

func linkHeader(w *response, next string) {
	if link := "<" + next + `>; rel="next"`; len(link) <= maxLink {
		w.set("Link", link)
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
func limitHeaders(w *response, a keys.Allowance) {
	full := float64(a.Rate.Capacity)
	w.set("Ratelimit-Policy", limitText("q", a.Rate.Capacity, "w", seconds(full/a.Rate.Refill)))
	w.set("Ratelimit", limitText("r", int64(a.Remaining), "t", seconds((full-a.Remaining)/a.Rate.Refill)))
}

// limitText returns an item of a key with two parameters, such as "key";r=59;t=1.
func limitText(first string, m int64, second string, n int64) string {
	b := append(make([]byte, 0, 64), `"key";`+first+"="...)
	b = strconv.AppendInt(b, m, 10)
	b = append(b, ";"+second+"="...)
	return string(strconv.AppendInt(b, n, 10))
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
		tellCache(w, schema.Miss, 0)
	}
	if p.Remembered {
		tellCache(w, schema.Hit, int64(p.Age.Seconds()))
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
	own.RequestID, own.Detail, own.Type = requestID(r), clip(own.Detail, maxDetail), explained(r, own.Code)
	return &own
}
