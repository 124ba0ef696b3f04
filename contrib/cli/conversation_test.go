package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/schema"
)

const (
	annsPost  = "https://mock.example/posts/ann-post-1"
	annsFirst = "ann-post-1-comment-1"
)

// itemsIn returns the ids of lines of items, each behind a mark for each level above it.
func itemsIn(t *testing.T, lines string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var item schema.ConversationItem
		if err := json.Unmarshal([]byte(line), &item); err != nil || item.Data == nil {
			t.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, strings.Repeat(">", int(item.Depth))+item.Data.ID)
	}
	return ids
}

func TestConversationIsPrintedInEachFormat(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	for format, want := range map[string]string{
		"":      `{"data":[{"depth":0,"parent_id":null,"data":{"platform":"mock","id":"` + annsFirst + `"`,
		"json":  `"problem":null},{"depth":1,"parent_id":"` + annsFirst + `"`,
		"jsonl": `"problem":null}` + "\n" + `{"depth":1,"parent_id":"` + annsFirst + `"`,
		"csv":   "\n1," + annsFirst + ",mock," + annsFirst + "-reply-1,",
		"table": "  > ",
	} {
		out := b.run("conversation", annsPost, "--most", "3", "-o", format)
		if format == "" || format == "json" {
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(out)); err != nil {
				t.Fatal(err)
			}
			out = compact.String()
		}
		if !strings.Contains(out, want) || !strings.Contains(out, annsFirst+"-reply-2") || strings.Contains(out, annsFirst+"-reply-3") {
			t.Errorf("-o %s: not three rows with %s:\n%s", format, want, out)
		}
	}
	for want, args := range map[string][]string{
		"does not name a post with comments": {"https://mock.example/@ann"},
		"must hold a web address":            {"nothing"},
		"--most and --max-credits must not":  {annsPost, "--most=-1"},
		"--into writes jsonl or csv":         {annsPost, "--into", filepath.Join(t.TempDir(), "f"), "-o", "json"},
		"not_found":                          {"https://mock.example/posts/not_found"},
		"no such file or directory":          {annsPost, "--into", filepath.Join(t.TempDir(), "none", "f")},
	} {
		if said := b.refused(append([]string{"conversation"}, args...)...); !strings.Contains(said, want) {
			t.Errorf("%q: %s, want %s", args, said, want)
		}
	}
	if out := b.run("conversation", annsPost, "--estimate"); !strings.Contains(out, `"most": 1`) {
		t.Errorf("the estimate is %s", out)
	}
}

// TestAConversationGoesOnInItsFile writes a conversation in several runs, here and by a server, whose account pays for it
// once.
func TestAConversationGoesOnInItsFile(t *testing.T) {
	t.Parallel()
	base, secret, _ := running(t, filepath.Join(t.TempDir(), "s.db"))
	whole := itemsIn(t, books{t, filepath.Join(t.TempDir(), "w.db")}.run("conversation", annsPost, "-o", "jsonl"))
	if sorted := slices.Compact(slices.Sorted(slices.Values(whole))); len(sorted) != len(whole) || len(whole) < 100 {
		t.Fatalf("%d comments, %d of them different", len(whole), len(sorted))
	}
	for name, where := range map[string][]string{
		"here":  {"--db", filepath.Join(t.TempDir(), "t.db")},
		"there": {"--server", base, "--key", secret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "f.jsonl")
			goesOn := func(want string, flags ...string) {
				t.Helper()
				args := append(append(slices.Clone(where), "conversation", annsPost, "--into", file), flags...)
				status, out, log := cliRun(t, nil, args...)
				if status != 0 || out != "" || !strings.Contains(log, want) {
					t.Fatalf("%q: exit status %d: %s%s; want %s", args, status, out, log, want)
				}
				written, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got := itemsIn(t, string(written)); !slices.Equal(whole[:min(len(got), len(whole))], got) {
					t.Fatalf("after %q (-whole +file):\n%s", flags, cmp.Diff(whole, got))
				}
			}
			goesOn("30 written", "--most", "30")
			goesOn("the same command continues there", "--max-credits", "5")
			goesOn(" written", "--most", "200")
			goesOn(fmt.Sprint(len(whole), " written to ", file))
			if _, err := os.Stat(markOf(file)); !os.IsNotExist(err) {
				t.Errorf("the progress is still there: %v", err)
			}
			status, _, log := cliRun(t, nil, append(slices.Clone(where), "conversation", annsPost, "--into", file)...)
			if status != 1 || !strings.Contains(log, "already complete") {
				t.Errorf("once more: exit status %d: %s", status, log)
			}
		})
	}
}

func TestAConversationInADatabaseIsTheTableOfComments(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f.db")
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	for range 2 {
		b.run("conversation", annsPost, "--most", "20", "--into", file)
	}
	got := b.run("sql", "SELECT count(*) AS n, count(reply_to_id) AS replies FROM f.comments", "--attach", file, "-o", "csv")
	if got != "n,replies\n20,19\n" {
		t.Errorf("the table has\n%s", got)
	}
}

// TestAConversationCutOffHasWhatWasRead ends the credits of an account in the middle.
func TestAConversationCutOffHasWhatWasRead(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "s.db")
	base, _, _ := running(t, db)
	b := books{t, db}
	b.run("account", "create", "poor", "--credits", "4")
	key := b.run("key", "create", "--account", "poor", "-o", "csv")
	rows := strings.Split(strings.TrimSpace(key), "\n")
	secret := rows[1][strings.LastIndexByte(rows[1], ',')+1:]
	if status, _, raw := read(t, base+"/v1/me", secret); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, raw)
	}
	file := filepath.Join(t.TempDir(), "f.jsonl")
	args := []string{"--server", base, "--key", secret, "conversation", annsPost, "--into", file}
	status, _, log := cliRun(t, nil, args...)
	if status != 1 || !strings.Contains(log, "insufficient_credits") || !strings.Contains(log, "the same command continues after them") {
		t.Fatalf("exit status %d: %s", status, log)
	}
	b.run("account", "grant", "poor", "1000")
	if status, _, log = cliRun(t, nil, args...); status != 0 {
		t.Fatalf("exit status %d: %s", status, log)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := itemsIn(t, string(written))
	if once := slices.Compact(slices.Sorted(slices.Values(ids))); len(once) != len(ids) || !strings.Contains(log, fmt.Sprint(len(ids), " written")) {
		t.Errorf("%d comments, %d of them different: %s", len(ids), len(once), log)
	}
}
