package postgres

import (
	"testing"

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
