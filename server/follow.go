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
	give, err := s.places.stream(client.Key().ID)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer give()
	w.done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	call.LastEventID = r.Header.Get("Last-Event-ID")
	out := &events{s: s, w: w, r: r}
	err = client.Stream(ctx, o, call, func(e operation.Event) bool {
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
