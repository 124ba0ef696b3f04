package all

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/server"
)

// TestOnlyTheUpstreamItselfSaysThatAThingIsAbsent answers every operation of every provider, and every raw route, as
// proxies, gateways and moved addresses do: that is never an absence (D104).
func TestOnlyTheUpstreamItselfSaysThatAThingIsAbsent(t *testing.T) {
	t.Parallel()
	const proxy = "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center><hr>nginx</body></html>"
	answers := []struct {
		name, body string
		status     int
		want       []int
	}{
		{"a proxy's 404", proxy, 404, []int{503}},
		{"an empty 404", "", 404, []int{503}},
		{"a gateway's 404", `{"message":"no Route matched with those values"}`, 404, []int{503}},
		{"a 404 in plain text", "404 page not found\n", 404, []int{503}},
		{"a bucket's 404", `<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code></Error>`, 404, []int{503}},
		{"a proxy's 410", proxy, 410, []int{503}},
		{"a proxy's 403", "<h1>Access blocked</h1>", 403, []int{503}},
		{"a proxy's 451", "<h1>Access blocked</h1>", 451, []int{503}},
		{"an error of the upstream's own source", `{"status":"error","message":"backend error"}`, 200, []int{503}},
		{"an error with a code", `{"code":-1,"msg":"system busy","data":null}`, 200, []int{503}},
		{"an error with a status", `{"status":500,"data":null}`, 200, []int{503}},
		{"an error with words", `{"success":true,"data":null,"detail":"timed out"}`, 200, []int{503}},
		{"no data, and no word why", `{"data":null}`, 200, []int{503}},
		{"no post, and no success", `{"ok":false,"post":null}`, 200, []int{503}},
		{"no post, and a message", `{"success":true,"message":"backend error","post":null}`, 200, []int{503}},
		{"an error in words", `{"data":null,"error":"upstream blocked"}`, 200, []int{503}},
		{"an error in words that calls itself a success", `{"success":true,"data":null,"error":"upstream blocked"}`, 200, []int{503}},
		{"a proxy's 400", "<h1>400 Bad Request: invalid id</h1>", 400, []int{400, 503}},
	}
	for _, p := range hostileProviders(t) {
		t.Run(p.Name+" of "+string(p.Platform), func(t *testing.T) {
			t.Parallel()
			for _, a := range answers {
				web := &http.Client{Transport: answering(func(r *http.Request) (int, string) {
					if isTokenRequest(r) {
						return http.StatusOK, honestToken
					}
					return a.status, a.body
				})}
				handler := handlerOf(t, madeOf(t, web, p, usual))
				want := a.want
				if slices.Contains(bare[p.Name], a.name) {
					want = []int{http.StatusNotFound}
				}
				for _, call := range callsOf(t, p) {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, call.target, nil))
					if passedOn := call.raw && a.status == http.StatusOK; !passedOn && !slices.Contains(want, w.Code) {
						t.Errorf("%s, %s: status %d, want %v: %s", a.name, call.target, w.Code, want, w.Body)
					}
				}
			}
		})
	}
}

// bare lists, by provider, the answers that its dossier names as those of its upstream although they say nothing.
var bare = map[string][]string{
	"linkedin_own": {"an empty 404"}, // upstreams/linkedin.md: "empty bodies: the status counts"
}

// handlerOf returns the routes of a server with one provider, for anyone.
func handlerOf(t *testing.T, p providers.Provider) http.Handler {
	t.Helper()
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{p}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(t.Context()) })
	anyone := func(*http.Request) (keys.Key, error) { return keys.Key{ID: "key", Account: "tester"}, nil }
	srv, err := server.New(client, server.WithAuth(anyone))
	if err != nil {
		t.Fatal(err)
	}
	return srv.Handler()
}
