package sqlite

import "fmt"

// applicationID marks the file as ours, in its header: "sdat".
const applicationID = 0x73646174

// firstVersion is what migrations[0] makes of an empty file. Those before it were never released.
const firstVersion = 4

// migrations make an empty file one of firstVersion, and bring a file of each version to the next one. A released one is
// never changed; a new one is added.
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

	-- What the records of each owner take, kept by the triggers whoever writes.
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
}

// currentVersion is what this program works with.
var currentVersion = firstVersion + int64(len(migrations)) - 1

// migrate brings the file up to date, all or nothing.
func migrate(c *conn) error {
	if done, err := migrated(c); done || err != nil {
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
		_ = c.script("ROLLBACK") // err says it already
	}
	return err
}

// migrated reports whether nothing is to be done.
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
	return version == currentVersion, newer(version)
}

// newer returns ErrNewer, and what to do, for a version that this program does not know.
func newer(version int64) error {
	if version <= currentVersion {
		return nil
	}
	return fmt.Errorf("%w: it has version %d, and this program knows versions up to %d; use the program that wrote it or a "+
		"later one, or let that one export it and import that into a new file", ErrNewer, version, currentVersion)
}

func migrateLocked(c *conn) error {
	// Another process may have been faster.
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
	return c.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, currentVersion))
}
