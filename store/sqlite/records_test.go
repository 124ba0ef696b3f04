package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
		t.Helper()
		return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now, OwnerBytes: ownerBytes}).Records()
	}
	recordstest.Run(t, open)
	recordstest.RunJumps(t, open)
}
