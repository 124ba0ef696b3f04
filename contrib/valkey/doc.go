// Package valkey shares a cache and a rate limit among replicas, in one server or a cluster of Valkey, or of Redis 7 or
// later.
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
// Each replica stores the answers that it reads in its own memory and in the server. A replica that replaces an entry,
// as for fresh=true, sends a message on a channel, and the others ask the server in their next call. They also ask it
// again ten seconds after the last time ([CacheConfig.Near]): a replica that misses a message may return the old entry
// for that long. Without a shared server, each replica returns what it has read itself until that expires. If several
// replicas miss the same key at the same time, one of them reads it and the others wait; the server tells them when the
// entry is there. The one that reads has a lease of three seconds, which it renews: if it dies, one that waits takes
// over within that time. A read that fails, fails once for all that wait.
//
// # The limiter
//
// The bucket of each API key is in the server. A script reads it, counts the call and decides, by the server's clock,
// so that the rate of a key is a limit for all replicas together. After a refusal it is known when the next call can be
// allowed, so that a replica refuses earlier ones without asking the server.
//
// # When the server is lost
//
// The server holds nothing you cannot afford to lose. While it is unavailable, each replica has its own cache only,
// which causes more upstream reads, and the limiter depends on its configuration: each replica counts separately
// ([FailOpen]), or calls are refused until the server is back ([FailClosed]). A server that has restarted is empty:
// every bucket is full, and so is one that was evicted to free memory. [Cache.State] and [Limiter.State] return the
// state for GET /health.
//
// BENCHMARKS.md has the figures: messages for each call, hot keys, a thousand replicas and ten million keys.
package valkey
