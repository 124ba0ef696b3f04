package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// export writes everything that is in the file when it begins.
func export(ctx context.Context, pool *sql.DB, w io.Writer) error {
	out, err := bookkeeping.NewWriter(w)
	if err != nil {
		return err
	}
	x := exporter{pool: pool, out: out}
	for _, step := range []func(context.Context) error{x.begin, x.accounts, x.keys, x.entries, x.journal} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return out.Close()
}

type exporter struct {
	pool *sql.DB
	out  *bookkeeping.Writer
	last [3]int64   // the last account, key and folded entry to export
	tail []numbered // the entries that were not folded when it began
}

// begin notes what is to be exported.
func (x *exporter) begin(ctx context.Context) error {
	tx, err := x.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	err = tx.QueryRowContext(ctx, `
		SELECT (SELECT coalesce(max(no), 0) FROM accounts), (SELECT coalesce(max(no), 0) FROM keys),
			(SELECT coalesce(max(no), 0) FROM entries)`).Scan(&x.last[0], &x.last[1], &x.last[2])
	if err != nil {
		return err
	}
	return readJournal(ctx, tx, func(e numbered) error {
		x.tail = append(x.tail, e)
		return nil
	})
}

func (x *exporter) accounts(ctx context.Context) error {
	query := "SELECT no, " + strings.TrimPrefix(selectAccounts, "SELECT ")
	scan := func(row scanner) (keys.Account, error) { return scanAccount(row) }
	return exportRows(ctx, x.pool, query, "no", x.last[0], scan, x.out.Account)
}

func (x *exporter) keys(ctx context.Context) error {
	query := "SELECT no, " + strings.TrimPrefix(strings.TrimSpace(selectKeys), "SELECT ")
	scan := func(row scanner) (keys.Key, error) { return scanKey(row) }
	return exportRows(ctx, x.pool, query, "no", x.last[1], scan, x.out.Key)
}

func (x *exporter) entries(ctx context.Context) error {
	const query = "SELECT e.no, a.id, " + entryColumns + " FROM entries e JOIN accounts a ON a.no = e.account"
	scan := func(row scanner) (e credits.Entry, err error) {
		err = scanEntry(row, &e, &e.Account)
		return e, err
	}
	return exportRows(ctx, x.pool, query, "e.no", x.last[2], scan, x.out.Entry)
}

func (x *exporter) journal(ctx context.Context) (err error) {
	account, err := x.pool.PrepareContext(ctx, "SELECT id FROM accounts WHERE no = ?")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, account.Close()) }()
	for _, e := range x.tail {
		if err := account.QueryRowContext(ctx, e.account).Scan(&e.Account); err != nil {
			return err
		}
		if err := x.out.Entry(e.Entry); err != nil {
			return err
		}
	}
	return nil
}

// scanner reads the columns of a row that follow its number.
type scanner struct {
	rows *sql.Rows
	no   *int64
}

// Scan is like [sql.Rows.Scan].
func (s scanner) Scan(to ...any) error { return s.rows.Scan(append([]any{s.no}, to...)...) }

// exportedAtOnce is how many rows are read before they are written.
const exportedAtOnce = 1000

// exportRows writes each row of query, which selects the number in column first, up to the number last.
func exportRows[T any](
	ctx context.Context, pool *sql.DB, query, column string, last int64,
	scan func(scanner) (T, error), write func(T) error,
) error {
	query += " WHERE " + column + " > ? AND " + column + " <= ? ORDER BY " + column + " LIMIT ?"
	for no := int64(0); no < last; {
		found, err := nextRows(ctx, pool, query, &no, last, scan)
		if err != nil {
			return err
		}
		for _, v := range found {
			if err := write(v); err != nil {
				return err
			}
		}
		if len(found) < exportedAtOnce {
			return nil
		}
	}
	return nil
}

// nextRows reads the next rows after the number no, and sets it to that of the last.
func nextRows[T any](
	ctx context.Context, pool *sql.DB, query string, no *int64, last int64, scan func(scanner) (T, error),
) (found []T, err error) {
	rows, err := pool.QueryContext(ctx, query, *no, last, exportedAtOnce)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(scanner{rows, no})
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, rows.Err()
}
