package sqlite

import (
	"fmt"
	"slices"
)

// applicationID marks the file as ours, in its header: "sdat".
const applicationID = 0x73646174

// firstVersion is the version after migrations[0]. Earlier ones were never released.
const firstVersion = 4

// migrations bring an empty file to firstVersion, and a file of each version to the next one. A released migration is
// never changed; new ones are appended.
var migrations = []string{
	`
	CREATE TABLE accounts (
		no         INTEGER PRIMARY KEY, -- what other tables call it: short, so that their indexes are
		id         TEXT NOT NULL UNIQUE,
		name       TEXT NOT NULL UNIQUE,
		created_at INTEGER NOT NULL     -- microseconds since 1970, as every time here
	) STRICT;

	CREATE TABLE keys (
		no           INTEGER PRIMARY KEY,
		id           TEXT NOT NULL UNIQUE,
		account      TEXT NOT NULL REFERENCES accounts (id), -- and not its number: a look-up then reads one table
		name         TEXT NOT NULL,
		prefix       TEXT NOT NULL,
		hash         BLOB NOT NULL,
		environment  TEXT NOT NULL CHECK (environment IN ('live', 'test')),
		created_at   INTEGER NOT NULL,
		last_used_at INTEGER,
		revoked_at   INTEGER,
		capacity     INTEGER, -- of the key's own rate; NULL for the default
		refill       REAL,
		day_cap      INTEGER,
		total_cap    INTEGER
	) STRICT;
	CREATE INDEX keys_account ON keys (account);
	-- Without the revoked ones: looking for one of those costs what looking for any unknown key costs.
	CREATE UNIQUE INDEX keys_active ON keys (hash) WHERE revoked_at IS NULL;

	-- Entries are kept in the order in which they were written, all at the end of the table: a batch of them touches
	-- few pages, whatever the number of accounts.
	CREATE TABLE entries (
		no         INTEGER PRIMARY KEY,
		account    INTEGER NOT NULL, -- accounts.no; not checked on each entry, but by the audit
		seq        INTEGER NOT NULL,
		kind       TEXT NOT NULL,
		amount     INTEGER NOT NULL,
		balance    INTEGER NOT NULL CHECK (balance >= 0),
		key        TEXT NOT NULL,
		operation  TEXT NOT NULL,
		platform   TEXT NOT NULL,
		request_id TEXT NOT NULL,
		cache      TEXT NOT NULL,
		reason     TEXT NOT NULL,
		hold       TEXT NOT NULL,
		idempotency_key TEXT NOT NULL,
		at         INTEGER NOT NULL,
		clock      INTEGER, -- what the clock showed, when that was before at; else NULL
		hash       BLOB NOT NULL
	) STRICT;
	-- An entry costs a page of each index in which every account has a place of its own: one of them serves all queries.
	CREATE UNIQUE INDEX entries_account ON entries (account, seq, platform);
	CREATE INDEX entries_request ON entries (request_id, account, seq) WHERE request_id <> '';
	CREATE UNIQUE INDEX entries_hold ON entries (hold) WHERE hold <> ''; -- no hold is ever charged twice
	CREATE INDEX entries_idempotency ON entries (account, idempotency_key, at) WHERE idempotency_key <> '';

	CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
	BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
	CREATE TRIGGER entries_are_not_removed BEFORE DELETE ON entries
	BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;

	-- What all entries come to: the only trace that the last entries of an account were taken away.
	CREATE TABLE totals (
		one     INTEGER PRIMARY KEY CHECK (one = 1),
		entries INTEGER NOT NULL,
		credits INTEGER NOT NULL,
		folded  INTEGER NOT NULL -- the last row of the journal that was moved
	) STRICT;
	INSERT INTO totals VALUES (1, 0, 0, 0);

	-- What became durable and was not moved into entries yet: a row for each transaction, in the encoding of journal.go.
	-- A number is never given twice.
	CREATE TABLE journal (
		no      INTEGER PRIMARY KEY AUTOINCREMENT,
		entries BLOB NOT NULL
	) STRICT;
	CREATE TRIGGER journal_is_not_changed BEFORE UPDATE ON journal
	BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
	CREATE TRIGGER journal_is_not_removed BEFORE DELETE ON journal WHEN old.no > (SELECT folded FROM totals)
	BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;

	-- What a key with a cap has spent. A key without a row never had one.
	CREATE TABLE spending (
		account INTEGER NOT NULL,
		key     TEXT NOT NULL,
		total   INTEGER NOT NULL,
		day     INTEGER NOT NULL, -- UTC days since 1970
		today   INTEGER NOT NULL, -- of total, what was spent on that day
		PRIMARY KEY (account, key)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE records (
		no      INTEGER PRIMARY KEY,
		key     TEXT NOT NULL UNIQUE,
		owner   TEXT NOT NULL,
		value   BLOB NOT NULL,
		version INTEGER NOT NULL, -- a new random one with every write
		expires INTEGER NOT NULL  -- nanoseconds since 1970
	) STRICT;
	CREATE INDEX records_expires ON records (expires);
	CREATE INDEX records_owner ON records (owner, expires) WHERE owner <> '';

	-- What the records of each owner take, kept by the triggers for every writer.
	CREATE TABLE record_owners (
		owner TEXT PRIMARY KEY,
		bytes INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE TRIGGER records_added AFTER INSERT ON records WHEN new.owner <> ''
	BEGIN
		INSERT INTO record_owners VALUES (new.owner, octet_length(new.key) + length(new.value))
			ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
	END;
	CREATE TRIGGER records_removed AFTER DELETE ON records WHEN old.owner <> ''
	BEGIN
		UPDATE record_owners SET bytes = bytes - octet_length(old.key) - length(old.value) WHERE owner = old.owner;
		DELETE FROM record_owners WHERE owner = old.owner AND bytes <= 0;
	END;
	`,
	`
	-- What the file had lost when it was served all the same.
	CREATE TABLE losses (
		no          INTEGER PRIMARY KEY,
		accepted    INTEGER NOT NULL,
		at          INTEGER NOT NULL, -- when the books had that many entries and credits
		had_entries INTEGER NOT NULL,
		had_credits INTEGER NOT NULL,
		entries     INTEGER NOT NULL,
		credits     INTEGER NOT NULL
	) STRICT;
	CREATE TRIGGER losses_are_not_changed BEFORE UPDATE ON losses
	BEGIN SELECT RAISE(ABORT, 'losses are never changed'); END;
	CREATE TRIGGER losses_are_not_removed BEFORE DELETE ON losses
	BEGIN SELECT RAISE(ABORT, 'losses are never removed'); END;
	`,
	`
	-- A platform that an account has never read costs one look, however many entries there are.
	DROP INDEX entries_account;
	CREATE UNIQUE INDEX entries_account ON entries (account, seq);
	CREATE INDEX entries_platform ON entries (account, platform, seq) WHERE platform <> '';
	`,
	`
	-- Times of monitors are nanoseconds since 1970.
	CREATE TABLE monitors (
		no         INTEGER PRIMARY KEY,
		account    TEXT NOT NULL,
		name       TEXT NOT NULL,
		key        TEXT NOT NULL,    -- the id of the key that pays
		paused     INTEGER NOT NULL,
		created_at INTEGER NOT NULL,
		baseline   INTEGER NOT NULL,
		definition BLOB NOT NULL,    -- JSON
		progress   BLOB NOT NULL,    -- JSON, with the snapshot
		next_at    INTEGER,          -- NULL when it is not polled
		lease      TEXT NOT NULL,    -- of the poll that is under way
		until      INTEGER NOT NULL, -- when the lease runs out
		UNIQUE (account, name)
	) STRICT;
	CREATE INDEX monitors_due ON monitors (next_at) WHERE next_at IS NOT NULL;

	CREATE TABLE changes (
		no      INTEGER PRIMARY KEY,
		account TEXT NOT NULL,
		seq     INTEGER NOT NULL,
		id      TEXT NOT NULL,
		at      INTEGER NOT NULL,
		monitor TEXT NOT NULL, -- '' for what concerns the account
		type    TEXT NOT NULL,
		body    BLOB NOT NULL, -- JSON
		UNIQUE (account, seq),
		UNIQUE (account, id)
	) STRICT;
	CREATE INDEX changes_at ON changes (at);

	-- The place of each account's last change: it is not given again when that is removed.
	CREATE TABLE feeds (
		account TEXT PRIMARY KEY,
		seq     INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;

	CREATE TABLE samples (
		monitor INTEGER NOT NULL, -- monitors.no
		field   TEXT NOT NULL,
		at      INTEGER NOT NULL,
		value   REAL NOT NULL,
		PRIMARY KEY (monitor, field, at)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX samples_at ON samples (at);
	`,
	`
	-- Whether a key manages its account.
	ALTER TABLE keys ADD COLUMN manage INTEGER NOT NULL DEFAULT 0 CHECK (manage IN (0, 1));
	`,
	`
	-- The keyed hashes of everyone in a record, in pairs. Whose data is in the older ones is not known: it may be anyone's.
	ALTER TABLE records ADD COLUMN subjects BLOB NOT NULL DEFAULT x'';
	UPDATE records SET subjects = x'0000000000000000ffffffffffffffff'
		WHERE key GLOB 'idempotency/*' OR key GLOB 'job/*' OR key GLOB 'cursor/*' OR key GLOB 'mcp/*';

	-- The secret of those hashes, and the epoch: how often it was announced that something is erased or kept out.
	CREATE TABLE privacy (
		one    INTEGER PRIMARY KEY CHECK (one = 1),
		secret BLOB NOT NULL,
		epoch  INTEGER NOT NULL
	) STRICT;
	CREATE TABLE blocked (
		subject BLOB NOT NULL,    -- HMAC-SHA-256
		name    INTEGER NOT NULL, -- keyed hash
		PRIMARY KEY (subject, name)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE erased (
		epoch INTEGER NOT NULL,
		name  INTEGER NOT NULL,
		at    INTEGER NOT NULL, -- nanoseconds since 1970
		PRIMARY KEY (epoch, name)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE processes (
		id    TEXT PRIMARY KEY,
		epoch INTEGER NOT NULL,
		seen  INTEGER NOT NULL -- nanoseconds since 1970
	) STRICT, WITHOUT ROWID;
	CREATE TABLE receipts (
		no   INTEGER PRIMARY KEY,
		body BLOB NOT NULL -- JSON
	) STRICT;
	CREATE TRIGGER receipts_are_not_changed BEFORE UPDATE ON receipts
	BEGIN SELECT RAISE(ABORT, 'receipts are never changed'); END;
	CREATE TRIGGER receipts_are_not_removed BEFORE DELETE ON receipts
	BEGIN SELECT RAISE(ABORT, 'receipts are never removed'); END;
	`,
	`
	-- The request log: a row for each batch, packed. A number is never given twice.
	CREATE TABLE requests (
		no    INTEGER PRIMARY KEY AUTOINCREMENT,
		at    INTEGER NOT NULL, -- of the last request, microseconds since 1970
		n     INTEGER NOT NULL,
		batch BLOB NOT NULL
	) STRICT;

	-- What usage adds up to.
	CREATE TABLE usage (
		account   TEXT NOT NULL,
		day       INTEGER NOT NULL, -- UTC days since 1970
		key       TEXT NOT NULL,
		platform  TEXT NOT NULL,
		operation TEXT NOT NULL,
		what      TEXT NOT NULL,
		n         INTEGER NOT NULL,
		PRIMARY KEY (account, day, key, platform, operation, what)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX usage_day ON usage (day);

	-- The last entry of each account that is part of its usage.
	CREATE TABLE usage_folded (
		account TEXT PRIMARY KEY,
		seq     INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	`,
	`
	-- Where accounts have changes sent. Times are nanoseconds since 1970.
	CREATE TABLE endpoints (
		no            INTEGER PRIMARY KEY,
		account       TEXT NOT NULL,
		name          TEXT NOT NULL,
		body          BLOB NOT NULL,    -- JSON: what the account wants, and the sealed secrets
		position      INTEGER NOT NULL, -- the place of the last change that was queued or passed over
		problem       TEXT NOT NULL,    -- why it is disabled; '' while it is active
		failing_since INTEGER,
		UNIQUE (account, name)
	) STRICT;

	-- A delivery refers to its change, and is removed with it.
	CREATE TABLE deliveries (
		endpoint  INTEGER NOT NULL, -- endpoints.no
		seq       INTEGER NOT NULL, -- of the change
		account   TEXT NOT NULL,
		state     TEXT NOT NULL,
		attempts  INTEGER NOT NULL,
		queued_at INTEGER NOT NULL,
		next_at   INTEGER,          -- NULL when there is no further attempt; while one is made, when its lease runs out
		last_at   INTEGER,
		status    INTEGER NOT NULL,
		detail    TEXT NOT NULL,
		lease     TEXT NOT NULL,
		PRIMARY KEY (endpoint, seq)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX deliveries_due ON deliveries (endpoint, next_at) WHERE next_at IS NOT NULL;
	CREATE INDEX deliveries_change ON deliveries (account, seq);
	CREATE TRIGGER changes_removed AFTER DELETE ON changes
	BEGIN DELETE FROM deliveries WHERE account = old.account AND seq = old.seq; END;
	`,
	`
	-- What may be kept for some time only is found by when it was read. Snapshots of before are looked at once.
	ALTER TABLE monitors ADD COLUMN platform TEXT NOT NULL DEFAULT '';
	ALTER TABLE monitors ADD COLUMN content_at INTEGER; -- when the oldest content was read; NULL when there is none
	UPDATE monitors SET platform = coalesce(json_extract(CAST(definition AS TEXT), '$.Platform'), ''), content_at = 0;
	CREATE INDEX monitors_content ON monitors (content_at) WHERE content_at IS NOT NULL;
	ALTER TABLE changes ADD COLUMN platform TEXT NOT NULL DEFAULT '';
	ALTER TABLE changes ADD COLUMN key TEXT NOT NULL DEFAULT '';        -- of the object
	ALTER TABLE changes ADD COLUMN content INTEGER NOT NULL DEFAULT 1; -- whether more of it is kept than that
	UPDATE changes SET platform = coalesce(json_extract(CAST(body AS TEXT), '$.platform'), ''),
		key = coalesce(json_extract(CAST(body AS TEXT), '$.key'), '');
	CREATE INDEX changes_content ON changes (at) WHERE content = 1;
	CREATE INDEX changes_key ON changes (account, monitor, key) WHERE key <> '';
	`,
	`
	-- What an account may set the limits of a key to, in JSON: NULL for what they are. The hash of the secret that the key had
	-- before its last rotation, and until when that is accepted.
	ALTER TABLE keys ADD COLUMN bounds TEXT;
	ALTER TABLE keys ADD COLUMN former_hash BLOB;
	ALTER TABLE keys ADD COLUMN former_until INTEGER;
	CREATE UNIQUE INDEX keys_former ON keys (former_hash) WHERE former_hash IS NOT NULL AND revoked_at IS NULL;
	`,
	`
	-- How large each account's feed is, which is bounded.
	CREATE TABLE feed_sizes (
		account TEXT PRIMARY KEY,
		bytes   INTEGER NOT NULL -- of the bodies of its changes
	) STRICT, WITHOUT ROWID;
	INSERT INTO feed_sizes SELECT account, sum(length(body)) FROM changes GROUP BY account;
	CREATE TRIGGER feed_grows AFTER INSERT ON changes
	BEGIN
		INSERT INTO feed_sizes VALUES (new.account, length(new.body))
			ON CONFLICT (account) DO UPDATE SET bytes = bytes + excluded.bytes;
	END;
	CREATE TRIGGER feed_changes AFTER UPDATE OF body ON changes
	BEGIN UPDATE feed_sizes SET bytes = bytes + length(new.body) - length(old.body) WHERE account = old.account; END;
	CREATE TRIGGER feed_shrinks AFTER DELETE ON changes
	BEGIN UPDATE feed_sizes SET bytes = bytes - length(old.body) WHERE account = old.account; END;
	`,
	`
	-- The entry of a charge without a hold costs a page of two indexes. That of the account serves queries for a platform,
	-- at 0.1 s for a million entries of the account that are passed over; two entries of different platforms with one
	-- number are left to the audit to find. That of holds serves queries for a request with whose id the hold begins, and
	-- that of requests has only the other entries. This takes 1.8 s for a million entries.
	DROP INDEX entries_account;
	DROP INDEX entries_platform;
	DROP INDEX entries_request;
	CREATE UNIQUE INDEX entries_account ON entries (account, seq, platform);
	CREATE INDEX entries_request ON entries (request_id, account, seq) WHERE ` + ownRequest + `;
	`,
}

