package remote

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// storedFor is how long an answer is stored with its ETag.
const storedFor = 24 * time.Hour

// recall returns the stored answer to the same request, and adds its tag to the request; nil when there is none.
func (c *Client) recall(r *http.Request) *cache.Entry {
	if c.stored == nil {
		return nil
	}
	known, err := c.stored.Get(r.Context(), r.URL.RequestURI())
	if err != nil || known == nil {
		return nil
	}
	r.Header.Set("If-None-Match", known.Tag)
	return known
}

// keep stores an answer that has a tag.
func (c *Client) keep(r *http.Request, h http.Header, body []byte) {
	tag := h.Get("ETag")
	if c.stored == nil || tag == "" {
		return
	}
	// If it is not stored, it is sent again.
	_ = c.stored.Set(r.Context(), r.URL.RequestURI(), &cache.Entry{Data: string(body), Tag: tag, TTL: storedFor}, storedFor)
}

// unchanged returns the stored answer for a 304. What concerns this call only is in the header.
func unchanged(h http.Header, known *cache.Entry) (*operation.Answer, error) {
	var e schema.Envelope[json.RawMessage]
	if err := json.Unmarshal([]byte(known.Data), &e); err != nil {
		return nil, problem.Wrap(err, problem.InternalError, "the answer cannot be decoded")
	}
	m := &e.Meta
	m.RequestID, m.Cache = h.Get("X-Request-Id"), schema.CacheState(h.Get("X-Cache"))
	for field, to := range map[string]*int64{
		"X-Credits-Used": &m.CreditsUsed, "X-Credits-Remaining": &m.CreditsRemaining, "X-Data-Age": &m.DataAgeS,
	} {
		*to, _ = strconv.ParseInt(h.Get(field), 10, 64)
	}
	if next := cursorOf(h.Get("Link")); next != "" {
		m.NextCursor = next
	}
	a := &operation.Answer{Data: e.Data, Meta: *m}
	addHeaderFields(a, h)
	return a, nil
}

// cursorOf returns the cursor in a Link field such as <?cursor=…>; rel="next"; "" when there is none.
func cursorOf(link string) string {
	target, _, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(target)
	if !found || err != nil {
		return ""
	}
	return u.Query().Get("cursor")
}
