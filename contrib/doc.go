// Package contrib is the home of what would weigh on a program that only embeds the client: stores on database servers,
// telemetry, other protocols. Each gets a package of its own below this one and runs the suite of the contract that it
// implements: ledgertest, keystest, cachetest or recordstest.
//
// There are mcp, the Model Context Protocol for language models; otel, traces and metrics; postgres, where any number of
// replicas share ledger, keys and records; and valkey, a cache and a rate limit that they share. The in-memory stores and
// store/sqlite are in the root module.
//
// # How far it goes
//
// One SQLite file, one process: the beginning, and further than one may think (store/sqlite/BENCHMARKS.md).
//
// One PostgreSQL, any number of replicas: what is asked of it for each call is to hold, to settle and, once a second for
// each key and replica, to look the key up. postgres/BENCHMARKS.md says what that costs: a charge takes 40 to 130 µs of
// one of the database's cores, so that a server of 16 cores of which half are kept free carries on the order of 100,000
// charges a second over many accounts, if its disk takes the log of that, some 1.5 kB a charge. One account alone is
// bounded otherwise, for its charges come one transaction after the other: by how many calls share one, and by how long
// it takes to commit. Each replica that calls for the account adds a transaction to the queue for its row, and not to the
// rate. These are figures of one machine with two cores: measure on your own with the command that stands there.
//
// Entries are never removed. A charge keeps about 500 bytes with its indexes: a billion of them are half a terabyte. Only
// the newest ones are in use; caches need to hold the accounts and the ends of the indexes.
//
// One server of Valkey, any number of replicas: a request is one message to it or none once its key has been read, five when
// it has not, and one for its rate limit; valkey/BENCHMARKS.md has the figures, and a simulation of 1,000 replicas that ask
// for ten million keys. A server answers on the order of 100,000 messages a second. Beyond that it is a cluster: keys and
// buckets are spread by their hash, and nothing spans two of them. A hot key costs each replica one message in ten
// seconds, a caller beyond its rate one for each token and replica.
//
// Beyond one server of PostgreSQL the accounts are shared among databases
// ([github.com/socialdata/socialdata/contrib/postgres.Shards], or --postgres with several DSNs): a hash of an account's id
// picks the database with its books, holds, keys and caps. What then is no longer one transaction:
//
//   - Nothing of a charge. One account pays for a call, for a search over many platforms too, so that all holds of
//     a call and all their settling are in one database.
//   - Nothing of a grant, a revocation or a new key: each is about one account.
//   - Two accounts with one name: the second one is refused by the database that the name picks.
//   - An import into several databases: each takes its part or nothing, and the error says which one did not.
//   - An audit, an export and the totals they give: each account is as it was at one moment, and not all at the same.
//
// A database that is lost takes its accounts with it, and only these; a key of another one is still found. The databases
// and their order never change, which each of them watches. So begin with more than there are servers, such as 16 on one,
// and move each to a server of its own when it must be, by the database's own means (a standby that is promoted), with
// nothing of ours to be changed but a DSN. To have another number of them: stop the replicas, export from the old ones
// and import into new ones, and let the audit compare with the heads of before.
package contrib
