package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// ErrHeads says that what an audit was to be checked against is not what Heads wrote, or not the whole of it.
var ErrHeads = bookkeeping.ErrHeads

// Heads writes what stands for every account's entries and every key as the file is at one moment, as JSON Lines of
// some 150 bytes each. Kept where nobody who can write the file can write, they let [DB.AuditAgainst] find out what an
// audit of the file alone cannot: that the last entries of an account were taken away with their trace in the totals,
// that a whole history was written anew, or that a key was brought back to life.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	found, err := db.heads(ctx)
	if err != nil {
		return fmt.Errorf("sqlite: heads: %w", explain(err))
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

// heads is what heads are written of.
type heads struct {
	accounts []credits.Entry // the last entry of each, of which only the account is set when there is none
	keys     []keys.Key
}

// heads reads all of them before the first is written: a writer that waits must not keep the snapshot.
func (db *DB) heads(ctx context.Context) (found heads, err error) {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return found, err
	}
	defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
	a := auditor{tx: tx}
	journal := map[int64]insert{} // the last entry of each account there
	err = readJournal(ctx, tx, func(e insert) error {
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

// AuditAgainst is an [DB.Audit] that compares the file with what [DB.Heads] wrote earlier, too. It fails with ErrHeads
// when that is not whole.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return Report{}, err
	}
	return db.audit(ctx, kept)
}
