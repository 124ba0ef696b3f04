package all

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
)

// hostileNet is a network inside a [testing/synctest] bubble: every host is a hostile upstream with TLS and HTTP. Only
// intended delays take time.
type hostileNet struct {
	fault fault
	certs *certificates
	conf  *tls.Config    // of the servers
	ends  sync.WaitGroup // the server ends of connections

	mu      sync.Mutex
	dialed  []string // host:port, in order
	asked   int      // requests and dials that met the fault
	besides int      // requests that did not
}

// curves are the cheapest ones.
var curves = []tls.CurveID{tls.X25519}

// client returns an HTTP client that uses the network, and a function that closes its connections.
func (n *hostileNet) client() (*http.Client, func()) {
	shipped := providers.Transport() // as the shipped server uses it
	transport := shipped.(interface{ Unwrap() http.RoundTripper }).Unwrap().(*http.Transport)
	transport.Proxy, transport.DialContext = nil, n.dial
	transport.TLSClientConfig = &tls.Config{ // expensive parts of a handshake are cached
		RootCAs: n.certs.pool, Time: time.Now, CurvePreferences: curves, ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
	n.conf = &tls.Config{GetCertificate: n.certs.of, CurvePreferences: curves}
	if n.fault.untrusted {
		n.conf.GetCertificate = n.certs.stranger
	}
	return &http.Client{Transport: shipped}, transport.CloseIdleConnections
}

func (n *hostileNet) dial(_ context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	if n.fault.dial != nil {
		n.count(false)
		return nil, n.fault.dial()
	}
	near, far := socketPair()
	n.ends.Go(func() { n.serve(address, far) })
	return near, nil
}

func (n *hostileNet) serve(address string, bare *socket) {
	defer bare.Close() //nolint:errcheck // nothing is left to save
	var conn net.Conn = bare
	if strings.HasSuffix(address, ":443") {
		if n.fault.untrusted {
			n.count(false)
		}
		conn = tls.Server(conn, n.conf)
	}
	for in := bufio.NewReader(conn); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		token := isTokenRequest(r)
		n.count(token)
		switch {
		case token == n.fault.token:
			err = n.fault.serve(conn, r)
		case token:
			_, err = io.WriteString(conn, plain("200 OK", "", honestToken))
		default:
			_, err = io.WriteString(conn, plain("200 OK", "", "{}"))
		}
		if errors.Is(err, syscall.ECONNRESET) {
			bare.reset(err) // without the close_notify of TLS
		}
		if err != nil {
			return
		}
	}
}

func (n *hostileNet) count(token bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if token == n.fault.token {
		n.asked++
	} else {
		n.besides++
	}
}

func (n *hostileNet) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// spared reports whether there were requests and none of them met the fault.
func (n *hostileNet) spared() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked == 0 && n.besides > 0
}

// hosts returns the dialed addresses, each once.
func (n *hostileNet) hosts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(n.dialed)))
}

// honestToken contains an access token in the format of every upstream that issues one.
const honestToken = `{"access_token":"` + plantedToken + `","accessJwt":"` + plantedToken + `","refreshJwt":"` + plantedToken +
	`","token_type":"bearer","expires_in":360000,"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","handle":"tester.example"}`

const plantedToken = "planted-access-token-8f14e45f"

func isTokenRequest(r *http.Request) bool {
	return r.Method == http.MethodPost && (strings.Contains(r.URL.Path, "token") || strings.HasSuffix(r.URL.Path, "createSession") ||
		strings.HasSuffix(r.URL.Path, "refreshSession"))
}

// socket is one end of a connection inside a bubble. It has a buffer, as a socket of the kernel does: a writer need not
// wait for the reader. [net.Pipe] has none, so both ends of a failing handshake would wait for each other.
type socket struct{ in, out *stream }

func socketPair() (near, far *socket) {
	a, b := newStream(), newStream()
	return &socket{a, b}, &socket{b, a}
}

// Read implements [net.Conn].
func (s *socket) Read(p []byte) (int, error) { return s.in.read(p) }

// Write implements [net.Conn].
func (s *socket) Write(p []byte) (int, error) { return s.out.write(p) }

// Close implements [net.Conn].
func (s *socket) Close() error {
	s.out.end(io.EOF)
	s.in.end(net.ErrClosed)
	return nil
}

