package all

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// anywhere replaces the open segments of a route. It is a number, since some providers require one.
const anywhere = "424242"

// ssrf are attempts, in the path of a raw read after /v1/raw/{provider}/, to make the server read what it should not.
// ROUTE is a route of the provider as a pattern with its open segments, OPEN its beginning up to the first of them and
// REST what follows.
var ssrf = map[string][]string{
	"dot segments": {
		"../me", "../../health", "./ROUTE", "ROUTE/..", "ROUTE/../..", "ROUTE/.", "OPEN..REST", "OPEN.REST", "OPEN../../adminREST", "...//ROUTE",
	},
	"encoded dot segments": {
		"%2e%2e/me", "%2e/ROUTE", "ROUTE/%2e%2e", "OPEN%2e%2eREST", "OPEN.%2eREST", "OPEN%2E%2E/%2E%2E/adminREST", "OPEN%c0%ae%c0%aeREST",
	},
	"encoded slashes":  {"OPENa%2fbREST", "OPENa%2FbREST", "OPEN..%2f..%2fadminREST", "%2fROUTE", "OPEN%2fREST", "OPENa%ef%bc%8fbREST"},
	"double encoding":  {"%252e%252e%252fme", "OPENa%252fbREST", "OPEN%252e%252e%252fadminREST", "OPENa%25252fbREST", "OPENa%255cbREST"},
	"absolute URLs":    {"https://evil.example/", "http://127.0.0.1/", "//evil.example/ROUTE", "https:/evil.example", "https:evil.example", "https:%2f%2fevil.example%2f", "file:///etc/passwd", "OPENhttps://evil.exampleREST", "OPENhttps:%2f%2fevil.exampleREST"},
	"user information": {"@evil.example/ROUTE", "user:password@evil.example/ROUTE", "OPEN@evil.exampleREST", "OPEN%40evil.exampleREST", "OPENx:y@evil.example:80REST", ".evil.example/ROUTE", ":80/ROUTE"},
	"backslashes":      {`\evil.example\ROUTE`, `\\evil.example\x`, `OPENa\bREST`, "OPENa%5cbREST", "OPEN..%5c..%5cadminREST", `OPEN\..\..\adminREST`, `https:\\evil.example\`},
	"header injection": {
		"OPENa%0d%0aHost:%20evil.exampleREST", "OPENa%0aX-Injected:%201REST", "OPENa%0dX-Injected:%201REST", "OPENa%20HTTP/1.1%0d%0aX-Injected:%201%0d%0a%0d%0aGET%20/adminREST",
		"ROUTE?a=%0d%0aX-Injected:%201", "ROUTE?%0d%0aX-Injected:=1", "OPENa%00bREST", "OPENa%09bREST", "OPENa%7fbREST", "OPENa%e2%80%a8bREST",
	},
	"query smuggling":   {"OPENa%3fb=cREST", "OPENa%23bREST", "OPENa;b=cREST", "ROUTE?a=b%26injected=c", "ROUTE?a=b%23c", "ROUTE?a=b;injected=c", "ROUTE?a=https://evil.example/", "ROUTE?a=1&a=2"},
	"over-long paths":   {"OPEN" + strings.Repeat("a", 8000) + "REST", strings.Repeat("a/", 2000), "ROUTE/" + strings.Repeat("../", 500), "OPEN" + strings.Repeat("%61", 2000) + "REST"},
	"what is not there": {"", "/", "nothing", "ROUTE/", "/ROUTE", "ROUTE//", "OPENREST/more", "{x}"},
}

// TestSSRFOverRawReads tries the list with every provider that has an allow-list. Requests may only be sent to the
// upstream's own host, for an allowed route, with the headers and parameters of an ordinary read.
func TestSSRFOverRawReads(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t)
	model() // outside any bubble
	for _, p := range providersWith(t, &http.Client{}, usual) {
		if p.Forward == nil || p.Platform == platform.Mock {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { strike(t, p, certs) })
			for _, call := range callsOf(t, p) {
				if !call.raw {
					continue
				}
				for _, f := range faults() {
					if strings.HasPrefix(f.name, "redirect") {
						t.Run(f.name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) { attack(t, p, call, f, certs, &tally{}) })
						})
					}
				}
				break // all routes redirect in the same way
			}
		})
	}
}

// witness is an upstream that answers everything and records its requests.
type witness struct {
	mu    sync.Mutex
	asked []*http.Request
}

func (w *witness) serve(out io.Writer, r *http.Request) error {
	w.mu.Lock()
	w.asked = append(w.asked, r)
	w.mu.Unlock()
	_, err := io.WriteString(out, plain("200 OK", "", `{"id":"`+anywhere+`","private":false,"visibility":"public","account":{"id":"1"}}`))
	return err
}

func (w *witness) take() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// strike tries the list with one provider.
func strike(t *testing.T, p providers.Provider, certs *certificates) {
	t.Helper()
	w := &witness{}
	n := &hostileNet{fault: fault{name: "witness", serve: w.serve}, certs: certs}
	s := startHostile(t, n, p, usual)
	defer n.ends.Wait()
	defer s.stop(t)
	for i, r := range p.Routes {
		if i%oneOf(1) != 0 {
			continue
		}
		route, open, rest := opened(r.Pattern)
		s.raw(t, "/v1/raw/"+p.Name+"/"+route+"?fresh=true")
		honest := w.take()
		if len(honest) == 0 {
			t.Errorf("%s: an honest read asks nobody", r.Pattern)
		}
		fill := strings.NewReplacer("ROUTE", route, "OPEN", open, "REST", rest)
		for _, kind := range slices.Sorted(maps.Keys(ssrf)) {
			for _, tried := range ssrf[kind] {
				if open == "" && strings.Contains(tried, "OPEN") {
					continue
				}
				target := "/v1/raw/" + p.Name + "/" + fill.Replace(tried)
				status := s.raw(t, target)
				for _, got := range w.take() {
					if why := strays(got, honest); why != "" {
						t.Errorf("%s: %.200s came to %d and asked for %s %.200s: %s", kind, target, status, got.Host, got.RequestURI, why)
					}
				}
				if status >= 500 {
					t.Errorf("%s: %.200s: status %d, want less than 500", kind, target, status)
				}
			}
		}
		for _, name := range p.Credentials {
			if status := s.raw(t, "/v1/raw/"+p.Name+"/"+route+"?"+name+"=theirs"); status != http.StatusBadRequest || len(w.take()) > 0 {
				t.Errorf("%s with a caller's %s came to %d", route, name, status)
			}
		}
	}
	for _, host := range n.hosts() {
		if !strings.HasSuffix(host, ":443") || strings.Contains(host, "evil") || strings.HasPrefix(host, "127.") {
			t.Errorf("%s was dialled, want hosts of the upstreams on port 443 alone", host)
		}
	}
}

// opened returns a path that matches a pattern, and its parts around the first open segment; open is "" if there is
// none.
func opened(pattern string) (route, open, rest string) {
	parts := strings.Split(pattern, "/")
	first := slices.IndexFunc(parts, func(s string) bool { return strings.HasPrefix(s, "{") })
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = anywhere
		}
	}
	if first >= 0 {
		open = strings.Join(append(slices.Clone(parts[:first]), ""), "/")
		rest = strings.Join(append([]string{""}, parts[first+1:]...), "/")
		if open == "" {
			open = "./" // never an empty one, which is dropped like a dot segment
		}
	}
	return strings.Join(parts, "/"), open, strings.TrimSuffix(rest, "/")
}

// strays returns what is wrong with a request to an upstream, given the requests of an ordinary read.
func strays(got *http.Request, honest []*http.Request) string {
	var why string
	for _, h := range honest {
		if why = differs(got, h); why == "" {
			return ""
		}
	}
	return why
}

func differs(got, honest *http.Request) string {
	if got.Host != honest.Host || got.Method != honest.Method {
		return "another host or method"
	}
	want, path := strings.Split(honest.URL.EscapedPath(), "/"), strings.Split(got.URL.EscapedPath(), "/")
	if len(want) != len(path) {
		return "another route"
	}
	for i := range want {
		plain, err := url.PathUnescape(path[i])
		switch {
		case want[i] == path[i]:
		case !strings.Contains(want[i], anywhere):
			return "another route"
		case err != nil, strings.ContainsAny(plain, "/\\?#%\r\n\x00"), plain == ".", plain == "..", plain == "":
			return "a segment that leads elsewhere"
		}
	}
	for name := range got.Header {
		if _, ok := honest.Header[name]; !ok {
			return "a header " + name
		}
	}
	if strings.ContainsAny(got.URL.RawQuery, ";\r\n #") {
		return "a query that others would read otherwise"
	}
	for name := range got.URL.Query() {
		if !honest.URL.Query().Has(name) && strings.Contains(name, "injected") {
			return "a parameter " + name
		}
	}
	return ""
}

// raw sends a request line unchanged, and returns the status.
func (s *hostileServer) raw(t *testing.T, target string) int {
	t.Helper()
	time.Sleep(65 * time.Second) // the smallest quota of an upstream is 10 in ten minutes
	conn, err := s.listener.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is left to save
	return ask(t, conn, "GET "+target+" HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer "+s.secret+"\r\nConnection: close\r\n\r\n")
}

func ask(t *testing.T, conn net.Conn, text string) int {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return res.StatusCode
}
