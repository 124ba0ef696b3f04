package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/socialdata/socialdata/watch"
	"github.com/socialdata/socialdata/watch/watchtest"
)

func TestWatches(t *testing.T) {
	t.Parallel()
	watchtest.Run(t, func(t *testing.T) watch.Store {
		t.Helper()
		return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")}).Watches()
	})
}
