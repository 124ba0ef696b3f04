package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
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

func TestForeignTextCannotControlTheTerminal(t *testing.T) {
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
	if err := printCSV(&b, []string{"text"}, []json.RawMessage{json.RawMessage(`{"text":"=HYPERLINK(1)"}`)},
		true); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "text\n'=HYPERLINK(1)\n" {
		t.Errorf("csv is %q", got)
	}
	b.Reset()
	const hostile = `{"handle":"a\u001b[2Jb\u0007\u202ec","text":"one\n\ttwo","\u001b[2J":1}`
	if err := printCSV(&b, nil, []json.RawMessage{json.RawMessage(hostile)}, true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("handle,text,\" [2J\"\na [2Jb c,\"one\n\ttwo\",1\n", b.String()); diff != "" {
		t.Errorf("csv of hostile text (-want +got):\n%s", diff)
	}
	b.Reset()
	err := printPlatform(escaping{&b}, schema.PlatformInfo{Platform: "a\u001b[2J", Operations: []schema.OperationInfo{
		{Operation: "posts\u009b", Available: true, Providers: []string{"b\u0007"}},
	}}, 80)
	if err != nil || strings.ContainsFunc(b.String(), unshown) {
		t.Errorf("the platforms of a hostile server are %q, %v", b.String(), err)
	}
}

// TestHiddenCharactersAreEscaped prints text that moves a cursor, reverses text or is invisible, as JSON, in tables
// and in errors.
func TestHiddenCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	const odd = "a\u009b2Jb\u202ec\u200bd\ufeffe\u2028f\x7fg\u2066h"
	var b bytes.Buffer
	if err := encode(&b, map[string]string{"text": odd + "\u200cسلام 👩\u200d🚀"}, ""); err != nil {
		t.Fatal(err)
	}
	if want := `{"text":"a\u009b2Jb\u202ec\u200bd\ufeffe\u2028f\u007fg\u2066h` +
		"\u200cسلام 👩\u200d🚀\"}\n"; b.String() != want {
		t.Errorf("JSON is %q, want %q", b.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || !strings.HasPrefix(back["text"], odd) {
		t.Errorf("it reads back as %q, %v", back["text"], err)
	}
	b.Reset()
	e := &env{out: &b}
	if err := e.table([]string{"NAME"}, func(row func(...string)) { row(odd) }); err != nil {
		t.Fatal(err)
	}
	if err := e.printf("%s\n", odd); err != nil {
		t.Fatal(err)
	}
	_, _, log := cliRun(t, nil, "get", "mock", "profile", "handle="+odd, "fresh="+odd)
	if strings.ContainsFunc(b.String()+log, unshown) || !strings.Contains(b.String(), `\u202e`) {
		t.Errorf("a terminal gets %q", b.String()+log)
	}
}

func TestNoColorPrintsNoEscapeSequences(t *testing.T) {
	t.Parallel()
	const bold, plain = "\x1b[1mhandle\x1b[0m  ann\n", "handle  ann\n"
	for _, tc := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"a terminal", map[string]string{"TERM": "xterm"}, bold},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, plain},
		{"an empty NO_COLOR is ignored", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, bold},
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

func TestUnknownNamesAreAnsweredWithTheNearest(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"get githu profile handle=a":                  `there is no platform "githu" (did you mean github?)`,
		"get mock profil handle=a":                    `there is no operation "profil" (did you mean profile?)`,
		"get mock profile hande=a":                    `profile has no parameter "hande" (did you mean handle?); it takes handle`,
		"get mock profile":                            `parameter "handle" is required`,
		"get mock posts handle=ann --fields x":        `there is no field "x"`,
		"export mock posts handle=ann --limit=-1":     `must not be negative`,
		"get zzzzzzzz profile":                        `there is no platform "zzzzzzzz"; socialdata platforms lists them`,
		"search tea platform=mock":                    `(did you mean platforms?)`,
		"export mock profil handle=a":                 `(did you mean profile?)`,
		"export mock profile":                         `socialdata get prints it`,
		"get mock profile fresh=true -o csv handle=a": `"handle=a" is a parameter: write it before the flags`,
		"accoutn list":                                `there is no command "accoutn" (did you mean account?)`,
		"account lsit":                                `there is no command "lsit" (did you mean list?)`,
		"account create shop 10":                      `account create does not take "10"`,
	} {
		if status, out, log := cliRun(t, nil, strings.Fields(args)...); status != 2 || out != "" ||
			!strings.Contains(log, want) {
			t.Errorf("%s: exit status %d, log %q", args, status, log)
		}
	}
}

