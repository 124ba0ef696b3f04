package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// migrations bring a database from version i to i+1. A released one is never changed; new ones are appended. Statements
// end with a semicolon at the end of a line.
//
// Times of entries, accounts, keys and requests are microseconds since 1970, all others nanoseconds.
var migrations = []string{
	`
	CREATE TABLE @accounts (
		no         {id}, -- what other tables call it: short, so that their indexes are
		id         {text} NOT NULL UNIQUE,
		name       {text} NOT NULL UNIQUE,
		created_at {int} NOT NULL,
		-- The account's last entry. A transaction that writes entries or holds of the account locks this row first.
		seq        {int} NOT NULL DEFAULT 0,
		balance    {int} NOT NULL DEFAULT 0,
		at         {int} NOT NULL DEFAULT 0,
		hash       {bytes} NOT NULL
	) {spare};

	CREATE TABLE @keys (
		no           {id},
		id           {text} NOT NULL UNIQUE,
		account      {text} NOT NULL REFERENCES @accounts (id), -- and not its number: a look-up then reads one table
		name         {text} NOT NULL,
		prefix       {text} NOT NULL,
		hash         {bytes} NOT NULL,
		environment  {text} NOT NULL CHECK (environment IN ('live', 'test')),
		created_at   {int} NOT NULL,
		last_used_at {int},
		revoked_at   {int},
		capacity     {int}, -- of the key's own rate; NULL for the default
		refill       {real},
		day_cap      {int},
		total_cap    {int},
		manage       {int} NOT NULL CHECK (manage IN (0, 1)),
		bounds       {text},  -- what the account may set the limits to, in JSON; NULL for what they are
		former_hash  {bytes}, -- of the secret before the last rotation, and until when that is accepted
		former_until {int}
	) {spare};
	CREATE INDEX keys_account ON @keys (account);
	-- Without the revoked ones: looking for one of those costs what looking for any unknown key costs.
	CREATE UNIQUE INDEX keys_hash ON @keys (hash) WHERE revoked_at IS NULL;
	CREATE UNIQUE INDEX keys_former ON @keys (former_hash) WHERE former_hash IS NOT NULL AND revoked_at IS NULL;

	CREATE TABLE @entries (
		account    {int} NOT NULL, -- accounts.no; not checked on each entry, but by the audit
		seq        {int} NOT NULL,
		kind       {text} NOT NULL,
		amount     {int} NOT NULL,
		balance    {int} NOT NULL CHECK (balance >= 0),
		key        {text} NOT NULL,
		operation  {text} NOT NULL,
		platform   {text} NOT NULL,
		request_id {text} NOT NULL,
		cache      {text} NOT NULL,
		reason     {text} NOT NULL,
		hold       {text} NOT NULL,
		idempotency_key {text} NOT NULL,
		at         {int} NOT NULL,
		clock      {int}, -- what the clock showed, if that was before at; else NULL
		hash       {bytes} NOT NULL
	) {strict};
	-- The entry of a charge without a hold is in two indexes. That of the account also has the platform, so that the
	-- entries of one platform are found without the table; that of holds has the charges of a request, whose holds begin
	-- with its id, and that of requests has only the other entries.
	CREATE UNIQUE INDEX entries_account ON @entries (account, seq, platform);
	CREATE UNIQUE INDEX entries_hold ON @entries (hold) WHERE hold <> ''; -- no hold is ever charged twice
	CREATE INDEX entries_request ON @entries (request_id, account, seq) WHERE ` + ownRequest + `;
	CREATE INDEX entries_keyed ON @entries (account, idempotency_key, seq) WHERE idempotency_key <> '';

	CREATE TABLE @holds (
		id      {text} PRIMARY KEY,
		account {int} NOT NULL,
		key     {text} NOT NULL,
		amount  {int} NOT NULL CHECK (amount >= 0),
		expires {int} NOT NULL,
		charged {int} -- once it has ended without an entry of its own
	) {spare};
	CREATE INDEX holds_account ON @holds (account, expires) WHERE charged IS NULL;
	CREATE INDEX holds_expires ON @holds (expires);

	-- What a key with a cap has spent. A key without a row never had one.
	CREATE TABLE @spending (
		account {int} NOT NULL,
		key     {text} NOT NULL,
		total   {int} NOT NULL,
		day     {int} NOT NULL, -- UTC days since 1970
		today   {int} NOT NULL, -- of total, what was spent on that day
		PRIMARY KEY (account, key)
	) {spare};

	-- Entries that were missing when the database was served all the same.
	CREATE TABLE @losses (
		no          {id},
		accepted    {int} NOT NULL,
		at          {int} NOT NULL, -- when there were that many entries and credits
		had_entries {int} NOT NULL,
		had_credits {int} NOT NULL,
		entries     {int} NOT NULL,
		credits     {int} NOT NULL
	) {strict};

	CREATE TABLE @records (
		key      {bytes} PRIMARY KEY,
		owner    {text} NOT NULL,
		value    {bytes} NOT NULL,
		version  {int} NOT NULL, -- a new random one with every write
		expires  {int} NOT NULL,
		subjects {bytes} NOT NULL -- the keyed hashes of everyone in it, in pairs
	) {spare};
	CREATE INDEX records_expires ON @records (expires);
	CREATE INDEX records_owner ON @records (owner, expires) WHERE owner <> '';
	-- What the records of each owner take, expired ones among them.
	CREATE TABLE @record_owners (
		owner {text} PRIMARY KEY,
		bytes {int} NOT NULL
	) {spare};

	CREATE TABLE @monitors (
		no         {id},
		account    {text} NOT NULL,
		name       {text} NOT NULL,
		platform   {text} NOT NULL,
		key        {text} NOT NULL,  -- the id of the key that pays
		paused     {int} NOT NULL,
		created_at {int} NOT NULL,
		feed       {text} NOT NULL,  -- the hash of the token of its feed; '' if it has none
		baseline   {int} NOT NULL,
		definition {bytes} NOT NULL, -- JSON
		progress   {bytes} NOT NULL, -- JSON, with the snapshot
		content_at {int},            -- when the oldest content was read; NULL when there is none
		next_at    {int},            -- NULL when it is not polled
		lease      {text} NOT NULL,  -- of the poll that is under way
		until      {int} NOT NULL,   -- when the lease runs out
		UNIQUE (account, name)
	) {spare};
	CREATE INDEX monitors_due ON @monitors (next_at) WHERE next_at IS NOT NULL;
	CREATE UNIQUE INDEX monitors_feed ON @monitors (feed) WHERE feed <> '';
	CREATE INDEX monitors_content ON @monitors (content_at) WHERE content_at IS NOT NULL;

	CREATE TABLE @changes (
		account  {text} NOT NULL,
		seq      {int} NOT NULL,
		id       {text} NOT NULL,
		at       {int} NOT NULL,
		monitor  {text} NOT NULL,  -- '' for what concerns the account
		type     {text} NOT NULL,
		platform {text} NOT NULL,
		key      {text} NOT NULL,  -- of the object
		content  {int} NOT NULL,   -- whether more of it is kept than platform and key
		body     {bytes} NOT NULL, -- JSON
		PRIMARY KEY (account, seq),
		UNIQUE (account, id)
	) {strict};
	CREATE INDEX changes_at ON @changes (at);
	CREATE INDEX changes_content ON @changes (at) WHERE content = 1;
	CREATE INDEX changes_key ON @changes (account, monitor, key) WHERE key <> '';

	-- The number of each account's last change, which is not given again when that is removed, and the bytes of the
	-- bodies of its changes. A transaction that adds changes locks the row first.
	CREATE TABLE @feeds (
		account {text} PRIMARY KEY,
		seq     {int} NOT NULL,
		bytes   {int} NOT NULL
	) {spare};

	CREATE TABLE @samples (
		monitor {int} NOT NULL, -- monitors.no
		field   {text} NOT NULL,
		at      {int} NOT NULL,
		value   {real} NOT NULL,
		PRIMARY KEY (monitor, field, at)
	) {strict};
	CREATE INDEX samples_at ON @samples (at);

	-- Where accounts have changes sent.
	CREATE TABLE @endpoints (
		no            {id},
		account       {text} NOT NULL,
		name          {text} NOT NULL,
		body          {bytes} NOT NULL, -- JSON: what the account wants, and the sealed secrets
		position      {int} NOT NULL,   -- the number of the last change that was queued or passed over
		problem       {text} NOT NULL,  -- why it is disabled; '' while it is active
		failing_since {int},
		UNIQUE (account, name)
	) {spare};

	-- A delivery refers to its change and its endpoint, and is removed with either.
	CREATE TABLE @deliveries (
		endpoint  {int} NOT NULL REFERENCES @endpoints (no) ON DELETE CASCADE,
		seq       {int} NOT NULL, -- of the change
		account   {text} NOT NULL,
		state     {text} NOT NULL,
		attempts  {int} NOT NULL DEFAULT 0,
		queued_at {int} NOT NULL,
		next_at   {int},          -- NULL when there is no further attempt; during one, when its lease runs out
		last_at   {int},
		status    {int} NOT NULL DEFAULT 0,
		detail    {text} NOT NULL DEFAULT '',
		lease     {text} NOT NULL DEFAULT '',
		PRIMARY KEY (endpoint, seq),
		FOREIGN KEY (account, seq) REFERENCES @changes (account, seq) ON DELETE CASCADE
	) {spare};
	CREATE INDEX deliveries_due ON @deliveries (endpoint, next_at) WHERE next_at IS NOT NULL;
	CREATE INDEX deliveries_change ON @deliveries (account, seq);

	-- The request log: a row for each batch, packed.
	CREATE TABLE @requests (
		no    {id},
		at    {int} NOT NULL, -- of the last request
		n     {int} NOT NULL,
		batch {bytes} NOT NULL
	) {strict};

	-- What usage adds up to, and the last entry of each account that is part of it.
	CREATE TABLE @usage (
		account   {text} NOT NULL,
		day       {int} NOT NULL, -- UTC days since 1970
		key       {text} NOT NULL,
		platform  {text} NOT NULL,
		operation {text} NOT NULL,
		what      {text} NOT NULL,
		n         {int} NOT NULL,
		PRIMARY KEY (account, day, key, platform, operation, what)
	) {spare};
	CREATE INDEX usage_day ON @usage (day);
	CREATE TABLE @usage_folded (
		account {text} PRIMARY KEY,
		seq     {int} NOT NULL
	) {spare};

	-- The secret of the keyed hashes, and the epoch: how often it was announced that something is erased or blocked.
	CREATE TABLE @privacy (
		one    {int} PRIMARY KEY CHECK (one = 1),
		secret {bytes} NOT NULL,
		epoch  {int} NOT NULL
	) {strict};
	CREATE TABLE @blocked (
		subject {bytes} NOT NULL, -- HMAC-SHA-256
		name    {int} NOT NULL,   -- keyed hash
		PRIMARY KEY (subject, name)
	) {strict};
	CREATE TABLE @erased (
		epoch {int} NOT NULL,
		name  {int} NOT NULL,
		at    {int} NOT NULL,
		PRIMARY KEY (epoch, name)
	) {strict};
	CREATE TABLE @processes (
		id    {text} PRIMARY KEY,
		epoch {int} NOT NULL,
		seen  {int} NOT NULL
	) {spare};
	CREATE TABLE @receipts (
		no   {int} PRIMARY KEY,
		body {bytes} NOT NULL -- JSON
	) {strict};
	`,
	`
	ALTER TABLE @accounts ADD COLUMN monthly {int} NOT NULL DEFAULT 0; -- credits that the account is granted every month
	ALTER TABLE @accounts ADD COLUMN closed_at {int}; -- NULL while it is open
	`,
	`
	ALTER TABLE @monitors ADD COLUMN panel {text} NOT NULL DEFAULT '';   -- of a member, the name of its panel
	ALTER TABLE @monitors ADD COLUMN together {int} NOT NULL DEFAULT 0;  -- of a member, whether it polls with others at once
	ALTER TABLE @monitors ADD COLUMN stage {text} NOT NULL DEFAULT '';   -- of a member, what its last poll has come to
	ALTER TABLE @monitors ADD COLUMN read_at {int} NOT NULL DEFAULT 0;   -- when it was read last; 0 before
	ALTER TABLE @monitors ADD COLUMN month {text} NOT NULL DEFAULT '';   -- in which credits were charged for it
	ALTER TABLE @monitors ADD COLUMN credits {int} NOT NULL DEFAULT 0;
	CREATE INDEX monitors_panel ON @monitors (account, panel, until) WHERE panel <> '';
	`,
}

