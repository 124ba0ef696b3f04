package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestServersRecordAndPlayUpstreams reads a profile from a server that records, and again from one that plays.
func TestServersRecordAndPlayUpstreams(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	upstreams := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path != "/api.github.com/users/octocat" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"id":1,"login":"octocat","type":"User","bio":"write to cat@example.com","followers":7,
			"html_url":"https://github.com/octocat"}`)
	}))
	defer upstreams.Close()
	dir, cassette := t.TempDir(), filepath.Join(t.TempDir(), "cassette")
	base, secret, stop := running(t, filepath.Join(dir, "a.db"), "--replay-url", upstreams.URL, "--record", cassette,
		"--redact", "emails")
	status, _, live := read(t, base+"/v1/github/profile?handle=octocat&fields=handle,bio,followers", secret)
	if got := stop(); got != 0 || status != 200 || requests.Load() == 0 {
		t.Fatalf("the server that records: %d, answer %d %s, %d requests", got, status, live, requests.Load())
	}
	files, err := filepath.Glob(cassette + "/*")
	if err != nil || len(files) < 2 {
		t.Fatalf("recorded %v, %v", files, err)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), "cat@example.com") {
			t.Errorf("%s: %v\n%s", file, err, b)
		}
	}
	before := requests.Load()
	base, secret, stop = running(t, filepath.Join(dir, "b.db"), "--replay", cassette)
	status, _, played := read(t, base+"/v1/github/profile?handle=octocat&fields=handle,bio,followers", secret)
	data := func(answer []byte) string { d, _, _ := strings.Cut(string(answer), `"meta"`); return d }
	if status != 200 || data(played) != data(live) || !strings.Contains(data(played), `"followers":7`) {
		t.Errorf("played %d %s\nlive %s", status, played, live)
	}
	status, _, missed := read(t, base+"/v1/github/profile?handle=nobody", secret)
	if status != 503 || !strings.Contains(string(missed), "GET https://api.github.com/users/octocat") {
		t.Errorf("what was not recorded is %d %s", status, missed)
	}
	if got := stop(); got != 0 || requests.Load() != before {
		t.Errorf("the server that plays: %d, %d requests", got, requests.Load()-before)
	}
	for want, args := range map[string][]string{
		"--record and --replay exclude each other":     {"--record", cassette, "--replay", cassette},
		"--replay and --replay-url exclude each other": {"--replay", cassette, "--replay-url", upstreams.URL},
		"no exchange is recorded in":                   {"--replay", dir},
		"leave out":                                    {"--sandbox", "--record", cassette},
	} {
		status, _, log := cliRun(t, nil, append([]string{"--db", filepath.Join(dir, "c.db"), "serve", "--addr", "127.0.0.1:0"}, args...)...)
		if status == 0 || !strings.Contains(log, want) {
			t.Errorf("%v: %d, %q", args, status, log)
		}
	}
}
