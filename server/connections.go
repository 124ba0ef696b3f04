package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// phase is what a connection is doing.
type phase int

const (
	waiting phase = iota // for its caller to send a request, or the rest of one
	working              // on a call
	writing              // an answer, at the speed at which its caller reads
)

// connection is one open connection. Its fields are protected by the mutex of its connections.
type connection struct {
	all   *connections
	conn  net.Conn
	from  netip.Addr // its address; the zero Addr when the number of connections from there is not limited
	phase phase
	since time.Time // when the phase began
}

// connections are the open connections of one web server, whose number is limited.
type connections struct {
	most, perAddress int
	proxies          proxies

	mu   sync.Mutex
	open map[net.Conn]*connection
	from map[netip.Addr]int // how many are open from each address with a limit
}

func newConnections(l Limits, p proxies) *connections {
	return &connections{
		most: l.Connections, perAddress: l.PerAddress, proxies: p,
		open: map[net.Conn]*connection{}, from: map[netip.Addr]int{},
	}
}

type connectionKey struct{}

// admit notes a new connection. When there are too many, in total or from its address, it closes the one among them
// that has been waiting longest for its caller, since a caller can hold a connection without using it at no cost. When
// all are in use, it closes the new one.
func (cs *connections) admit(ctx context.Context, conn net.Conn) context.Context {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := &connection{all: cs, conn: conn, from: cs.bounded(conn), since: time.Now()}
	tooMany := func() bool { return c.from.IsValid() && cs.from[c.from] >= cs.perAddress }
	if tooMany() {
		cs.drop(cs.idlest(func(o *connection) bool { return o.from == c.from }))
	}
	if len(cs.open) >= cs.most {
		cs.drop(cs.idlest(func(*connection) bool { return true }))
	}
	if tooMany() || len(cs.open) >= cs.most {
		abort(conn)
	} else {
		cs.open[conn] = c
		if c.from.IsValid() {
			cs.from[c.from]++
		}
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// bounded returns the address that a connection comes from, or the zero Addr for loopback and proxies, whose address
// many callers share.
func (cs *connections) bounded(conn net.Conn) netip.Addr {
	addr := hostOf(conn.RemoteAddr().String())
	if addr.IsLoopback() || cs.proxies.trusts(addr) {
		return netip.Addr{}
	}
	return addr
}

// idlest returns the connection that has been waiting longest for its caller to send, or else to read, among those for
// which of returns true; nil when all are in use. The caller holds mu.
func (cs *connections) idlest(of func(*connection) bool) *connection {
	var out *connection
	for _, c := range cs.open {
		switch {
		case c.phase == working, !of(c):
		case out == nil, c.phase < out.phase, c.phase == out.phase && c.since.Before(out.since):
			out = c
		}
	}
	return out
}

// drop closes a connection, which may be nil. The caller holds mu.
func (cs *connections) drop(c *connection) {
	if c != nil {
		cs.forget(c)
		abort(c.conn)
	}
}

// abort closes a connection without TLS's closing message, which would wait for a caller that does not read.
func abort(conn net.Conn) {
	for {
		above, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = above.NetConn()
	}
	_ = conn.Close()
}

// forget removes an open connection. The caller holds mu.
func (cs *connections) forget(c *connection) {
	delete(cs.open, c.conn)
	if !c.from.IsValid() {
		return
	}
	if cs.from[c.from]--; cs.from[c.from] == 0 {
		delete(cs.from, c.from)
	}
}

// dropWaiting closes every connection that has no call.
func (cs *connections) dropWaiting() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		if c.phase == waiting {
			cs.drop(c)
		}
	}
}

// note follows the states of connections that [http.Server] reports.
func (cs *connections) note(conn net.Conn, state http.ConnState) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch c := cs.open[conn]; {
	case c == nil:
	case state == http.StateClosed, state == http.StateHijacked:
		cs.forget(c)
	case state == http.StateIdle:
		c.phase, c.since = waiting, time.Now()
	}
}

// waits reports whether a connection is waiting for its caller.
func (cs *connections) waits(conn net.Conn) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.open[conn]
	return c != nil && c.phase == waiting
}

// atWork returns a handler that notes that a connection has a call, and calls h.
func atWork(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		beginPhase(r, working)
		h.ServeHTTP(w, r)
	})
}

// beginPhase begins another phase of the connection of a request. A handler that is mounted elsewhere has no such
// connection.
func beginPhase(r *http.Request, p phase) {
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
