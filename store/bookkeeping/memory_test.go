package bookkeeping_test

import (
	"testing"

	"github.com/socialdata/socialdata/store/bookkeeping/bookkeepingtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	bookkeepingtest.Run(t, bookkeepingtest.OpenMemory)
}
