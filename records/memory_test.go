package records_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
)

func open(_ *testing.T, now func() time.Time, ownerBytes int64) records.Store {
	return records.NewMemory(records.MemoryConfig{Now: now, OwnerBytes: ownerBytes})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	recordstest.Run(t, open)
	recordstest.RunJumps(t, open)
}

func TestMemoryRemovesExpiredRecords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := records.NewMemory(records.MemoryConfig{Now: func() time.Time { return now }})
	for i := range 100_000 {
		now = now.Add(time.Second)
		if _, err := m.Put(t.Context(), records.Record{Key: fmt.Sprint(i)}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Len(); got > 2048 {
		t.Errorf("%d records are in memory, of which 60 live", got)
	}
}
