package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// migrations bring a schema from version i to i+1. A released one is never changed; a new one is added. An @ stands for
// the schema that the tables are in.
//
// Times of books are microseconds since 1970, those of holds and records nanoseconds. There are no triggers and, but for
// new accounts and keys, no sequences, so that PostgreSQL's distributed relatives can run this too.
var migrations = []string{
	`
	-- Room on each page: a charge writes the row anew, and there it needs no new entry in the indexes.
	CREATE TABLE @accounts (
		no         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- what other tables call it: short
		id         TEXT NOT NULL UNIQUE,
		name       TEXT NOT NULL UNIQUE,
		created_at BIGINT NOT NULL,
		-- The head of the account's books. Whoever writes entries or holds of the account locks this row first.
		seq        BIGINT NOT NULL DEFAULT 0, -- of the last entry
		balance    BIGINT NOT NULL DEFAULT 0, -- sum of the entries
		at         BIGINT NOT NULL DEFAULT 0, -- of the last entry
		hash       BYTEA NOT NULL DEFAULT '', -- of the last entry
		held       BIGINT NOT NULL DEFAULT 0, -- sum of the holds
		first      BIGINT NOT NULL DEFAULT 0, -- no hold runs out before; 0 when there is none
		CHECK (held >= 0 AND held <= balance) -- what is held can be paid
	) WITH (fillfactor = 50);

	CREATE TABLE @keys (
		no           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		id           TEXT NOT NULL UNIQUE,
		account      TEXT NOT NULL REFERENCES @accounts (id), -- and not its number: a look-up then reads one table
		name         TEXT NOT NULL,
		prefix       TEXT NOT NULL,
		hash         BYTEA NOT NULL,
		environment  TEXT NOT NULL CHECK (environment IN ('live', 'test')),
		created_at   BIGINT NOT NULL,
		last_used_at BIGINT,
		revoked_at   BIGINT,
		capacity     BIGINT, -- of the key's own rate; NULL for the default
		refill       DOUBLE PRECISION,
		day_cap      BIGINT,
		total_cap    BIGINT
	);
	CREATE INDEX ON @keys (account);
	-- Without the revoked ones: looking for one of those costs what looking for any unknown key costs.
	CREATE UNIQUE INDEX ON @keys (hash) WHERE revoked_at IS NULL;

	CREATE TABLE @entries (
		account    BIGINT NOT NULL, -- accounts.no; not checked on each entry, but by the audit
		seq        BIGINT NOT NULL,
		kind       TEXT NOT NULL,
		amount     BIGINT NOT NULL,
		balance    BIGINT NOT NULL CHECK (balance >= 0),
		key        TEXT NOT NULL,
		operation  TEXT NOT NULL,
		platform   TEXT NOT NULL,
		request_id TEXT NOT NULL,
		cache      TEXT NOT NULL,
		reason     TEXT NOT NULL,
		hold       TEXT NOT NULL,
		idempotency_key TEXT NOT NULL,
		at         BIGINT NOT NULL,
		clock      BIGINT, -- what the clock showed, when that was before at; else NULL
		hash       BYTEA NOT NULL,
		PRIMARY KEY (account, seq)
	);
	CREATE INDEX ON @entries (account, platform, seq) WHERE platform <> '';
	CREATE INDEX ON @entries (request_id, account, seq) WHERE request_id <> '';
	CREATE UNIQUE INDEX ON @entries (hold) WHERE hold <> ''; -- no hold is ever charged twice
	CREATE INDEX ON @entries (account, idempotency_key, seq) WHERE idempotency_key <> '';

	CREATE TABLE @holds (
		account BIGINT NOT NULL,
		id      TEXT NOT NULL,
		key     TEXT NOT NULL,
		amount  BIGINT NOT NULL CHECK (amount >= 0),
		expires BIGINT NOT NULL,
		PRIMARY KEY (account, id)
	);

	-- What a key with a cap has spent and holds. A key without a row never had one.
	CREATE TABLE @spending (
		account BIGINT NOT NULL,
		key     TEXT NOT NULL,
		total   BIGINT NOT NULL,
		day     BIGINT NOT NULL, -- UTC days since 1970
		today   BIGINT NOT NULL, -- of total, what was spent on that day
		held    BIGINT NOT NULL,
		PRIMARY KEY (account, key)
	) WITH (fillfactor = 50);

	CREATE TABLE @records (
		key     BYTEA PRIMARY KEY,
		owner   TEXT NOT NULL,
		value   BYTEA NOT NULL,
		version BIGINT NOT NULL, -- a new random one with every write
		expires BIGINT NOT NULL
	);
	CREATE INDEX ON @records (expires);
	CREATE INDEX ON @records (owner, expires) WHERE owner <> '';

	-- Which part of all accounts is here.
	CREATE TABLE @placement (
		one    BIGINT PRIMARY KEY CHECK (one = 1),
		shard  BIGINT NOT NULL, -- from 0
		shards BIGINT NOT NULL
	);

	-- What the records of each owner take, dead ones among them.
	CREATE TABLE @record_owners (
		owner TEXT PRIMARY KEY,
		bytes BIGINT NOT NULL
	) WITH (fillfactor = 50);
	`,
}

