package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/server"
)

// TestTheSandboxFailsAsItsHeaderSays sends calls one after the other: failures are those of a key and route, and the call
// after them is served and ends them.
func TestTheSandboxFailsAsItsHeaderSays(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{}, server.WithSandbox(""), server.WithManaging("PUT /manage/things/{name}", managing))
	other, _, err := s.Keys.CreateKey(t.Context(), keys.NewKey{Account: s.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	const profile, posts, thing = "/v1/mock/profile?handle=ann", "/v1/mock/posts?handle=ann", "/manage/things/a"
	for i, call := range []struct {
		key, method, path, header string
		status                    int
		retryAfter                string
	}{
		{s.Secret, "GET", profile, "status=503; after=1500ms; times=2", 503, "2"},
		{s.Secret, "GET", posts, "", 200, ""},
		{other, "GET", profile, "", 200, ""},
		{s.Secret, "GET", profile, "status=503; after=1500ms; times=2", 503, "2"}, // a retry
		{s.Secret, "GET", profile, "status=503; after=1500ms; times=2", 200, ""},
		{s.Secret, "GET", profile, "", 200, ""},
		{s.Secret, "GET", profile, "times=2;status=429", 429, "0"},
		{s.Secret, "GET", profile, "", 429, "0"},
		{s.Secret, "GET", profile, "", 200, ""},
		{s.Secret, "GET", profile, "status=500", 500, ""},
		{s.Secret, "GET", profile, "", 200, ""},
		{s.Secret, "GET", profile, "", 200, ""},
		{other, "PUT", thing, "status=504", 504, ""},
		{other, "PUT", thing, "status=504", 200, ""},
	} {
		header := http.Header{"Authorization": {"Bearer " + call.key}}
		if call.header != "" {
			header.Set("X-Sandbox", call.header)
		}
		got := s.request(t, call.method, call.path, "", header)
		if got.status != call.status || got.header.Get("Retry-After") != call.retryAfter {
			t.Errorf("call %d: %d, Retry-After %q; want %d, %q", i, got.status, got.header.Get("Retry-After"), call.status,
				call.retryAfter)
		}
		if used := got.header.Get("X-Credits-Used"); call.status != 200 && call.method == "GET" && used != "0" {
			t.Errorf("call %d has used %q credits", i, used)
		}
	}
}

func TestHeadersOfTheSandboxAreChecked(t *testing.T) {
	t.Parallel()
	sandbox, live := open(t, enginetest.Config{}, server.WithSandbox("")), open(t, enginetest.Config{})
	for header, want := range map[string]string{
		"status=503; after=soon":            `after is \"soon\"; it must be a duration`,
		"status=503; after=-1s":             "after is",
		"status=503; times=0":               `times is \"0\"; it must be a number from 1 to 100`,
		"status=503; times=101":             "times is",
		"status=200":                        `status is \"200\"; it must be one of 400, 401`,
		"after=2s":                          "status is missing",
		"status=503; status=429":            `\"status\" is given twice`,
		"status=503; times=1;":              `\"\" is not one of status, after and times`,
		"503":                               `\"503\" is not one of`,
		"status=503, after=2s":              "status is",
		strings.Repeat("status=503;", 1000): "given twice",
	} {
		for range 2 { // a malformed header changes nothing for the next call
			if got := sandbox.with(t, "/v1/mock/profile?handle=ann", "X-Sandbox", header); got.status != 400 || !strings.Contains(string(got.body), want) {
				t.Errorf("%.40q: %d %s, want 400 that says %s", header, got.status, got.body, want)
			}
		}
		if got := sandbox.get(t, "/v1/mock/profile?handle=ann"); got.status != 200 {
			t.Errorf("after %.40q: status %d, want 200: %s", header, got.status, got.body)
		}
	}
	if got := live.with(t, "/v1/mock/profile?handle=ann", "X-Sandbox", "status=503"); got.status != 400 || !strings.Contains(string(got.body), "serve --sandbox") {
		t.Errorf("a server that is no sandbox: %d %s", got.status, got.body)
	}
}
