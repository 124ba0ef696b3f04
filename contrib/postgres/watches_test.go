package postgres

import (
	"testing"
	"time"

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

// TestDeliveriesAreQueuedWhileTheirChangesAreRemoved queues changes while a transaction that removes the first of them
// is not committed yet.
func TestDeliveriesAreQueuedWhileTheirChangesAreRemoved(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	w := db.Watches()
	if _, _, err := w.PutEndpoint(t.Context(), watch.Endpoint{Account: "ann", Name: "a"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Tell(t.Context(), "ann", []schema.Change{{ID: "chg_1"}, {ID: "chg_2"}}); err != nil {
		t.Fatal(err)
	}
	removal, awaited := begin(t, db, "DELETE FROM @changes WHERE seq = 1")
	queued := make(chan error, 1)
	go func() {
		_, err := w.Queue(t.Context(), time.Now(), 10)
		queued <- err
	}()
	awaited()
	if err := removal.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-queued; err != nil {
		t.Fatal(err)
	}
	got, err := w.Deliveries(t.Context(), watch.Outgoing{Account: "ann"})
	if err != nil || len(got) != 1 || got[0].Change != "chg_2" {
		t.Errorf("queued are %v, %v; want the change that was not removed", got, err)
	}
}
