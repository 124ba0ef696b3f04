package cli

import (
	"bytes"
	stdcmp "cmp"
	"encoding/csv"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/await"
)

const twoPosts = "SELECT platform, id, likes, is_ad, hashtags FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 2"

func TestSQLPrintsRowsInEachFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"csv":   "platform,id,n\nmock,ann,1.5\n",
		"jsonl": `{"platform":"mock","id":"ann","n":1.5}` + "\n",
		"json":  "{\n  \"data\": [\n    {\n      \"platform\": \"mock\",\n      \"id\": \"ann\",\n      \"n\": 1.5\n    }\n  ]\n}\n",
		"table": "PLATFORM  ID     N\nmock      ann  1.5\n",
	} {
		query := "SELECT platform, handle AS id, 1.5 AS n FROM profile WHERE platform = 'mock' AND handle = 'ann'"
		if format == "table" {
			query = strings.NewReplacer("platform,", `platform AS "PLATFORM",`, "AS id", `AS "ID"`, "AS n", `AS "N"`).Replace(query)
		}
		status, out, log := cliRun(t, nil, "sql", query, "-o", format)
		if status != 0 || out != want || !strings.Contains(log, "1 row, 1 call; it would have cost 1 credit") {
			t.Errorf("%s: %d, %q, %q", format, status, out, log)
		}
	}
}

func TestSQLReadsQueriesFromStandardInput(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	in := strings.NewReader("CREATE TABLE c(h); INSERT INTO c VALUES ('ann'), ('omar');\n" +
		"SELECT p.handle FROM c JOIN profile p ON p.platform = 'mock' AND p.handle = c.h ORDER BY 1; -- the end\n")
	status := run(t.Context(), []string{"sql", "-o", "csv"}, in, &out, &log, func(string) string { return "" })
	if status != 0 || out.String() != "handle\nann\nomar\n" || !strings.Contains(log.String(), "2 calls") {
		t.Errorf("%d, %q, %q", status, out.String(), log.String())
	}
}

func TestSQLSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"SELECT * FROM posts"}, 1, "without platform and handle"},
		{[]string{"SELECT * FROM profile WHERE platform='mock' AND handle='not_found'"}, 1, "no such thing in the sandbox"},
		{[]string{"SELECT count(*) FROM posts WHERE platform='mock' AND handle='ann'", "--max-credits", "2"}, 1, "may cost 2 credits"},
		{[]string{"SELECT 1", "--max-credits", "0"}, 2, "positive"},
		{[]string{"SELECT 1", "--into", "x.txt"}, 2, ".db, .csv or .jsonl"},
		{[]string{"SELECT 1", "--attach", filepath.Join(t.TempDir(), "none.db")}, 1, "none.db"},
		{[]string{" ; "}, 2, "there is no query"},
		{[]string{"SELECT * FROM usage"}, 2, "key"},
	} {
		status, _, log := cliRun(t, nil, append([]string{"sql"}, tt.args...)...)
		if (tt.status != status && tt.says != "key") || status == 0 || !strings.Contains(log, tt.says) {
			t.Errorf("%v: %d, %s", tt.args, status, log)
		}
	}
}

// TestRepeatedQueriesUpdateTheirFile writes rows twice, and other columns later.
func TestRepeatedQueriesUpdateTheirFile(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "posts.db")
	into := func(query string) {
		t.Helper()
		if status, _, log := cliRun(t, nil, "sql", query, "--into", db); status != 0 {
			t.Fatalf("%s: %s", query, log)
		}
	}
	into(twoPosts)
	into("SELECT platform, id, -1 AS likes, text FROM posts WHERE platform = 'mock' AND handle = 'ann' LIMIT 3")
	status, out, log := cliRun(t, nil, "sql", `SELECT id, likes, is_ad IS NULL AS new, text IS NULL AS old,
		first_seen <= last_seen AS seen FROM posts.rows ORDER BY id`, "--attach", db, "-o", "csv")
	want := "id,likes,new,old,seen\nann-post-1,-1,0,0,1\nann-post-2,-1,0,0,1\nann-post-3,-1,1,0,1\n"
	if diff := cmp.Diff(want, out); status != 0 || diff != "" {
		t.Errorf("%d %s (-want +got):\n%s", status, log, diff)
	}
	sums := filepath.Join(t.TempDir(), "sums.db")
	for range 2 { // rows without platform and id are replaced
		if status, _, log := cliRun(t, nil, "sql", "SELECT 1 AS n UNION SELECT 2", "--into", sums); status != 0 {
			t.Fatal(log)
		}
	}
	if _, out, log := cliRun(t, nil, "sql", "SELECT n FROM sums.rows", "--attach", sums, "-o", "csv"); out != "n\n1\n2\n" {
		t.Errorf("%q %s", out, log)
	}
	if status, _, log := cliRun(t, nil, "sql", "SELECT 1 AS n, 2 AS n", "--into", sums); status != 1 ||
		!strings.Contains(log, "two columns n") {
		t.Errorf("%d %s", status, log)
	}
}

