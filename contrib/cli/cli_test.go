package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/schema"
)

// cliRun runs one command and returns its exit status and output.
func cliRun(t *testing.T, settings map[string]string, args ...string) (status int, out, log string) {
	t.Helper()
	var o, l bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(""), &o, &l, func(name string) string { return settings[name] })
	return status, o.String(), l.String()
}

func TestCommandsManageAccountsAndKeys(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	tests := []struct {
		args   string
		status int
		out    string // a pattern for all of standard output; "" for any
		log    string // texts in the log
	}{
		{"account create shop --credits 50", 0, `acct_\w+\n`, ""},
		{"account create shop", 1, ``, "shop"},
		{"account create other --credits=-1", 2, ``, "--credits"},
		{"account grant shop 5 --reason sorry", 0, `balance of shop: 55 credits\n`, ""},
		{"account grant shop 0", 2, ``, "0"},
		{"account grant nobody 5", 1, ``, "nobody"},
		{"account list", 0, `(?s)ID.*shop.*55.*`, ""},
		{"key create --account shop --name web --env test", 0, `sk_test_\w{38}\n`, "shown only once"},
		{"key create --account shop --env staging", 2, ``, "live"},
		{"key create --account nobody", 1, ``, "nobody"},
		{"key create --account shop --rate-capacity 5", 2, ``, "--rate-refill"},
		{"key list --account shop", 0, `(?s)ID.*web.*active.*`, ""},
		{"account show shop", 0, `(?s)id .*balance  55 credits.*web.*`, ""},
		{"usage shop", 0, `(?s)SEQ.*grant.*5.*55.*sorry.*opening balance.*`, ""},
		{"audit", 0, `1 account, 1 key, 2 entries, 55 credits: in order\n`, ""},
		{"key revoke nothing", 1, ``, "nothing"},
		{"frobnicate", 2, ``, "--help"},
	}
	for _, tt := range tests {
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(tt.args)...)...)
		if status != tt.status {
			t.Errorf("%s: exit status %d, want %d\n%s%s", tt.args, status, tt.status, out, log)
		}
		if tt.out != "" && !regexp.MustCompile(`^(?:`+tt.out+`)$`).MatchString(out) {
			t.Errorf("%s: standard output %q does not match %s", tt.args, out, tt.out)
		}
		if tt.status != 0 && out != "" {
			t.Errorf("%s: a failure writes %q to standard output", tt.args, out)
		}
		if !strings.Contains(log, tt.log) {
			t.Errorf("%s: the log %q does not say %q", tt.args, log, tt.log)
		}
	}
}

func TestGetContinuesWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	first := []string{"--db", filepath.Join(t.TempDir(), "t.db"), "get", "mock", "posts", "handle=salma_haddad"}
	var pages [2]struct {
		Data []struct{ ID string }
		Meta struct {
			NextCursor string `json:"next_cursor"`
		}
	}
	for i, args := range [][]string{first, first} {
		if i > 0 {
			args = append(slices.Clip(args), "cursor="+pages[0].Meta.NextCursor)
		}
		status, out, log := cliRun(t, nil, args...)
		if err := json.Unmarshal([]byte(out), &pages[i]); status != 0 || err != nil {
			t.Fatalf("page %d: exit status %d, %v, log %q", i+1, status, err, log)
		}
	}
	if len(pages[1].Data) == 0 || pages[0].Data[0] == pages[1].Data[0] {
		t.Errorf("page two is %v after %v", pages[1].Data, pages[0].Data)
	}
}

func TestGetPrintsTheEnvelope(t *testing.T) {
	t.Parallel()
	status, out, log := cliRun(t, nil, "get", "mock", "profile", "handle=@Ann", "enrich=arabic")
	if status != 0 {
		t.Fatalf("exit status %d: %s", status, log)
	}
	var got schema.Envelope[schema.Profile]
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Data.Handle != "ann" || got.Meta.CreditsUsed != 4 || got.Data.Enrichment.Value == nil {
		t.Errorf("got %s", out)
	}
	for args, words := range map[string]string{
		"get mock profile hande=ann": "handle", "get mock profile ann": "name=value", "get nowhere profile handle=a": "nowhere",
		"get mock profile handle=not_found": "not_found",
		"get kick profile handle=a": "missing the settings client_id, client_secret; set SOCIALDATA_KICK_CLIENT_ID " +
			"and SOCIALDATA_KICK_CLIENT_SECRET",
		"get amazon profile handle=abcd": "missing the setting api_key of scrapecreators; set " +
			"SOCIALDATA_SCRAPECREATORS_API_KEY",
	} {
		if status, _, log := cliRun(t, nil, strings.Fields(args)...); status < 1 || !strings.Contains(log, words) {
			t.Errorf("%s: exit status %d, log %q", args, status, log)
		}
	}
}

