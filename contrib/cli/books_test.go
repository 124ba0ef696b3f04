package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// books runs commands on one database.
type books struct {
	t  *testing.T
	db string
}

// run runs a command that must succeed and returns its standard output.
func (b books) run(args ...string) string {
	b.t.Helper()
	status, out, log := cliRun(b.t, nil, append([]string{"--db", b.db}, args...)...)
	if status != 0 {
		b.t.Fatalf("%q: exit status %d: %s", args, status, log)
	}
	return out
}

// refused runs a command that must fail with nothing on standard output, and returns its message.
func (b books) refused(args ...string) string {
	b.t.Helper()
	status, out, log := cliRun(b.t, nil, append([]string{"--db", b.db}, args...)...)
	if status == 0 || out != "" {
		b.t.Errorf("%q: exit status %d, standard output %q; want a failure and none", args, status, out)
	}
	return log
}

func TestRefusedCommandsChangeNothing(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	if said := b.refused("audit"); !strings.Contains(said, "there is no database") {
		t.Errorf("an audit without a database says %q", said)
	}
	if _, err := os.Stat(b.db); err == nil {
		t.Error("an audit makes a database")
	}
	b.run("account", "create", "shop", "--credits", "5")
	for _, args := range [][]string{
		{"account", "create", "rich", "--credits", "9007199254740993"},
		{"account", "create", "caf\xe9"},
		{"account", "create", "a\u0085b"},
		{"account", "grant", "shop", "1", "--reason", "caf\xe9"},
		{"account", "grant", "shop", "1", "--reason", "two\nlines"},
		{"account", "grant", "shop", "9007199254740992"},
		{"key", "create", "--account", "shop", "--name", "caf\xe9"},
		{"key", "create", "--account", "shop", "--rate-capacity", "1000000000000", "--rate-refill", "1"},
		{"key", "create", "--account", "shop", "--rate-capacity", "1", "--rate-refill", "1e300"},
		{"key", "create", "--account", "shop", "--rate-capacity", "1", "--rate-refill", "1e-300"},
		{"key", "create", "--account", "shop", "--rate-capacity", "1", "--rate-refill", "NaN"},
		{"key", "create", "--account", "shop", "--day-cap=-1"},
		{"key", "create", "--account", "shop", "--total-cap", "9007199254740993"},
		{"key", "create", "--account", "nobody"},
		{"key", "revoke", "key_none"},
		{"account", "show", "nobody"},
		{"import"},
	} {
		said := b.refused(args...)
		for _, p := range packages {
			if strings.Contains(strings.TrimPrefix(said, "socialdata: "), p) {
				t.Errorf("%q says %q, with the name of a package", args, said)
			}
		}
	}
	if got := b.run("audit"); got != "1 account, 0 keys, 1 entry, 5 credits: in order\n" {
		t.Errorf("audit says %q", got)
	}
}

func TestAccountsAreChanged(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	b.run("account", "create", "shop")
	for _, tt := range []struct{ command, want string }{
		{"account set shop --monthly 1", "shop is granted 1 credit every month; balance: 1 credit\n"},
		{"account set shop --monthly 20", "shop is granted 20 credits every month; balance: 1 credit\n"},
		{"account grant shop 1", "balance of shop: 2 credits\n"},
		{"account close shop --yes", "closed shop; its books end with 2 credits\n"},
		{"account close shop", "closed shop; its books end with 2 credits\n"},
		{"audit", "1 account, 0 keys, 2 entries, 2 credits: in order\n"},
	} {
		if got := b.run(strings.Fields(tt.command)...); got != tt.want {
			t.Errorf("%s says %q; want %q", tt.command, got, tt.want)
		}
	}
	for command, want := range map[string]string{
		"account set nobody --monthly 1": `there is no account "nobody"`,
		"account set shop --monthly -1":  "monthly",
		"account close nobody --yes":     `there is no account "nobody"`,
		"account grant shop 1":           "closed",
	} {
		if got := b.refused(strings.Fields(command)...); !strings.Contains(got, want) {
			t.Errorf("%s says %q; want one with %q", command, got, want)
		}
	}
	b.run("account", "create", "kiosk")
	if got := b.refused("account", "close", "kiosk"); !strings.Contains(got, "repeat it with --yes") {
		t.Errorf("account close without --yes says %q", got)
	}
}

func TestErrorMessagesAreSentences(t *testing.T) {
	t.Parallel()
	b := books{t, filepath.Join(t.TempDir(), "t.db")}
	b.run("account", "create", "shop")
	for command, want := range map[string]string{
		"account show nobody":  `socialdata: there is no account "nobody" (not_found)`,
		"key revoke key_none":  `socialdata: there is no key "key_none"`,
		"account create shop":  `socialdata: this name is taken: account "shop"; account set changes its monthly credits`,
		"account grant shop 0": `socialdata: impossible amount: a grant of 0 (invalid_request)`,
		"import":               `socialdata: import: not a complete export: line 1: the input ends too early`,
	} {
		if got := strings.TrimSpace(b.refused(strings.Fields(command)...)); got != want {
			t.Errorf("%s says %q; want %q", command, got, want)
		}
	}
	if err := os.WriteFile(b.db, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.refused("audit"); !strings.Contains(got, "the file is damaged or is not a database") ||
		strings.Contains(got, "sqlite: ") {
		t.Errorf("a damaged file: %q", got)
	}
}

func TestCheckHeadsDetectsARevivedKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := books{t, filepath.Join(dir, "t.db")}
	b.run("account", "create", "shop", "--credits", "5")
	b.run("key", "create", "--account", "shop")
	export := b.run("export")
	_, rest, _ := strings.Cut(export, `"key":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	b.run("key", "revoke", id)
	heads := filepath.Join(dir, "heads.jsonl")
	if err := os.WriteFile(heads, []byte(b.run("audit", "--heads")), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("account", "grant", "shop", "5")
	b.run("audit", "--check-heads", heads)

	// The same history, except that the key was never revoked.
	other := books{t, filepath.Join(dir, "other.db")}
	var out, log bytes.Buffer
	status := run(t.Context(), []string{"--db", other.db, "import"}, strings.NewReader(export), &out, &log,
		func(string) string { return "" })
	if status != 0 {
		t.Fatal(log.String())
	}
	other.run("audit")
	status, said, _ := cliRun(t, nil, "--db", other.db, "audit", "--check-heads", heads)
	if status != 1 || !strings.Contains(said, "PROBLEM key "+id+" was revoked") ||
		!strings.Contains(said, "NOT in order") {
		t.Errorf("a revived key: exit status %d, %q", status, said)
	}
	if said := other.refused("audit", "--check-heads", other.db); !strings.Contains(said, "not a complete list of heads") {
		t.Errorf("a file without heads: %q", said)
	}
}

func TestAnExportSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	(books{t, db}).run("account", "create", "shop")
	status, out, said := cliRun(t, nil, "--db", db, "books", "export")
	if status != 0 || !strings.HasPrefix(said, "Not exported: ") || !strings.Contains(said, "the request log") ||
		strings.Contains(out, "Not exported") {
		t.Errorf("exit status %d, standard error %q", status, said)
	}
}

func TestAnIncompleteImportChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	(books{t, filepath.Join(dir, "t.db")}).refused("books", "import")
	if found, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(found) > 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
}

func TestAnImportIntoAFileThatIsServedIsRefused(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	running(t, db)
	if said := (books{t, db}).refused("import"); !strings.Contains(said, "served by another process") {
		t.Errorf("it says %q", said)
	}
}
