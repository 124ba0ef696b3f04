package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Export writes every account, key (its hash, since the key itself is not stored) and entry that exists when it begins,
// as JSON Lines that every store can import. A key that is revoked meanwhile may be written as either. Holds and
// records are not exported. Export reads a page at a time, so that a slow reader does not keep a transaction open.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	out, err := bookkeeping.NewWriter(w)
	if err != nil {
		return err
	}
	x, err := db.exportAccounts(ctx, out)
	if err == nil {
		err = x.keys(ctx, out)
	}
	if err == nil {
		err = x.entries(ctx, out)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// export is an export in progress. Its memory grows with the accounts, not with the entries.
type export struct {
	db    *DB
	parts []part
	there map[string]bool // accounts that are exported
}

// exportAccounts begins an export.
func (db *DB) exportAccounts(ctx context.Context, out *bookkeeping.Writer) (*export, error) {
	x := &export{db: db, there: map[string]bool{}}
	err := db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			if err := out.Account(h.Account); err != nil {
				return err
			}
			x.there[h.ID] = true
		}
		x.parts = append(x.parts, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: export: %w", err)
	}
	return x, nil
}

// keys writes the keys of the accounts that are exported.
func (x *export) keys(ctx context.Context, out *bookkeeping.Writer) error {
	err := x.db.eachKey(ctx, func(k keys.Key) error {
		if !x.there[k.Account] {
			return nil
		}
		return out.Key(k)
	})
	if err != nil {
		return fmt.Errorf("postgres: export: %w", err)
	}
	return nil
}

// entries writes the entries of the accounts that are exported.
func (x *export) entries(ctx context.Context, out *bookkeeping.Writer) error {
	for _, p := range x.parts {
		err := x.db.eachEntry(ctx, p, func(_ int64, h *head, e credits.Entry) error {
			if h == nil {
				return nil // of a new account, or of a missing one, which an audit reports
			}
			return out.Entry(e)
		})
		if err != nil {
			return fmt.Errorf("postgres: export: %w", err)
		}
	}
	return nil
}
