package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Export writes every account, key (its hash, for nobody has the key) and entry that is there when it begins, as JSON
// Lines that every store can import; a key that is revoked meanwhile may be written as either. Holds and records are not
// part of it. It reads a page at a time, so that a reader who pauses keeps no transaction open.
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

// export is one that is under way. Its memory grows with the accounts, not with the entries.
type export struct {
	db    *DB
	parts []part
	there map[string]bool // accounts that are part of it
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

// keys writes the keys of the accounts that are part of it.
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

// entries writes the entries of the accounts that are part of it.
func (x *export) entries(ctx context.Context, out *bookkeeping.Writer) error {
	for _, p := range x.parts {
		err := x.db.eachEntry(ctx, p, func(_ int64, h *head, e credits.Entry) error {
			if h == nil {
				return nil // of an account that is not part of it, or is not there, which an audit finds
			}
			return out.Entry(e)
		})
		if err != nil {
			return fmt.Errorf("postgres: export: %w", err)
		}
	}
	return nil
}
