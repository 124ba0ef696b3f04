package cache_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/cache/cachetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(_ *testing.T, now func() time.Time) cache.Store {
		return cache.NewMemory(cache.MemoryConfig{Now: now})
	})
}

func TestMemoryIsShared(t *testing.T) {
	t.Parallel()
	cachetest.RunShared(t, func(*testing.T) (a, b cache.Shared) {
		m := cache.NewMemory(cache.MemoryConfig{})
		return m, m
	})
}

func TestMemoryIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	m := cache.NewMemory(cache.MemoryConfig{Bytes: 100_000})
	for i := range 1000 {
		if err := m.Set(t.Context(), fmt.Sprint(i), &cache.Entry{Data: strings.Repeat("x", 1000)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.Len(); n < 50 || n > 90 {
		t.Errorf("%d entries of 1.5 kB in 100 kB", n)
	}
	if e, _ := m.Get(t.Context(), "999"); e == nil {
		t.Error("the newest entry is gone")
	}
	if err := m.Set(t.Context(), "huge", &cache.Entry{Data: strings.Repeat("x", 90_000)}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if e, _ := m.Get(t.Context(), "huge"); e != nil {
		t.Error("an entry that would push out all others was kept")
	}
}
