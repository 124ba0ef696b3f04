package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// stream answers a fan-out search as server-sent events: the event platform for each change of a platform's state,
// result for each result, and at the end done with the meta. A failure before the first event is answered with a
// problem document, a later one with the event error.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) stream(
	w *response, r *http.Request, client *socialdata.Client, o *operation.Operation, call operation.Call,
) {
	out := &events{s: s, w: w, r: r}
	err := socialdata.FrontEnd(client).Stream(r.Context(), o, call, func(e operation.Event) bool {
		switch {
		case e.Result != nil:
			return out.send("result", "", e.Result)
		case e.Meta != nil:
			return out.send("done", "", map[string]any{"meta": e.Meta})
		}
		return out.send("platform", "", map[string]any{"platform": e.Platform, "state": e.State})
	})
	if err != nil {
		out.fail(err)
	}
}

// events writes a stream. Each event has its own time limit. The connection ends with the stream, so that the limit of
// the last event does not apply to the next request.
type events struct {
	s       *Server
	w       *response
	r       *http.Request
	started bool
}

// send writes an event, with an id unless that is "", and reports whether the caller is still there.
func (e *events) send(event, id string, data any) bool {
	b, err := schema.Marshal(data)
	if err != nil {
		return false
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return e.write(id + "event: " + event + "\ndata: " + string(b) + "\n\n")
}

// comment writes a comment, by which each side learns that the other is still there.
func (e *events) comment() bool { return e.write(":\n\n") }

func (e *events) write(text string) bool {
	if !e.started {
		e.started = true
		header := e.w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-store")
		header.Set("Vary", "Accept")
		setCacheFields(e.w, schema.Miss, 0)
		if e.r.ProtoMajor == 1 {
			header.Set("Connection", "close")
		}
	}
	control := http.NewResponseController(e.w)
	_ = control.SetWriteDeadline(time.Now().Add(e.s.limits.EventTimeout)) // not every response supports it
	if _, err := e.w.Write([]byte(text)); err != nil {
		return false
	}
	// A middleware that does not support flushing delays the event. Any other error means that the caller is gone.
	err := control.Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}
