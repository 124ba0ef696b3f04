package sqlite

import (
	"path/filepath"
	"testing"
)

// TestOnlyRowsOfProcessesAreNotSynced checks what the writer waits for while it renews a row, and after that.
func TestOnlyRowsOfProcessesAreNotSynced(t *testing.T) {
	t.Parallel()
	const normal, full = 1, 2
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "t.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	look := func(unsynced bool) (level int64) {
		t.Helper()
		if err := db.writer.do(&task{unsynced: unsynced, apply: func(w *writer) (err error) {
			level, err = w.c.number("PRAGMA synchronous")
			return err
		}}); err != nil {
			t.Fatal(err)
		}
		return level
	}
	for range 3 {
		if _, err := db.Blocklist().Renew(t.Context(), "a", 0); err != nil {
			t.Fatal(err)
		}
		if got := look(false); got != full {
			t.Fatalf("after the renewal of a row, charges are written with synchronous=%d; want %d", got, full)
		}
		if got := look(true); got != normal {
			t.Fatalf("a row is renewed with synchronous=%d; want %d", got, normal)
		}
	}
	living, err := db.Blocklist().Living(t.Context())
	if err != nil || len(living) != 1 {
		t.Errorf("%v live, %v; want the one", living, err)
	}
}
