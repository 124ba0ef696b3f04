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
// as for fresh=true, sends a message on a channel, and the others read the entry from the server in their next call.
// They also compare an entry with the server ten seconds after the last time ([CacheConfig.Near]), so a replica that
// misses a message may return the old entry for that long. Without a shared server, each replica returns the entries
// that it has read itself until they expire.
//
// If several replicas miss the same key at the same time, one of them reads it and the others wait; the server notifies
// them when the entry is stored. The replica that reads has a lease of three seconds, which it renews: if it dies, one
// of those that wait takes over within that time. If the read fails, it fails for all replicas that wait.
//
// # The limiter
//
// The bucket of each API key is in the server. A script reads it, counts the call and decides, by the server's clock,
// so that the rate of a key is a limit for all replicas together. A refusal says when the next call can be allowed, and
// the replica refuses earlier calls without the server.
//
// # When the server is unavailable
//
// The server holds nothing you cannot afford to lose. While it is unavailable, each replica only has its own cache,
// which causes more upstream reads. The limiter depends on its configuration: each replica counts separately
// ([FailOpen]), or calls are refused until the server is available ([FailClosed]). A server that has restarted is
// empty, so every bucket is full; the same goes for a bucket that was evicted to free memory. [Cache.State] and
// [Limiter.State] return the state for GET /health.
//
// BENCHMARKS.md has measurements: messages for each call, hot keys, a thousand replicas and ten million keys.
package valkey
