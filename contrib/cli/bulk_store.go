package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/contrib/bulk"
)

// bulkFlags configure bulk jobs.
type bulkFlags struct {
	BulkResults string        `help:"Write the results of bulk jobs into this directory, as ACCOUNT/NAME-ID/CHUNK.ndjson.gz, and not into the database." env:"SOCIALDATA_BULK_RESULTS" type:"path" placeholder:"DIRECTORY" group:"where"`
	BulkSpace   int64         `help:"How many MiB the results of one account's bulk jobs can take in the database, compressed. A job that needs more waits." default:"1024" env:"SOCIALDATA_BULK_SPACE" placeholder:"MIB" group:"where"`
	BulkKeep    time.Duration `help:"How long a bulk job is kept with its results after its end." default:"720h" env:"SOCIALDATA_BULK_KEEP" group:"where"`
	BulkRetry   time.Duration `help:"The time in which a line of a bulk job that cannot be read is tried 8 times." default:"24h" env:"SOCIALDATA_BULK_RETRY" group:"where"`
}

// config returns the configuration of bulk jobs.
func (f bulkFlags) config(log *slog.Logger) (bulk.Config, error) {
	if f.BulkSpace < 1 || f.BulkKeep <= 0 || f.BulkRetry <= 0 {
		return bulk.Config{}, misusef("--bulk-space, --bulk-keep and --bulk-retry must be positive")
	}
	cfg := bulk.Config{ResultBytes: f.BulkSpace << 20, Keep: f.BulkKeep, RetryFor: f.BulkRetry, Logger: log}
	if f.BulkResults != "" {
		cfg.Sink = bulk.Directory(f.BulkResults)
	}
	return cfg, nil
}

// idleBulk are the bulk jobs of a database, none of which is worked.
type idleBulk struct{ bulkjob.Service }

// Run implements [bulkjob.Service].
func (idleBulk) Run(ctx context.Context, _ bulkjob.Worker) error {
	<-ctx.Done()
	return nil
}