func TestPlatformsNamesTheMissingSetting(t *testing.T) {
	t.Parallel()
	_, without, _ := cliRun(t, nil, "platforms")
	_, with, _ := cliRun(t,
		map[string]string{"SOCIALDATA_SPOTIFY_CLIENT_ID": "a", "SOCIALDATA_SPOTIFY_CLIENT_SECRET": "b"}, "platforms")
	of := regexp.MustCompile(`(?m)^spotify\n((?:  .*\n)+)`)
	if m := of.FindStringSubmatch(without); m == nil || !strings.Contains(strings.Join(strings.Fields(m[1]), " "),
		"SOCIALDATA_SPOTIFY_CLIENT_ID and SOCIALDATA_SPOTIFY_CLIENT_SECRET: profile") {
		t.Errorf("without credentials: %v", m)
	}
	if m := of.FindStringSubmatch(with); m == nil || !strings.HasPrefix(m[1], "  spotify:\n    profile") {
		t.Errorf("with credentials: %v", m)
	}
	_, behind, _ := cliRun(t, map[string]string{"SOCIALDATA_SCRAPECREATORS_API_KEY": "k"}, "platforms")
	if !strings.Contains(behind, "> scrapecreators (scrapecreators: 1):") {
		t.Errorf("with a reseller: %s", behind)
	}
	for line := range strings.Lines(without + with + behind) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > usualWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestPlatformsListsTheRawRoutes compares the printed allow-list with that of the providers.
func TestPlatformsListsTheRawRoutes(t *testing.T) {
	t.Parallel()
	_, out, _ := cliRun(t, nil, "platforms", "--raw")
	listed := map[string]string{} // the setting in a line, by platform and route
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] != "ROUTE" {
			listed[fields[0]+" "+fields[1]] = strings.Join(fields[2:], " ")
		}
	}
	all, err := shipped.Providers(Environment{
		Lookup: func(string) (string, bool) { return "", false }, HTTP: &http.Client{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(all...) {
		for _, r := range p.Routes {
			note, ok := listed[string(r.Platform)+" /v1/raw/"+p.Name+"/"+r.Pattern]
			if !ok || (note == "") != (p.Forward != nil) {
				t.Errorf("%s of %s is listed: %t, note %q", r.Pattern, p.Name, ok, note)
			}
		}
	}
	if len(listed) < 20 {
		t.Errorf("%d routes are listed", len(listed))
	}
}

func TestInvalidSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"SOCIALDATA_REPLAY_URL": "not a url", "SOCIALDATA_YOUTUBE_OWN": "perhaps", "SOCIALDATA_SPOTIFY_PAGE_LIMIT": "ten",
	} {
		args := []string{"get", "mock", "profile", "handle=ann"}
		if name == "SOCIALDATA_REPLAY_URL" {
			args = append([]string{"--replay-url", value}, args...)
		}
		status, _, log := cliRun(t, map[string]string{name: value}, args...)
		if name == "SOCIALDATA_REPLAY_URL" {
			value = "--replay-url" // whose value may contain a password
		}
		if status != 1 || !strings.Contains(log, value) {
			t.Errorf("%s=%s: exit status %d, log %q", name, value, status, log)
		}
	}
}

