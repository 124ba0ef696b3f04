package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// sharedBooks returns a database with an account, a key and a call that was charged, and the request id of that call.
func sharedBooks(t *testing.T) (b books, request string) {
	t.Helper()
	b = books{t, filepath.Join(t.TempDir(), "t.db")}
	base, secret, stop := running(t, b.db)
	_, body, raw := read(t, base+"/v1/mock/profile?handle=ann", secret)
	id, err := at(body, "meta.request_id")
	if status := stop(); err != nil || status != 0 {
		t.Fatalf("%v %d %s", err, status, raw)
	}
	return b, id.(string)
}

// keysOf returns the names of an object's members in order, or those of a list's first item.
func keysOf(t *testing.T, data json.RawMessage) (names []string) {
	t.Helper()
	rows, _, err := itemsOf(data)
	if err != nil || len(rows) == 0 {
		t.Fatalf("%v: %s", err, data)
	}
	if err := members(rows[0],
		func(name string, _ json.RawMessage) error { names = append(names, name); return nil }); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryCommandPrintsTheShapeThatIsDocumented compares the JSON and CSV of each command with doc.go.
func TestEveryCommandPrintsTheShapeThatIsDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	b, request := sharedBooks(t)
	account := "id, name, balance, monthly, created_at, closed_at"
	key := "id, name, prefix, account, environment, created_at, last_used_at, revoked_at, day_cap, total_cap, " +
		"rate_capacity, rate_refill, manage, secret"
	rollup := "group, calls, paid, free, failed, hits, credits, refunded, dropped, p50_ms, p95_ms, errors"
	erasure := "no, at, by, kind, platform, subject, block, reason, attempts, removed, before, hash"
	for _, tt := range []struct{ args, documented, want string }{
		{"account create shop --credits 5", "account create, set, grant, refund, close " + account, account},
		{"account grant shop 5", "account create, set, grant, refund, close " + account, account},
		{"account grant shop --undo 2", "account create, set, grant, refund, close " + account, account},
		{"account refund default 1 --request " + request, "account create, set, grant, refund, close " + account, account},
		{"account list", "account list a list of these", account},
		{"account show default", "account show the same with keys", account + ", keys"},
		{"key create --account shop", "key create, set, rotate, revoke " + key + " (of a new key or secret alone)", key},
		{"key list", "key list a list of these", key},
		{"usage default", "", "seq, time, kind, amount, balance, operation, platform, cache, request_id, key, reason"},
		{"usage default --by day", "usage --by a list of " + rollup, rollup},
		{"logs", "", "time, request_id, account, key, source, operation, platform, status, code, detail, " +
			"upstream_status, cache, held, credits, took_ms, providers"},
		{"platforms", "platforms a list of platform, operation", "platform, operation, available, providers, missing, note"},
		{"platforms --raw", "", "platform, route, available, missing"},
		{"quotas", "", "platform, provider, name, limit, used, left, resets, shared"},
		{"erase mock handle=ann", "erase no, at, by, kind, platform", erasure},
		{"erasures list", "erasures list a list of these", erasure},
		{"audit", "", "in_order, accounts, keys, entries, credits, problems, losses, changed_keys"},
		{"doctor --offline", "doctor a list of ok, warning, check, says", "ok, warning, check, says"},
		{"version", "", "version, commit, go, os, arch"},
	} {
		documented := tt.documented
		if documented == "" {
			documented = tt.want
		}
		if !strings.Contains(doc, documented) {
			t.Errorf("doc.go does not say of %s: %s", tt.args, documented)
		}
		var got struct{ Data json.RawMessage }
		if err := json.Unmarshal([]byte(b.run(append(strings.Fields(tt.args), "-o", "json")...)), &got); err != nil {
			t.Fatalf("%s: %v", tt.args, err)
		}
		if diff := cmp.Diff(tt.want, strings.Join(keysOf(t, got.Data), ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
		if strings.Contains(tt.args, "create") || strings.Contains(tt.args, "refund") {
			continue // a second time would be refused
		}
		head, _, _ := strings.Cut(b.run(append(strings.Fields(tt.args), "-o", "csv")...), "\n")
		head = strings.Replace(head, "mentions,", "", 1) // JSON has it only where there are some
		if diff := cmp.Diff(strings.ReplaceAll(tt.want, ", ", ","), head); diff != "" {
			t.Errorf("%s: columns (-want +got):\n%s", tt.args, diff)
		}
		for line := range strings.Lines(b.run(append(strings.Fields(tt.args), "-o", "jsonl")...)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %s", tt.args, line)
			}
		}
	}
}

func TestARevokedKeyAndAFailedAuditAreJSONToo(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	b.run("account", "create", "shop")
	var made struct{ Data keyShape }
	if err := json.Unmarshal([]byte(b.run("key", "create", "--account", "shop", "-o", "json")), &made); err != nil ||
		made.Data.Secret == nil {
		t.Fatal(err, made)
	}
	var revoked struct{ Data keyShape }
	if err := json.Unmarshal([]byte(b.run("key", "revoke", made.Data.ID, "-o", "json")), &revoked); err != nil {
		t.Fatal(err)
	}
	if revoked.Data.RevokedAt == nil || revoked.Data.Secret != nil || revoked.Data.ID != made.Data.ID {
		t.Errorf("revoked as %+v", revoked.Data)
	}
	if said := b.refused("audit", "--heads", "-o", "json"); !strings.Contains(said, "--heads") {
		t.Errorf("heads as JSON: %s", said)
	}
}

func TestARefundIsAnEntryOfItsOwn(t *testing.T) {
	t.Parallel()
	b, request := sharedBooks(t)
	if out := b.run("account", "refund", "default", "1", "--request", request, "--reason",
		"sorry"); out != "balance of default: 10000 credits\n" {
		t.Errorf("it says %q", out)
	}
	if out := b.run("usage", "default", "--request-id", request, "-o", "csv"); strings.Count(out, "\n") != 3 ||
		!strings.Contains(out, "refund,1,10000") || !strings.Contains(out, "sorry") {
		t.Errorf("its entries are\n%s", out)
	}
	if said := b.refused("account", "refund", "default", "1"); !strings.Contains(said, "--request") {
		t.Errorf("without a request: %s", said)
	}
	if said := b.refused("account", "refund", "default", "5", "--request", "req_of_nobody"); !strings.Contains(said,
		"req_of_nobody") {
		t.Error("a call that was never charged is refunded without an error")
	}
	if out := b.run("audit"); !strings.Contains(out, "in order") {
		t.Error(out)
	}
}

// TestColumnsAreThoseOfTheOperation reads lists of every kind, full and empty, from the sandbox.
func TestColumnsAreThoseOfTheOperation(t *testing.T) {
	t.Parallel()
	for _, o := range socialdata.Operations() {
		columns := schema.Columns(o.Data)
		if o.Name == "raw" || o.Name == "read" {
			continue
		}
		if len(columns) == 0 || len(slices.Compact(slices.Sorted(slices.Values(columns)))) != len(columns) {
			t.Errorf("%s has the columns %v", o.Name, columns)
		}
	}
	if got := schema.Columns(socialdata.Operation("search").Data); got[0] != "kind" ||
		!slices.Contains(got, "author.handle") || !slices.Contains(got, "price.amount") {
		t.Errorf("a search has the columns %v", got)
	}
	db := filepath.Join(t.TempDir(), "t.db")
	b := books{t, db}
	head := func(args ...string) string {
		line, _, _ := strings.Cut(b.run(args...), "\n")
		return line
	}
	var names []string
	for _, c := range schema.FlatOf(socialdata.Operation("posts").Data).Columns {
		names = append(names, c.Name)
	}
	want := strings.Join(names, ",")
	for name, got := range map[string]string{
		"get":                 head("get", "mock", "posts", "handle=ann", "-o", "csv"),
		"get, enriched":       head("get", "mock", "posts", "handle=ann", "enrich=arabic", "-o", "csv"),
		"get, an empty page":  head("get", "mock", "posts", "handle=empty", "-o", "csv"),
		"export":              head("export", "mock", "posts", "handle=ann", "-o", "csv", "--limit", "3"),
		"export, empty":       head("export", "mock", "posts", "handle=empty", "-o", "csv"),
		"another list of its": head("get", "mock", "reels", "handle=ann", "-o", "csv"),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(b.run("export", "mock", "posts", "handle=ann", "-o", "csv"))).ReadAll()
	if err != nil || len(rows) != 48 {
		t.Errorf("%d lines, %v", len(rows), err)
	}
}

func TestFormulasAreGuarded(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0", "@SUM(A1)": "'@SUM(A1)", "\tx": "'\tx", "\rx": "'\rx",
		"\nx": "'\nx", "-": "'-", "-Infinity": "'-Infinity", "-12": "-12", "-1.5e-3": "-1.5e-3", "-12 apples": "'-12 apples", "a=b": "a=b", "": "",
	} {
		if got := guarded(cell); got != want {
			t.Errorf("%q comes out as %q, want %q", cell, got, want)
		}
	}
}

