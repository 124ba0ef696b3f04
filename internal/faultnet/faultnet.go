// Package faultnet simulates network failures between a program and a server, for tests.
//
//	proxy, err := faultnet.Listen("127.0.0.1:5432")
//	defer proxy.Close()
//	proxy.Delay(100 * time.Millisecond)
//
// It forwards TCP and knows no other protocol.
package faultnet

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards connections to a server. All its methods may be called at any time.
type Proxy struct {
	listener net.Listener
	target   string
	trips    atomic.Int64
	work     sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when one of the following has changed
	delay   time.Duration
	frozen  bool
	deaf    bool // the server's answers are lost
	gone    bool // new connections are refused
	closed  bool
	pairs   map[*pair]struct{}
}

// pair is a client's connection and the matching connection to the server.
type pair struct {
	client, server net.Conn
	answered       atomic.Bool // the last bytes came from the server, or there were none
}

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

// Listen returns a proxy for the server at target, a host and a port. It listens on a loopback port of its own.
func Listen(target string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, changed: make(chan struct{}), pairs: map[*pair]struct{}{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr returns the address on which the proxy listens: a host and a port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// RoundTrips returns how often a client has sent something after it had received its answers, on all connections
// together. Data that is sent together and answered together counts once.
func (p *Proxy) RoundTrips() int64 { return p.trips.Load() }

// Delay delays all data, in both directions, by d.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Freeze stops all data; with false, it lets the delayed data through.
func (p *Proxy) Freeze(frozen bool) { p.set(func() { p.frozen = frozen }) }

// LoseAnswers drops what the server sends, until it is called with false. Connections that have lost data are then
// closed.
func (p *Proxy) LoseAnswers(lost bool) {
	p.set(func() { p.deaf = lost })
	if !lost {
		p.Cut()
	}
}

// Refuse closes new connections at once, until it is called with false.
func (p *Proxy) Refuse(refused bool) { p.set(func() { p.gone = refused }) }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close()
	}
}

// Close ends the proxy and all connections.
func (p *Proxy) Close() error {
	p.set(func() { p.closed = true })
	err := p.listener.Close()
	p.Cut()
	p.work.Wait()
	return err
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	if !p.open() {
		_ = client.Close()
		return
	}
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	c := &pair{client: client, server: server}
	c.answered.Store(true)
	p.mu.Lock()
	if p.closed {
		c.close()
	}
	p.pairs[c] = struct{}{}
	p.mu.Unlock()
	var ways sync.WaitGroup
	ways.Go(func() { p.pump(c, client, server, true) })
	ways.Go(func() { p.pump(c, server, client, false) })
	ways.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, c)
}

// open waits while the network is frozen, and reports whether new connections are accepted.
func (p *Proxy) open() bool {
	for {
		p.mu.Lock()
		frozen, gone, changed := p.frozen && !p.closed, p.gone || p.closed, p.changed
		p.mu.Unlock()
		if !frozen {
			return !gone
		}
		<-changed
	}
}

// piece is some data in transit.
type piece struct {
	bytes []byte
	sent  time.Time
}

// inFlight is how many pieces are in transit in one direction at most.
const inFlight = 1024

// pump forwards data in one direction until a side has closed.
func (p *Proxy) pump(c *pair, from, to net.Conn, asks bool) {
	defer c.close()
	way := make(chan piece, inFlight)
	p.work.Go(func() {
		defer c.close()
		for x := range way {
			if !p.pass(x.sent, asks) {
				continue
			}
			if _, err := to.Write(x.bytes); err != nil {
				break
			}
		}
		for range way { // so that the reader never blocks
		}
	})
	defer close(way)
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if n > 0 {
			if asks {
				if c.answered.Swap(false) {
					p.trips.Add(1)
				}
			} else {
				c.answered.Store(true)
			}
			way <- piece{b[:n], time.Now()}
		}
		if err != nil {
			return
		}
	}
}

// pass waits until data sent at that time has arrived, and reports whether it does.
func (p *Proxy) pass(sent time.Time, asks bool) bool {
	for {
		p.mu.Lock()
		left, frozen, deaf, closed, changed := p.delay-time.Since(sent), p.frozen, p.deaf && !asks, p.closed, p.changed
		p.mu.Unlock()
		switch {
		case closed, deaf:
			return false
		case frozen:
			<-changed
		case left <= 0:
			return true
		default:
			select {
			case <-changed:
			case <-time.After(left):
			}
		}
	}
}
