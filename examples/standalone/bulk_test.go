package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// TestBulk has three replicas work a bulk job over the sandbox, with all its magic words. They are killed and started
// again every two seconds, PostgreSQL twice, and one is stopped past its leases. The account's credits end twice, and
// it is granted more. In the end each line has one result, what was charged is the sum of the results, the books are in
// order, and nothing is left in the queue.
func TestBulk(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a cluster")
	}
	c := &cluster{}
	c.startStores(t, "redis-server", "initdb", "postgres")
	for range 3 {
		c.addReplica(t, "SOCIALDATA_BULK_RETRY=20s")
	}
	n := testsize.Of(2000, 100_000)
	c.command(t, "account", "create", "bulk", "--credits", strconv.Itoa(n/3))
	secret := c.command(t, "key", "create", "--account", "bulk", "--manage")
	lines := bulkFile(n)
	var started schema.BulkStart
	c.bulk(t, http.MethodPut, "/manage/bulk/nightly", secret, lines, &started)
	if started.Accepted != int64(n) || started.RefusedLines != 1 {
		t.Fatalf("accepted %d lines, refused %d; want %d, 1", started.Accepted, started.RefusedLines, n)
	}
	given := int64(n / 3)
	grants := 0
	for round := 0; ; round++ {
		c.pause(t, 2*time.Second)
		j, ok := c.bulkJob(t, secret)
		if ok && j.State == "done" {
			break
		}
		credits := ok && j.WaitingFor != nil && *j.WaitingFor == "credits"
		if credits {
			grants++
			more := started.Credits.Most
			if grants == 1 {
				more = int64(n / 3)
			}
			if c.try("account", "grant", "bulk", strconv.FormatInt(more, 10)) == nil {
				given += more
			}
		}
		replica := c.replicas[round%len(c.replicas)]
		switch round {
		case 3, 7:
			c.database.signal(t, syscall.SIGQUIT)
			c.database.wait()
			c.database.start(t)
		case 5: // past its leases
			replica.signal(t, syscall.SIGSTOP)
			c.pause(t, 25*time.Second)
			replica.signal(t, syscall.SIGCONT)
		default:
			if !credits && round < testsize.Of(20, 200) {
				replica.kill()
				replica.start(t)
			}
		}
		if round > testsize.Of(150, 3000) {
			t.Fatalf("the job is still %+v", j)
		}
	}
	if grants < 2 {
		t.Errorf("the credits ended %d times; want twice", grants)
	}
	j, _ := c.bulkJob(t, secret)
	c.bulkResults(t, secret, n, j)
	var balance int64
	await.Until(t, "holds to be released", func() bool {
		var me schema.Envelope[schema.Me]
		c.bulk(t, http.MethodGet, "/v1/me", secret, nil, &me)
		balance = me.Data.Credits.Balance
		return balance == given-j.CreditsUsed
	})
	t.Logf("%d lines: %d found, %d missing, %d failed, %d credits", n, j.Found, j.Missing, j.Failed, j.CreditsUsed)
	t.Log(c.command(t, "audit"))
	c.wantEmptyQueue(t)
}

// bulkFile returns the lines of a job: profiles and lists of the sandbox, each magic word twice, and one that is wrong.
func bulkFile(n int) []byte {
	var b bytes.Buffer
	line := func(operation, handle string) {
		fmt.Fprintf(&b, `{"platform":"mock","operation":%q,"params":{"handle":%q}}`+"\n", operation, handle)
		n--
	}
	for _, w := range mock.Magic() {
		if w.Word != "" && !strings.HasPrefix(w.Word, "hang") && !strings.HasPrefix(w.Word, "panic") {
			line("profile", w.Word)
			line("posts", w.Word)
		}
	}
	b.WriteString(`{"platform":"mock","operation":"profile","params":{"handle":"half` + "\n")
	for n > 0 {
		operation := "profile"
		if n%10 == 0 {
			operation = "posts"
		}
		line(operation, "person_"+strconv.Itoa(n))
	}
	return b.Bytes()
}

func (c *cluster) pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

// bulk makes a request of the first replica that answers, and decodes its answer. It waits until one does.
func (c *cluster) bulk(t *testing.T, method, path, secret string, body []byte, into any) {
	t.Helper()
	await.Until(t, "an answer to "+method+" "+path, func() bool {
		for _, addr := range c.direct {
			if got, err := bulkRequest(t.Context(), method, addr, path, secret, body); err == nil {
				if err := json.Unmarshal(got, into); err != nil {
					t.Fatal(err)
				}
				return true
			}
		}
		return false
	})
}