func TestUnknownSettingsAreWarnedAbout(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	got := shipped.unknownVariables(parser,
		[]string{"SOCIALDATA_GITHUB_TOKEN=a", "SOCIALDATA_DB=b", "SOCIALDATA_GITUB_TOKEN=c", "PATH=d", "SOCIALDATA_KEY=e"})
	want := []string{"there is no setting SOCIALDATA_GITUB_TOKEN (did you mean SOCIALDATA_GITHUB_TOKEN?); it has no effect"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnExportContinuesWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := func(to string, more ...string) []string {
		return append([]string{
			"--db", filepath.Join(dir, "t.db"), "export", "mock", "posts", "handle=ann", "--to", filepath.Join(dir, to),
		}, more...)
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
		_, err = part.WriteString(`{"id":"half a li`) // as after a crash
	}
	if err == nil {
		err = part.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Replace(args("parts"), 5, 6, "handle=salma")
	if _, _, log := cliRun(t, nil, other...); !strings.Contains(log, "belongs to another export") {
		t.Errorf("another export to the same file: %q", log)
	}
	run(args("parts")...)
	if diff := cmp.Diff(ids("whole"), ids("parts")); diff != "" || len(ids("whole")) != 47 {
		t.Errorf("%d posts in one go (-whole +parts):\n%s", len(ids("whole")), diff)
	}
	if _, _, log := cliRun(t, nil, args("parts")...); !strings.Contains(log, "is already complete") {
		t.Errorf("a whole export is written again: %q", log)
	}
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, out, _ := cliRun(t, nil, "--db", db, "doctor", "--offline"); status != 0 ||
		strings.Count(out, "ok  ") != 2 {
		t.Errorf("a new machine: %d\n%s", status, out)
	}
	if err := os.WriteFile(db, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, _ := cliRun(t, map[string]string{"SOCIALDATA_YOUTUBE_OWN": "perhaps"}, "--db", db, "doctor", "--offline")
	if status != 1 || strings.Count(out, "FAIL") != 2 || !strings.Contains(out, "SOCIALDATA_YOUTUBE_OWN") ||
		!strings.Contains(out, "--db") {
		t.Errorf("a broken one: %d\n%s", status, out)
	}
}

// TestDoctorFindsNothingWrong lets every check succeed, with upstreams on this machine.
func TestDoctorFindsNothingWrong(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "shop"); status != 0 {
		t.Fatal(log)
	}
	var skew atomic.Int64 // seconds
	upstreams := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Duration(skew.Load())*time.Second).UTC().Format(http.TimeFormat))
	}))
	t.Cleanup(upstreams.Close)
	status, out, log := cliRun(t, nil, "--db", db, "--replay-url", upstreams.URL, "doctor")
	if status != 0 || strings.Contains(out, "FAIL") || strings.Count(out, "ok  ") != 8+len(places) ||
		!strings.Contains(out, "reddit:2d") ||
		!strings.Contains(out, "accounts: 1") || !strings.Contains(out, "it is correct to within ") ||
		!strings.Contains(out, "note  quotas") || !strings.Contains(out, "reached in ") {
		t.Errorf("%d\n%s%s", status, out, log)
	}
	skew.Store(600)
	status, out, _ = cliRun(t, nil, "--db", db, "--replay-url", upstreams.URL, "doctor")
	if status != 1 || strings.Count(out, "FAIL") != 1 || !strings.Contains(out, "correct it, or") {
		t.Errorf("a clock that is ten minutes off: %d\n%s", status, out)
	}
	for _, words := range []string{
		"disk        books: ", "disk        requests: 0, 0.0 MB; the newest 100000 of 168h are kept (SOCIALDATA_LOG_CALLS, " +
			"SOCIALDATA_LOG_LIFE)",
	} {
		if !strings.Contains(out, words) {
			t.Errorf("%q is not said:\n%s", words, out)
		}
	}
	upstreams.Close()
	status, out, _ = cliRun(t, nil, "--db", db, "--replay-url", upstreams.URL, "doctor")
	if status != 1 || strings.Count(out, "FAIL") != 1+len(places) || !strings.Contains(out, "no upstream answered with a time") {
		t.Errorf("no address was found: %d\n%s", status, out)
	}
}

