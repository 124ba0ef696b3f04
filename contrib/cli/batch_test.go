package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// batchOf runs the command with keys on standard input.
func batchOf(t *testing.T, keys []string, args ...string) (status int, out, log string) {
	t.Helper()
	var o, l bytes.Buffer
	status = run(t.Context(), append([]string{"batch"}, args...), strings.NewReader(strings.Join(keys, "\n")), &o, &l,
		func(string) string { return "" })
	return status, o.String(), l.String()
}

// said returns the key of each line, with the code of its problem.
func said(t *testing.T, lines string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(lines) {
		var item struct {
			Key     string
			Data    *struct{ Handle string }
			Problem *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		text := item.Key
		if item.Problem != nil {
			text += " " + item.Problem.Code
		}
		out = append(out, text)
	}
	return out
}

func TestBatchWritesALineForEachKeyInOrder(t *testing.T) {
	t.Parallel()
	keys, want := []string{}, []string{}
	for i := range 150 {
		keys, want = append(keys, fmt.Sprint("user", i), ""), append(want, fmt.Sprint("user", i))
	}
	keys, want = append(keys, "not_found", "https://elsewhere.example/a,b"),
		append(want, "not_found not_found", "https://elsewhere.example/a,b invalid_request")
	status, out, log := batchOf(t, keys, "mock", "profile")
	if status != 0 {
		t.Fatal(log)
	}
	if diff := cmp.Diff(want, said(t, out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(log, "150 found, 1 missing, 1 failed; it would have cost 150 credits") {
		t.Errorf("the totals are %q", log)
	}
}

// TestBatchAsCSVSaysWhyAKeyFailed also has comments among the keys, and a hashtag, which is a key.
func TestBatchAsCSVSaysWhyAKeyFailed(t *testing.T) {
	t.Parallel()
	keys := []string{"# the team", "salma", "  # and others", "not_found", "#", "#suspended", "upstream_error"}
	status, out, log := batchOf(t, keys, "mock", "profile", "-o", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if status != 0 || err != nil {
		t.Fatalf("%d, %v: %s%s", status, err, out, log)
	}
	var got [][]string
	for _, row := range rows {
		var cells []string
		for _, name := range []string{"key", "data_handle", "problem_code", "problem_detail"} {
			cells = append(cells, row[slices.Index(rows[0], name)])
		}
		got = append(got, cells)
	}
	want := [][]string{
		{"key", "data_handle", "problem_code", "problem_detail"},
		{"salma", "salma", "", ""},
		{"not_found", "", "not_found", "there is no such thing in the sandbox"},
		{
			"#suspended", "", "invalid_request",
			`parameter "handle": a handle is up to 100 letters, digits, dots, hyphens and underscores`,
		},
		{"upstream_error", "", "platform_unavailable", "GET /v1/mock/profile: the sandbox answered 500"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBatchRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys []string
		args []string
		says string
	}{
		{nil, []string{"mock", "profile"}, "no keys"},
		{[]string{"a"}, []string{"mock", "posts"}, "no batch"},
		{[]string{"a"}, []string{"mock", "profile", "handles=a"}, "standard input"},
		{[]string{"a"}, []string{"mock", "profile", "fersh=true"}, "did you mean fresh?"},
		{[]string{"a"}, []string{"mock", "profile", "--from", filepath.Join(t.TempDir(), "none")}, "none"},
	} {
		if status, out, log := batchOf(t, tt.keys, tt.args...); status == 0 || out != "" || !strings.Contains(log, tt.says) {
			t.Errorf("%q: %d, %s%s", tt.args, status, out, log)
		}
	}
}

// TestBatchContinuesWhereItWasInterrupted interrupts a batch at the second call and continues it: the file must be the
// same in the end.
func TestBatchContinuesWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	calls, broken := 0, true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if broken && calls > 1 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var items []map[string]any
		for key := range strings.SplitSeq(r.URL.Query().Get("handles"), ",") {
			items = append(items, map[string]any{"key": key, "data": map[string]any{"handle": key}, "cache": "MISS"})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"data": items, "meta": map[string]any{"credits_used": len(items), "request_id": "req_1", "cache": "MISS"},
		})
	}))
	t.Cleanup(server.Close)
	dir, want := t.TempDir(), []string{}
	for i := range 250 {
		want = append(want, fmt.Sprint("user", i))
	}
	from, to := filepath.Join(dir, "keys"), filepath.Join(dir, "out")
	if err := os.WriteFile(from, []byte(strings.Join(want, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mock", "profile", "--from", from, "--to", to, "--server", server.URL, "--key", "sk_test_x"}
	if status, _, log := batchOf(t, nil, args...); status == 0 ||
		!strings.Contains(log, "100 keys done, and the same command continues") {
		t.Fatalf("%d: %s", status, log)
	}
	broken = false
	if status, _, log := batchOf(t, nil, args...); status != 0 ||
		!strings.Contains(log, "250 found, 0 missing, 0 failed; it cost 250 credits") {
		t.Fatalf("%d: %s", status, log)
	}
	b, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, said(t, string(b))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(markOf(to)); !os.IsNotExist(err) {
		t.Errorf("the mark is left: %v", err)
	}
}

func TestBatchReadsAddressesOfAnyPlatforms(t *testing.T) {
	t.Parallel()
	addresses, want := []string{}, []string{}
	for i := range 120 {
		address := fmt.Sprintf("https://mock.example/@user%d", i)
		addresses, want = append(addresses, address+"\r"), append(want, address)
	}
	addresses = append(addresses, "", "https://mock.example/posts/user1-post-1", "https://nowhere.example/a,b", "words")
	want = append(want, "https://mock.example/posts/user1-post-1", "https://nowhere.example/a,b not_found", "words invalid_request")
	file := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(file, []byte(strings.Join(addresses, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"from a file": {"--from", file}, "from standard input": {"--from", "-"}, "with an option": {"fresh=false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out, log := batchOf(t, addresses, args...)
			if status != 0 {
				t.Fatal(log)
			}
			if diff := cmp.Diff(want, said(t, out)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if !strings.Contains(log, "121 found, 1 missing, 1 failed; it would have cost 121 credits") {
				t.Error(log)
			}
		})
	}
	t.Run("into a database", func(t *testing.T) {
		t.Parallel()
		db := filepath.Join(t.TempDir(), "found.db")
		if status, _, log := batchOf(t, addresses, "--into", db); status != 0 {
			t.Fatal(log)
		}
		for table, rows := range map[string]int{"profile": 120, "post": 1} {
			status, out, log := cliRun(t, nil, "sql", "--attach", db, "-o", "csv", "SELECT count(*) AS n FROM found."+table)
			if got := fmt.Sprintf("n\n%d\n", rows); status != 0 || out != got {
				t.Errorf("%s: %q, want %q: %s", table, out, got, log)
			}
		}
	})
}
