package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// follow answers the feed of changes as server-sent events: an event called change for each, whose id is its position
// in the feed, and a comment when there has been none for a while. Last-Event-ID continues after a position. Since the
// stream does not end by itself, it does not count as a call in progress, but as one of the streams.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) follow(
	w *response, r *http.Request, client *socialdata.Client, o *operation.Operation, call operation.Call,
) {
	front := socialdata.FrontEnd(client)
	end, ok := s.beginStream(w, r, client)
	if !ok {
		return
	}
	defer end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	call.LastEventID = r.Header.Get("Last-Event-ID")
	out := &events{s: s, w: w, r: r}
	err := front.Stream(ctx, o, call, func(e operation.Event) bool {
		if e.ID == "" {
			return out.comment()
		}
		return out.send("change", e.ID, e.Result)
	})
	if err == nil || ctx.Err() != nil && out.started {
		return // the caller is gone, or the server is stopping: clients reconnect by themselves
	}
	out.fail(err)
}

// beginStream counts an answer as one of the streams, until end, and no more as a call in progress; or it answers that
// there are too many.
func (s *Server) beginStream(w *response, r *http.Request, client *socialdata.Client) (end func(), ok bool) {
	end, err := s.inFlight.stream(client.Key(), socialdata.FrontEnd(client).Alone(r.Context()))
	if err != nil {
		s.fail(w, r, err)
		return nil, false
	}
	w.done()
	return end, true
}

// fail ends a stream with a problem: a document if nothing has been sent, else an event called error.
func (e *events) fail(err error) {
	if !e.started {
		e.s.fail(e.w, e.r, err)
		return
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		e.send("error", "", e.s.problemOf(e.r, p))
	}
}