// TestDoctorReadsTheSettingsOfTheServer sets the environment, so it cannot run in parallel.
func TestDoctorReadsTheSettingsOfTheServer(t *testing.T) {
	db := filepath.Join(t.TempDir(), "t.db")
	t.Setenv("SOCIALDATA_TIMEOUT", "soon")
	if status, out, _ := cliRun(t, nil, "--db", db, "doctor", "--offline"); status != 1 ||
		!strings.Contains(out, "SOCIALDATA_TIMEOUT") {
		t.Errorf("a setting that cannot be read: %d\n%s", status, out)
	}
	t.Setenv("SOCIALDATA_TIMEOUT", "15s")
	t.Setenv("SOCIALDATA_KEEP_ANSWERS", "25h")
	if status, out, _ := cliRun(t, nil, "--db", db, "doctor", "--offline"); status != 1 ||
		!strings.Contains(out, "--keep-answers") {
		t.Errorf("answers that are kept for too long: %d\n%s", status, out)
	}
	t.Setenv("SOCIALDATA_KEEP_ANSWERS", "2h")
	t.Setenv("SOCIALDATA_VALKEY", "127.0.0.1:1")
	if status, out, _ := cliRun(t, nil, "--db", db, "doctor", "--offline"); status != 1 ||
		!strings.Contains(out, "FAIL  valkey") {
		t.Errorf("a server that does not run: %d\n%s", status, out)
	}
}

func TestAnUnknownHostIsReportedInOneWay(t *testing.T) {
	t.Parallel()
	err := &url.Error{
		Op: "Head", URL: "https://api.github.com/",
		Err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
			Err: "no such host", Name: "api.github.com", Server: "192.0.2.1:53", IsNotFound: true,
		}},
	}
	if got, want := inWords(err), "the name api.github.com is not known"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestErrorMessages(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	for args, want := range map[string]string{
		"get hackernews search query=a": "socialdata: hackernews does not offer search: " +
			"Hacker News has no official search endpoint (platform_unavailable)\n",
		"get mock profile": "socialdata: parameter \"handle\" is required: the " +
			"account: its handle or public URL (invalid_request)\n",
		"get mock profile handle=upstream_error": "socialdata: mock profile: ",
		"export mock":                            "name an operation after mock, such as posts",
		"get mock profile handle=a -o xml":       `must be one of "json","jsonl","csv","table"`,
		"get mock":                               "Run socialdata get --help to see what it takes.\n",
		"account grant shop -5":                  "-5 must be a positive number",
		"export mock posts handle=ann --limit 1": "there is more: raise --limit, or export to a file " +
			"with --into, which can be continued",
		"export mock posts handle=ann --limit 20":                    "there is more: continue with cursor=",
		"export mock posts handle=a --limit 1 --to " + db + ".jsonl": "there is more: the same command continues there\n",
	} {
		if _, _, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(args)...)...); !strings.Contains(log,
			want) {
			t.Errorf("%s: %q does not say %q", args, log, want)
		}
	}
}

func TestAnInterruptedExportSaysHowToContinue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	to := filepath.Join(dir, "posts.jsonl")
	var log bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"--db", filepath.Join(dir, "t.db"), "export", "mock", "posts", "handle=slow_500ms", "--to", to,
		}, nil, io.Discard, &log, func(string) string { return "" })
	}()
	await.Until(t, "the first page to be written", func() bool {
		b, err := os.ReadFile(markOf(to))
		return err == nil && strings.Contains(string(b), `"items":20`)
	})
	interrupt()
	status := <-ended
	if want := "socialdata: interrupted; 20 are written, and the same command continues after them\n"; status != 130 ||
		log.String() != want {
		t.Errorf("%d %q, want %q", status, log.String(), want)
	}
}

func TestReasonsFitATerminal(t *testing.T) {
	t.Parallel()
	client, err := (&env{
		ctx: t.Context(), cfg: shipped, cli: &commandLine{}, getenv: func(string) string { return "" },
	}).client()
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []bool{false, true} {
		var b bytes.Buffer
		if err := printReasons(&b, got.Data, raw, 80); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimSpace(line)) > 80 {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
		if b.Len() < 1000 {
			t.Errorf("raw %t: %s", raw, b.String())
		}
	}
}

func TestAnAddressInUseIsReported(t *testing.T) {
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
	for _, args := range [][]string{{"version"}, {"--version"}, {"--version", "-o", "json"}} {
		if status, out, log := cliRun(t, nil, args...); status != 0 || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%v: %d %q%q", args, status, out, log)
		}
	}
}

func TestAnInterruptedReadHasItsOwnStatus(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	cfg := Config{Providers: func(Environment) ([]providers.Chain, error) {
		return []providers.Chain{{{
			Name: "slow", Platform: platform.Mock, Source: schema.Own,
			Profile: func(ctx context.Context, _ string) (schema.Profile, error) {
				interrupt()
				<-ctx.Done()
				return schema.Profile{}, ctx.Err()
			},
		}}}, nil
	}}
	var log bytes.Buffer
	status := Run(ctx, cfg, []string{"get", "mock", "profile", "handle=a"}, Streams{nil, io.Discard, &log},
		func(string) string { return "" })
	if status != 130 || log.String() != "socialdata: interrupted\n" {
		t.Errorf("exit status %d, %q", status, log.String())
	}
}
