package server

import (
	"bytes"
	"context"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// Serve answers requests on listener until ctx ends. Then it reports on /readyz that it is draining, closes the
// listener and the connections without a call, and waits for calls in progress. It returns nil if all calls have ended,
// even if callers did not read their answers. It does not close the client.
//
// A request that cannot be read, which net/http refuses before it calls a handler, is answered with a problem document
// too, unless listener speaks TLS itself: see [WithTLS].
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	open := newConnections(s.limits, s.proxies)
	web := &http.Server{
		Handler: atWork(s.Handler()), MaxHeaderBytes: s.limits.HeaderBytes, DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: s.limits.HeadTimeout, ReadTimeout: s.limits.HeadTimeout,
		WriteTimeout: s.limits.AnswerTimeout, IdleTimeout: s.limits.IdleTimeout,
		ConnContext: open.admit, ConnState: open.note,
		ErrorLog: log.New(webErrors{s}, "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(unread{listener, s, open}) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.drain(context.WithoutCancel(ctx), web, open)
}

// webErrors logs the errors that net/http reports.
type webErrors struct{ s *Server }

// Write logs one line. A failed TLS handshake is logged like a request without a key, since it costs its caller
// nothing.
func (e webErrors) Write(line []byte) (int, error) {
	ctx, text := context.Background(), string(bytes.TrimSpace(line))
	if strings.HasPrefix(text, "http: TLS handshake error") {
		e.s.log.DebugContext(ctx, text)
		e.s.logCounts.count(ctx, e.s.log, &e.s.logCounts.handshakes)
	} else {
		e.s.log.ErrorContext(ctx, text)
	}
	return len(line), nil
}

// drain waits for calls in progress.
func (s *Server) drain(ctx context.Context, web *http.Server, open *connections) error {
	s.draining.Store(true)
	s.log.InfoContext(ctx, "stopping: no new calls; calls in progress are finished")
	time.Sleep(s.limits.DrainNotice)
	s.stop() // streams of changes do not end by themselves
	limited, stop := context.WithTimeout(ctx, s.limits.Drain)
	defer stop()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		if s.inFlight.takeAll(ctx) {
			time.AfterFunc(s.limits.AnswerGrace, stop) // no call is in progress: the callers that remain do not read
		}
	}()
	web.RegisterOnShutdown(open.dropWaiting)
	err := web.Shutdown(limited)
	if limited.Err() == nil {
		return err
	}
	s.log.InfoContext(ctx, "connections of callers that do not read their answers are closed")
	err = web.Close()
	select { // a call that was cut off still settles its credits
	case <-idle:
	case <-time.After(s.limits.AnswerGrace):
	}
	return err
}
