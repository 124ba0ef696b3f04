package requests

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// Books is the part of a ledger that [Fold] reads.
type Books interface {
	// Entries is [credits.Ledger.Entries].
	Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error)
}

// foldedAtOnce is how many entries one query of the ledger returns.
const foldedAtOnce = 1000

// Fold adds the entries of an account that are not in its usage yet, each exactly once, even with concurrent calls. It
// leaves out those from before since. When it returns nil, the usage includes at least the entries from before the
// call.
func Fold(ctx context.Context, s Store, books Books, account string, since time.Time) error {
	for {
		after, err := s.Folded(ctx, account)
		if err != nil {
			return err
		}
		through, tallies, err := unfolded(ctx, books, account, after, since)
		if err != nil || through == after {
			return err
		}
		if err := s.Fold(ctx, account, after, through, tallies); !errors.Is(err, ErrFolded) {
			return err
		}
	}
}

// unfolded counts the account's entries after number after, newest first, and returns the number of the last.
func unfolded(
	ctx context.Context, books Books, account string, after int64, since time.Time,
) (through int64, _ []Tally, err error) {
	through, counted := after, Tallies{}
	for q := (credits.Query{Account: account, Limit: foldedAtOnce}); ; {
		entries, err := books.Entries(ctx, q)
		if err != nil {
			return 0, nil, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Seq <= after || e.At.Before(since) {
				return through, counted.List(), nil
			}
			through = max(through, e.Seq)
			counted.Entry(e)
		}
		if len(entries) < foldedAtOnce {
			return through, counted.List(), nil
		}
		q.Before = entries[len(entries)-1].Seq
	}
}
