package mcp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

func newServer(t *testing.T, e *enginetest.Engine) *mcp.Server {
	t.Helper()
	s := mcp.New(e.Open, mcp.Config{Now: e.Clock.Now})
	return s
}

func TestEveryRequestNeedsAValidKey(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	revoked, secret := e.Account(t, "gone", 10)
	if _, err := e.Keys.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(newServer(t, e).Handler())
	t.Cleanup(web.Close)
	bodies := map[string]string{}
	for name, header := range map[string]string{
		"none": "", "another scheme": "Basic " + e.Secret, "no word": e.Secret, "unknown": "Bearer sk_live_nothing",
		"one letter changed": "Bearer " + e.Secret[:len(e.Secret)-1] + "~", "revoked": "Bearer " + secret,
		"two keys": "Bearer " + e.Secret + "\nBearer " + secret,
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			r, err := http.NewRequestWithContext(t.Context(), method, web.URL,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if header != "" {
				r.Header["Authorization"] = strings.Split(header, "\n")
			}
			resp, err := web.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			id := resp.Header.Get("X-Request-Id")
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != "Bearer" || id == "" ||
				resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: status %d, %v", method, name, resp.StatusCode, resp.Header)
			}
			bodies[strings.ReplaceAll(string(body), id, "ID")] = name
		}
	}
	if len(bodies) != 1 {
		t.Errorf("the bodies differ: %v", bodies)
	}
}

func TestARevokedKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, connect, enginetest.Config{}, mcp.Config{})
			s.good(t, "account", nil)
			if _, err := s.Keys.Revoke(t.Context(), s.Key.ID); err != nil {
				t.Fatal(err)
			}
			got, err := s.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "account"})
			if name == "http" {
				if err == nil || !strings.Contains(err.Error(), "Unauthorized") {
					t.Errorf("got %v, want status 401", err)
				}
				return
			}
			if err != nil || !got.IsError {
				t.Fatalf("got %v, %v", got, err)
			}
			var a answer
			recode(t, got.StructuredContent, &a)
			if a.Problem == nil || a.Problem.Code != problem.Unauthorized {
				t.Errorf("got %+v", a.Problem)
			}
		})
	}
}

func TestServeRefusesABadKeyAtOnce(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	err := newServer(t, e).Serve(t.Context(), "sk_live_nothing", strings.NewReader(""), io.Discard)
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.Unauthorized {
		t.Errorf("got %v", err)
	}
}

// TestServeWithoutAKey checks that without a key reads are free, and there are no entries to list.
func TestServeWithoutAKey(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithEnricher(enginetest.Enricher()))
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.New(client, mcp.Config{MaxBytes: 2 << 10})
	session := dial(t, overStdio(t, server, ""))
	call := func(tool string, in args) answer {
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		recode(t, got.StructuredContent, &a)
		return a
	}
	in := args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}}
	first := call("read", in)
	if first.Problem != nil || !strings.HasPrefix(first.Meta.NextCursor, "part.") {
		t.Fatalf("read: %+v", first)
	}
	if next := call("read", inParams(in, first.Meta.NextCursor)); next.Problem != nil || cmp.Equal(first.Data, next.Data) {
		t.Errorf("the next part: %+v", next)
	}
	if got := call("account", nil); got.Problem == nil || got.Problem.Code != problem.Unauthorized {
		t.Errorf("account: %+v", got)
	}
}

// TestServeABoundClient checks that a client that is bound to a key charges that key, whether or not Serve is given
// one.
func TestServeABoundClient(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	server := mcp.New(e.Client, mcp.Config{MaxBytes: 2 << 10})
	s := visit(t, e, overStdio(t, server, ""))
	in := args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}}
	s.good(t, "read", inParams(in, s.good(t, "read", in).Meta.NextCursor))
	s.good(t, "account", nil)
}

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{}`))
	r.Header.Set("Authorization", "Bearer "+e.Secret)
	r.Header.Set("Origin", "https://elsewhere.example")
	w := httptest.NewRecorder()
	newServer(t, e).Handler().ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("status %d, want 403", w.Code)
	}
}

// TestEarlierVersionsAreServed uses clients of the protocol's earlier versions, which call without an initial
// handshake.
func TestEarlierVersionsAreServed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} {
		e := enginetest.New(t, enginetest.Config{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"account","arguments":{}}}`))
		r.Header.Set("Authorization", "bearer "+e.Secret)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		w := httptest.NewRecorder()
		newServer(t, e).Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), e.Key.ID) || w.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("version %q: status %d: %.300s", version, w.Code, w.Body)
		}
	}
}