func TestLimitAndFields(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	for args, want := range map[string]int{
		"get mock posts handle=ann --limit 5 -o jsonl":                     5,
		"get mock posts handle=ann --limit 25 -o jsonl":                    25, // on two pages
		"get mock posts handle=ann --limit 1000 -o jsonl":                  47, // all of them
		"export mock posts handle=ann --limit 5":                           5,
		"export mock posts handle=ann --limit 20":                          20,
		"export mock posts handle=ann --limit 33":                          33,
		"search tea platforms=mock --limit 2 -o jsonl":                     2,
		"export mock posts handle=ann --limit 3 --fields id,author.handle": 3,
	} {
		if got := strings.Count(b.run(strings.Fields(args)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", args, got, want)
		}
	}
	item := regexp.MustCompile(`^\{"platform":"mock","id":"[^"]+","url":"[^"]+","author":\{"id":"[^"]+","handle":"ann"\}\}\n$`)
	for _, command := range []string{"get", "export"} {
		if out := b.run(command, "mock", "posts", "handle=ann", "--limit", "1", "-o", "jsonl", "--fields",
			"author.handle,author.id,id,enrichment"); !item.MatchString(out) {
			t.Errorf("%s: %s", command, out)
		}
		if out := b.run(command, "mock", "posts", "handle=ann", "--limit", "1", "-o", "csv", "--fields",
			"engagement,id"); !strings.HasPrefix(out, "likes,comments,") ||
			!strings.HasSuffix(strings.SplitN(out, "\n", 2)[0], ",id") {
			t.Errorf("%s: %s", command, out)
		}
		if said := b.refused(command, "mock", "posts", "handle=ann", "--fields", "autor.handle"); !strings.Contains(said,
			"(did you mean author.handle?)") {
			t.Errorf("%s: %s", command, said)
		}
	}
	if said := b.refused("get", "mock", "profile", "handle=ann", "--limit", "1"); !strings.Contains(said,
		"--limit is for lists") {
		t.Error(said)
	}
	// A limit within a page leaves no cursor, which would skip the rest of the page.
	if out := b.run("get", "mock", "posts", "handle=ann", "--limit", "5", "-o", "json"); strings.Contains(out,
		`"next_cursor": "`) {
		t.Error(out)
	}
}

func TestExportStopsAtMaxCredits(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	for args, want := range map[string]int{
		"--max-credits 1":            20, // a page of 20 items costs 1
		"--max-credits 2":            40,
		"--max-credits 3":            47, // all of them
		"--max-credits 2 --limit 25": 25,
		"fresh=true --max-credits 2": 20,
	} {
		if got := strings.Count(b.run(strings.Fields("export mock posts handle=ann "+args)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", args, got, want)
		}
	}
	to := filepath.Join(t.TempDir(), "posts.jsonl")
	for _, want := range []int{20, 40, 47} {
		b.run("export", "mock", "posts", "handle=ann", "--max-credits", "1", "--to", to)
		if written, err := os.ReadFile(to); err != nil || strings.Count(string(written), "\n") != want {
			t.Errorf("%d are written (%v), want %d", strings.Count(string(written), "\n"), err, want)
		}
	}
	if said := b.refused("export", "mock", "posts", "handle=ann", "fresh=true", "--max-credits",
		"1"); !strings.Contains(said, "insufficient_credits") {
		t.Error(said)
	}
	if said := b.refused("export", "mock", "posts", "handle=ann", "max_credits=1", "--max-credits",
		"1"); !strings.Contains(said, "the limit of each page") {
		t.Error(said)
	}
}

func TestExportSinceATimeReadsNothingOlder(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	for args, want := range map[string]int{"--since 2000-01-01": 47, "--since 2100-01-01": 0, "pages=3 --since 2000-01-01 --limit 45": 45} {
		if got := strings.Count(b.run(strings.Fields("export mock posts handle=ann "+args)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", args, got, want)
		}
	}
	if said := b.refused("export", "mock", "comments", "post_id=ann", "--since", "2000-01-01"); !strings.Contains(said, `"since"`) {
		t.Error(said)
	}
}

func TestAnExportWithALimitContinuesItemByItem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := books{t, filepath.Join(dir, "t.db")}
	whole := b.run("export", "mock", "posts", "handle=ann", "-o", "csv", "--fields", "id")
	to := filepath.Join(dir, "posts.csv")
	for range 4 { // 15, 30, 45, 47
		b.run("export", "mock", "posts", "handle=ann", "-o", "csv", "--fields", "id", "--limit", "15", "--to", to)
	}
	got, err := os.ReadFile(to)
	if diff := cmp.Diff(whole, string(got)); err != nil || diff != "" || strings.Count(whole, "\n") != 48 {
		t.Errorf("%v (-in one go +in four):\n%s", err, diff)
	}
	if _, err := os.Stat(markOf(to)); err == nil {
		t.Error("the mark is left")
	}
}

func TestAFailedExportLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	said := b.refused("export", "mock", "posts", "handle=not_found", "--to", filepath.Join(dir, "posts.jsonl"))
	if !strings.Contains(said, "not_found") || strings.Contains(said, "continue") {
		t.Errorf("it says %q", said)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("it leaves %v (%v)", files, err)
	}
}

func TestTablesLineUpInEveryScript(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	lines := [][]string{{"قهوة عربية", "5"}, {"お茶を飲む", "12"}, {"tea", "1000"}, {"e\u0301te\u0301", "7"}}
	if err := (pen{}).grid(&b, []string{"TITLE", "LIKES"}, lines, nil); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"TITLE       LIKES",
		"قهوة عربية      5",
		"お茶を飲む     12",
		"tea          1000",
		"e\u0301te\u0301             7", "",
	}, "\n")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATableHasIdAndDayInEightyColumns(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	table := b.run("get", "mock", "posts", "handle=ann", "enrich=arabic", "-o", "table")
	var post struct{ ID, CreatedAt string }
	first, _, _ := strings.Cut(b.run("get", "mock", "posts", "handle=ann", "-o", "jsonl"), "\n")
	var raw struct {
		ID        string `json:"id"`
		CreatedAt string `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(first), &raw); err != nil {
		t.Fatal(err)
	}
	post.ID, post.CreatedAt = raw.ID, raw.CreatedAt[:10]
	lines := strings.Split(table, "\n")
	if !strings.Contains(lines[1], post.ID) || !strings.Contains(lines[1], post.CreatedAt) ||
		!strings.Contains(lines[0], "DIALECT") {
		t.Errorf("no %s, %s or dialect in\n%s\n%s", post.ID, post.CreatedAt, lines[0], lines[1])
	}
	for _, line := range lines {
		if cells.StringWidth(line) > usualWidth {
			t.Errorf("%d columns: %s", cells.StringWidth(line), line)
		}
	}
}

func TestATranscriptIsReadable(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	out := b.run("get", "mock", "transcript", "post_id=ann_1", "-o", "table")
	if strings.Contains(out, "[{") ||
		!regexp.MustCompile(`(?m)^segments\n  START_S +END_S  TEXT\n +[0-9.]+ +[0-9.]+  \S`).MatchString(out) {
		t.Errorf("it is\n%s", out)
	}
}

func TestHelpShowsACommandsOwnFlagsFirst(t *testing.T) {
	t.Parallel()
	for command, own := range map[string]string{
		"key create --help": "--account", "export --help": "--into", "serve --help": "--addr", "usage --help": "--request-id",
		"--help": "  serve", "help": "  serve", "help key create": "--account",
	} {
		status, out, _ := cliRun(t, nil, strings.Fields(command)...)
		first, where := strings.Index(out, own), strings.Index(out, "Of every command:")
		if status != 0 || first < 0 || where < first || strings.Contains(out[:where], "--db=") || strings.Contains(out[:where], "--bulk-") {
			t.Errorf("%s (%d):\n%s", command, status, out)
		}
	}
}

// TestCompletion enables completion as a shell does, under another name, and uses it.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || testing.Short() {
		t.Skip("needs bash")
	}
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	b.run("account", "create", "shop")
	script := b.run("completion", "bash")
	name := filepath.Base(os.Args[0])
	if !strings.Contains(script, "complete -o default -F _complete_") || !strings.HasSuffix(script, " '"+name+"'\n") {
		t.Errorf("the script is for another name than %s:\n%s", name, script)
	}
	out, err := exec.CommandContext(t.Context(), bash, "-euc", script+"complete -p "+name).CombinedOutput()
	if err != nil || !strings.Contains(string(out), name) {
		t.Errorf("%v: %s", err, out)
	}
	for line, want := range map[string][]string{
		"x get mo":                                          {"mock"},
		"x get mock pro":                                    {"product", "products", "profile"},
		"x get mock profile ":                               {"handle="},
		"x get mock posts handle=ann f":                     {"fresh="},
		"x search tea kind=po":                              {"post"},
		"x search tea platforms=hacke":                      {string(platform.HackerNews)},
		"x --db " + b.db + " account show sh":               {"shop"},
		"x --db=" + b.db + " account grant s":               {"shop"},
		"x --db " + b.db + " key revoke ":                   {},
		"x --db /nowhere/there/is/none.db account show sho": {},
		"x ser":                             {"serve"},
		"x imp":                             {}, // hidden
		"x serve --dashboard":               {"--dashboard", "--dashboard-addr"},
		"x serve --dashboard o":             {"off", "on"},
		"x serve --dashboard=o":             {"off", "on"},
		"x get mock profile -o js":          {"json", "jsonl"},
		"x get -o json mo":                  {"mock"},
		"x account ":                        {"create", "grant", "list", "refund", "show"},
		"x usage --platform git":            {"github"},
		"x get mock posts handle=ann a=b f": {"fresh="},
	} {
		t.Setenv("COMP_LINE", line)
		status, out, log := cliRun(t, nil)
		got := strings.Fields(out)
		slices.Sort(got)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %v, want %v (%d %s)", line, got, want, status, log)
			}
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestAGrantIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	base, secret, stop := running(t, b.db)
	defer stop()
	balance := func(want int64) {
		t.Helper()
		_, body, raw := read(t, base+"/v1/me", secret)
		if got, _ := at(body, "data.credits.balance"); got != float64(want) {
			t.Errorf("the server has a balance of %v, want %d: %s", got, want, raw)
		}
	}
	grant := []string{"--db", b.db, "account", "grant", "default"}
	run := func(status int, says string, args ...string) string {
		t.Helper()
		got, out, log := cliRun(t, nil, append(slices.Clone(grant), args...)...)
		if got != status || !strings.Contains(out+log, says) {
			t.Errorf("grant %s: exit status %d, %q; want %d and %q", args, got, out+log, status, says)
		}
		return out
	}
	run(0, fmt.Sprint(firstCredits+500), "500", "--once", "invoice 3")
	balance(firstCredits + 500)
	for range 2 { // the second time changes nothing
		out := run(0, "the 500 credits of entry 2", "--undo", "2", "--reason", "a slip")
		if out != fmt.Sprintf("balance of default: %d credits\n", firstCredits) {
			t.Errorf("it prints %q", out)
		}
		balance(firstCredits)
	}
	if out := b.run("usage", "default", "-o", "csv"); strings.Count(out, "reversal,-500,") != 1 ||
		!strings.Contains(out, "a slip") || strings.Count(out, "\n") != 4 {
		t.Errorf("the entries are\n%s", out)
	}
	run(0, fmt.Sprint(firstCredits), "500", "--once", "invoice 3") // given, and taken back
	run(1, "entry 3 of default is not a grant", "--undo", "3")
	run(1, "entry 9 of default is not a grant", "--undo", "9")
	run(2, "leave out the credits", "5", "--undo", "2")
	run(2, "leave out the credits", "--undo", "2", "--once", "x")
	run(2, "how many credits")
	run(2, "number of an entry", "--undo=-1")
	if status, _, raw := read(t, base+"/v1/mock/profile?handle=ann", secret); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, raw)
	}
	run(1, fmt.Sprintf("%d credits are to be taken back, and %d can be spent; nothing was taken back from default",
		firstCredits, firstCredits-1), "--undo", "1")
	balance(firstCredits - 1)
	if out := b.run("audit"); !strings.Contains(out, "in order") {
		t.Error(out)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	out := b.run("compare", "mock/ann", "https://mock.example/@salma", "--pages", "2")
	for _, want := range []string{"ACCOUNT", "mock/ann", "mock/salma", "BY VIEWS", " UTC"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	if got := strings.Count(b.run("compare", "mock/ann", "mock/salma", "-o", "jsonl"), "\n"); got != 2 {
		t.Errorf("%d lines", got)
	}
	if said := b.refused("compare", "https://mock.example/posts/ann-post-1"); !strings.Contains(said, "does not name an account") {
		t.Error(said)
	}
}
