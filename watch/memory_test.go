package watch_test

import (
	"testing"

	"github.com/socialdata/socialdata/watch"
	"github.com/socialdata/socialdata/watch/watchtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	watchtest.Run(t, func(*testing.T) watch.Store { return watch.NewMemory() })
}
