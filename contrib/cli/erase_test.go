package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErase erases someone while a server runs: from the server's memory and from the files.
func TestErase(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "test.db")
	base, secret, stop := running(t, db)
	profile := func() (status int, cache string) {
		t.Helper()
		status, body, _ := read(t, base+"/v1/mock/profile?handle=unmistakable", secret)
		state, _ := at(body, "meta.cache")
		cache, _ = state.(string)
		return status, cache
	}
	command := func(want int, words string, args ...string) {
		t.Helper()
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, args...)...)
		if status != want || !strings.Contains(out+log, words) {
			t.Errorf("%v: exit status %d, %s%s; want %d and %q", args, status, out, log, want, words)
		}
	}
	for _, want := range []string{"MISS", "HIT"} {
		if status, cache := profile(); status != http.StatusOK || cache != want {
			t.Fatalf("before: %d %s, want %s", status, cache, want)
		}
	}
	if status, answer := ask(t, http.MethodPut, base+"/manage/monitors/followed", secret,
		`{"operation":"profile","platform":"mock","params":{"handle":"unmistakable"},"every":"1h"}`); status != http.StatusCreated {
		t.Fatalf("monitor: %d %s", status, answer)
	}
	command(0, "Not covered: shops", "erase", "mock", "handle=unmistakable", "--dry-run")
	command(0, "Receipt 2", "erase", "mock", "handle=@Unmistakable", "--reason", "letter 7")
	if status, cache := profile(); status != http.StatusOK || cache != "MISS" {
		t.Errorf("erased: %d %s, want a MISS", status, cache)
	}
	if _, _, feed := read(t, base+"/v1/changes", secret); strings.Count(string(feed), `"type":"stopped"`) != 1 {
		t.Errorf("the feed does not say once that the monitor has stopped: %s", feed)
	}
	command(0, "blocked", "erase", "mock", "https://mock.example/@unmistakable", "--block")
	if status, _ := profile(); status != http.StatusNotFound {
		t.Errorf("blocked: %d, want 404", status)
	}
	command(0, "letter 7", "erasures", "list")
	command(0, "4 receipts", "erasures", "verify")
	command(0, "be read again", "erasures", "unblock", "mock", "handle=unmistakable")
	if status, _ := profile(); status != http.StatusOK {
		t.Errorf("unblocked: %d, want 200", status)
	}
	command(2, "handle=NAME", "erase", "mock", "unmistakable")
	command(2, "reason", "erase", "mock", "handle=unmistakable", "--reason", "UNMISTAKABLE asked")
	command(0, "Receipt 7", "erase", "mock", "handle=unmistakable")
	command(0, "in order", "audit")
	stop()
	files, err := filepath.Glob(db + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil || strings.Contains(strings.ToLower(string(b)), "unmistakable") {
			t.Errorf("%s contains the name of the erased account, or cannot be read: %v", name, err)
		}
	}
}
