package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// stream answers a fan-out search as server-sent events: platform at each transition, result for each result, done
// with the meta at the end. A failure before the first event is a problem document, a later one the event error.
// Each event has a time of its own to be read in. The connection ends with the stream: a limit that was meant for its
// last event must not meet the next request.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) stream(w *response, r *http.Request, client *socialdata.Client, o *operation.Operation, call operation.Call) {
	started, control := false, http.NewResponseController(w)
	send := func(event string, data any) bool {
		if !started {
			started = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Vary", "Accept")
			w.Header().Del("X-Credits-Used") // known at the end only, in the event done
			if r.ProtoMajor == 1 {
				w.Header().Set("Connection", "close")
			}
		}
		b, err := schema.Marshal(data)
		if err != nil {
			return false
		}
		_ = control.SetWriteDeadline(time.Now().Add(s.limits.EventTimeout)) // where it can be set
		if _, err = w.Write([]byte("event: " + event + "\ndata: " + string(b) + "\n\n")); err != nil {
			return false
		}
		// Behind a middleware that cannot flush the event comes later. Only a caller who has hung up is gone.
		err = control.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	}
	err := client.Stream(r.Context(), o, call, func(e operation.Event) bool {
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
		send("error", s.problemOf(r, p))
	}
}
