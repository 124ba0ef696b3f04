package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

// TestMagicWordsFailOnlyInASandbox checks that callers of a live server can neither delay it nor make it panic with
// magic words.
func TestMagicWordsFailOnlyInASandbox(t *testing.T) {
	t.Parallel()
	live, secret, stopLive := running(t, filepath.Join(t.TempDir(), "live.db"))
	db := filepath.Join(t.TempDir(), "never.db")
	alone, _, stopAlone := running(t, db, "--sandbox", "--timeout", "1s")
	tests := []struct {
		base, secret, word string
		status             int
		detail             string
	}{
		{live, secret, "panic", 400, "serve --sandbox"},
		{live, secret, "hang", 400, "serve --sandbox"},
		{live, secret, "ann", 200, ""},
		{alone, sandboxKey, "panic", 500, "something went wrong on our side"},
		{alone, sandboxKey, "hang", 504, "in time"},
		{alone, sandboxKey, "ann", 200, ""},
		{live, sandboxKey, "ann", 401, ""},
	}
	for _, tt := range tests {
		status, _, body := read(t, tt.base+"/v1/mock/profile?handle="+tt.word, tt.secret)
		if status != tt.status || !strings.Contains(string(body), tt.detail) {
			t.Errorf("%s: %d %s, want %d that says %q", tt.word, status, body, tt.status, tt.detail)
		}
	}
	for base, want := range map[string][]int{live: {400, 400}, alone: {429, 200}} {
		for _, status := range want {
			if got := rehearsed(t, base, map[string]string{live: secret, alone: sandboxKey}[base]); got != status {
				t.Errorf("with X-Sandbox %s answers %d, want %d", base, got, status)
			}
		}
	}
	if status, _, body := read(t, alone+"/v1/github/profile?handle=octocat", sandboxKey); status != 503 {
		t.Errorf("another platform: %d %s, want 503", status, body)
	}
	if a, b := stopLive(), stopAlone(); a != 0 || b != 0 {
		t.Errorf("the servers ended with %d and %d", a, b)
	}
	if left, err := filepath.Glob(db + "*"); err != nil || len(left) > 0 {
		t.Errorf("the sandbox has left %v, %v", left, err)
	}
}

func TestTheKeyOfTheSandboxIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	if _, err := keys.Parse(sandboxKey); err != nil {
		t.Errorf("%s: %v", sandboxKey, err)
	}
}

// rehearsed returns the status of a call that asks the sandbox to fail.
func rehearsed(t *testing.T, base, secret string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/mock/profile?handle=ann", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + secret}, "X-Sandbox": {"status=429; after=1s"}}
	resp, err := new(http.Client).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
