package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// unread is a listener for requests that net/http cannot read, and refuses with text before it calls a handler: its
// connections answer them with a problem document.
type unread struct {
	net.Listener
	s    *Server
	open *connections
}

// Accept implements [net.Listener].
func (l unread) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.s.tls != nil {
		return &secured{plain{tls.Server(conn, l.s.tls), l}, nil, false}, nil
	}
	if _, ok := conn.(*tls.Conn); ok {
		return conn, nil // net/http can use HTTP/2 only on a *tls.Conn
	}
	return &plain{conn, l}, nil
}

// plain is a connection of [unread].
type plain struct {
	net.Conn
	of unread
}

// NetConn returns the connection below.
func (c *plain) NetConn() net.Conn { return c.Conn }

// CloseWrite ends what is sent. net/http calls it after a refusal, so that the refusal arrives.
func (c *plain) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Write implements [net.Conn]. While no handler is running, only net/http itself writes.
func (c *plain) Write(p []byte) (int, error) { return c.of.write(c, c.Conn, p) }

// write writes p to conn, which is below c. If p is a refusal of net/http, it writes the problem document instead.
func (l unread) write(c, conn net.Conn, p []byte) (int, error) {
	status, why := refusal(p)
	if status == 0 || !l.open.waits(c) {
		return conn.Write(p)
	}
	_, err := conn.Write(l.s.refused(status, why))
	return len(p), err
}

// refusal returns the status and the reason, which may be "", of the beginning of an answer that is a refusal; 0 for
// any other.
func refusal(p []byte) (status int, why string) {
	const version = "HTTP/1.1 "
	if !bytes.HasPrefix(p, []byte(version)) {
		return 0, ""
	}
	line, _, _ := bytes.Cut(p[len(version):], []byte("\r\n"))
	code, reason, _ := strings.Cut(string(line), " ")
	if n, err := strconv.Atoi(code); err == nil && n >= http.StatusBadRequest {
		_, why, _ = strings.Cut(reason, ": ")
		return n, why
	}
	return 0, ""
}

// refused returns the whole answer to a request that could not be read, and logs and counts it like a request without a
// key.
func (s *Server) refused(status int, why string) []byte {
	p := &problem.Error{
		Code: problem.InvalidRequest, Status: status, Detail: s.limits.refused(status, why),
		RequestID: callctx.NewID(),
	}
	ctx := callctx.Begin(context.Background(), p.RequestID)
	s.log.DebugContext(ctx, "request", slog.String("request_id", p.RequestID), slog.Int("status", status),
		slog.String("code", string(p.Code)))
	s.logCounts.count(ctx, s.log, &s.logCounts.open)
	s.observe(ctx, Request{Method: "_OTHER", Status: status, Code: p.Code})
	body, err := schema.Marshal(p)
	if err != nil {
		body = []byte(`{}`)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/problem+json\r\nDate: %s\r\nX-Cache: MISS\r\nX-Content-Type-Options: "+
		"nosniff\r\nX-Data-Age: 0\r\n"+
		"X-Request-Id: %s\r\n\r\n%s",
		status, http.StatusText(status), len(body), time.Now().UTC().Format(http.TimeFormat), p.RequestID, body)
	return b.Bytes()
}

// refused returns what is wrong with a request that was refused with status. why is the text of net/http, or "".
func (l *Limits) refused(status int, why string) string {
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		return fmt.Sprintf("the header of the request is too long: its first line and its header fields may have %d bytes",
			l.HeaderBytes)
	case http.StatusExpectationFailed:
		return "the header field Expect can only be 100-continue"
	case http.StatusNotImplemented:
		return "the header field Transfer-Encoding can only be chunked"
	case http.StatusHTTPVersionNotSupported:
		return "this version of HTTP is not supported: use HTTP/1.1"
	}
	return "this is not a valid HTTP request: " +
		cmp.Or(why, `check the first line, the header fields, and that every % in the address is followed by two hex digits`)
}

// secured is a connection of [unread] on which the server uses TLS.
type secured struct {
	plain
	failed error // the error of the handshake
	shaken bool
}

// ConnectionState returns the result of the handshake, which it makes. net/http calls it once, before it reads.
func (c *secured) ConnectionState() tls.ConnectionState {
	conn := c.Conn.(*tls.Conn)
	if !c.shaken {
		c.shaken = true
		c.shake(conn)
	}
	return conn.ConnectionState()
}

// shake makes the handshake, within the time limit for the header of a request.
func (c *secured) shake(conn *tls.Conn) {
	s := c.of.s
	_ = conn.SetDeadline(time.Now().Add(s.limits.HeadTimeout)) // Shutdown closes a connection without deadlines
	c.failed = conn.HandshakeContext(context.Background())
	_ = conn.SetDeadline(time.Time{})
	if c.failed == nil {
		return
	}
	reason := c.failed.Error()
	if bad, ok := errors.AsType[tls.RecordHeaderError](c.failed); ok && bad.Conn != nil &&
		looksLikeHTTP(bad.RecordHeader) {
		reason = "client sent an HTTP request to an HTTPS server"
		_, _ = bad.Conn.Write(s.refused(http.StatusBadRequest, "this address uses HTTPS: write https:// before it"))
	}
	_, _ = fmt.Fprintf(webErrors{s}, "http: TLS handshake error from %s: %s", conn.RemoteAddr(), reason)
}

// looksLikeHTTP reports whether a record begins like an HTTP request without TLS.
func looksLikeHTTP(record [5]byte) bool {
	switch string(record[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH":
		return true
	}
	return false
}

// Read implements [net.Conn]. After a failed handshake there is nothing to read.
func (c *secured) Read(p []byte) (int, error) {
	if c.failed != nil {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// Write implements [net.Conn].
func (c *secured) Write(p []byte) (int, error) {
	if c.failed != nil {
		return 0, net.ErrClosed
	}
	return c.of.write(c, c.Conn, p)
}
