package bulk

import (
	"context"
	"fmt"

	"github.com/riverqueue/river/rivermigrate"
)

// Times are milliseconds since 1970; 0 means that there is no such time.
//
// A row of bulk_jobs with shown = 0 is being read from its file until alive is long ago, and one with shown = 2 is
// being removed; told is the state that was announced last. bulk_chunks has the chunks with open lines. One with
// river <> 0 is in River's queue as the job with that id; it was begun when begun > 0, so that it may be charged already,
// and a process has a lease of it until lease, under the number epoch. later is when it may be tried again. bulk_results
// has the chunks that have ended.
var tables = []string{
	`CREATE TABLE @bulk_jobs (
		id {text} PRIMARY KEY, shown BIGINT NOT NULL, account {text} NOT NULL, name {text} NOT NULL,
		api_key {text} NOT NULL, sum {text} NOT NULL, options {text} NOT NULL, state {text} NOT NULL,
		waiting_for {text} NOT NULL, need BIGINT NOT NULL, since BIGINT NOT NULL, created BIGINT NOT NULL,
		ended BIGINT NOT NULL, lines BIGINT NOT NULL, found BIGINT NOT NULL, missing BIGINT NOT NULL,
		failed BIGINT NOT NULL, refused BIGINT NOT NULL, least BIGINT NOT NULL, most BIGINT NOT NULL,
		used BIGINT NOT NULL, bytes BIGINT NOT NULL, last_line BIGINT NOT NULL, chunks BIGINT NOT NULL,
		platforms {text} NOT NULL, alive BIGINT NOT NULL, told {text} NOT NULL,
		rate_since BIGINT NOT NULL, rate_lines BIGINT NOT NULL, rate BIGINT NOT NULL)`,
	`CREATE UNIQUE INDEX bulk_jobs_name ON @bulk_jobs (account, name) WHERE shown = 1`,
	`CREATE INDEX bulk_jobs_state ON @bulk_jobs (shown, state)`,
	`CREATE TABLE @bulk_chunks (
		job {text} NOT NULL, number BIGINT NOT NULL, platform {text} NOT NULL, position BIGINT NOT NULL,
		cost BIGINT NOT NULL, most BIGINT NOT NULL, first_line BIGINT NOT NULL, lines {bytes} NOT NULL,
		attempt BIGINT NOT NULL, later BIGINT NOT NULL, river BIGINT NOT NULL, begun BIGINT NOT NULL,
		epoch BIGINT NOT NULL, lease BIGINT NOT NULL, holder {text} NOT NULL, PRIMARY KEY (job, number))`,
	`CREATE INDEX bulk_chunks_open ON @bulk_chunks (job, platform, river, later, position)`,
	`CREATE INDEX bulk_chunks_line ON @bulk_chunks (job, first_line)`,
	`CREATE INDEX bulk_chunks_river ON @bulk_chunks (river) WHERE river <> 0`,
	`CREATE TABLE @bulk_results (
		job {text} NOT NULL, number BIGINT NOT NULL, platform {text} NOT NULL, first_line BIGINT NOT NULL,
		last_line BIGINT NOT NULL, n BIGINT NOT NULL, bytes BIGINT NOT NULL, results {bytes} NOT NULL,
		stored BIGINT NOT NULL, PRIMARY KEY (job, number))`,
	`CREATE INDEX bulk_results_line ON @bulk_results (job, first_line)`,
}

// schemaVersion grows with the tables of this package, and with those of River that a newer version of it needs.
const schemaVersion = 1

// migrate makes the tables of River and of this package.
func (s *Service) migrate(ctx context.Context) error {
	var version int64
	if err := s.read(ctx, func(t tx) error {
		_, err := t.row([]any{&version}, "SELECT max(version) FROM @bulk_schema")
		return err
	}); err == nil && version == schemaVersion { // else it is new, or older
		return nil
	}
	m, err := rivermigrate.New(s.db.driver, &rivermigrate.Config{Logger: s.riverLog(), Schema: s.db.schema})
	if err != nil {
		return err
	}
	for more := true; more; { // one version in a transaction: PostgreSQL wants a new value of an enum committed
		if err := s.migrating(ctx, func(t tx) error {
			step := &rivermigrate.MigrateOpts{MaxSteps: 1}
			applied, err := m.MigrateTx(ctx, t.sql, rivermigrate.DirectionUp, step) //nolint:staticcheck // one at a time, under the lock
			if err != nil {
				return fmt.Errorf("bulk: the tables of River: %w", err)
			}
			more = len(applied.Versions) > 0
			return nil
		}); err != nil {
			return err
		}
	}
	return s.migrating(ctx, func(t tx) error {
		if _, err := t.exec("CREATE TABLE IF NOT EXISTS @bulk_schema (version BIGINT NOT NULL)"); err != nil {
			return err
		}
		var version int64
		if _, err := t.row([]any{&version}, "SELECT coalesce(max(version), 0) FROM @bulk_schema"); err != nil {
			return err
		}
		switch {
		case version > schemaVersion:
			return fmt.Errorf("bulk: the tables have version %d of a newer program; this one has %d", version, schemaVersion)
		case version == schemaVersion:
			return nil
		}
		for _, statement := range tables {
			if _, err := t.exec(statement); err != nil {
				return err
			}
		}
		_, err := t.exec("INSERT INTO @bulk_schema VALUES ($1)", schemaVersion)
		return err
	})
}

// migrating runs do in a transaction in which no other process migrates.
func (s *Service) migrating(ctx context.Context, do func(tx) error) error {
	return s.write(ctx, func(t tx) error {
		if s.db.lock != "" {
			if _, err := t.exec(s.db.lock); err != nil {
				return err
			}
		}
		return do(t)
	})
}