func (s *socket) reset(err error) {
	s.out.end(&net.OpError{Op: "read", Net: "tcp", Err: err})
	s.in.end(net.ErrClosed)
}

// SetDeadline implements [net.Conn].
func (s *socket) SetDeadline(at time.Time) error {
	return errors.Join(s.SetReadDeadline(at), s.SetWriteDeadline(at))
}

// SetReadDeadline implements [net.Conn].
func (s *socket) SetReadDeadline(at time.Time) error { s.in.readers.set(s.in, at); return nil }

// SetWriteDeadline implements [net.Conn].
func (s *socket) SetWriteDeadline(at time.Time) error { s.out.writers.set(s.out, at); return nil }

// LocalAddr implements [net.Conn].
func (*socket) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }

// RemoteAddr implements [net.Conn].
func (*socket) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2)} }

const socketBuffer = 256 << 10

// stream is one direction of a connection.
type stream struct {
	mu               sync.Mutex
	changed          *sync.Cond
	buf              bytes.Buffer
	over             error // the error of reads after buf; writes fail
	readers, writers deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.buf.Len() == 0 && s.over == nil && !s.readers.passed {
		s.changed.Wait()
	}
	switch {
	case s.readers.passed:
		return 0, os.ErrDeadlineExceeded
	case s.buf.Len() == 0:
		return 0, s.over
	}
	n, _ := s.buf.Read(p) // buf is not empty
	s.changed.Broadcast()
	return n, nil
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		for s.buf.Len() >= socketBuffer && s.over == nil && !s.writers.passed {
			s.changed.Wait()
		}
		switch {
		case s.writers.passed:
			return n, os.ErrDeadlineExceeded
		case s.over != nil:
			return n, net.ErrClosed
		}
		k := min(len(p)-n, socketBuffer-s.buf.Len())
		s.buf.Write(p[n : n+k])
		n += k
		s.changed.Broadcast()
	}
	return n, nil
}

// end ends the stream; only the first call has an effect. If the reader ends it, unread data is dropped.
func (s *stream) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = why
	}
	if errors.Is(why, net.ErrClosed) {
		s.over, s.buf = why, bytes.Buffer{}
	}
	s.changed.Broadcast()
}

// deadline is the deadline of the reads or of the writes of a stream. It is protected by the stream's mutex.
type deadline struct {
	passed bool
	timer  *time.Timer
}

func (d *deadline) set(s *stream, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.passed = !at.IsZero() && !time.Now().Before(at); !d.passed && !at.IsZero() {
		var mine *time.Timer
		mine = time.AfterFunc(time.Until(at), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.timer == mine {
				d.passed = true
				s.changed.Broadcast()
			}
		})
		d.timer = mine
	}
	s.changed.Broadcast()
}

// pipes is a [net.Listener] whose connections are sockets in the bubble.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func listenPipes() *pipes { return &pipes{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := socketPair()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// certificates issues certificates for any host, signed by an authority of the test.
type certificates struct {
	pool *x509.CertPool
	ca   *x509.Certificate
	key  *ecdsa.PrivateKey

	mu sync.Mutex
	by map[string]*tls.Certificate
}

// newCertificates returns certificates that are valid at any time, including the time in a bubble.
func newCertificates(t *testing.T) *certificates {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := template()
	ca.IsCA, ca.BasicConstraintsValid = true, true
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	c := &certificates{pool: x509.NewCertPool(), ca: ca, key: key, by: map[string]*tls.Certificate{}}
	c.pool.AddCert(ca)
	return c
}

func template() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter: time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// stranger returns a self-signed certificate for a host.
func (c *certificates) stranger(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := template()
	leaf.DNSNames = []string{hello.ServerName}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &key.PublicKey, key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (c *certificates) of(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.by[hello.ServerName]; have != nil {
		return have, nil
	}
	leaf := template()
	leaf.DNSNames = []string{hello.ServerName}
	der, err := x509.CreateCertificate(rand.Reader, leaf, c.ca, &c.key.PublicKey, c.key)
	if err != nil {
		return nil, err
	}
	made := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: c.key}
	c.by[hello.ServerName] = made
	return made, nil
}
