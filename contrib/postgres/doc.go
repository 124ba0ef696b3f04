// Package postgres keeps accounts, keys, the ledger and records in PostgreSQL, for any number of replicas.
//
//	db, err := postgres.Open(ctx, postgres.Config{DSN: "postgres://user:secret@host/database"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// Every replica opens the same database, and so do commands that create accounts and keys, grant, revoke, audit, export
// and import beside them. [OpenShards] shares the accounts among several databases. What store/sqlite exports is
// imported here, and the other way round.
//
// # Holds and charges
//
// A hold is a row that every replica sees and any may settle. It runs out by itself: a replica that is killed charges
// nothing, and what it held is free again when its time has passed. The calls of a replica share transactions (group
// commit): one locks the rows of its accounts in one order and decides each call exactly as if it were alone. The database
// decides the usual calls by itself, in one round trip; the others (holds that have run out, idempotency keys that were
// used before, caps that may be reached) are decided here and take two more. What makes it stand is one UPDATE of the accounts' rows, whose table refuses that more is
// held than there is. A charge is durable when Settle returns; a hold alone does not wait for the disk, for losing it
// charges nothing.
//
// Time is that of the database, so that the clocks of replicas need not agree and one that jumps changes nothing. Should
// the database's own clock be ahead for a while, what was held meanwhile and never settled stays so until the clock gets
// there: no hold may end before its time, and when a clock has been set back, nobody can tell whether it is right now or
// was right before.
//
// Every transaction may be repeated: after a serialization failure (40001), a deadlock (40P01), a restart or the loss of
// the connection, also while it was being committed, for holds and charges are recognised by their ids. That goes on for
// Config.Patience; only a grant whose commit nobody has heard of is not repeated (ErrUnsure).
//
// # Revocations
//
// A replica remembers a key for a second at most, counted from when it asked. [Keys.Revoke] returns when that second has
// passed: no replica accepts the key any more.
//
// # What it needs
//
// PostgreSQL 12 or later, and the right to make a schema. There are no triggers, no LISTEN and, on the way of a charge,
// no sequences. Behind a pooler that hands out connections for a transaction at a time, such as PgBouncer, nothing is
// kept on a connection; that is found out by itself. The schema is brought up to date under an advisory lock of that one
// transaction, which Config.NoAdvisoryLock leaves out. The DSN must lead to the primary: what was revoked or charged may
// not have reached a standby. A charge is as safe as the database's own commit; with standbys, let it wait for one
// (synchronous_standby_names).
//
// # How large it may become
//
// Entries are never removed. An account's entries are numbered, so that a charge reads and writes the end of each index
// whatever their number, and an audit reads them account by account. The table is not partitioned: the index that lets no
// hold be charged twice has to be over all of it. Where 100,000,000 entries are too many for one server, or the time of a
// dump or an audit counts, share the accounts among several databases with [OpenShards] from the beginning; each has a
// share of the entries, and is dumped and audited by itself.
//
// # Relatives of PostgreSQL
//
// CockroachDB and YugabyteDB are not supported, and nothing here is tested on them. By their documentation:
//
//   - CockroachDB refuses a statement that changes one table in two places, as the one does that decides the usual calls: each
//     of them would fail there and be decided as the unusual ones are, in two more round trips. Its default isolation is
//     SERIALIZABLE: calls on one account fail with 40001 and are repeated. It has no locking advisory locks, for which
//     there is Config.NoAdvisoryLock.
//   - YugabyteDB runs READ COMMITTED as REPEATABLE READ unless yb_enable_read_committed_isolation is set, with the same
//     consequence for calls on one account.
//
// See https://www.cockroachlabs.com/docs/v23.2/known-limitations, https://www.cockroachlabs.com/docs/stable/read-committed
// and https://docs.yugabyte.com/preview/architecture/transactions/read-committed/.
package postgres