// migrate brings the schema up to date, all or nothing. Of several replicas that start at once one does it and the
// others wait; without the advisory lock, those who come too late fail on what is there already and try again.
func (db *DB) migrate(ctx context.Context) error {
	if done, err := db.migrated(ctx, db.pool); done || err != nil {
		return err
	}
	return db.retry(ctx, func(bool) error {
		return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			if !db.cfg.NoAdvisoryLock {
				const lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
				if _, err := tx.Exec(ctx, lock, "socialdata migrations of "+db.cfg.Schema); err != nil {
					return err
				}
			}
			if done, err := db.migrated(ctx, tx); done || err != nil {
				return err
			}
			return db.migrateFrom(ctx, tx)
		})
	})
}

func (db *DB) migrateFrom(ctx context.Context, tx pgx.Tx) error {
	// Asked first, because who may not make schemas may still use one that was made for it.
	var there bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", db.cfg.Schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{db.cfg.Schema}.Sanitize())
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, db.sql("CREATE TABLE IF NOT EXISTS @migrations (version BIGINT PRIMARY KEY)"))
	if err != nil {
		return err
	}
	var version int
	if err := tx.QueryRow(ctx, db.sql(selectVersion)).Scan(&version); err != nil {
		return err
	}
	for i, text := range migrations[version:] {
		// Without arguments, so that the statements go over the simple protocol in one message.
		if _, err := tx.Conn().PgConn().Exec(ctx, db.sql(text)).ReadAll(); err != nil {
			return fmt.Errorf("migration %d: %w", version+i+1, err)
		}
		if _, err := tx.Exec(ctx, db.sql("INSERT INTO @migrations VALUES ($1)"), version+i+1); err != nil {
			return err
		}
	}
	return nil
}

const selectVersion = "SELECT coalesce(max(version), 0) FROM @migrations"

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// migrated tells whether nothing is to be done.
func (db *DB) migrated(ctx context.Context, q querier) (bool, error) {
	var there bool
	err := q.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = $1 "+
		"AND table_name = 'migrations')", db.cfg.Schema).Scan(&there)
	if err != nil || !there {
		return false, err
	}
	var version int
	if err := q.QueryRow(ctx, db.sql(selectVersion)).Scan(&version); err != nil {
		return false, err
	}
	if version > len(migrations) {
		return false, fmt.Errorf("%w: it has version %d, and this program knows versions up to %d; use the program that brought "+
			"it there or a later one, or let that one export it and import that into a new schema",
			ErrNewer, version, len(migrations))
	}
	return version == len(migrations), nil
}

// isCode tells whether PostgreSQL has failed with one of these codes.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
func isCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}
