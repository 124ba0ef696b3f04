package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/watch"
	"github.com/socialdata/socialdata/watch/watchtest"
)

func TestWatches(t *testing.T) {
	t.Parallel()
	watchtest.Run(t, func(t *testing.T) watch.Store {
		t.Helper()
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "data.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db.Watches()
	})
}