// appendOnly are the tables whose rows are never changed or removed.
var appendOnly = []string{"entries", "losses", "receipts"}

// ownRequest selects the entries that the index of requests has: those whose hold does not begin with the request's id
// and "/", which is [credits.RequestEnd] and which "0" follows in the order of bytes. It is part of a migration and
// never changed.
const ownRequest = "request_id <> '' AND NOT (hold >= request_id || '/' AND hold < request_id || '0')"

// breaking are the versions that a program of the previous version cannot serve, because it must not ignore what they
// add, or because they change what exists. Every other version only adds tables, indexes, and columns with a default.
var breaking = []int64{1}

// Version is the version of the schema that this program makes and serves.
var Version = int64(len(migrations))

// migrate brings the database up to date, all or nothing.
func (db *DB) migrate(ctx context.Context) error {
	if v, _, err := db.stored(ctx); err != nil || v >= Version {
		return err
	}
	return db.write(ctx, func(t tx) error {
		if db.dialect.LockSchema != "" {
			if err := t.exec(db.dialect.LockSchema); err != nil {
				return err
			}
		}
		if err := t.exec("CREATE TABLE IF NOT EXISTS @schema_versions (" +
			"version {int} PRIMARY KEY, compatible {int} NOT NULL) {strict}"); err != nil {
			return err
		}
		var from int64
		if err := t.row([]any{&from}, "SELECT coalesce(max(version), 0) FROM @schema_versions"); err != nil {
			return err
		}
		for n := from + 1; n <= Version; n++ {
			if err := t.migrate(n); err != nil {
				return fmt.Errorf("migration to version %d: %w", n, err)
			}
		}
		return nil
	})
}

// migrate brings the database to version n from the one before.
func (t tx) migrate(n int64) error {
	statements := strings.Split(strings.TrimSpace(withoutComments(migrations[n-1])), ";\n")
	if n == 1 {
		for _, table := range appendOnly {
			statements = append(statements, strings.Split(t.db.dialect.AppendOnly(table), ";\n")...)
		}
	}
	for _, s := range statements {
		if s = strings.TrimSuffix(strings.TrimSpace(s), ";"); s == "" {
			continue
		}
		if err := t.exec(s); err != nil {
			return err
		}
	}
	return t.exec("INSERT INTO @schema_versions (version, compatible) VALUES (?, ?)", n, bit(!isBreaking(n)))
}

// withoutComments removes comments, which may have characters that mean something in a statement.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(strings.TrimRight(code, " \t\n") + "\n")
	}
	return b.String()
}
