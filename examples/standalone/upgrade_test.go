package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
)

// later are files that give the stores the schema of a later version, the one that the program is called: the next one
// adds to the schema, and the breaking one, two versions ahead, has a schema that the current program cannot use.
var later = map[string]string{
	"../../store/sqlstore/later.go": `package sqlstore

import (
	"os"
	"path/filepath"
)

func init() {
	for range map[string]int{"next": 1, "breaking": 2}[filepath.Base(os.Args[0])] {
		migrations = append(migrations, "CREATE TABLE IF NOT EXISTS @later (x {int});")
		Version++
	}
	if filepath.Base(os.Args[0]) == "breaking" {
		breaking = append(breaking, Version)
	}
}
`,
}

// buildLater builds the program of later versions, once for all tests, and returns its folder, where it has the name of
// each of them.
var buildLater = sync.OnceValues(func() (string, error) {
	folder, err := shipped.Folder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(folder, "later")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for name, text := range later {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		overlay.Replace[path] = filepath.Join(dir, fmt.Sprint(len(overlay.Replace), ".go"))
		if err := os.WriteFile(overlay.Replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file, next := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "next")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", next, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program of later: %w\n%s", err, out)
	}
	return dir, os.Link(next, filepath.Join(dir, "breaking"))
})

// builtLater returns the path of the program of a later version.
func builtLater(t *testing.T, version string) string {
	t.Helper()
	dir, err := buildLater()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, version)
}

// upgraded is a deployment whose programs are replaced one by one.
type upgraded struct {
	*cluster
	told int // credits charged according to the answers
}

// charge makes a call and adds its price.
func (u *upgraded) charge(t *testing.T, addr string) int {
	t.Helper()
	r := request(t.Context(), addr, somebody(), u.secret, "")
	if r.err != nil {
		t.Fatal(r.err)
	}
	if r.ok() {
		var body struct {
			Meta struct {
				Credits int `json:"credits_used"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(r.body, &body); err != nil || body.Meta.Credits == 0 {
			t.Fatalf("no price in %v: %v", r, err)
		}
		u.told += body.Meta.Credits
	}
	return r.status
}

// wantServing checks with a few calls that a server serves.
func (u *upgraded) wantServing(t *testing.T, what, addr string) {
	t.Helper()
	await.Until(t, "it to be ready: "+what, func() bool { return request(t.Context(), addr, "/readyz", "", "").ok() })
	for range 10 {
		if got := u.charge(t, addr); got != http.StatusOK {
			t.Errorf("%s: %d; want 200", what, got)
		}
	}
}

// wantRefusing checks that a server refuses to serve, as soon as it has noticed the new schema.
func (u *upgraded) wantRefusing(t *testing.T, what, addr string) {
	t.Helper()
	await.Until(t, "it not to be ready: "+what, func() bool {
		return request(t.Context(), addr, "/readyz", "", "").status == http.StatusServiceUnavailable
	})
	for range 10 {
		r := request(t.Context(), addr, somebody(), u.secret, "")
		if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v; want 503 with Retry-After", what, r)
		}
	}
	if r := request(t.Context(), addr, "/health", "", ""); r.status != http.StatusOK {
		t.Errorf("%s: /health: %v", what, r)
	}
}

// wantBooks audits the entries, and compares them with the answers.
func (u *upgraded) wantBooks(t *testing.T, store ...string) {
	t.Helper()
	if out := u.run(t, append(store, "audit")...); !strings.Contains(out, "ok") && !strings.Contains(out, "in order") {
		t.Errorf("audit: %s", out)
	}
	if out := u.run(t, append(store, "account", "list", "-o", "csv")...); !strings.Contains(out, fmt.Sprint(upgradeCredits-u.told)) {
		t.Errorf("accounts: got %s, want %d credits less", out, u.told)
	}
}

const upgradeCredits = 1_000_000

// run runs a command of the program.
func (u *upgraded) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), u.bin, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// account makes an account with a key.
func (u *upgraded) account(t *testing.T, store ...string) {
	t.Helper()
	u.run(t, append(store, "account", "create", "load", "--credits", fmt.Sprint(upgradeCredits))...)
	out := strings.FieldsSeq(u.run(t, append(store, "key", "create", "--account", "load")...))
	for word := range out {
		if strings.HasPrefix(word, "sk_live_") {
			u.secret = word
		}
	}
}

// serve starts a program.
func (u *upgraded) serve(t *testing.T, bin string, store ...string) *daemon {
	t.Helper()
	addr := freeAddr(t)
	args := append([]string{bin}, store...)
	return launch(t, &daemon{addr: addr, args: append(args, "serve", "--addr", addr, "--print-key=false")})
}

// TestReplicasAreUpgradedOneByOne serves one PostgreSQL with this program and the next one, whose schema is compatible,
// and with one whose schema is not.
func TestReplicasAreUpgradedOneByOne(t *testing.T) {
	t.Parallel()
	programs := map[string]string{}
	for _, name := range []string{"initdb", "postgres"} {
		path, err := program(name)
		if err != nil {
			t.Skipf("there is no %s: apt-get install postgresql", name)
		}
		programs[name] = path
	}
	u := &upgraded{cluster: &cluster{bin: shipped.Program(t)}}
	dir, err := os.MkdirTemp("", "upgrade") //nolint:usetesting // PostgreSQL runs as another user, who cannot see t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	u.startDatabase(t, dir, programs)
	store := []string{"--postgres", u.dsn}
	u.account(t, store...)
	first, second := u.serve(t, u.bin, store...), u.serve(t, u.bin, store...)
	u.wantServing(t, "a replica of this version", first.addr)
	u.wantServing(t, "another", second.addr)

	third := u.serve(t, builtLater(t, "next"), store...)
	u.wantServing(t, "a replica of the next version", third.addr)
	u.wantServing(t, "one of this version beside it", first.addr)
	second.kill()
	second.start(t)
	u.wantServing(t, "one of this version that has started again", second.addr)

	u.bin = builtLater(t, "breaking")
	fourth := u.serve(t, u.bin, store...)
	u.wantServing(t, "a replica of a version that is not compatible", fourth.addr)
	u.wantRefusing(t, "one of two versions before", first.addr)
	u.wantRefusing(t, "one of the version before", third.addr)
	u.wantServing(t, "the one that remains", fourth.addr)
	u.wantBooks(t, store...)
}

// TestAFileIsUpgradedBesideItsServer runs commands of later programs on a file that is being served.
func TestAFileIsUpgradedBesideItsServer(t *testing.T) {
	t.Parallel()
	u := &upgraded{cluster: &cluster{bin: shipped.Program(t)}}
	store := []string{"--db", filepath.Join(t.TempDir(), "t.db")}
	u.account(t, store...)
	server := u.serve(t, u.bin, store...)
	u.wantServing(t, "this version", server.addr)
	u.bin = builtLater(t, "next")
	u.run(t, append(store, "account", "list")...)
	u.wantServing(t, "beside a command of the next version", server.addr)
	u.bin = builtLater(t, "breaking")
	u.run(t, append(store, "account", "list")...)
	u.wantRefusing(t, "beside a command of a version that is not compatible", server.addr)
	server.kill()
	u.wantServing(t, "that version", u.serve(t, u.bin, store...).addr)
	u.wantBooks(t, store...)
}
