package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// phase says what a connection is doing.
type phase int

const (
	waiting phase = iota // for its caller to send a request, or the rest of one
	working              // on a call
	writing              // an answer, as fast as its caller reads
)

// connection is what is known of a connection. All of it belongs to the mutex of its connections.
type connection struct {
	all   *connections
	conn  net.Conn
	phase phase
	since time.Time // of the phase
}

// connections are those of one web server, of which there are only so many.
type connections struct {
	most int

	mu   sync.Mutex
	open map[net.Conn]*connection
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*connection{}}
}

type connectionKey struct{}

// admit notes a new connection. When there are too many, the one that has waited longest for its caller gives way: to
// hold a connection without using it is what costs a caller nothing. When all are at work, the new one does.
func (cs *connections) admit(ctx context.Context, conn net.Conn) context.Context {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := &connection{all: cs, conn: conn, since: time.Now()}
	if len(cs.open) >= cs.most {
		cs.drop(cs.idlest())
	}
	if len(cs.open) >= cs.most {
		_ = conn.Close()
	} else {
		cs.open[conn] = c
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// idlest returns the connection that has waited longest for its caller to send, or else to read; nil when all are at
// work. The caller holds mu.
func (cs *connections) idlest() *connection {
	var out *connection
	for _, c := range cs.open {
		switch {
		case c.phase == working:
		case out == nil, c.phase < out.phase, c.phase == out.phase && c.since.Before(out.since):
			out = c
		}
	}
	return out
}

// drop closes a connection, which may be nil. The caller holds mu.
func (cs *connections) drop(c *connection) {
	if c != nil {
		delete(cs.open, c.conn)
		_ = c.conn.Close()
	}
}

// dropWaiting closes every connection on which there is no call.
func (cs *connections) dropWaiting() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		if c.phase == waiting {
			cs.drop(c)
		}
	}
}

// note follows the states of connections, as [http.Server] tells them.
func (cs *connections) note(conn net.Conn, state http.ConnState) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch c := cs.open[conn]; {
	case c == nil:
	case state == http.StateClosed, state == http.StateHijacked:
		delete(cs.open, conn)
	case state == http.StateIdle:
		c.phase, c.since = waiting, time.Now()
	}
}

// enter begins another phase of the connection that a request came by. A handler that is mounted elsewhere has none.
func enter(r *http.Request, p phase) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.phase != p {
		c.phase, c.since = p, time.Now()
	}
}
