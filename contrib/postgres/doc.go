// Package postgres keeps every store in PostgreSQL, for any number of replicas.
//
//	db, err := postgres.Open(ctx, postgres.Config{DSN: "postgres://user:secret@host/database"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// The stores are those of [sqlstore.DB]; this package opens the connections and runs the transactions. All replicas
// open the same database, and so do commands that create accounts and keys, grant, revoke, audit, export and import
// meanwhile. Exports of store/sqlite can be imported here, and the other way round.
//
// # Holds and charges
//
// A hold is a row that all replicas see and any can settle. It expires by itself: a replica that is killed charges
// nothing, and the credits that it held are free again after the hold's time to live. The calls of a replica share
// transactions (group commit), each of which locks the rows of its accounts in a fixed order, reads what the rule needs
// to know, decides call after call, and writes. A charge is durable when Settle or Charge returns.
//
// All times are those of the database's clock, so that the clocks of replicas need not agree. If the database's own
// clock is ahead for a while, holds from that time that are never settled stay until the clock reaches their end again:
// no hold may expire early, and after a clock was set back it cannot be known which time was right.
//
// A transaction is repeated after a serialization failure (40001), a deadlock (40P01), a restart of the server or the
// loss of the connection, for Config.Patience. If the connection is lost during the commit, the database is asked what
// became of the transaction (pg_xact_status): one that was committed is not repeated. After Config.Patience the call
// fails with sqlstore.ErrNotWritten, or with sqlstore.ErrUnsure if the database did not say what became of it; settling
// a hold again then returns that.
//
// # Revocations
//
// A replica caches a key for a second at most, counted from before its query. Revoke returns when that second has
// passed, so that no replica accepts the key any more.
//
// # Requirements
//
// PostgreSQL 13 or later, and permission to create a schema. There are no triggers, no functions and no LISTEN. A
// pooler that assigns connections for one transaction each, such as PgBouncer, is detected; then no state is kept in a
// connection. The schema is migrated under an advisory lock of that one transaction, unless Config.NoAdvisoryLock is
// set. The DSN must lead to the primary, because revocations and charges may not have reached a standby yet. A charge
// is as durable as the database's own commit; with standbys, configure it to wait for one (synchronous_standby_names).
//
// # Growth
//
// Entries are never removed. An account's entries are numbered, so that a charge reads and writes only the end of each
// index, whatever the number of entries, and an audit reads them account by account. The table is not partitioned,
// because the unique index that prevents charging a hold twice must cover all of it.
//
// # Beyond one server
//
// Distributed databases that speak PostgreSQL's protocol, such as CockroachDB and YugabyteDB, are not tested and not
// known to work. Serialization failures, which they report often, are repeated already, and nothing runs inside the
// database. What this package asks for and they may not have: pg_current_xact_id, which every transaction asks for, and
// pg_xact_status, by which a lost commit is resolved; the settings plan_cache_mode and jit; pg_is_in_recovery and
// pg_total_relation_size; advisory locks, unless Config.NoAdvisoryLock is set; and storage parameters of tables
// (fillfactor).
package postgres
