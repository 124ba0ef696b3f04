package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestEachFormatHasItsShape(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	in := func(format string) string {
		status, out, log := cliRun(t, nil, "--db", db, "get", "Mock", "posts", "handle=ann", "-o", format)
		if status != 0 {
			t.Fatalf("%s: exit status %d: %s", format, status, log)
		}
		return out
	}
	var envelope struct{ Data []json.RawMessage }
	if err := json.Unmarshal([]byte(in("json")), &envelope); err != nil || len(envelope.Data) != 20 {
		t.Errorf("json has %d posts, %v", len(envelope.Data), err)
	}
	lines := strings.Split(strings.TrimSpace(in("jsonl")), "\n")
	if len(lines) != 20 || !json.Valid([]byte(lines[19])) {
		t.Errorf("jsonl has %d lines", len(lines))
	}
	records, err := csv.NewReader(strings.NewReader(in("csv"))).ReadAll()
	if err != nil || len(records) != 21 || records[0][0] != "platform" || records[1][0] != "mock" {
		t.Errorf("csv has %d records, %v", len(records), err)
	}
	table := in("table")
	if !strings.HasPrefix(table, "HANDLE  TITLE") {
		t.Errorf("the table is\n%s", table)
	}
	for line := range strings.Lines(table) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > usualWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestSearchAsksManyPlatforms(t *testing.T) {
	t.Parallel()
	status, out, log := cliRun(t, nil, "search", "tea", "platforms=mock", "-o", "jsonl")
	if status != 0 || strings.Count(out, `"kind":"post"`) == 0 {
		t.Errorf("exit status %d, %s%s", status, out, log)
	}
}

func TestTextOfOthersMovesNoCursor(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	object := json.RawMessage(`{"handle":"a\u001b[2Jb\u202ec","text":"one\ntwo","empty":null}`)
	if err := (pen{columns: 40}).card(&b, object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("handle  a [2Jbc\ntext    one two\n", b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	if err := printCSV(&b, []json.RawMessage{json.RawMessage(`{"text":"=HYPERLINK(1)"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "text\n'=HYPERLINK(1)\n" {
		t.Errorf("csv is %q", got)
	}
}

func TestNoColorMeansPlainLetters(t *testing.T) {
	t.Parallel()
	const bold, plain = "\x1b[1mhandle\x1b[0m  ann\n", "handle  ann\n"
	for _, tc := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"a terminal", map[string]string{"TERM": "xterm"}, bold},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, plain},
		{"an empty NO_COLOR is none", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, bold},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, plain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			p := pen{bold: mayBeBold(func(name string) string { return tc.env[name] }), columns: 40}
			if err := p.card(&b, json.RawMessage(`{"handle":"ann"}`)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatDoNotExistAreAnsweredWithTheNearest(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"get githu profile handle=a":                  `there is no platform "githu" (did you mean github?)`,
		"get mock profil handle=a":                    `there is no operation "profil" (did you mean profile?)`,
		"get mock profile hande=a":                    `profile has no parameter "hande" (did you mean handle?); it takes handle`,
		"get zzzzzzzz profile":                        `there is no platform "zzzzzzzz"; socialdata platforms lists them`,
		"search tea platform=mock":                    `(did you mean platforms?)`,
		"export mock profil handle=a":                 `(did you mean profile?)`,
		"export mock profile":                         `socialdata get prints it`,
		"get mock profile fresh=true -o csv handle=a": `"handle=a" must stand before the flags`,
		"accoutn list":                                `there is no command "accoutn" (did you mean account?)`,
	} {
		if status, out, log := cliRun(t, nil, strings.Fields(args)...); status == 0 || out != "" || !strings.Contains(log, want) {
			t.Errorf("%s: exit status %d, log %q", args, status, log)
		}
	}
}

func TestSettingsThatDoNotExistAreWarnedAbout(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	got := unknownVariables(parser, []string{"SOCIALDATA_GITHUB_TOKEN=a", "SOCIALDATA_DB=b", "SOCIALDATA_GITUB_TOKEN=c", "PATH=d", "SOCIALDATA_KEY=e"})
	want := []string{"there is no setting SOCIALDATA_GITUB_TOKEN (did you mean SOCIALDATA_GITHUB_TOKEN?); it has no effect"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnExportGoesOnWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := func(to string, more ...string) []string {
		return append([]string{"--db", filepath.Join(dir, "t.db"), "export", "mock", "posts", "handle=ann", "--to", filepath.Join(dir, to)}, more...)
	}
	run := func(args ...string) {
		t.Helper()
		if status, _, log := cliRun(t, nil, args...); status != 0 {
			t.Fatal(log)
		}
	}
	ids := func(file string) (ids []string) {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var post struct{ ID string }
			if err := json.Unmarshal([]byte(line), &post); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			ids = append(ids, post.ID)
		}
		return ids
	}
	run(args("whole")...)
	run(args("parts", "--limit", "1")...)
	part, err := os.OpenFile(filepath.Join(dir, "parts"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = part.WriteString(`{"id":"half a li`) // as a crash leaves it
	}
	if err == nil {
		err = part.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Replace(args("parts"), 5, 6, "handle=salma")
	if _, _, log := cliRun(t, nil, other...); !strings.Contains(log, "of another export") {
		t.Errorf("another call into the same file: %q", log)
	}
	run(args("parts")...)
	if diff := cmp.Diff(ids("whole"), ids("parts")); diff != "" || len(ids("whole")) != 47 {
		t.Errorf("%d posts in one go (-whole +parts):\n%s", len(ids("whole")), diff)
	}
	if _, _, log := cliRun(t, nil, args("parts")...); !strings.Contains(log, "is there already, and whole") {
		t.Errorf("a whole export is written again: %q", log)
	}
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, out, _ := cliRun(t, nil, "--db", db, "doctor", "--offline"); status != 0 || strings.Count(out, "ok  ") != 2 {
		t.Errorf("a new machine: %d\n%s", status, out)
	}
	if err := os.WriteFile(db, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, _ := cliRun(t, map[string]string{"SOCIALDATA_YOUTUBE_OWN": "perhaps"}, "--db", db, "doctor", "--offline")
	if status != 1 || strings.Count(out, "FAIL") != 2 || !strings.Contains(out, "SOCIALDATA_YOUTUBE_OWN") || !strings.Contains(out, "--db") {
		t.Errorf("a broken one: %d\n%s", status, out)
	}
}

func TestATakenAddressIsSaid(t *testing.T) {
	t.Parallel()
	base, _, _ := running(t, filepath.Join(t.TempDir(), "t.db"))
	taken := strings.TrimPrefix(base, "http://")
	status, _, log := cliRun(t, nil, "--db", filepath.Join(t.TempDir(), "u.db"), "serve", "--addr", taken)
	if status != 1 || !strings.Contains(log, taken+" is in use by another program; choose another address") {
		t.Errorf("%d %q", status, log)
	}
}

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	if status, out, _ := cliRun(t, nil, "version"); status != 0 || !strings.HasPrefix(out, "socialdata ") {
		t.Errorf("%d %q", status, out)
	}
}
