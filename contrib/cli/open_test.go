package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/platform"
)

// addressOf returns a URL of each platform, from the table with which package resolve is tested.
func addressOf(t *testing.T) map[platform.ID]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "internal", "resolve", "testdata", "addresses.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[platform.ID]string{}
	for line := range strings.Lines(string(b)) {
		c := strings.Split(line, "\t")
		if len(c) > 2 && !strings.HasPrefix(line, "#") && out[platform.ID(c[1])] == "" && strings.HasPrefix(c[0], "http") {
			out[platform.ID(c[1])] = c[0]
		}
	}
	return out
}

func TestOpenCanBeEstimated(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	estimate := func(args ...string) string {
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, append(args, "--estimate", "-o", "jsonl")...)...)
		if status != 0 || !strings.Contains(out, `"most":2,"least":2`) {
			t.Errorf("%v: %d, %s%s", args, status, out, log)
		}
		return out
	}
	opened := estimate("open", "https://mock.example/@ann", "fresh=true")
	if got := estimate("get", "mock", "profile", "handle=ann", "fresh=true"); got != opened {
		t.Errorf("open: %sget: %s", opened, got)
	}
}

// TestOpenPrintsACardOrSaysWhatIsMissing reads a URL of each platform, or expects one sentence that says why not,
// because no setting is made and no platform answers.
func TestOpenPrintsACardOrSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer down.Close()
	db := filepath.Join(t.TempDir(), "t.db")
	addresses, settings := addressOf(t), 0
	for _, info := range platform.All() {
		address := addresses[info.ID]
		if info.Sandbox {
			address = "https://mock.example/@ann"
		}
		if address == "" {
			t.Errorf("the table has no address of %s", info.ID)
			continue
		}
		var out, log bytes.Buffer
		status := run(t.Context(), []string{"--db", db, "--replay-url", down.URL, "open", address}, nil, &out, &log,
			func(string) string { return "" })
		if info.Sandbox {
			if status != 0 || !strings.Contains(out.String(), "handle") || !strings.Contains(out.String(), "ann") {
				t.Errorf("%s: %d\n%s%s", address, status, out.String(), log.String())
			}
			continue
		}
		said := strings.TrimSpace(log.String())
		lines := strings.Split(said, "\n")
		if status == 0 || out.Len() > 0 || len(lines) != 1 || len(said) < 20 || strings.ContainsAny(said, "{}") {
			t.Errorf("%s: %d, printed %q, said %q", address, status, out.String(), said)
		}
		if strings.Contains(said, "SOCIALDATA_") {
			settings++
		}
	}
	if settings < 5 {
		t.Errorf("%d platforms name the setting that is missing", settings)
	}
}
