package postgres

import (
	"fmt"
	"testing"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
	"github.com/socialdata/socialdata/watch/watchtest"
)

func TestWatches(t *testing.T) {
	t.Parallel()
	newSchema(t)
	watchtest.Run(t, func(t *testing.T) watch.Store {
		t.Helper()
		return openDB(t, newSchema(t)).Watches()
	})
}

func TestWatchesInShards(t *testing.T) {
	t.Parallel()
	newSchema(t)
	watchtest.Run(t, func(t *testing.T) watch.Store {
		t.Helper()
		return openShards(t, newSchema(t), newSchema(t)).Watches()
	})
}

func TestMigrationCountsTheFeedsOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	const sized = 8 // the migration that counts them
	db := openDB(t, newSchema(t))
	var changes []schema.Change
	for i := range 10 {
		changes = append(changes, schema.Change{ID: fmt.Sprint("chg_", i), Type: watch.New})
	}
	if err := db.Watches().Tell(t.Context(), "a", changes); err != nil {
		t.Fatal(err)
	}
	size := func() (n int64) {
		t.Helper()
		if err := db.pool.QueryRow(t.Context(), db.sql("SELECT bytes FROM @feeds WHERE account = 'a'")).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	want := size()
	become(t, db, "ALTER TABLE @feeds DROP COLUMN bytes")
	become(t, db, migrations[sized])
	if got := size(); got != want || got == 0 {
		t.Errorf("the feed has %d bytes; want %d", got, want)
	}
}