// TestErrorsQuoteLittle sends words of 60 kB, which an answer would repeat.
func TestErrorsQuoteLittle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60_000)
	for name, message := range map[string]string{
		"a method":            `"method":"` + long + `"`,
		"a tool":              `"method":"tools/call","params":{"name":"` + long + `"}`,
		"a resource":          `"method":"resources/read","params":{"uri":"file:///` + long + `"}`,
		"a prompt":            `"method":"prompts/get","params":{"name":"` + long + `"}`,
		"an argument":         `"method":"tools/call","params":{"name":"read","arguments":{"` + long + `":1}}`,
		"a value":             `"method":"tools/call","params":{"name":"read","arguments":{"platform":"` + long + `","operation":"profile"}}`,
		"an operation":        `"method":"tools/call","params":{"name":"read","arguments":{"platform":"mock","operation":"` + long + `"}}`,
		"a parameter":         `"method":"tools/call","params":{"name":"read","arguments":{"platform":"mock","operation":"profile","params":{"` + long + `":"1"}}}`,
		"a field":             `"method":"tools/call","params":{"name":"read","arguments":{"platform":"mock","operation":"profile","params":{"handle":"ann"},"fields":["` + long + `"]}}`,
		"an address":          `"method":"tools/call","params":{"name":"read","arguments":{"url":"https://` + long + `.example/"}}`,
		"a platform to list":  `"method":"tools/call","params":{"name":"platforms","arguments":{"platform":"` + long + `"}}`,
		"one to describe":     `"method":"tools/call","params":{"name":"describe","arguments":{"operation":"` + long + `"}}`,
		"a protocol's member": `"method":"tools/list","` + long + `":1`,
		"a reference":         `"method":"completion/complete","params":{"ref":{"type":"` + long + `"}}`,
		"another version":     `"method":"tools/list","jsonrpc":"` + long + `"`,
		"a list for a name":   `"method":"tools/call","params":{"name":["` + long + `"]}`,
		"an argument's list":  `"method":"tools/call","params":{"name":"read","arguments":["` + long + `"]}`,
		"a client's name":     `"method":"initialize","params":{"clientInfo":"` + long + `"}`,
	} {
		e := enginetest.New(t, enginetest.Config{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,`+message+`}`))
		r.Header.Set("Authorization", "bearer "+e.Secret)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		newServer(t, e).Handler().ServeHTTP(w, r)
		if n := strings.Count(w.Body.String(), "x"); n > 300 && strings.Contains(w.Body.String(), strings.Repeat("x", 101)) {
			t.Errorf("%s: the answer repeats %d characters: %.200s", name, n, w.Body)
		}
	}
}

// TestEachKeyPaysForItself checks that each key has its own rate limit and its own charges.
func TestEachKeyPaysForItself(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Rate: keys.Rate{Capacity: 4, Refill: 0.001}})
	other, secret := e.Account(t, "other", 5)
	server := newServer(t, e)
	read := args{"platform": "mock", "operation": "profile", "params": args{"handle": "ann"}}
	for _, who := range []struct {
		key    keys.Key
		secret string
		left   int64
	}{{e.Key, e.Secret, 999}, {other, secret, 4}} {
		s := visit(t, &enginetest.Engine{Ledger: e.Ledger, Key: who.key}, overHTTP(t, server, who.secret))
		if got := s.good(t, "read", read).Meta.CreditsRemaining; got != who.left {
			t.Errorf("%d credits are left, want %d", got, who.left)
		}
		for range 4 { // with the requests to connect, more than the limit
			if last := s.call(t, "read", read); last.Problem != nil {
				break
			}
		}
		s.fails(t, "read", read, problem.RateLimited)
	}
}

// TestRequestsFromBeforeTheEndOfInputAreAnswered writes all its requests, closes its end, and then reads.
func TestRequestsFromBeforeTheEndOfInputAreAnswered(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"platform":"mock","operation":"profile","params":{"handle":"slow_50ms"}}}}
{"jsonrpc":"2.0","id":"three","method":"tools/call","params":{"name":"account"}}
`)
	var out strings.Builder
	if err := newServer(t, e).Serve(t.Context(), e.Secret, in, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":1`, `"id":2`, `"id":"three"`, `"handle":"slow_50ms"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %.2000s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 3 || len(e.Charges(t)) != 1 {
		t.Errorf("%d answers and %d charges, want 3 and 1", n, len(e.Charges(t)))
	}
}

func TestBatchesAreRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	handler := newServer(t, e).Handler()
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, body := range []string{"[" + one + "]", "\n\t [" + one + "," + one + "]", "[]"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+e.Secret)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "one by one") {
			t.Errorf("%.20q returned %d %s", body, w.Code, w.Body)
		}
	}
}

func TestToolsCountAgainstTheLimitOfTheirAccount(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := enginetest.New(t, enginetest.Config{
		Rate:      keys.Rate{Capacity: 1_000_000, Refill: 1},
		Providers: []providers.Provider{mock.NewFor(platform.X, mock.Config{Release: release})},
	})
	srv, err := server.New(e.Open, server.WithLimits(server.Limits{InFlight: 4, PerAccount: 1, Mounted: 4}),
		server.WithMount("/mcp", newServer(t, e).Handler()))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(operation, params string) int {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":` +
			`{"platform":"x","operation":"` + operation + `","params":` + params + `}}}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+e.Secret)
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		return w.Code
	}
	first := make(chan int, 1)
	go func() {
		got := http.StatusTooManyRequests
		for got == http.StatusTooManyRequests { // while one of the requests below has the place
			got = ask("search", `{"query":"pending"}`)
		}
		first <- got
	}()
	refused := 0
	await.Until(t, "the first call to have its place for good", func() bool {
		if refused++; ask("profile", `{"handle":"ann"}`) != http.StatusTooManyRequests {
			refused = 0
		}
		if len(first) > 0 {
			t.Fatalf("the first call has ended with %d", <-first)
		}
		return refused == 100 // in a row
	})
	close(release)
	if got := <-first; got != http.StatusOK {
		t.Errorf("the first call: %d", got)
	}
	if got := ask("profile", `{"handle":"ann"}`); got != http.StatusOK {
		t.Errorf("afterwards: %d", got)
	}
}
