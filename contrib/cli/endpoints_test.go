package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/socialdata/socialdata/schema"
)

// printedData decodes what a command has printed as JSON.
func printedData[T any](t *testing.T, out string) T {
	t.Helper()
	var printed struct{ Data T }
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return printed.Data
}

func TestEndpointsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	var refuses atomic.Bool
	bodies := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(b)
	}))
	t.Cleanup(hook.Close)
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db, "--webhooks-private")
	defer stop()
	far := []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret}
	run := func(status int, where []string, args ...string) (out, log string) {
		t.Helper()
		got, out, log := cliRun(t, nil, append(append([]string{}, where...), args...)...)
		if got != status {
			t.Fatalf("%v: status %d, want %d: %s%s", args, got, status, out, log)
		}
		return out, log
	}
	there := func(args ...string) string {
		t.Helper()
		out, _ := run(0, far, append([]string{"endpoints"}, args...)...)
		return out
	}
	here := func(args ...string) string {
		t.Helper()
		out, _ := run(0, []string{"--db", db}, append(append([]string{"endpoints"}, args...), "--account", "default")...)
		return out
	}

	first := there("add", "mine", hook.URL, "--type", "key.revoked,ready")
	if !strings.HasPrefix(first, "whsec_") || strings.Count(first, "\n") != 1 {
		t.Errorf("add prints %q; want the secret", first)
	}
	if out := there("add", "mine", hook.URL, "--type", "key.revoked", "--type", "ready"); strings.Contains(out, "whsec_") {
		t.Errorf("add again prints %q", out)
	}
	if out := there("secret", "mine"); !strings.HasPrefix(out, "whsec_") || out == first {
		t.Errorf("secret prints %q", out)
	}
	if out := there("test", "mine"); !strings.Contains(out, "delivered  200") || !strings.Contains(<-bodies, "test") {
		t.Errorf("test prints %q", out)
	}
	refuses.Store(true)
	if out, _ := run(1, far, "endpoints", "test", "mine"); !strings.Contains(out, "failed  418  it answered 418") {
		t.Errorf("a test that is refused prints %q", out)
	}
	refuses.Store(false)
	for name, list := range map[string]func(...string) string{"there": there, "here": here} {
		for _, e := range printedData[[]schema.Endpoint](t, list("list", "-o", "json")) {
			if e.Name != "mine" || e.URL != hook.URL || len(e.Types) != 2 || e.State != "active" || e.CreatedAt.IsZero() {
				t.Errorf("%s, listed %+v", name, e)
			}
		}
		if out := list("list"); !strings.Contains(out, "mine  active  "+hook.URL+"  key.revoked,ready  all") ||
			strings.Contains(out, "whsec_") {
			t.Errorf("%s, listed\n%s", name, out)
		}
	}

	key, _ := run(0, []string{"--db", db}, "key", "create", "--account", "default", "-o", "json")
	id := printedData[struct{ ID string }](t, key).ID
	if r := deleteOf(t, base+"/manage/keys/"+id, secret); r != http.StatusOK {
		t.Fatalf("the key was not revoked: %d", r)
	}
	if body := <-bodies; !strings.Contains(body, `"type":"key.revoked"`) || !strings.Contains(body, id) {
		t.Errorf("sent %s", body)
	}
	var sent schema.Delivery
	for sent.State != "delivered" { // the attempt is noted when it was answered
		sent = printedData[[]schema.Delivery](t, there("deliveries", "mine", "-o", "json"))[0]
	}
	local := printedData[[]schema.Delivery](t, here("deliveries", "-o", "json"))
	if len(local) != 1 || local[0].ID != sent.ID || local[0].State != sent.State || *local[0].Status != *sent.Status {
		t.Errorf("deliveries there %+v and here %+v", sent, local)
	}
	for _, again := range []func(...string) string{there, here} {
		if out := again("again", sent.ID); out != sent.ID+" is sent again\n" {
			t.Errorf("again prints %q", out)
		}
		if body := <-bodies; !strings.Contains(body, sent.Change) {
			t.Errorf("sent again: %s", body)
		}
	}
	if out := here("remove", "mine"); out != "removed mine\n" {
		t.Errorf("remove prints %q", out)
	}
	there("add", "mine", hook.URL)
	there("remove", "mine")
	if out := there("list", "-o", "jsonl"); out != "" {
		t.Errorf("listed after all were removed: %s", out)
	}
}

func deleteOf(t *testing.T, url, secret string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	resp, err := (&http.Client{}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}

func TestInvalidEndpointCommandsAreRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "ann"); status != 0 {
		t.Fatal(log)
	}
	for _, tt := range []struct{ args, want string }{
		{"endpoints list", "with --account"},
		{"endpoints list --account bob", "bob"},
		{"endpoints add mine https://example.com/", "--server"},
		{"endpoints secret mine", "--server"},
		{"endpoints test mine", "--server"},
		{"endpoints remove mine --account ann", "there is no such endpoint"},
		{"endpoints deliveries mine --account ann", "there is no such endpoint"},
		{"endpoints deliveries --account ann --limit 0", "--limit must be"},
		{"endpoints again mine.1 --account ann", "there is no such delivery"},
		{"endpoints again mine --account ann", "there is no such delivery"},
		{"--server http://127.0.0.1:1 endpoints list --account ann", "leave out --account"},
	} {
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(tt.args)...)...)
		if status < 1 || !strings.Contains(log, tt.want) || out != "" {
			t.Errorf("%s: status %d, want %q: %s%s", tt.args, status, tt.want, out, log)
		}
	}
}
