package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// newDatabase makes a PostgreSQL database for the test only and returns its DSN.
func newDatabase(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs PostgreSQL")
	}
	dsn := os.Getenv("SOCIALDATA_TEST_POSTGRES")
	if dsn == "" {
		tb.Skip("SOCIALDATA_TEST_POSTGRES is not set: give it the DSN of a PostgreSQL database, whose user may make others")
	}
	name := "socialdata_test_" + strings.ToLower(rand.Text())
	do := func(statement string) {
		tb.Helper()
		ctx := context.Background()
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err = c.Exec(ctx, statement); err != nil {
			tb.Error(err)
		}
		if err := c.Close(ctx); err != nil {
			tb.Error(err)
		}
	}
	do("CREATE DATABASE " + name)
	tb.Cleanup(func() { do("DROP DATABASE " + name + " WITH (FORCE)") })
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// TestTwoServersShareADatabase runs two servers and the commands with one database: keys, balances, cursors and
// revocations are the same for all.
func TestTwoServersShareADatabase(t *testing.T) {
	t.Parallel()
	dsn, none := newDatabase(t), filepath.Join(t.TempDir(), "none.db")
	command := func(want int, args ...string) string {
		t.Helper()
		status, out, log := cliRun(t, nil, append([]string{"--db", none, "--postgres", dsn}, args...)...)
		if status != want {
			t.Errorf("%q: exit status %d: %s%s", args, status, out, log)
		}
		return out
	}
	var bases [2]string
	var secret string
	var starting sync.WaitGroup
	var mu sync.Mutex
	for i := range bases { // concurrently: one of them makes the schema, and one the first key
		starting.Go(func() {
			base, made, _ := running(t, none, "--postgres", dsn)
			mu.Lock()
			defer mu.Unlock()
			if bases[i] = base; made != "" {
				secret = made
			}
		})
	}
	starting.Wait()
	if t.Failed() {
		return
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made nevertheless")
	}
	cursor := ""
	for i, base := range bases {
		status, page, body := read(t, base+"/v1/mock/posts?handle=ann"+cursor, secret)
		if status != http.StatusOK {
			t.Fatalf("server %d: status %d: %s", i, status, body)
		}
		next, err := at(page, "meta.next_cursor")
		if err != nil {
			t.Fatal(err)
		}
		cursor = "&cursor=" + next.(string) // the other server continues from there
	}
	command(0, "account", "grant", "default", "5")
	for _, base := range bases {
		_, me, body := read(t, base+"/v1/me", secret)
		if got, _ := at(me, "data.credits.balance"); got != float64(firstCredits-2+5) {
			t.Errorf("balance %v: %s", got, body)
		}
	}
	second := strings.TrimSpace(command(0, "key", "create", "--account", "default"))
	var id string
	for _, base := range bases {
		status, me, body := read(t, base+"/v1/me", second)
		if status != http.StatusOK {
			t.Errorf("the new key: status %d: %s", status, body)
		}
		got, _ := at(me, "data.key.id")
		id, _ = got.(string)
	}
	command(0, "key", "revoke", id)
	for _, base := range bases {
		if status, _, body := read(t, base+"/v1/me", second); status != http.StatusUnauthorized {
			t.Errorf("the revoked key: status %d: %s", status, body)
		}
	}
	command(1, "key", "revoke", "nothing")
	if got := command(0, "usage", "default"); !strings.Contains(got, "first start") || !strings.Contains(got, "posts") {
		t.Errorf("usage says %s", got)
	}
	if got := command(0, "audit"); !regexp.MustCompile(`^1 account, 2 keys, 4 entries, 10003 credits: in order\n$`).MatchString(got) {
		t.Errorf("audit says %q", got)
	}

	// All of it can be moved to a file.
	exported := command(0, "export")
	file := books{t, filepath.Join(t.TempDir(), "t.db")}
	var out, log bytes.Buffer
	status := run(t.Context(), []string{"--db", file.db, "import"}, strings.NewReader(exported), &out, &log,
		func(string) string { return "" })
	if status != 0 {
		t.Fatal(log.String())
	}
	if diff := cmp.Diff(command(0, "account", "list"), file.run("account", "list")); diff != "" {
		t.Errorf("accounts (-PostgreSQL +SQLite):\n%s", diff)
	}
	if diff := cmp.Diff(exported, file.run("export")); diff != "" {
		t.Errorf("export (-PostgreSQL +SQLite):\n%s", diff)
	}
}

func TestAnInvalidDSNIsNotShown(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"postgres://root:hunter2@127.0.0.1:port/test", "nonsense hunter2"} {
		status, out, log := cliRun(t, nil, "--postgres", dsn, "audit")
		if status != 1 || out != "" || !strings.Contains(log, "postgres://user:secret@host/database") ||
			strings.Contains(log, "hunter2") {
			t.Errorf("%s: exit status %d, %q", dsn, status, out+log)
		}
	}
}
