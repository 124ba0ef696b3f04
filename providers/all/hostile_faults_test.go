package all

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// fault is one kind of failure of an upstream, and the expected result.
type fault struct {
	name      string
	want      verdict
	token     bool                                     // it affects requests for tokens; otherwise all others
	dial      func() error                             // the error of dialing; nil if dialing works
	untrusted bool                                     // the certificate is not signed by a trusted authority
	serve     func(w io.Writer, r *http.Request) error // writes the answer; an error ends the connection
	large     bool                                     // expensive to generate: used only twice
	json      bool                                     // the answer is JSON, which a raw read forwards unchanged
}

// verdict is the expected result of a fault: the statuses, and the states of the platform's health after many calls
// about one subject (D24, D51).
type verdict struct {
	status []int
	health []schema.HealthState
}

var (
	// broken always counts against the upstream: after eight in a row its circuit breaker opens.
	broken = verdict{[]int{503}, []schema.HealthState{schema.Down}}
	late   = verdict{[]int{504}, []schema.HealthState{schema.Down}}
	// refused and nonsense count at most once for each subject, so one subject cannot open the circuit breaker.
	refused  = verdict{[]int{503}, []schema.HealthState{schema.Degraded, schema.Healthy}}
	nonsense = verdict{[]int{503}, []schema.HealthState{schema.Degraded, schema.Healthy}}
	// limited does not count, unless the upstream gives no time.
	limited = verdict{[]int{503}, []schema.HealthState{schema.Degraded, schema.Healthy, schema.Down}}
	// circular is broken if redirects within the host are followed, and refused if none are.
	circular = verdict{[]int{503}, []schema.HealthState{schema.Down, schema.Degraded, schema.Healthy}}
	// absent is a valid answer, except from a source that cannot state it: then it is a refusal.
	absent = verdict{[]int{404, 503}, []schema.HealthState{schema.Degraded, schema.Healthy}}
)

