package sqlite

import (
	"log/slog"
	"time"
)

// Config is the configuration of a [DB].
type Config struct {
	Path string // the file, which is created if it does not exist
	// Admin opens the file for a command, also while another process serves it.
	Admin  bool
	Now    func() time.Time // the clock; nil means time.Now
	Logger *slog.Logger     // nil disables logging

	// AcceptLoss serves a file that would otherwise fail with ErrLost. The loss is recorded in the file, and audits
	// report it.
	AcceptLoss bool

	// OwnerBytes is how many bytes the records of one owner can have; 0 means records.DefaultOwnerBytes.
	OwnerBytes int64
	// FlushEvery is the interval at which the times of the last use of keys are written; 0 means 5 seconds.
	FlushEvery time.Duration
	// Readers is how many connections read; 0 means 4.
	Readers int

	maxUses    int           // see [keys.NewUses]; 0 except in a test
	checkEvery time.Duration // see [sqlstore.Config]; 0 except in a test
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	return c
}
