package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Export implements [bookkeeping.Bookkeeper]. It reads a page at a time, so that a slow reader holds no snapshot.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	out, err := bookkeeping.NewWriter(w)
	if err != nil {
		return err
	}
	x := &exporter{db: db, out: out, accounts: map[string]bool{}}
	for _, step := range []func(context.Context) error{
		x.exportAccounts, x.exportKeys, x.exportEntries, x.exportMonitors, x.exportFeeds, x.exportEndpoints, x.exportRecords,
		x.exportBlocklist, // last, so that it includes blocks made during the export
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("store: export: %w", err)
		}
	}
	return out.Close()
}

// exporter is an export in progress. Its memory grows with the accounts, not with the entries.
type exporter struct {
	db       *DB
	out      *bookkeeping.Writer
	parts    []*part
	accounts map[string]bool // the ids of those that are exported; others were made after it had begun
}

func (x *exporter) exportAccounts(ctx context.Context) error {
	return x.db.eachPart(ctx, func(p *part) error {
		for _, h := range p.heads {
			if err := x.out.Account(h.account); err != nil {
				return err
			}
			x.accounts[h.account.ID] = true
		}
		x.parts = append(x.parts, p)
		return nil
	})
}

func (x *exporter) exportKeys(ctx context.Context) error {
	if err := x.db.keys.flush(ctx); err != nil { // so that the times of the last use are those of now
		return err
	}
	return x.db.eachKey(ctx, func(k *numberedKey) error {
		if !x.accounts[k.Account] {
			return nil
		}
		return x.out.Key(k.Key)
	})
}

func (x *exporter) exportEntries(ctx context.Context) error {
	for _, p := range x.parts {
		err := x.db.eachEntry(ctx, p, func(h *head, e *numberedEntry) error {
			if h == nil {
				return nil // of a new account, or of a missing one, which an audit reports
			}
			return x.out.Entry(e.Entry)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// monitorsAtOnce is how many monitors, which have a snapshot each, one query of an export reads.
const monitorsAtOnce = 100

func (x *exporter) exportMonitors(ctx context.Context) error {
	return pages(func(last monitorRow) ([]monitorRow, error) {
		return list(ctx, x.db, scanMonitor, "SELECT "+monitorColumns+" FROM @monitors WHERE no > ? ORDER BY no LIMIT ?",
			last.no, monitorsAtOnce)
	}, func(m *monitorRow) error {
		if !x.accounts[m.Account] {
			return nil
		}
		return x.out.Monitor(m.Monitor)
	})
}

func (x *exporter) exportFeeds(ctx context.Context) error {
	return x.each(ctx, func(r row) (func() error, error) {
		var account string
		var seq int64
		err := r.Scan(&account, &seq)
		return func() error {
			if !x.accounts[account] {
				return nil
			}
			return x.out.Feed(account, seq)
		}, err
	}, "SELECT account, seq FROM @feeds WHERE seq > 0 ORDER BY account")
}

func (x *exporter) exportEndpoints(ctx context.Context) error {
	return x.each(ctx, func(r row) (func() error, error) {
		e, err := scanEndpoint(r)
		return func() error {
			if !x.accounts[e.Account] {
				return nil
			}
			return x.out.Endpoint(e.Endpoint)
		}, err
	}, "SELECT "+endpointColumns+" FROM @endpoints e ORDER BY no")
}

func (x *exporter) exportRecords(ctx context.Context) error {
	return x.each(ctx, func(r row) (func() error, error) {
		var v records.Record
		var key, subjects []byte
		var expires int64
		err := r.Scan(&key, &v.Owner, &v.Value, &subjects, &expires)
		v.Key, v.Subjects = string(key), privacy.Marks(subjects)
		return func() error { return x.out.Record(v, fromNanos(expires)) }, err
	}, "SELECT key, owner, value, subjects, expires FROM @records WHERE expires > "+sqlNow+" + ? ORDER BY key", x.db.clock(),
		int64(bookkeeping.Lasting))
}

func (x *exporter) exportBlocklist(ctx context.Context) error {
	b, err := one(ctx, x.db, func(r row) (b bookkeeping.Blocklist, err error) {
		err = r.Scan(&b.Secret, &b.Epoch)
		return b, err
	}, "SELECT secret, epoch FROM @privacy")
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := x.each(ctx, func(r row) (func() error, error) {
		var digest []byte
		var name int64
		err := r.Scan(&digest, &name)
		b.Block(digest, privacy.Name(name))
		return func() error { return nil }, err
	}, "SELECT subject, name FROM @blocked ORDER BY subject, name"); err != nil {
		return err
	}
	if err := x.out.Blocklist(b); err != nil {
		return err
	}
	return x.each(ctx, func(r row) (func() error, error) {
		body, err := scanOne[[]byte](r)
		if err != nil {
			return nil, err
		}
		receipt, err := readReceipt(body)
		return func() error { return x.out.Receipt(receipt) }, err
	}, "SELECT body FROM @receipts ORDER BY no")
}

// each writes each row of a query, after it has read all of them. scan returns what writes a row.
func (x *exporter) each(
	ctx context.Context, scan func(row) (write func() error, err error), query string, args ...any,
) error {
	all, err := list(ctx, x.db, scan, query, args...)
	if err != nil {
		return err
	}
	for _, write := range all {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}
