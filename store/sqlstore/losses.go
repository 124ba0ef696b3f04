package sqlstore

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// AcceptLoss records that entries are missing, and that the database is served all the same. Audits report it.
func (db *DB) AcceptLoss(ctx context.Context, l bookkeeping.Loss) error {
	return db.write(ctx, func(t tx) error {
		return t.exec(
			"INSERT INTO @losses (accepted, at, had_entries, had_credits, entries, credits) VALUES (?, ?, ?, ?, ?, ?)",
			time.Now().UnixMicro(),
			l.At.UnixMicro(),
			l.HadEntries,
			l.HadCredits,
			l.Entries,
			l.Credits,
		)
	})
}