func bulkRequest(ctx context.Context, method, addr, path, secret string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+secret)
	if body != nil {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	got, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, res.StatusCode, got)
	}
	return got, err
}

// bulkJob returns the job, if a replica answers.
func (c *cluster) bulkJob(t *testing.T, secret string) (schema.BulkJob, bool) {
	t.Helper()
	for _, addr := range c.direct {
		got, err := bulkRequest(t.Context(), http.MethodGet, addr, "/v1/bulk?id=nightly", secret, nil)
		var e schema.Envelope[schema.BulkJob]
		if err == nil && json.Unmarshal(got, &e) == nil {
			return e.Data, true
		}
	}
	return schema.BulkJob{}, false
}

// bulkResults checks that each line has one result, and that they add up to what the job has used.
func (c *cluster) bulkResults(t *testing.T, secret string, n int, j schema.BulkJob) {
	t.Helper()
	credits, found, last := int64(0), int64(0), int64(0)
	results := 0
	for cursor := ""; ; {
		var page schema.Envelope[[]schema.BulkResult]
		c.bulk(t, http.MethodGet, after("/v1/bulkresults?id=nightly&", cursor), secret, nil, &page)
		for _, r := range page.Data {
			if r.Line <= last {
				t.Fatalf("line %d follows line %d", r.Line, last)
			}
			last = r.Line
			results++
			credits += r.CreditsUsed
			if r.Problem == nil {
				found++
			}
			if hasData := string(r.Data) != "null"; hasData != (r.Problem == nil) || hasData != (r.CreditsUsed == 1) {
				t.Errorf("line %d has data and a problem, or neither, or does not cost 1 credit if it was found: %+v", r.Line, r)
			}
		}
		if cursor = page.Meta.NextCursor; cursor == "" {
			break
		}
	}
	if results != n || found != j.Found || credits != j.CreditsUsed || j.Left != 0 {
		t.Errorf("%d results, %d found, %d credits; the job says %+v", results, found, credits, j)
	}
}

// wantEmptyQueue checks that River has nothing more to do, and that no chunk is left.
func (c *cluster) wantEmptyQueue(t *testing.T) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{DSN: c.dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	await.Until(t, "the queue to be empty", func() bool {
		var left int
		err := db.SQL().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM socialdata.river_job WHERE
			finalized_at IS NULL) + (SELECT count(*) FROM socialdata.bulk_chunks)`).Scan(&left)
		return err == nil && left == 0
	})
}

// TestAKilledStartOfABulkJobGoesOn kills the command that writes the results of a job, and its server, until the file has
// some of them. The same command then completes the file.
func TestAKilledStartOfABulkJobGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin, db, addr := shipped.Program(t), filepath.Join(dir, "t.db"), freeAddr(t)
	server := startServer(t, bin, db, addr)
	key, err := exec.CommandContext(t.Context(), bin, "--db", db, "key", "create", "--account", "default", "--manage").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := testsize.Of(5000, 10_000)
	file, into := filepath.Join(dir, "night.jsonl"), filepath.Join(dir, "results.jsonl")
	var lines bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, `{"url":"https://mock.example/@person%d"}`+"\n", i+1)
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), bin, "--server", "http://"+addr, "bulk", "start", file, "--into", into)
		cmd.Env = append(os.Environ(), "SOCIALDATA_KEY="+strings.TrimSpace(string(key)))
		return cmd
	}
	written := func() []byte {
		b, err := os.ReadFile(into)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return b
	}
	first := start()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the first results", func() bool { return len(written()) > 0 })
	_ = first.Process.Kill()
	_ = first.Wait()
	server.kill()
	t.Logf("%d lines were written by then", bytes.Count(written(), []byte("\n")))
	startServer(t, bin, db, addr)
	if out, err := start().CombinedOutput(); err != nil {
		t.Fatalf("the second start: %v\n%s", err, out)
	}
	rows := 0
	for line := range bytes.Lines(written()) {
		var r schema.BulkResult
		rows++
		if err := json.Unmarshal(line, &r); err != nil || r.Line != int64(rows) || r.Problem != nil {
			t.Fatalf("row %d: %v: %.200s", rows, err, line)
		}
	}
	if rows != n {
		t.Errorf("the file has %d lines; want %d", rows, n)
	}
}