// ownRequest selects the entries that the index of requests has: those whose hold does not begin with the request's id
// and "/", which is [credits.RequestEnd] and which "0" follows in the order of bytes. It is part of a migration and never
// changed.
const ownRequest = "request_id <> '' AND NOT (hold >= request_id || '/' AND hold < request_id || '0')"

// scrubbedVersion is the first version in which content that was removed cannot be read in the file.
const scrubbedVersion = firstVersion + 5

// breaking are the versions that the program of the previous version cannot serve, because it must not ignore what they
// add, or because they change what exists. Every other version only adds tables, indexes and columns with a default,
// the latter to tables whose statements name all columns; then a command of a newer program may migrate the file while
// the older one serves it.
var breaking = []int64{
	scrubbedVersion,   // an older program would store records without their subjects, and ignore erasures
	firstVersion + 11, // an older program names the index of platforms, and asks that of requests for all entries
}

// currentVersion is the version of this program.
var currentVersion = firstVersion + int64(len(migrations)) - 1

// migrate brings the file up to date, all or nothing.
func migrate(c *conn) error {
	if done, err := migrated(c); done || err != nil {
		return err
	}
	if err := forgetRemoved(c); err != nil {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := migrateLocked(c)
	if err == nil {
		err = c.script("COMMIT")
	}
	if err != nil {
		_ = c.script("ROLLBACK") // err has the cause
	}
	return err
}

// forgetRemoved rebuilds a file from which older programs have removed something, which they left readable.
func forgetRemoved(c *conn) error {
	version, err := c.number("PRAGMA user_version")
	if err != nil || version == 0 || version >= scrubbedVersion {
		return err
	}
	return c.script("VACUUM")
}

// migrated reports whether the file is up to date.
func migrated(c *conn) (bool, error) {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return false, err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return false, err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return false, err
	case id != applicationID && (id != 0 || version != 0 || tables != 0):
		return false, ErrForeign
	case version > 0 && version < firstVersion:
		return false, fmt.Errorf("%w: its version %d was never released; export it with the program that wrote it, and "+
			"import that into a new file", ErrForeign, version)
	}
	if version < currentVersion {
		return false, nil
	}
	return true, served(c.number)
}

func migrateLocked(c *conn) error {
	// Another process may have migrated it meanwhile.
	if done, err := migrated(c); done || err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	next := max(version+1, firstVersion)
	for i, text := range migrations[next-firstVersion:] {
		if err := c.script(text); err != nil {
			return fmt.Errorf("migration to version %d: %w", next+int64(i), err)
		}
	}
	if err := noteCompatible(c, !slices.Contains(breaking, currentVersion)); err != nil {
		return err
	}
	return c.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, currentVersion))
}
