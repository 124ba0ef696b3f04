package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Heads writes the last entry of every account, and every key, as JSON Lines of some 150 bytes each. If they are stored
// where someone who can write the database cannot write, [DB.AuditAgainst] detects what an audit of the database alone
// cannot: that the last entries of an account were removed with all their traces, that a whole history was rewritten,
// or that a revoked key became valid again.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	out := bookkeeping.NewHeadsWriter(w)
	if err := db.heads(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

func (db *DB) heads(ctx context.Context, out *bookkeeping.HeadsWriter) error {
	err := db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			if err := out.Account(h.ID, h.last); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.eachKey(ctx, out.Key)
	}
	if err == nil { // what was read may have been committed only just now: see commitThenFlush
		_, err = db.pool.Exec(ctx, sqlFlush)
	}
	if err != nil {
		return fmt.Errorf("postgres: heads: %w", err)
	}
	return nil
}
