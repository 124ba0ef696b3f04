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

// Serve answers what comes to listener until ctx ends. Then it says on /readyz that it is draining, closes the listener
// and the connections on which there is no call, lets calls under way end, and returns nil when all of that went well,
// even if callers who did not read had to be cut off. The client is not closed.
//
// A request that cannot be read, which net/http refuses before it asks a handler, is answered with a problem document too,
// unless listener speaks TLS itself: see [WithTLS].
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

// webErrors logs what net/http reports.
type webErrors struct{ s *Server }

// Write logs one line. A TLS handshake that fails costs its caller nothing, like a request without a key.
func (e webErrors) Write(line []byte) (int, error) {
	ctx, text := context.Background(), string(bytes.TrimSpace(line))
	if strings.HasPrefix(text, "http: TLS handshake error") {
		e.s.log.DebugContext(ctx, text)
		e.s.quiet.count(ctx, e.s.log, &e.s.quiet.handshakes)
	} else {
		e.s.log.ErrorContext(ctx, text)
	}
	return len(line), nil
}

// drain ends what is under way.
func (s *Server) drain(ctx context.Context, web *http.Server, open *connections) error {
	s.draining.Store(true)
	s.log.InfoContext(ctx, "stopping: no new calls, those under way are finished")
	time.Sleep(s.limits.Notice)
	s.stop() // streams of changes have no end of their own
	limited, stop := context.WithTimeout(ctx, s.limits.Drain)
	defer stop()
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		if s.calls.Acquire(ctx, s.limits.InFlight) == nil && s.lent.Acquire(ctx, s.limits.Mounted) == nil {
			time.AfterFunc(s.limits.LastWords, stop) // no call is at work: whoever is left does not read
		}
	}()
	web.RegisterOnShutdown(open.dropWaiting)
	err := web.Shutdown(limited)
	if limited.Err() == nil {
		return err
	}
	s.log.InfoContext(ctx, "callers who were slow to the end are cut off")
	err = web.Close()
	select { // a call that was cut off still closes its books
	case <-quiet:
	case <-time.After(s.limits.LastWords):
	}
	return err
}
