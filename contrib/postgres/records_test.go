package postgres

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	newSchema(t)
	recordstest.Run(t, func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
		t.Helper()
		cfg := newSchema(t)
		cfg.Now, cfg.OwnerBytes = now, ownerBytes
		return openDB(t, cfg).Records()
	})
}
