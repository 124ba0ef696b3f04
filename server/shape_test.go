package server_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/enginetest"
)

// TestShapesOfRequests sends unusual requests that no client library would write. Further data on the same connection
// must be answered as a separate request, or not at all.
func TestShapesOfRequests(t *testing.T) {
	t.Parallel()
	const key = "KEY" // a placeholder for the account's key
	tests := []struct {
		name, text string
		status     []int // of the answers in order; after the last, the connection is closed or kept
		closed     bool
	}{
		{"an ordinary one", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{200}, false},
		{"two at once", strings.Repeat("GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", 2), []int{200, 200}, false},
		{"an old client", "GET /v1/me HTTP/1.0\r\nAuthorization: Bearer KEY\r\n\r\n", []int{200}, true},
		{"no host", "GET /v1/me HTTP/1.1\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, true},
		{"two hosts", "GET /v1/me HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, true},
		{"the URL of another host", "GET http://evil.example/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{200}, false},
		{"no version", "GET /v1/me\r\n\r\n", []int{400}, true},
		{"an address of bad escapes", "GET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, true},
		{"one after a valid one", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n", []int{200, 400}, true},
		{"a future version", "GET /v1/me HTTP/3.9\r\nHost: a\r\n\r\n", []int{505}, true},
		{"a head too long", "GET /v1/me HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 70<<10) + "\r\n\r\n", []int{431}, true},
		{"another protocol", "GET /v1/me RTSP/1.0\r\n\r\n", []int{400}, true},
		{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{404}, true},
		{"a space before the colon", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer KEY\r\n\r\n", []int{400}, true},
		{"a folded field", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer\r\n KEY\r\n\r\n", []int{200}, false},
		{"a zero byte in a field", "GET /v1/me HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", []int{400}, true},
		{"a line feed in a path", "GET /v1/me\nX: b HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, true},
		{"line feeds alone", "GET /v1/me HTTP/1.1\nHost: a\nAuthorization: Bearer KEY\n\n", []int{200}, false},
		{"two keys", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nAuthorization: Bearer KEY\r\n\r\n", []int{401}, false},
		{"a header name in other letters", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAUTHORIZATION: bEARER   KEY  \r\n\r\n", []int{200}, false},
		{"a request in a body", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Length: 31\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n", []int{200}, true},
		{"two lengths", "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", []int{400}, true},
		{"an invalid length", "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd", []int{400}, true},
		{"a negative length", "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: -4\r\n\r\n", []int{400}, true},
		{
			"a length and chunks", "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: " +
				"chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
			[]int{200},
			true,
		},
		{"chunks and another coding", "GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", []int{501}, true},
		{"chunks in disguise", "GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", []int{400}, true},
		{"a bad chunk", "GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", []int{200}, true},
		{"an expectation", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", []int{200}, true},
		{"another expectation", "GET /v1/me HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", []int{417}, true},
		{"an upgrade", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", []int{200}, false},
		{"a tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", []int{405}, false},
		{"options of everything", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", []int{404}, false},
		{"a star", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", []int{404}, false},
		{"a trace", "TRACE /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{405}, false},
		{"a method that rewrites", "POST /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n\r\n", []int{405}, false},
		{"a path that rewrites", "GET /nothing HTTP/1.1\r\nHost: a\r\nX-Original-URL: /v1/me\r\nX-Rewrite-URL: /v1/me\r\n\r\n", []int{404}, false},
		{"a field that hides", "GET /v1/me HTTP/1.1\r\nHost: a\r\nConnection: Authorization\r\nAuthorization: Bearer KEY\r\n\r\n", []int{200}, false},
		{"a range", "GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nRange: bytes=0-3\r\n\r\n", []int{200}, false},
		{"a condition", "GET /livez HTTP/1.1\r\nHost: a\r\nIf-Match: \"x\"\r\nIf-Modified-Since: Sat, 01 Jan 2050 00:00:00 GMT\r\n\r\n", []int{200}, false},
		{"a parameter after a semicolon", "GET /v1/mock/profile?handle=a;fresh=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, false},
		{"a parameter twice", "GET /v1/mock/profile?handle=a&handle=b HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, false},
		{"a parameter in disguise", "GET /v1/mock/profile?handle=a&%68andle=b HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, false},
		{"a list of parameters", "GET /v1/mock/profile?handle[]=a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, false},
		{"a line break in a parameter", "GET /v1/mock/profile?handle=a%0d%0aSet-Cookie:%20b HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{400}, false},
		{"a line break in a path", "GET /v1/mock/a%0d%0aSet-Cookie:%20b HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{404}, false},
		{"a fragment", "GET /v1/me#x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n", []int{404}, false},
		{"a key in the query", "GET /v1/me?access_token=KEY HTTP/1.1\r\nHost: a\r\n\r\n", []int{401}, false},
		{"nonsense", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serving(t, enginetest.Config{})
				conn, err := s.pipes.dial()
				if err != nil {
					t.Fatal(err)
				}
				c := newCaller(t, conn)
				// This fails if the server closes before it has read everything.
				go func() { _, _ = conn.Write([]byte(strings.ReplaceAll(tt.text, key, s.Secret))) }()
				for i, want := range tt.status {
					r := c.reply()
					if r.status != want {
						t.Errorf("answer %d is %d, want %d: %.200s", i+1, r.status, want, r.body)
					}
					if r.header.Get("Set-Cookie") != "" || bytes.Contains(r.body, []byte(s.Secret)) {
						t.Errorf("answer %d lets something through: %v %s", i+1, r.header, r.body)
					}
					if want >= http.StatusBadRequest {
						_ = r.problem(t)
					}
				}
				if tt.closed {
					c.wantClosed(time.Second)
					return
				}
				if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
					t.Errorf("the connection is closed: %v", err)
				}
				if more, err := c.r.ReadByte(); err == nil {
					t.Errorf("data after the last answer: %q", more)
				}
			})
		})
	}
}
