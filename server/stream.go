package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// wantsEvents tells whether the caller asks for server-sent events.
func wantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// stream answers a fan-out search as server-sent events: platform at each transition, result for each result, done
// with the meta at the end. A failure before the first event is a problem document, a later one the event error.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) stream(w http.ResponseWriter, r *http.Request, client *socialdata.Client, call operation.Call) {
	started := false
	send := func(event string, data any) bool {
		if !started {
			started = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Del("X-Credits-Used") // known at the end only, in the event done
		}
		b, err := schema.Marshal(data)
		if err != nil {
			return false
		}
		_, err = w.Write([]byte("event: " + event + "\ndata: " + string(b) + "\n\n"))
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	err := client.WatchSearch(r.Context(), call, func(e socialdata.SearchEvent) bool {
		switch {
		case e.Result != nil:
			return send("result", e.Result)
		case e.Meta != nil:
			return send("done", map[string]any{"meta": e.Meta})
		}
		return send("platform", map[string]any{"platform": e.Platform, "state": e.State})
	})
	if err == nil {
		return
	}
	if !started {
		s.fail(w, r, err)
		return
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		send("error", p)
	}
}
