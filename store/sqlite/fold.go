package sqlite

import (
	"math"
	"time"
)

// folding says when the rows of the journal are moved into the table of entries and its indexes. A charge would have to
// wait for that otherwise, and many of them at a time cost less: each index is written a page at a time.
type folding struct {
	idle   time.Duration // how long nothing must have been written before all is folded; 0 means never
	long   int           // above how many entries in the journal each transaction folds some
	atEnd  bool          // fold all when the writer is closed
	failed func(error)   // hears of the first failure of a series
}

const (
	foldAfter = 100 * time.Millisecond
	// foldRetry is how long the next try waits when one has failed.
	foldRetry = 5 * time.Second
	// foldLong entries take some 5 MB of memory, and 30 ms to read when the file is opened.
	foldLong = 8_192
	// foldSome is how many entries are moved before the queue is looked at, while nobody waits: some milliseconds.
	foldSome = 256
	// foldMore is how many a transaction moves besides as many as it adds.
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

// due returns the rows of the journal that a transaction moves which adds so many entries: none while the journal is
// short, and else more than it adds, which bounds the journal. So all callers wait a little longer and none of them
// long, and the disk is not asked again.
func (f folding) due(t *tail, added int) []journalRow {
	if added == 0 || t.entries+added <= f.long {
		return nil
	}
	return t.first(added + foldMore)
}
