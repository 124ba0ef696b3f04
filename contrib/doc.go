// Package contrib has packages whose dependencies a program that only embeds the client does not need: stores on
// database servers, telemetry, other protocols. Each store passes the suites of the contracts that it implements, such
// as ledgertest, keystest, cachetest and recordstest.
//
// The packages are cli, the command line of a server program; mcp, the Model Context Protocol for language models;
// otel, traces and metrics; postgres, in which any number of replicas share ledger, keys and records; and valkey, a
// cache and a rate limit that they share. The in-memory stores and store/sqlite are in the root module.
//
// # Scaling
//
// One SQLite file and one process are enough to begin with, and for a long time after: see store/sqlite/BENCHMARKS.md.
//
// One PostgreSQL server serves any number of replicas. For each call it holds and settles credits and, once a second
// for each key and replica, it looks up the key. postgres/BENCHMARKS.md has the cost: a charge takes 40 to 130 µs of
// one core of the database. A server with 16 cores, half of which are kept free, can make about 100,000 charges a
// second for many accounts, if its disk can write the log, some 1.5 kB for each charge. The rate of a single account
// has another limit, because its transactions run one after the other: the number of calls that share a transaction,
// and the time of a commit. More replicas that charge the same account do not increase its rate. The figures are from a
// machine with two cores: measure on yours, with the command in that file.
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
// If one PostgreSQL server is not enough, the accounts are distributed over several databases
// ([github.com/socialdata/socialdata/contrib/postgres.Shards], or --postgres with several DSNs): a hash of an account's
// id determines the database with its entries, holds, keys and caps. What is then still one transaction, and what is
// not:
//
//   - A charge is. One account pays for a call, also for a search of many platforms, so that all holds of a call and
//     their settlements are in one database.
//   - A grant, a revocation or a new key is: each concerns one account.
//   - Two accounts with the same name are refused by the database that the name determines.
//   - An import into several databases is not: each imports all of its part or nothing, and the error names the one
//     that failed.
//   - An audit, an export and their totals are not: each account is a snapshot, but not all from the same moment.
//
// If a database is lost, only its accounts are unavailable; the keys of all others still work. The databases and their
// order must never change, which each of them checks. So begin with more databases than servers, such as 16 on one
// server, and move a database to a server of its own when necessary, with the means of PostgreSQL (promoting a standby)
// and a change of its DSN. To change the number of databases, stop the replicas, export from the old databases and
// import into new ones, and let the audit compare them with heads from before.
package contrib
