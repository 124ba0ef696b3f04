package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/schema"
)

// until is a writer that ends a command after it has written a word.
type until struct {
	said bytes.Buffer
	word string
	end  func()
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.said.Write(p)
	if strings.Contains(u.said.String(), u.word) {
		u.end()
	}
	return n, err
}

// watched runs a command until it has printed a word.
func watched(t *testing.T, word string, args ...string) (status int, out string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, log := &until{word: word, end: cancel}, &bytes.Buffer{}
	status = run(ctx, args, nil, w, io.MultiWriter(log), func(string) string { return "" })
	if status != 0 {
		t.Errorf("%v: status %d: %s", args, status, log)
	}
	return status, w.said.String()
}

func TestWatchAndChanges(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	defer stop()
	far := []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret}
	_, here := watched(t, "ready", "watch", "mock", "live", "handle=lively", "--every", "30s")
	_, there := watched(t, "ready",
		append(far, "watch", "mock", "profile", "handle=ann", "--name", "ann", "-o", "jsonl")...)
	_, followed := watched(t, "ready", append(far, "changes", "-f", "--monitor", "ann", "-o", "jsonl")...)
	_, listed := watched(t, "nothing", append(far, "changes", "--type", "ready")...)
	_, local := watched(t, "nothing", "--db", db, "changes", "--account", "default", "-o", "json")
	if !strings.Contains(here, "lively-live-1") || !strings.Contains(listed, "  ready      ann  ") ||
		!strings.Contains(local, `"monitor": "ann"`) {
		t.Errorf("watch prints\n%schanges\n%sand, of the database,\n%s", here, listed, local)
	}
	for name, line := range map[string]string{"watch": there, "changes -f": followed} {
		var c schema.Change
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Type != "ready" || *c.Monitor != "ann" {
			t.Errorf("%s prints %q, %v", name, line, err)
		}
	}
}

func TestOperationsThatCannotBeWatchedAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"watch mock followers handle=ann", "cannot be watched"},
		{"watch mock live handle=ann --every 1s", "every is from 30s"},
		{"watch mock live handle=ann --alert viewers", "alert"},
		{"watch nowhere live handle=ann", "no platform"},
		{"watch mock live handle=ann -o csv", "use jsonl"},
		{"changes", "--account"},
		{"--server http://127.0.0.1:1 changes --account a", "leave out --account"},
	} {
		args := append([]string{"--db", filepath.Join(t.TempDir(), "none.db")}, strings.Fields(tt.args)...)
		status, _, log := cliRun(t, nil, args...)
		if status == 0 || !strings.Contains(log, tt.want) {
			t.Errorf("%s: status %d, want %q: %s", tt.args, status, tt.want, log)
		}
	}
}
