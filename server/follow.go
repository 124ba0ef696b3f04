package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// follow answers the feed of changes as server-sent events: change for each, with its place as the id, and a comment whenever
// none has come for a while. Last-Event-ID goes on behind a place. The stream has no end of its own, so it gives the place of
// its call back and takes one of the streams.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) follow(w *response, r *http.Request, client *socialdata.Client, o *operation.Operation, call operation.Call) {
	give, err := s.takeStream(client)
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
		return // the caller has gone, or the server stops: clients connect again by themselves
	}
	out.fail(err)
}

// takeStream takes a place for a stream, of all and of its key.
func (s *Server) takeStream(client *socialdata.Client) (give func(), err error) {
	if !s.streams.TryAcquire(1) {
		return nil, errBusy
	}
	back, err := s.listeners.take(client.Key().ID)
	if err != nil {
		s.streams.Release(1)
		return nil, err
	}
	return func() {
		back()
		s.streams.Release(1)
	}, nil
}

// fail ends a stream with a problem: a document if nothing has been sent, else the event error.
func (e *events) fail(err error) {
	if !e.started {
		e.s.fail(e.w, e.r, err)
		return
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		e.send("error", "", e.s.problemOf(e.r, p))
	}
}
