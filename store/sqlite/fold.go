package sqlite

import (
	"math"
	"time"
)

// folding is when the rows of the journal are moved into the table of entries and its indexes. That is not done as a
// part of each charge, so that charges do not wait for it, and because moving many entries together costs less: each
// page of an index is written once.
type folding struct {
	idle   time.Duration // how long there must have been no write before all is folded; 0 means never
	long   int           // number of entries in the journal above which each transaction folds some
	atEnd  bool          // whether to fold all when the writer is closed
	failed func(error)   // is called with the first error of a series
}

const (
	foldAfter = 100 * time.Millisecond
	// foldRetry is the pause after an attempt that has failed.
	foldRetry = 5 * time.Second
	// foldLong is the number of entries above which each transaction folds some. So many take some 5 MB of memory, and
	// 30 ms to read when the file is opened.
	foldLong = 8_192
	// foldSome is how many entries are moved before the queue is checked, while no caller waits. It takes some
	// milliseconds.
	foldSome = 256
	// foldMore is how many more entries a transaction moves than it adds.
	foldMore = 8
)

// wait returns how long the writer waits for callers before it folds.
func (f folding) wait(failed error) time.Duration {
	switch {
	case f.idle == 0:
		return math.MaxInt64
	case failed != nil:
		return foldRetry
	}
	return f.idle
}

// due returns the rows of the journal that a transaction with added entries moves: none while the journal is short, and
// otherwise more than it adds, so that the journal stays limited. All callers then wait a little longer, none of them
// long, and no further sync of the disk is needed.
func (f folding) due(t *tail, added int) []journalRow {
	if added == 0 || t.entries+added <= f.long {
		return nil
	}
	return t.first(added + foldMore)
}
