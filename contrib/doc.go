// Package contrib has packages whose dependencies a program that only embeds the client does not need: stores on
// database servers, telemetry, other protocols. Each store passes the suites of the contracts that it implements, such
// as ledgertest, keystest, cachetest and recordstest.
//
// The packages are bulk, bulk jobs on the queue River; cli, the command line of a server program; mcp, the Model Context Protocol for language models;
// otel, traces and metrics; postgres, in which any number of replicas share ledger, keys and records; and valkey, a
// cache and a rate limit that they share. The in-memory stores and store/sqlite are in the root module.
//
// # Scaling
//
// One SQLite file and one process are enough to begin with, and for a long time after: see BENCHMARKS.md.
//
// One PostgreSQL server serves any number of replicas. For each call it holds and settles credits and, once a second
// for each key and replica, it looks up the key. Up to 256 calls of a replica share a transaction of seven round trips.
// The transactions of one account run one after the other: more replicas that charge the same account do not increase
// its rate.
//
// Entries are never removed. A charge takes about 500 bytes with its indexes: a billion charges take half a terabyte.
// Only the newest entries are in use; caches need to hold the accounts and the ends of the indexes.
//
// One Valkey server serves any number of replicas. A request takes at most one message to it if its entry is cached,
// five if not, and one for its rate limit; valkey/BENCHMARKS.md has the figures, and a simulation of 1,000 replicas
// with ten million keys. A server answers about 100,000 messages a second. Above that, use a cluster: entries and
// buckets are distributed by their hash, and no operation involves two of them. A hot entry takes one message in ten
// seconds from each replica; a caller above its rate takes one for each token and replica.
//
// A bulk job is rows of the same PostgreSQL. A million reads a night in chunks of 25 are 40,000 rows of lines and then
// 40,000 of results, and of River's jobs those of the last 10 minutes. On disk the results take 100 bytes for each
// profile of the sandbox, so 0.1 GB a night and 3 GB in the 30 days that they are kept, of which an account has 1 GiB
// unless it is given more, or a directory. All lines that a chunk finds are one charge: 40,000 entries a night are 1.2
// million a month, which take 0.6 GB. At one credit for a profile, and with a tenth that is missing and so free, a
// night costs 900,000 credits and a month 27 million.
//
// If one PostgreSQL server is not enough, a larger one is the way: below a hundred million entries it is enough.
// Beyond one server there are databases that speak PostgreSQL's protocol, such as CockroachDB and YugabyteDB. No rule
// is in a stored function, and transactions are repeated after serialization failures (40001). What is missing there, by
// their documentation, and untested:
//
//   - pg_xact_status, which is asked what became of a COMMIT whose answer was lost: without it, the charges of that
//     transaction are reported as unknown, and are found by the ids of their holds when they are settled again.
//   - plan_cache_mode and jit, which each transaction sets.
//   - pg_advisory_xact_lock, which a migration takes (postgres.Config.NoAdvisoryLock leaves it out).
package contrib
