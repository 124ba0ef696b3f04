package sqlite

import (
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/store/records"
)

// Config says which file to open and how.
type Config struct {
	Path   string           // the file, made when it is not there
	Admin  bool             // open beside the process that serves the file; nothing can be reserved then
	Now    func() time.Time // the clock; nil means time.Now
	Logger *slog.Logger     // nil discards

	// AcceptLoss serves a file that fails with ErrLost all the same. The loss is noted in the file, and audits report it.
	AcceptLoss bool

	// CachedAccounts and CachedKeys bound what is remembered; 0 means 100,000 of each.
	CachedAccounts, CachedKeys int
	// OwnerBytes is what the records of one owner may take; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is how often the times that keys were last used are written; 0 means 5 seconds.
	FlushEvery time.Duration
	// Readers is how many connections read; 0 means 4.
	Readers int

	mostUses int // see [keys.NewUses]; 0 but in a test
	atOnce   int // tasks that share a transaction at most; maxBatch but in a benchmark
}

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

// folding says that the process which serves the file folds the journal whenever nobody waits, and others only one that
// has become long.
func (c Config) folding() folding {
	f := folding{long: foldLong, failed: func(err error) { c.Logger.Error("sqlite: fold the journal", "error", err) }}
	if !c.Admin {
		f.idle, f.atEnd = foldAfter, true
	}
	return f
}
