package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// migrations bring a schema from version i to i+1. A released migration is never changed; new ones are appended. @
// means the schema that the tables are in.
//
// Times of entries are microseconds since 1970, those of holds and records nanoseconds. There are no triggers and,
// except for new accounts and keys, no sequences, so that distributed databases that are compatible with PostgreSQL
// could run this too.
var migrations = []string{
	`
	-- Room on each page: a charge writes the row anew, and there it needs no new entry in the indexes.
	CREATE TABLE @accounts (
		no         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- what other tables call it: short
		id         TEXT NOT NULL UNIQUE,
		name       TEXT NOT NULL UNIQUE,
		created_at BIGINT NOT NULL,
		-- The head of the account's books. Each writer of entries or holds of the account locks this row first.
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
	`
	-- Times of monitors are nanoseconds since 1970.
	CREATE TABLE @monitors (
		no         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		account    TEXT NOT NULL,
		name       TEXT NOT NULL,
		key        TEXT NOT NULL,   -- the id of the key that pays
		paused     BOOLEAN NOT NULL,
		created_at BIGINT NOT NULL,
		baseline   BIGINT NOT NULL,
		definition BYTEA NOT NULL,  -- JSON
		progress   BYTEA NOT NULL,  -- JSON, with the snapshot
		next_at    BIGINT,          -- NULL when it is not polled
		lease      TEXT NOT NULL,   -- of the poll that is under way
		until      BIGINT NOT NULL, -- when the lease runs out
		UNIQUE (account, name)
	) WITH (fillfactor = 50);
	CREATE INDEX ON @monitors (next_at) WHERE next_at IS NOT NULL;

	CREATE TABLE @changes (
		account TEXT NOT NULL,
		seq     BIGINT NOT NULL,
		id      TEXT NOT NULL,
		at      BIGINT NOT NULL,
		monitor TEXT NOT NULL,  -- '' for what concerns the account
		type    TEXT NOT NULL,
		body    BYTEA NOT NULL, -- JSON
		PRIMARY KEY (account, seq),
		UNIQUE (account, id)
	);
	CREATE INDEX ON @changes (at);

	-- The place of each account's last change. Each writer of changes locks the row first.
	CREATE TABLE @feeds (
		account TEXT PRIMARY KEY,
		seq     BIGINT NOT NULL
	) WITH (fillfactor = 50);

	CREATE TABLE @samples (
		monitor BIGINT NOT NULL, -- monitors.no
		field   TEXT NOT NULL,
		at      BIGINT NOT NULL,
		value   DOUBLE PRECISION NOT NULL,
		PRIMARY KEY (monitor, field, at)
	);
	CREATE INDEX ON @samples (at);
	`,
	`
	-- Whether a key manages its account.
	ALTER TABLE @keys ADD COLUMN manage BOOLEAN NOT NULL DEFAULT false;
	`,
	`
	-- The keyed hashes of everyone in a record, in pairs. Whose data is in the older ones is not known: it may be anyone's.
	ALTER TABLE @records ADD COLUMN subjects BYTEA NOT NULL DEFAULT '';
	UPDATE @records SET subjects = '\x0000000000000000ffffffffffffffff'
		WHERE substring(key FROM 1 FOR 4) IN ('idem', 'job/', 'curs', 'mcp/') AND key <> 'cursor-key';

	-- The secret of those hashes, and the epoch: how often it was announced that something is erased or kept out. Times are
	-- nanoseconds since 1970.
	CREATE TABLE @privacy (
		one    BIGINT PRIMARY KEY CHECK (one = 1),
		secret BYTEA NOT NULL,
		epoch  BIGINT NOT NULL
	);
	CREATE TABLE @blocked (
		subject BYTEA NOT NULL,  -- HMAC-SHA-256
		name    BIGINT NOT NULL, -- keyed hash
		PRIMARY KEY (subject, name)
	);
	CREATE TABLE @erased (
		epoch BIGINT NOT NULL,
		name  BIGINT NOT NULL,
		at    BIGINT NOT NULL,
		PRIMARY KEY (epoch, name)
	);
	CREATE TABLE @processes (
		id    TEXT PRIMARY KEY,
		epoch BIGINT NOT NULL,
		seen  BIGINT NOT NULL
	) WITH (fillfactor = 50);
	CREATE TABLE @receipts (
		no   BIGINT PRIMARY KEY,
		body BYTEA NOT NULL -- JSON
	);
	`,
	`
	-- The request log: a row for each batch, packed.
	CREATE TABLE @requests (
		no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		id    TEXT NOT NULL UNIQUE, -- of the batch: none is written twice
		at    BIGINT NOT NULL,      -- of the last request, microseconds since 1970
		n     BIGINT NOT NULL,
		batch BYTEA NOT NULL
	);

	-- What usage adds up to.
	CREATE TABLE @usage (
		account   TEXT NOT NULL,
		day       BIGINT NOT NULL, -- UTC days since 1970
		key       TEXT NOT NULL,
		platform  TEXT NOT NULL,
		operation TEXT NOT NULL,
		what      TEXT NOT NULL,
		n         BIGINT NOT NULL,
		PRIMARY KEY (account, day, key, platform, operation, what)
	) WITH (fillfactor = 50);
	CREATE INDEX ON @usage (day);

	-- The last entry of each account that is part of its usage.
	CREATE TABLE @usage_folded (
		account TEXT PRIMARY KEY,
		seq     BIGINT NOT NULL
	) WITH (fillfactor = 50);
	`,
	`
	-- Where accounts have changes sent. Times are nanoseconds since 1970.
	CREATE TABLE @endpoints (
		account       TEXT NOT NULL,
		name          TEXT NOT NULL,
		made          TEXT NOT NULL,   -- of the call that made it
		body          BYTEA NOT NULL,  -- JSON: what the account wants, and the sealed secrets
		position      BIGINT NOT NULL, -- the place of the last change that was queued or passed over
		problem       TEXT NOT NULL,   -- why it is disabled; '' while it is active
		failing_since BIGINT,
		PRIMARY KEY (account, name)
	) WITH (fillfactor = 50);

	-- A delivery refers to its change and its endpoint, and is removed with either.
	CREATE TABLE @deliveries (
		account   TEXT NOT NULL,
		endpoint  TEXT NOT NULL,
		seq       BIGINT NOT NULL, -- of the change
		state     TEXT NOT NULL,
		attempts  BIGINT NOT NULL,
		queued_at BIGINT NOT NULL,
		next_at   BIGINT,          -- NULL when there is no further attempt; while one is made, when its lease runs out
		last_at   BIGINT,
		status    BIGINT NOT NULL,
		detail    TEXT NOT NULL,
		lease     TEXT NOT NULL,
		PRIMARY KEY (account, endpoint, seq),
		FOREIGN KEY (account, endpoint) REFERENCES @endpoints (account, name) ON DELETE CASCADE,
		FOREIGN KEY (account, seq) REFERENCES @changes (account, seq) ON DELETE CASCADE
	) WITH (fillfactor = 50);
	CREATE INDEX ON @deliveries (account, endpoint, next_at) WHERE next_at IS NOT NULL;
	CREATE INDEX ON @deliveries (account, seq);
	`,
	`
	-- What may be kept for some time only is found by when it was read. Snapshots of before are looked at once.
	ALTER TABLE @monitors ADD COLUMN platform TEXT NOT NULL DEFAULT '';
	ALTER TABLE @monitors ADD COLUMN content_at BIGINT; -- when the oldest content was read; NULL when there is none
	UPDATE @monitors SET platform = coalesce(convert_from(definition, 'UTF8')::json->>'Platform', ''), content_at = 0;
	CREATE INDEX ON @monitors (content_at) WHERE content_at IS NOT NULL;
	ALTER TABLE @changes ADD COLUMN platform TEXT NOT NULL DEFAULT '';
	ALTER TABLE @changes ADD COLUMN key TEXT NOT NULL DEFAULT '';           -- of the object
	ALTER TABLE @changes ADD COLUMN content BOOLEAN NOT NULL DEFAULT true; -- whether more of it is kept than that
	UPDATE @changes SET platform = coalesce(convert_from(body, 'UTF8')::json->>'platform', ''),
		key = coalesce(convert_from(body, 'UTF8')::json->>'key', '');
	CREATE INDEX ON @changes (at) WHERE content;
	CREATE INDEX ON @changes (account, monitor, key) WHERE key <> '';
	`,
	`
	-- What an account may set the limits of a key to, in JSON: NULL for what they are. The hash of the secret that the key had
	-- before its last rotation, and until when that is accepted.
	ALTER TABLE @keys ADD COLUMN bounds TEXT;
	ALTER TABLE @keys ADD COLUMN former_hash BYTEA;
	ALTER TABLE @keys ADD COLUMN former_until BIGINT;
	CREATE UNIQUE INDEX ON @keys (former_hash) WHERE former_hash IS NOT NULL AND revoked_at IS NULL;
	`,
	`
	-- How large each account's feed is, which is bounded: at most this many bytes, since removals are not subtracted until it
	-- is counted again.
	ALTER TABLE @feeds ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
	UPDATE @feeds f SET bytes = (SELECT coalesce(sum(length(body)), 0) FROM @changes c WHERE c.account = f.account);
	`,
	createDecide,
	`
	-- The entry of a charge without a hold is in two indexes: each costs a charge some 3 µs. That of the account also has
	-- the platform, so that those of one platform are found without the table; that of holds is in the order of bytes, so
	-- that holds which begin with a request's id are found; and that of requests has only the other entries. This takes
	-- two seconds for a million entries, for which charges wait. Until it is replaced, a program of the previous version
	-- reads all entries of an account to find those of a request or platform.
	ALTER TABLE @entries DROP CONSTRAINT entries_pkey;
	ALTER TABLE @entries ADD PRIMARY KEY (account, seq) INCLUDE (platform);
	DROP INDEX @entries_account_platform_seq_idx, @entries_request_id_account_seq_idx, @entries_hold_idx;
	CREATE UNIQUE INDEX ON @entries (hold text_pattern_ops) WHERE hold <> ''; -- no hold is ever charged twice
	CREATE INDEX ON @entries (request_id, account, seq) WHERE ` + ownRequest + `;
	`,
}

// ownRequest selects the entries that the index of requests has: those whose hold does not say which request they are
// for. It is part of a migration and never changed. [credits.RequestEnd] is the slash.
const ownRequest = "request_id <> '' AND NOT starts_with(hold, request_id || '/')"

// breaking are the versions that the program of the previous version cannot serve, because it must not ignore what they
// add, or because they change what exists. Every other version only adds tables, indexes and columns with a default;
// then replicas can be updated one by one.
var breaking = []int{
	4, // an older program would store records without their subjects, and ignore erasures
}

// migrate migrates the schema completely, or not at all. If several replicas start together, one does it and the others
// wait. Without the advisory lock, the late ones fail because something exists already, and try again.
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
	// This is checked first, because a role without the permission to create schemas can use an existing one.
	var there bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", db.cfg.Schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{db.cfg.Schema}.Sanitize())
	}
	if err != nil {
		return err
	}
	// In two steps: early schemas have the table without the column.
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS @migrations (version BIGINT PRIMARY KEY)",
		"ALTER TABLE @migrations ADD COLUMN IF NOT EXISTS compatible BOOLEAN NOT NULL DEFAULT false",
	} {
		if _, err = tx.Exec(ctx, db.sql(text)); err != nil {
			return err
		}
	}
	version, _, err := db.version(ctx, tx)
	if err != nil {
		return err
	}
	for i, text := range migrations[version:] {
		// Without arguments, the statements use the simple protocol in one message.
		if _, err := tx.Conn().PgConn().Exec(ctx, db.sql(text)).ReadAll(); err != nil {
			return fmt.Errorf("migration %d: %w", version+i+1, err)
		}
		const note = "INSERT INTO @migrations (version, compatible) VALUES ($1, $2)"
		if _, err := tx.Exec(ctx, db.sql(note), version+i+1, !slices.Contains(breaking, version+i+1)); err != nil {
			return err
		}
	}
	return nil
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// migrated reports whether the schema is up to date.
func (db *DB) migrated(ctx context.Context, q querier) (bool, error) {
	var there bool
	err := q.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = $1 "+
		"AND table_name = 'migrations')", db.cfg.Schema).Scan(&there)
	if err != nil || !there {
		return false, err
	}
	version, compatible, err := db.version(ctx, q)
	if err != nil || version < len(migrations) {
		return false, err
	}
	return true, serves(version, compatible)
}