// faults returns all faults of an upstream.
func faults() []fault {
	says := func(status, header, body string) func(io.Writer, *http.Request) error {
		text := plain(status, header, body)
		return func(w io.Writer, _ *http.Request) error { return send(w, text) }
	}
	then := func(text string, after error) func(io.Writer, *http.Request) error {
		return func(w io.Writer, _ *http.Request) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, after)
		}
	}
	moved := func(location string) func(io.Writer, *http.Request) error {
		return says("302 Found", "Location: "+location+"\r\n", "")
	}
	page := "<!doctype html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>"
	ok := "200 OK"
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	return []fault{
		// Connection.
		{name: "connection refused", want: broken, dial: func() error { return dialError(syscall.ECONNREFUSED) }},
		{name: "no route", want: broken, dial: func() error { return dialError(syscall.EHOSTUNREACH) }},
		{name: "no such host", want: broken, dial: func() error { return dialError(&net.DNSError{Err: "no such host", IsNotFound: true}) }},
		{name: "no answer from the resolver", want: late, dial: func() error { return dialError(&net.DNSError{Err: "i/o timeout", IsTimeout: true}) }},
		{name: "untrusted certificate", want: broken, untrusted: true},
		{name: "reset", want: broken, serve: then("", syscall.ECONNRESET)},
		{name: "closed without a word", want: broken, serve: then("", io.EOF)},

		// Speed.
		{name: "slow headers", want: late, serve: func(w io.Writer, _ *http.Request) error { return drip(w, "HTTP/1.1 200 OK\r\nX: ") }},
		{name: "no headers", want: late, serve: func(w io.Writer, _ *http.Request) error { return drip(w, "") }},
		{name: "slow body", want: late, serve: func(w io.Writer, _ *http.Request) error { return drip(w, head+"Content-Length: 100000\r\n\r\n") }},
		{name: "slow 1xx for ever", want: late, serve: func(w io.Writer, _ *http.Request) error {
			return again(w, "HTTP/1.1 103 Early Hints\r\n\r\n", time.Second)
		}},

		// HTTP syntax.
		{name: "no HTTP", want: broken, serve: then("SSH-2.0-OpenSSH_9.9\r\n\r\n", io.EOF)},
		{name: "truncated body", want: broken, serve: then(head+"Content-Length: 1000\r\n\r\n{\"data\":[{\"id\":", io.EOF)},
		{name: "truncated chunk", want: broken, serve: then(head+"Transfer-Encoding: chunked\r\n\r\nff\r\n{\"data\":[", io.EOF)},
		{name: "malformed chunk", want: broken, serve: then(head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", io.EOF)},
		{name: "Content-Length too short", want: nonsense, json: true, serve: then(head+"Connection: close\r\nContent-Length: 2\r\n\r\n{}, and unrequested text", io.EOF)},
		{name: "Content-Length twice", want: broken, serve: then(head+"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", io.EOF)},
		{name: "Content-Length of words", want: broken, serve: then(head+"Content-Length: many\r\n\r\n{}", io.EOF)},
		{name: "a head without end", want: broken, large: true, serve: func(w io.Writer, _ *http.Request) error {
			return again(w, "X-Padding: "+strings.Repeat("x", 1<<16)+"\r\n", 0, "HTTP/1.1 200 OK\r\n")
		}},
		{name: "101", want: refused, serve: then("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", nil)},
		{name: "1xx without end", want: broken, large: true, serve: func(w io.Writer, _ *http.Request) error {
			return again(w, "HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 1<<16)+"\r\n\r\n", 0)
		}},
		{name: "invalid gzip", want: broken, serve: says(ok, "Content-Encoding: gzip\r\n", "{}")},

		// Size.
		{name: "gzip bomb", want: nonsense, large: true, serve: says(ok, "Content-Encoding: gzip\r\n", bomb())},
		{name: "100 MB body", want: nonsense, large: true, serve: func(w io.Writer, _ *http.Request) error {
			if _, err := io.WriteString(w, head+"Content-Length: 104857600\r\n\r\n{\"data\":\""); err != nil {
				return err
			}
			return again(w, strings.Repeat("x", 1<<20), 0)
		}},
		{name: "6 MB of {}", want: nonsense, json: true, large: true, serve: says(ok, "", crowd("{}"))},
		{name: "6 MB of rows", want: nonsense, json: true, large: true, serve: says(ok, "", rows())},
		{name: "6 MB of deep nesting", want: nonsense, large: true, serve: says(ok, "", deep("["))},
		{name: "6 MB of deep objects", want: nonsense, large: true, serve: says(ok, "", deep(`{"data":`))},
		{name: "6 MB of paragraphs", want: nonsense, large: true, serve: says(ok, "", "<html><body>"+strings.Repeat("<p>", large/3))},
		{name: "6 MB of attributes", want: nonsense, large: true, serve: says(ok, "", "<html><body><p"+strings.Repeat("/a", large/2)+">")},
		{name: "100 KB that come to a million elements", want: nonsense, large: true, serve: says(ok, "", reopened())},
		{name: "6 MB in lists in lists of a page", want: nonsense, large: true, serve: says(ok, "",
			`<html><script type="application/ld+json">`+
				strings.Repeat("[", 9000)+strings.Repeat("{},", (large-20_000)/3)+"{}"+strings.Repeat("]", 9000)+"</script>")},
		{name: "1 MB of deep HTML", want: nonsense, large: true, serve: says(ok, "", "<html><body>"+strings.Repeat("<div><a>", 1<<17))},

		// Contents.
		{name: "invalid UTF-8", want: nonsense, json: true, serve: says(ok, "", "{\"id\":\"\xff\xfe\",\"data\":[{\"id\":\"\xc3\x28\"}]}")},
		{name: "U+0000", want: nonsense, json: true, serve: says(ok, "", `{"id":"\u0000","data":{"id":"\u0000","username":"\u0000"}}`)},
		{name: "HTML for JSON", want: nonsense, serve: says(ok, "", page)},
		{name: "nothing at all", want: nonsense, serve: says(ok, "", "")},
		{name: "204", want: nonsense, serve: then("HTTP/1.1 204 No Content\r\n\r\n", nil)},
		{name: "null", want: nonsense, json: true, serve: says(ok, "", "null")},
		{name: "{}", want: nonsense, json: true, serve: says(ok, "", "{}")},
		{name: "[]", want: nonsense, json: true, serve: says(ok, "", "[]")},
		{name: "a number", want: nonsense, json: true, serve: says(ok, "", "42")},
		{name: "wrong types", want: nonsense, json: true, serve: says(ok, "", `{"data":"x","items":7,"results":true,"id":[],"user":[1],"collection":{},"children":"y"}`)},
		{name: "half an object", want: nonsense, serve: says(ok, "", `{"id":1,"name":"x`)},
		{name: "two objects", want: nonsense, serve: says(ok, "", `{}{"id":1}`)},
		{name: "error object in a 200", want: nonsense, json: true, serve: says(ok, "", `{"error":{"code":190,"type":"OAuthException","message":"Invalid token"}}`)},
		{name: "error list in a 200", want: nonsense, json: true, serve: says(ok, "", `{"errors":[{"title":"Forbidden","status":403,"detail":"no"}]}`)},
		{name: "failure in a 200", want: nonsense, json: true, serve: says(ok, "", `{"success":false,"status":"fail","message":"try later"}`)},

		// Redirects.
		{name: "redirect to itself", want: circular, serve: func(w io.Writer, r *http.Request) error { return moved(r.URL.RequestURI())(w, r) }},
		{name: "redirect to loopback", want: refused, serve: moved("http://127.0.0.1:22/")},
		{name: "redirect to loopback by TLS", want: refused, serve: moved("https://localhost/")},
		{name: "redirect to a private address", want: refused, serve: moved("https://10.0.0.1/")},
		{name: "redirect to the metadata service", want: refused, serve: moved("http://169.254.169.254/latest/meta-data/")},
		{name: "redirect to a file", want: refused, serve: moved("file:///etc/passwd")},
		{name: "redirect to another host", want: refused, serve: moved("https://evil.example/")},
		{name: "redirect without a scheme", want: refused, serve: moved("//evil.example/x")},
		{name: "redirect to a name like ours", want: refused, serve: func(w io.Writer, r *http.Request) error {
			return moved("https://"+r.Host+".evil.example/")(w, r)
		}},
		{name: "redirect to ours as a user", want: refused, serve: func(w io.Writer, r *http.Request) error {
			return moved("https://"+r.Host+"@evil.example/")(w, r)
		}},
		{name: "redirect to plain HTTP", want: refused, serve: func(w io.Writer, r *http.Request) error {
			return moved("http://"+r.Host+r.URL.RequestURI())(w, r)
		}},
		{name: "redirect to nowhere", want: refused, serve: says("302 Found", "", "")},

		// Statuses.
		{name: "400", want: verdict{[]int{400, 404, 503}, nil}, serve: says("400 Bad Request", "", "{}")},
		{name: "401", want: refused, serve: says("401 Unauthorized", "", "{}")},
		{name: "402", want: refused, serve: says("402 Payment Required", "", "{}")},
		{name: "403", want: refused, serve: says("403 Forbidden", "", "{}")},
		{name: "404", want: absent, serve: says("404 Not Found", "", "{}")},
		{name: "410", want: absent, serve: says("410 Gone", "", "{}")},
		{name: "429", want: limited, serve: says("429 Too Many Requests", "", "{}")},
		{name: "429 for 0 s", want: limited, serve: says("429 Too Many Requests", "Retry-After: 0\r\n", "{}")},
		{name: "429 for less than nothing", want: limited, serve: says("429 Too Many Requests", "Retry-After: -5\r\n", "{}")},
		{name: "429 for words", want: limited, serve: says("429 Too Many Requests", "Retry-After: soon\r\n", "{}")},
		{name: "429 for ages", want: limited, serve: says("429 Too Many Requests", "Retry-After: 99999999999\r\n", "{}")},
		{name: "429 for 1e300 s", want: limited, serve: says("429 Too Many Requests", "Retry-After: 1e300\r\n", "{}")},
		{name: "429 for NaN", want: limited, serve: says("429 Too Many Requests", "Retry-After: NaN\r\n", "{}")},
		{name: "429 until 9999", want: limited, serve: says("429 Too Many Requests", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "{}")},
		{name: "429 until a reset far away", want: limited, serve: says("429 Too Many Requests",
			"X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 99999999999\r\nx-rate-limit-remaining: 0\r\nx-rate-limit-reset: 99999999999\r\n", "{}")},
		{name: "451", want: refused, serve: says("451 Unavailable For Legal Reasons", "", "{}")},
		{name: "500", want: refused, serve: says("500 Internal Server Error", "", `{"error":"oops"}`)},
		{name: "502 of HTML", want: refused, serve: says("502 Bad Gateway", "", page)},
		{name: "503 for ages", want: limited, serve: says("503 Service Unavailable", "Retry-After: 86400000\r\n", "{}")},
		{name: "503", want: refused, serve: says("503 Service Unavailable", "", "{}")},
		{name: "999", want: refused, serve: says("999 Request Denied", "", page)},

		// Tokens.
		{name: "token: reset", want: broken, token: true, serve: then("", syscall.ECONNRESET)},
		// A call may join a request for a token that an earlier call has started, and then ends when that request does.
		{name: "token: slow", want: verdict{late.status, []schema.HealthState{schema.Down, schema.Degraded}}, token: true, serve: func(w io.Writer, _ *http.Request) error { return drip(w, head) }},
		{name: "token: 401", want: refused, token: true, serve: says("401 Unauthorized", "", `{"error":"invalid_client"}`)},
		{name: "token: 500", want: refused, token: true, serve: says("500 Internal Server Error", "", "{}")},
		{name: "token: {}", want: refused, token: true, serve: says(ok, "", "{}")},
		{name: "token: HTML", want: refused, token: true, serve: says(ok, "", page)},
		{name: "token: redirect", want: refused, token: true, serve: moved("https://evil.example/")},
		{name: "token: gzip bomb", want: refused, token: true, large: true, serve: says(ok, "Content-Encoding: gzip\r\n", bomb())},
	}
}

// plain returns a complete answer. headers include their line ends.
func plain(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body)
}

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// send writes text in pieces, so that the upstream does not keep a copy of what the test already holds.
func send(w io.Writer, text string) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, min(len(text)+1, 16<<10)))
	return err
}

