package cli

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestABackupOfAServedFileIsRestored copies a file while it is served, and then serves the copy.
func TestABackupOfAServedFileIsRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	served := books{t, filepath.Join(dir, "t.db")}
	base, secret, _ := running(t, served.db)
	if status, _, body := read(t, base+"/v1/mock/profile?handle=ann", secret); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	heads, copied := filepath.Join(dir, "heads.jsonl"), filepath.Join(dir, "copy.db")
	if err := os.WriteFile(heads, []byte(served.run("audit", "--heads")), 0o600); err != nil {
		t.Fatal(err)
	}
	served.run("backup", copied)
	if said := served.refused("backup", copied); !strings.Contains(said, "the file exists already") {
		t.Errorf("a second backup to the same file says %q", said)
	}
	restored := books{t, copied}
	if got := restored.run("audit", "--check-heads", heads); !strings.HasSuffix(got, "9999 credits: in order\n") {
		t.Errorf("the audit says %q", got)
	}
	base, _, _ = running(t, copied)
	if status, _, body := read(t, base+"/v1/me", secret); status != http.StatusOK {
		t.Errorf("the key in the copy: status %d: %s", status, body)
	}
}

// TestServeRefusesADatabaseThatHasLostEntries removes a database, and then serves again.
func TestServeRefusesADatabaseThatHasLostEntries(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	_, _, stop := running(t, b.db)
	stop()
	if err := os.Remove(b.db); err != nil {
		t.Fatal(err)
	}
	said := b.refused("serve", "--addr", "127.0.0.1:0")
	if !strings.Contains(said, "had 1 entries of 10000 credits") || !strings.Contains(said, "serve --accept-loss") {
		t.Errorf("a server of less says %q", said)
	}
	_, _, stop = running(t, b.db, "--accept-loss")
	stop()
	_, _, stop = running(t, b.db)
	stop()
	if got := b.run("audit"); strings.Count(got, "ACCEPTED at ") != 1 || !strings.HasSuffix(got, "in order\n") {
		t.Errorf("the audit says %q", got)
	}
	if got := b.run("audit", "-o", "json"); !strings.Contains(got, `"had_credits":10000`) &&
		!strings.Contains(got, `"had_credits": 10000`) {
		t.Errorf("the audit says %s", got)
	}
}

// TestADumpOfPostgreSQLIsRestored runs the commands in docs/operating.md.
func TestADumpOfPostgreSQLIsRestored(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	dump, heads := filepath.Join(t.TempDir(), "monday.dump"), filepath.Join(t.TempDir(), "heads.jsonl")
	command := func(dsn string, args ...string) string {
		t.Helper()
		status, out, log := cliRun(t, nil, append([]string{"--postgres", dsn}, args...)...)
		if status != 0 {
			t.Fatalf("%q: exit status %d: %s%s", args, status, out, log)
		}
		return out
	}
	command(from, "account", "create", "shop", "--credits", "7")
	command(from, "key", "create", "--account", "shop")
	if err := os.WriteFile(heads, []byte(command(from, "audit", "--heads")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"pg_dump", "--format=custom", "--file=" + dump, from}, {"pg_restore", "--exit-on-error", "--dbname=" + to, dump},
	} {
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Skip("the tools of PostgreSQL are not installed: ", err)
		}
		if said, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", words[0], err, said)
		}
	}
	if got := command(to, "audit", "--check-heads", heads); got != "1 account, 1 key, 1 entry, 7 credits: in order\n" {
		t.Errorf("the audit says %q", got)
	}
	status, _, log := cliRun(t, nil, "--postgres", to, "backup", dump)
	if u, err := url.Parse(to); err != nil || status != 1 || !strings.Contains(log, "pg_dump") ||
		strings.Contains(log, u.Path) {
		t.Errorf("backup of PostgreSQL: exit status %d, %q, %v", status, log, err)
	}
}
