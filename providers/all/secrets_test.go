package all

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// credential matches the names of settings that are credentials.
var credential = regexp.MustCompile(`_(TOKEN|SECRET|KEY|PASSWORD|AUTHORIZATION|CF_CLEARANCE|COOKIE)$`)

// planted is an environment in which every credential has a unique value. Each contains characters that are escaped in
// a URL, in JSON and in HTML.
func planted(name string) string {
	switch {
	case strings.HasSuffix(name, "_PRIVATE_KEY"):
		return string(plantedKey())
	case strings.HasSuffix(name, "_TELEGRAM_BOT_TOKEN"):
		return "123456:planted-TELEGRAM-BOT-TOKEN" // it is a part of paths, so it has Telegram's format
	case credential.MatchString(name):
		return "planted/" + name + "+s3cr=t&x"
	}
	return usual(name)
}

// plantedApps is planted without access tokens, so that apps with an id and a secret request one.
func plantedApps(name string) string {
	if strings.HasSuffix(name, "_TOKEN") && !strings.HasSuffix(name, "REFRESH_TOKEN") {
		return ""
	}
	if strings.HasSuffix(name, "_CLIENT_ID") || strings.HasSuffix(name, "_KEY_ID") || strings.HasSuffix(name, "_TEAM_ID") {
		return "an-app"
	}
	return planted(name)
}

var plantedKey = sync.OnceValue(func() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
})

// echoes are the ways in which an upstream repeats what it received: %s is the complete request, as JSON text.
var echoes = []struct{ name, status, headers, body string }{
	{"an object", "200 OK", "", `{"id":"1","private":false,"visibility":"public","name":"%[1]s","username":"%[1]s","description":"%[1]s","url":"https://a.example/?%[1]s","echo":"%[1]s","data":{"id":"1","name":"%[1]s"}}`},
	{"a list", "200 OK", "", `{"data":[{"id":"1","text":"%[1]s","message":"%[1]s"}],"items":[{"id":"1","title":"%[1]s"}],"next":"https://a.example/?%[1]s"}`},
	{"an error", "200 OK", "", wordyError},
	{"a 400", "400 Bad Request", "", wordyError},
	{"a 401", "401 Unauthorized", "WWW-Authenticate: Bearer error=%[2]s\r\n", wordyError},
	{"a 403", "403 Forbidden", "", wordyError},
	{"a 404", "404 Not Found", "", wordyError},
	{"a 422", "422 Unprocessable Content", "", wordyError},
	{"a 429", "429 Too Many Requests", "Retry-After: %[2]s\r\n", wordyError},
	{"a 500", "500 Internal Server Error", "", wordyError},
	{"a redirect", "302 Found", "Location: https://evil.example/?%[2]s\r\n", ""},
	{"a bad redirect", "302 Found", "Location: https://%%zz/%[2]s\r\n", ""},
	{"a bad status", "%[2]s", "", ""},
	{"a bad header", "200 OK", "Content-Length: %[2]s\r\n", ""},
	{"half of it", "200 OK", "", `{"echo":"%[1]s`},
	{"plain text", "200 OK", "", "%[1]s"},
}

const wordyError = `{"error":{"code":1,"type":"%[1]s","message":"%[1]s","error_user_msg":"%[1]s"},"error_description":"%[1]s","message":"%[1]s",` +
	`"errors":[{"title":"%[1]s","message":"%[1]s","detail":"%[1]s","code":"%[1]s"}],"reason":"%[1]s","description":"%[1]s","status":"%[1]s","detail":"%[1]s"}`

// TestCredentialsAreNotDisclosed configures every provider with unique credentials and makes all of its calls while the
// upstream repeats what it received, in every form. Then it searches all output for them: answers and their headers,
// the log at its most verbose, and what the observer receives. Each provider meets a tenth of the echoes; with
// SIZE=full all of them.
func TestCredentialsAreNotDisclosed(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t)
	model() // outside any bubble
	full := testsize.Full()
	for env, getenv := range map[string]func(string) string{"all settings": planted, "apps": plantedApps} {
		for k, p := range providersWith(t, &http.Client{}, getenv) {
			if p.Platform == platform.Mock {
				continue
			}
			calls := callsOf(t, p)
			if len(calls) == 0 {
				continue
			}
			t.Run(p.Name+", "+env, func(t *testing.T) {
				t.Parallel()
				for i, e := range echoes {
					for j, atToken := range []bool{false, true} {
						if !full && (i+j+k)%oneOf(10) != 0 {
							continue
						}
						t.Run(fmt.Sprintf("%s, token %v", e.name, atToken), func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								echo := &echo{status: e.status, headers: e.headers, body: e.body}
								n := &hostileNet{fault: fault{name: e.name, serve: echo.serve, token: atToken}, certs: certs}
								listen(t, n, p, calls, getenv)
							})
						})
					}
				}
			})
		}
	}
}