// output is standard output that is safe for concurrent use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// running starts the server in this process and waits until it is ready.
func running(t *testing.T, db string, args ...string) (base, secret string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out, log output
	status := make(chan int, 1)
	go func() {
		all := append([]string{"--db", db, "serve", "--addr", "127.0.0.1:0"}, args...)
		status <- run(ctx, all, strings.NewReader(""), &out, &log, func(string) string { return "" })
	}()
	serves := regexp.MustCompile(`socialdata serves (?:the sandbox alone )?on (\S+)`)
	await.Until(t, "the server to start", func() bool {
		if len(status) > 0 {
			t.Fatalf("the server ended with %d: %s", <-status, log.String())
		}
		return serves.MatchString(out.String())
	})
	base = serves.FindStringSubmatch(out.String())[1]
	if m := regexp.MustCompile(`sk_live_\w+`).FindString(out.String()); m != "" {
		secret = m
		if !strings.Contains(out.String(), `curl -H "Authorization: Bearer `+m+`" "`+base+`/v1/mock/profile?handle=ann"`) {
			t.Errorf("no curl line to paste in %s", out.String())
		}
	}
	var once sync.Once
	last := 0
	stop = func() int {
		once.Do(func() {
			cancel()
			last = <-status
		})
		return last
	}
	t.Cleanup(func() { stop() })
	return base, secret, stop
}

func TestServerAndCommandsShareTheFile(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	profile := base + "/v1/mock/profile?handle=ann"
	status, first, answer := read(t, profile, secret)
	if status != http.StatusOK {
		t.Fatalf("the first key: status %d: %s", status, answer)
	}
	// A grant, a new key and a revocation of another process take effect with the next call.
	if status, _, log := cliRun(t, nil, "--db", db, "account", "grant", "default", "5"); status != 0 {
		t.Fatal(log)
	}
	_, body, raw := read(t, base+"/v1/me", secret)
	if got, _ := at(body, "data.credits.balance"); got != float64(firstCredits-1+5) {
		t.Errorf("balance %v: %s", got, raw)
	}
	request, err := at(first, "meta.request_id")
	if err != nil {
		t.Fatal(err)
	}
	refund := []string{"--db", db, "account", "refund", "default", "1", "--request", request.(string)}
	if status, out, log := cliRun(t, nil, refund...); status != 0 || !strings.Contains(out, fmt.Sprint(firstCredits+5)) {
		t.Fatal(out, log)
	}
	if status, _, log := cliRun(t, nil, refund...); status == 0 ||
		!strings.Contains(log, "at most 0 credits") {
		t.Errorf("the same refund again: %d %s", status, log)
	}
	_, body, raw = read(t, base+"/v1/me", secret)
	if got, _ := at(body, "data.credits.balance"); got != float64(firstCredits+5) {
		t.Errorf("balance %v after a refund: %s", got, raw)
	}
	_, second, _ := cliRun(t, nil, "--db", db, "key", "create", "--account", "default", "--env", "test")
	second = strings.TrimSpace(second)
	if status, _, body := read(t, profile, second); status != http.StatusOK {
		t.Errorf("the new key: status %d: %s", status, body)
	}
	_, me, _ := read(t, base+"/v1/me", second)
	id, _ := at(me, "data.key.id")
	if status, _, log := cliRun(t, nil, "--db", db, "key", "revoke", id.(string)); status != 0 {
		t.Fatal(log)
	}
	if status, _, body := read(t, profile, second); status != http.StatusUnauthorized {
		t.Errorf("the revoked key: status %d: %s", status, body)
	}
	if status, out, log := cliRun(t, nil, "--db", db, "audit"); status != 0 {
		t.Errorf("audit beside the server: %d %s%s", status, out, log)
	}
	if status, _, log := cliRun(t, nil, "--db", db, "serve", "--addr", "127.0.0.1:0"); status == 0 ||
		!strings.Contains(log, "in use") && !strings.Contains(log, "another process") {
		t.Errorf("a second server on the file: %d %s", status, log)
	}
	if status := stop(); status != 0 {
		t.Errorf("exit status %d after a stop", status)
	}
}

func TestCursorsOutliveARestart(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	_, page, _ := read(t, base+"/v1/mock/posts?handle=ann", secret)
	cursor, err := at(page, "meta.next_cursor")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	base, _, _ = running(t, db)
	if status, _, body := read(t, base+"/v1/mock/posts?handle=ann&cursor="+cursor.(string),
		secret); status != http.StatusOK {
		t.Errorf("page two after a restart: status %d: %s", status, body)
	}
}

func TestWithoutArgumentsThereIsHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	status, out, log := cliRun(t, nil)
	if status != 0 || !strings.Contains(out, "Usage: socialdata <command>") || !strings.Contains(out, "serve") ||
		log != "" {
		t.Errorf("exit status %d: %s%s", status, out, log)
	}
	if made, err := filepath.Glob("*"); err != nil || len(made) > 0 {
		t.Errorf("it made %v (%v)", made, err)
	}
}
