package providers_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
)

func TestTheHeadOfAnAnswerHasABound(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for name, line := range map[string]string{
		"fields":  "X-Padding: " + strings.Repeat("x", 1000) + "\r\n",
		"answers": "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: " + strings.Repeat("x", 1000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := net.Pipe() // unbuffered: a write returns when it has been read
			sent := make(chan int, 1)
			go func() {
				n := 0
				if _, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
					_, err = io.WriteString(far, "HTTP/1.1 103 Early Hints\r\n")
					for ; err == nil && n < 2*most; n += len(line) {
						_, err = io.WriteString(far, line)
					}
				}
				_ = far.Close()
				sent <- n
			}()
			web := providers.Transport().(interface{ Unwrap() http.RoundTripper }).Unwrap().(*http.Transport)
			web.Proxy = nil
			web.DialContext = func(context.Context, string, string) (net.Conn, error) { return near, nil }
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://upstream.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := web.RoundTrip(req); err == nil {
				t.Errorf("got %s, want an error", res.Status)
				_ = res.Body.Close()
			}
			if n := <-sent; n > most {
				t.Errorf("%d bytes of a head were read", n)
			}
		})
	}
}