// listen makes every call and searches for the secrets.
func listen(t *testing.T, n *hostileNet, p providers.Provider, calls []hostileCall, getenv func(string) string) {
	t.Helper()
	var said said
	s := startHostile(t, n, p, getenv,
		socialdata.WithLogger(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		socialdata.WithObserver(observe.Observer{
			Call:     func(c observe.Call) { said.tell(c) },
			Upstream: func(u observe.Upstream) { said.tell(u) },
			Breaker:  func(b observe.Breaker) { said.tell(b) },
			Drift:    func(d observe.Drift) { said.tell(d) },
			Invented: func(i observe.Invented) { said.tell(i) },
		}))
	for _, call := range calls {
		target := call.target
		if !call.raw {
			target += "&include_raw=true"
		}
		time.Sleep(2 * time.Hour) // until every upstream may be asked again
		r := s.get(t, target)
		said.about(target, r.body, fmt.Sprint(r.header))
		said.about(target, s.get(t, "/health").body, "")
	}
	s.stop(t)
	n.ends.Wait()
	said.search(t, n)
}

// said is all output.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) tell(event any) { _, _ = fmt.Fprintf(s, "observed: %+v\n", event) }

func (s *said) about(target, body, header string) {
	_, _ = fmt.Fprintf(s, "%s answers: %s %s\n", target, header, strings.ReplaceAll(body, "\n", " "))
}

// search looks for each secret in each form.
func (s *said) search(t *testing.T, n *hostileNet) {
	t.Helper()
	told := map[string]bool{}
	for line := range strings.Lines(s.text.String()) {
		for _, form := range formsOf(line) {
			for _, m := range secretWords.FindAllString(form, -1) {
				if !told[m] {
					told[m] = true
					at := strings.Index(form, m)
					t.Errorf("%s was disclosed: …%s…", m, form[max(0, at-150):min(len(form), at+80)])
				}
			}
		}
	}
	if s.text.Len() == 0 || n.requests() == 0 && !n.spared() {
		t.Error("there was no output or no request to search")
	}
}

var escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}`)

// secretWords matches planted secrets, even if only a part is left.
var secretWords = regexp.MustCompile(`planted.{0,3}[A-Za-z0-9_-]{4,40}|MIGHAgEA\w+`)

// formsOf returns a text as it is, and with the escapes of URLs and JSON or base64 decoded.
func formsOf(text string) []string {
	out := []string{text}
	text = escapes.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(strings.TrimLeft(s, `\u%`), 16, 32)
		return string(rune(n))
	})
	out = append(out, text)
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/_-]{20,}`).FindAllString(text, -1) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(word); err == nil {
				out = append(out, string(b))
			}
		}
	}
	return out
}

// echo is an upstream that repeats what it received.
type echo struct{ status, headers, body string }

func (e *echo) serve(w io.Writer, r *http.Request) error {
	body, _ := io.ReadAll(r.Body)
	var all strings.Builder
	fmt.Fprintf(&all, "%s %s %s ", r.Method, r.URL, body)
	form, _ := url.ParseQuery(string(body))
	fmt.Fprint(&all, r.URL.Query(), form)
	for name, values := range r.Header {
		fmt.Fprintf(&all, " %s: %s", name, strings.Join(values, " "))
	}
	plainly := all.String()
	quoted, _ := json.Marshal(plainly)
	inJSON := strings.Trim(string(quoted), `"`)
	forms := strings.Join([]string{
		inJSON, strings.ReplaceAll(inJSON, "/", `\/`), url.QueryEscape(plainly), url.PathEscape(plainly), lowerHex(url.QueryEscape(plainly)),
		each(plainly, `\u%04x`), each(plainly, "%%%02X"),
		base64.StdEncoding.EncodeToString([]byte(plainly)), base64.URLEncoding.EncodeToString([]byte(" " + plainly)),
	}, " ")
	inHeader := strings.NewReplacer("\r", "", "\n", "").Replace(plainly)
	text := fmt.Sprintf("HTTP/1.1 "+e.status+"\r\n"+e.headers+"Connection: close\r\n%.0[1]s%.0[2]s", forms, inHeader)
	sent := fmt.Sprintf(e.body+"%.0[1]s%.0[2]s", forms, inHeader)
	if !strings.Contains(e.headers, "Content-Length") {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(sent))
	}
	if _, err := io.WriteString(w, text+"\r\n"+sent); err != nil {
		return err
	}
	return io.EOF
}

// each formats every byte of s.
func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// lowerHex converts the hexadecimal digits of an escaped text to lower case.
func lowerHex(s string) string {
	return regexp.MustCompile(`%[0-9A-F]{2}`).ReplaceAllStringFunc(s, strings.ToLower)
}
