package server

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server/feed"
)

// feedForms are the formats of the feed of a monitor, by the ending of its address.
var feedForms = map[string]struct {
	contentType string
	write       func(feed.Feed) ([]byte, error)
}{
	".atom": {feed.AtomType, feed.Feed.Atom},
	".json": {feed.JSONType, feed.Feed.JSON},
}

// feed answers a request for the feed of a monitor. Anyone who knows its address may read it: the address is never
// logged, and no shared cache may store the feed and no search engine list it. The number of requests in progress is
// limited together with those for mounted handlers.
func (s *Server) feed(w *response, r *http.Request) {
	w.route, w.operation = operation.FeedPath+"{token}", "feeds"
	file := strings.TrimPrefix(r.URL.Path, operation.FeedPath)
	at := strings.LastIndexByte(file, '.')
	if at < 0 || feedForms[file[at:]].write == nil {
		s.fail(w, r, problem.New(problem.NotFound, "the address of a feed ends in .atom or .json"))
		return
	}
	token, form := file[:at], feedForms[file[at:]]
	if !s.inFlight.mounts.TryAcquire(1) {
		s.fail(w, r, busy(w))
		return
	}
	found, err := s.front.Feed(r.Context(), token)
	s.inFlight.mounts.Release(1)
	if err != nil {
		s.foreign.slow(r.Context(), hostOf(r.RemoteAddr)) // like an unknown key
		s.fail(w, r, err)
		return
	}
	page := feed.Of(found)
	page.ID = "urn:socialdata:feed:" + feedID(token)
	if s.public != "" {
		page.Self = s.public + operation.FeedPath + file
	}
	body, err := form.write(page)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.set("Cache-Control", "private, max-age=60")
	w.set("X-Robots-Tag", "noindex")
	newStatic(form.contentType, body).serve(w, r)
}

// feedID identifies a feed without its token.
func feedID(token string) string {
	sum := sha256.Sum256([]byte("id of the feed " + token))
	return hex.EncodeToString(sum[:16])
}
