package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Heads writes what stands for every account's entries and every key, each as it is at one moment, as JSON Lines of some
// 150 bytes each. Kept where nobody who can write the database can write, they let [DB.AuditAgainst] find out what an
// audit of the database alone cannot: that the last entries of an account were taken away with all their traces, that a
// whole history was written anew, or that a key was brought back to life.
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
	if err != nil {
		return fmt.Errorf("postgres: heads: %w", err)
	}
	return nil
}