// TestRepeatedReadsUpdateTheirFile writes an export twice, a batch, and changes.
func TestRepeatedReadsUpdateTheirFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, store := filepath.Join(dir, "f.db"), filepath.Join(dir, "t.db")
	query := func(query string) string {
		t.Helper()
		status, out, log := cliRun(t, nil, "sql", query, "--attach", file, "-o", "csv")
		if status != 0 {
			t.Fatal(log)
		}
		_, rows, _ := strings.Cut(out, "\n")
		return rows
	}
	b := books{t, store}
	b.run("export", "mock", "posts", "handle=ann", "--limit", "25", "--into", file)
	if got := query("SELECT count(*), min(author_handle), sum(likes) > 0 FROM f.posts"); got != "25,ann,1\n" {
		t.Errorf("the export has %q", got)
	}
	b.run("export", "mock", "posts", "handle=ann", "--into", file, "--fields", "engagement.likes")
	if got := query("SELECT count(*), count(author_handle), count(likes) FROM f.posts"); !strings.HasPrefix(got, "47,25,") {
		t.Errorf("the second export has %q", got)
	}
	for range 2 {
		status, _, log := batchOf(t, []string{"ann", "not_found", "omar"}, "mock", "profile", "--into", file)
		if status != 0 || !strings.Contains(log, "2 found, 1 missing") {
			t.Fatal(log)
		}
	}
	if got := query("SELECT handle, first_seen <= last_seen FROM f.profile ORDER BY 1"); got != "ann,1\nomar,1\n" {
		t.Errorf("the batches have %q", got)
	}
	b.run("account", "create", "shop")
	b.run("changes", "--account", "shop", "--into", file)
	if got := query("SELECT count(*) FROM f.changes"); got != "0\n" {
		t.Errorf("there are %q changes", got)
	}
	lines := filepath.Join(dir, "ann.csv")
	b.run("export", "mock", "posts", "handle=ann", "--into", lines)
	if text, err := os.ReadFile(lines); err != nil || !strings.HasPrefix(string(text), "platform,id,") {
		t.Errorf("%.40s, %v", text, err)
	}
}

// TestFilesHaveTheRowsOfTablesAndOfCSV exports posts as CSV and reads the same ones with SQL, into a file of each form.
func TestFilesHaveTheRowsOfTablesAndOfCSV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	status, exported, log := cliRun(t, nil, "--db", filepath.Join(dir, "t.db"), "export", "mock", "posts", "handle=ann", "-o", "csv")
	if status != 0 {
		t.Fatal(log)
	}
	head, _, _ := strings.Cut(exported, "\n")
	var names []string
	for name := range strings.SplitSeq(head, ",") {
		switch name {
		case "raw":
			names = append(names, `NULL AS "raw"`)
		default:
			names = append(names, `"`+name+`"`)
		}
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM posts WHERE platform = 'mock' AND handle = 'ann'"
	file := filepath.Join(dir, "posts.csv")
	if status, _, log := cliRun(t, nil, "sql", query, "--into", file); status != 0 {
		t.Fatal(log)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recordsOf(t, exported), recordsOf(t, string(written))); diff != "" {
		t.Errorf("export -o csv and SQL (-want +got):\n%s", diff)
	}
	lines := filepath.Join(dir, "posts.jsonl")
	if status, _, log := cliRun(t, nil, "sql", twoPosts, "--into", lines); status != 0 {
		t.Fatal(log)
	}
	if written, err = os.ReadFile(lines); err != nil || strings.Count(string(written), "\n") != 2 ||
		!strings.HasPrefix(string(written), `{"platform":"mock","id":"ann-post-1","likes":`) {
		t.Errorf("%s, %v", written, err)
	}
}

// recordsOf returns the records of CSV without when they were fetched, and with booleans as SQL writes them.
func recordsOf(t *testing.T, text string) [][]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 48 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	fetched := slices.Index(records[0], "fetched_at")
	for _, record := range records {
		record[fetched] = ""
		for i, cell := range record {
			record[i] = stdcmp.Or(map[string]string{"true": "1", "false": "0"}[cell], cell)
		}
	}
	return records
}

// TestQueriesOfTheREADMEAnswer runs each query that the README shows against captured answers of the platforms.
func TestQueriesOfTheREADMEAnswer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, q := range regexp.MustCompile(`(?s)(?:socialdata|standalone) sql "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		queries = append(queries, q[1])
	}
	want := []string{
		"id,likes\nann-post-1,",
		"handle,followers,bio\nChew,29,",
		"platform,count(*),sum(likes)\nbluesky,10,1623\ngithub,",
		"handle,followers,url,likes\njacquev6,98,https://github.com/jacquev6/IpMap,5\n",
	}
	if len(queries) != len(want) {
		t.Fatalf("the README has the queries %q", queries)
	}
	upstreams := startReplay(t)
	for i, query := range queries {
		status, out, log := cliRun(t, nil, "--replay-url", upstreams, "sql", query, "-o", "csv")
		if status != 0 || !strings.HasPrefix(out, want[i]) {
			t.Errorf("%s: %d, %s%s", query, status, out, log)
		}
		status, out, log = cliRun(t, nil, "--replay-url", upstreams, "sql", "EXPLAIN QUERY PLAN "+query, "-o", "table")
		if status != 0 || !strings.Contains(out, "READ ") || strings.Contains(out, "REFUSED") {
			t.Errorf("%s is planned as %s%s", query, out, log)
		}
	}
}

// startReplay serves the captured answers of platforms until the test ends, and returns the address.
func startReplay(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts the replay server")
	}
	const shared = "../../../shared"
	samples := filepath.Join(shared, "upstreams/samples")
	if _, err := os.Stat(samples); err != nil {
		t.Skip("the captured answers are not here: ", err)
	}
	bin := filepath.Join(t.TempDir(), "replay")
	built := exec.CommandContext(t.Context(), "go", "build", "-o", bin, filepath.Join(shared, "tools/replay/main.go"))
	if out, err := built.CombinedOutput(); err != nil {
		t.Fatalf("building the replay server: %v\n%s", err, out)
	}
	addr := freeAddr(t)
	cmd := exec.CommandContext(t.Context(), bin, "-addr", addr, samples)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	await.Until(t, "the replay server to listen", func() bool {
		conn, err := net.Dial("tcp", addr)
		return err == nil && conn.Close() == nil
	})
	return "http://" + addr
}
