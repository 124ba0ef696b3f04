// Package valkey lets many replicas share a cache and a rate limit: on Valkey, or on Redis from version 7 on, one server
// or a cluster.
//
//	server, err := valkey.Open(ctx, valkey.Config{Address: "127.0.0.1:6379"})
//	defer server.Close()
//	client, err := socialdata.New(
//		socialdata.WithCache(server.Cache(valkey.CacheConfig{})),
//		socialdata.WithLimiter(server.Limiter(valkey.LimiterConfig{})),
//	)
//
// # The cache
//
// Each replica keeps what it reads in its own memory, and all of them keep it in the server. A replica that replaces an
// entry, as with fresh=true, tells the others on a channel, and they ask the server at their next call. What memory has is
// asked of the server again once in ten seconds in any case ([CacheConfig.Near]): so long may a replica answer the old when
// a message was lost. Replicas without a shared server know nothing of each other: each answers what it has read until that
// has run out. Of all replicas that miss the same key at the same time one reads it, and the others wait; the server
// tells them when it is there. Whoever reads holds a lease of three seconds, which it renews: when it dies, somebody who
// waits takes over within that time. A read that fails for everybody, fails once for all who wait.
//
// # The limiter
//
// The bucket of each API key is in the server, and one script looks, counts and decides, by the server's clock: however
// many replicas ask, a key makes as many calls as its rate says and no more. A refusal holds for a while whatever
// anybody does, so that a replica repeats it without asking again.
//
// # When the server is lost
//
// Nothing that cannot be lost is kept here. Without the server each replica caches for itself, which costs more reads
// from upstream, and the limiter does what its configuration says: each replica counts for itself ([FailOpen]), or calls
// are refused until the server is back ([FailClosed]). A server that starts again is empty: every bucket is full, as is one
// that was evicted for want of memory. [Cache.State] and [Limiter.State] say for GET /health how it is.
//
// BENCHMARKS.md has the figures: messages for each call, hot keys, a thousand replicas and ten million keys.
package valkey
