package valkey_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/keys"
)

// page is an entry of 16 kB, the size of a page of posts.
func page() *cache.Entry {
	post := `{"id":"17","text":"so much is said in a post, and so much of it twice","likes":12,"url":"https://example.com/p/17"},`
	return &cache.Entry{Data: "[" + strings.Repeat(post, 16<<10/len(post)) + "{}]", FetchedAt: time.Now(), TTL: time.Hour}
}

// BenchmarkCache measures what the cache adds to a read, with a server on this machine.
func BenchmarkCache(b *testing.B) {
	s := open(b, address(b), unique())
	e := page()
	b.Run("hit in memory", func(b *testing.B) {
		c := s.Cache(valkey.CacheConfig{})
		_ = c.Set(b.Context(), "k", e, time.Hour)
		parallel(b, func(int) { _, _ = c.Get(b.Context(), "k") })
	})
	b.Run("hit in the server", func(b *testing.B) {
		c := s.Cache(valkey.CacheConfig{Bytes: 1})
		_ = c.Set(b.Context(), "k", e, time.Hour)
		parallel(b, func(int) { _, _ = c.Get(b.Context(), "k") })
	})
	b.Run("miss, claim, set and done", func(b *testing.B) {
		c, prefix := s.Cache(valkey.CacheConfig{Bytes: 1}), unique()
		parallel(b, func(i int) {
			key := fmt.Sprint(prefix, i)
			_, _ = c.Get(b.Context(), key)
			claim := c.Join(b.Context(), key)
			_ = c.Set(b.Context(), key, e, time.Minute)
			claim.Done(b.Context(), "")
		})
	})
}

// BenchmarkLimiter measures a call for the bucket of one key, and of many.
func BenchmarkLimiter(b *testing.B) {
	l := limiter(b, open(b, address(b), unique()), valkey.LimiterConfig{})
	r := keys.Rate{Capacity: 1 << 40, Refill: 1}
	for name, many := range map[string]int{"one key": 1, "many keys": 100_000} {
		b.Run(name, func(b *testing.B) {
			parallel(b, func(i int) { _, _ = l.Take(b.Context(), fmt.Sprint("key_", i%many), r, 1) })
		})
	}
}

// BenchmarkTracking compares a plain read of 100 bytes, each of a different key, with one that the server tracks for a
// client-side cache.
func BenchmarkTracking(b *testing.B) {
	c, err := client.NewClient(client.ClientOption{InitAddress: []string{address(b)}})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	prefix := unique()
	b.Run("plain", func(b *testing.B) {
		parallel(b, func(i int) { c.Do(b.Context(), c.B().Get().Key(fmt.Sprint(prefix, i)).Build()) })
	})
	b.Run("tracked", func(b *testing.B) {
		parallel(b, func(i int) {
			c.DoCache(b.Context(), c.B().Get().Key(fmt.Sprint(prefix, i)).Cache(), time.Minute)
		})
	})
}

func parallel(b *testing.B, do func(i int)) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(int(n.Add(1)))
		}
	})
}
