package sqlite

import (
	"context"
	"database/sql"
	"io"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// writeHeads writes the heads of all accounts and keys.
func writeHeads(ctx context.Context, pool *sql.DB, w io.Writer) error {
	found, err := readHeads(ctx, pool)
	if err != nil {
		return err
	}
	out := bookkeeping.NewHeadsWriter(w)
	for _, last := range found.accounts {
		if err := out.Account(last.Account, last); err != nil {
			return err
		}
	}
	for _, k := range found.keys {
		if err := out.Key(k); err != nil {
			return err
		}
	}
	return out.Close()
}

const headsOfAccounts = `
	SELECT a.no, a.id, coalesce(e.seq, 0), coalesce(e.hash, x'')
	FROM accounts a LEFT JOIN entries e ON e.account = a.no AND
		e.seq = (SELECT max(seq) FROM entries WHERE account = a.no)
	ORDER BY a.no`

// heads is the data of all heads.
type heads struct {
	accounts []credits.Entry // the last entry of each account; only its Account is set if there is none
	keys     []keys.Key
}

// readHeads reads everything before the first head is written, so that a slow writer does not keep the snapshot open.
func readHeads(ctx context.Context, pool *sql.DB) (found heads, err error) {
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return found, err
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	a := auditor{tx: tx}
	journal := map[int64]numbered{} // the last entry of each account in the journal
	err = readJournal(ctx, tx, func(e numbered) error {
		journal[e.account] = e
		return nil
	})
	if err != nil {
		return found, err
	}
	err = a.each(ctx, headsOfAccounts, func(rows *sql.Rows) error {
		var last credits.Entry
		var no int64
		var hash []byte
		err := rows.Scan(&no, &last.Account, &last.Seq, &hash)
		copy(last.Hash[:], hash)
		if e, ok := journal[no]; ok {
			last.Seq, last.Hash = e.Seq, e.Hash
		}
		found.accounts = append(found.accounts, last)
		return err
	})
	if err != nil {
		return found, err
	}
	err = a.each(ctx, selectKeys+" ORDER BY no", func(rows *sql.Rows) error {
		k, err := scanKey(rows)
		found.keys = append(found.keys, k)
		return err
	})
	return found, err
}