// drip writes head and then a byte a second, forever.
func drip(w io.Writer, head string) error {
	if head == "" {
		time.Sleep(time.Hour)
		return io.EOF
	}
	return again(w, "x", time.Second, head)
}

// again writes first and then text, forever.
func again(w io.Writer, text string, pause time.Duration, first ...string) error {
	for _, f := range first {
		if err := send(w, f); err != nil {
			return err
		}
	}
	for {
		if err := send(w, text); err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

const (
	large    = 6_000_000 // almost the maximum size of an answer
	bombSize = 1 << 30
)

// bomb is a gigabyte of spaces, compressed to a megabyte.
var bomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	block := bytes.Repeat([]byte(" "), 1<<20)
	for range bombSize >> 20 {
		_, _ = z.Write(block) // a buffer returns no error
	}
	_ = z.Close()
	return b.String()
})

// lists are the names that upstreams use for their lists.
var lists = []string{"data", "items", "results", "collection", "hits", "posts", "children", "comments", "videos", "feed", "value", "elements"}

// crowd returns 6 MB of one row, in a list under every name.
func crowd(row string) string {
	many := strings.Repeat(row+",", large/len(lists)/(len(row)+1)) + row
	var b strings.Builder
	b.WriteString(`{"id":"1","status":"ok"`)
	for _, name := range lists {
		fmt.Fprintf(&b, `,%q:[%s]`, name, many)
	}
	return b.String() + "}"
}

// rows returns a list of 6 MB without an envelope.
func rows() string {
	const row = `{"id":"1","url":"https://a.example/"}`
	return "[" + strings.Repeat(row+",", large/(len(row)+1)) + row + "]"
}

// reopened returns a page in which each paragraph reopens the formatting elements.
func reopened() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "<font size=%d>", i)
	}
	return b.String() + strings.Repeat("<p></p>", 100<<10/len("<p></p>"))
}

func deep(opening string) string { return strings.Repeat(opening, large/len(opening)) }
