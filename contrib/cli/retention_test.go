package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/watch"
)

// TestDoctorSaysWhatIsKeptLongest checks a file with changes of two platforms, one of which is older than its limit.
func TestDoctorSaysWhatIsKeptLongest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	now, day := time.Now(), 24*time.Hour
	var changes []schema.Change
	for on, age := range map[string]time.Duration{"reddit": 5 * day, "github": 9 * day} {
		changes = append(changes, schema.Change{
			ID: "chg_" + on, At: now.Add(-age), Type: watch.New, Platform: new(on), Key: new("1"), Object: []byte(`{"id":"1"}`),
			Fields: []schema.FieldChange{},
		})
	}
	if err := db.Watches().Tell(t.Context(), "ann", changes); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ keep, want string }{
		{"", "warn  kept        changes: 2, 1 KiB; the oldest of github since " + now.Add(-9*day).UTC().Format(time.DateOnly) + ", of at most 30d"},
		{"reddit:10d", "ok    kept        changes: 2, "},
		{"*:8d,reddit:10d", "warn  kept        changes: 2, "},
	} {
		status, out, log := cliRun(t, nil, "--db", path, "--keep", tt.keep, "doctor", "--offline")
		if status != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("--keep %q: %d, %s%s; want %q", tt.keep, status, out, log, tt.want)
		}
	}
	for keep, want := range map[string]string{
		"reddit": "--keep: ", "nosuch:3d": `there is no platform "nosuch"`, "reddit:1h": "at least for 24h",
	} {
		if status, out, log := cliRun(t, nil, "--db", path, "--keep", keep, "doctor", "--offline"); status != 1 ||
			!strings.Contains(out+log, want) {
			t.Errorf("--keep %q: %d, %s%s; want %q", keep, status, out, log, want)
		}
	}
}
