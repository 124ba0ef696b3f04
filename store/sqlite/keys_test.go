package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/records/recordstest"
)

func openKeys(t *testing.T) keystest.Store {
	t.Helper()
	return openFile(t, Config{Path: filepath.Join(t.TempDir(), "test.db")}).Keys()
}

func openRecords(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
	t.Helper()
	return openFile(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now, OwnerBytes: ownerBytes}).Records()
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keystest.Run(t, openKeys)
}

func TestRecords(t *testing.T) {
	t.Parallel()
	recordstest.Run(t, openRecords)
}
