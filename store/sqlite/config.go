package sqlite

import (
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/store/records"
)

// Config is the configuration of a [DB].
type Config struct {
	Path   string           // the file, which is created if it does not exist
	Admin  bool             // open while another process serves the file; credits cannot be reserved
	Now    func() time.Time // the clock; nil means time.Now
	Logger *slog.Logger     // nil disables logging

	// AcceptLoss serves a file that would otherwise fail with ErrLost. The loss is recorded in the file, and audits
	// report it.
	AcceptLoss bool

	// CachedAccounts and CachedKeys limit how many are kept in memory; 0 means 100,000 of each.
	CachedAccounts, CachedKeys int
	// OwnerBytes is how many bytes the records of one owner can have; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is the interval at which the times of the last use of keys are written; 0 means 5 seconds.
	FlushEvery time.Duration
	// Readers is how many connections read; 0 means 4.
	Readers int

	mostUses int // see [keys.NewUses]; 0 except in a test
	atOnce   int // maximum number of tasks that share a transaction; maxBatch except in a benchmark
}

// maxBatch is the maximum number of tasks that share a transaction, except in a benchmark.
const maxBatch = 256

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CachedAccounts <= 0 {
		c.CachedAccounts = 100_000
	}
	if c.CachedKeys <= 0 {
		c.CachedKeys = 100_000
	}
	if c.OwnerBytes <= 0 {
		c.OwnerBytes = records.DefaultOwnerBytes
	}
	if c.FlushEvery <= 0 {
		c.FlushEvery = 5 * time.Second
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	if c.atOnce <= 0 {
		c.atOnce = maxBatch
	}
	return c
}

// folding returns when this process folds the journal: if it serves the file, whenever no caller waits; if not, only
// when the journal is long.
func (c Config) folding() folding {
	f := folding{long: foldLong, failed: func(err error) { c.Logger.Error("sqlite: fold the journal", "error", err) }}
	if !c.Admin {
		f.idle, f.atEnd = foldAfter, true
	}
	return f
}
