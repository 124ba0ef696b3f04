// Package postgres stores accounts, keys, the ledger and records in PostgreSQL, for any number of replicas.
//
//	db, err := postgres.Open(ctx, postgres.Config{DSN: "postgres://user:secret@host/database"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// All replicas open the same database, and so do commands that create accounts and keys, grant, revoke, audit, export
// and import meanwhile. [OpenShards] distributes the accounts over several databases. Exports of store/sqlite can be
// imported here, and vice versa.
//
// # Holds and charges
//
// A hold is a row that all replicas see and any can settle. It expires by itself: a replica that is killed charges
// nothing, and the credits that it held are free again after the hold's time to live. The calls of a replica share
// transactions (group commit), each of which locks the rows of its accounts in a fixed order and decides each call
// exactly as if it were alone. A function in the database decides ordinary calls, in one round trip; others (with
// expired holds, idempotency keys that were used before, or caps that are reached) are decided in the replica and take
// two more. All changes depend on one UPDATE of the accounts' rows, whose table has a constraint that no more can be
// held than there is.
//
// A charge is durable when Settle or Charge returns; a hold alone does not wait for the disk, because nothing is
// charged if it is lost. The disk is waited for after the commit, by a second transaction in the same message, so that
// no row is locked meanwhile and another replica can charge the same account. What depends on a charge that is not
// durable yet comes after it in the log of the database, so a crash loses both or neither. A query outside of this
// package may see a charge up to one write of the disk before it is durable.
//
// All times are those of the database's clock, so that the clocks of replicas need not agree. If the database's own
// clock is ahead for a while, holds from that time that are never settled stay until the clock reaches their end again:
// no hold may expire early, and after a clock was set back it cannot be known which time was right.
//
// A transaction is repeated after a serialization failure (40001), a deadlock (40P01), a restart of the server or the
// loss of the connection, even if that was during the commit: holds and charges are recognised by their ids. It is
// repeated for Config.Patience. The exception is a grant that may have been committed: it is not repeated, and fails
// with ErrUnsure.
//
// # Revocations
//
// A replica caches a key for a second at most, counted from before its query. [Keys.Revoke] returns when that second
// has passed, so that no replica accepts the key any more.
//
// # Requirements
//
// PostgreSQL 12 or later, and permission to create a schema. There are no triggers, no LISTEN and, for charges, no
// sequences; there is one function, in PL/pgSQL. A pooler that assigns connections for one transaction each, such as
// PgBouncer, is detected; then no state is kept in a connection. The schema is migrated under an advisory lock of that
// one transaction, unless Config.NoAdvisoryLock is set. The DSN must lead to the primary, because revocations and
// charges may not have reached a standby yet. A charge is as durable as the database's own commit; with standbys,
// configure it to wait for one (synchronous_standby_names).
//
// # Growth
//
// Entries are never removed. An account's entries are numbered, so that a charge reads and writes only the end of each
// index, whatever the number of entries, and an audit reads them account by account. The table is not partitioned,
// because the unique index that prevents charging a hold twice must cover all of it. If 100,000,000 entries are too
// many for one server, or a dump or an audit must be fast, distribute the accounts over several databases with
// [OpenShards] from the beginning; each has a part of the entries, and is dumped and audited separately.
//
// # Databases that are compatible with PostgreSQL
//
// CockroachDB and YugabyteDB are not supported, and nothing here is tested on them. By their documentation:
//
//   - The function that decides ordinary calls is in PL/pgSQL, and the disk is waited for with pg_logical_emit_message.
//     CockroachDB's default isolation is SERIALIZABLE: calls on one account fail with 40001 and are repeated. It has no
//     locking advisory locks: use Config.NoAdvisoryLock.
//   - YugabyteDB runs READ COMMITTED as REPEATABLE READ unless yb_enable_read_committed_isolation is set, with the same
//     consequence for calls on one account.
//
// See https://www.cockroachlabs.com/docs/v23.2/known-limitations,
// https://www.cockroachlabs.com/docs/stable/read-committed and
// https://docs.yugabyte.com/preview/architecture/transactions/read-committed/.
package postgres
