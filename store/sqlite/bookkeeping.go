package sqlite

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Report is what an audit found.
type Report = bookkeeping.Report

var _ bookkeeping.Bookkeeper = (*DB)(nil)

// Audit reads the whole file as it is at one moment and proves that every balance is the sum of its account's entries
// and never below 0, that no entry was changed, added or taken away (each one's hash covers the one before it, and
// the file counts them), and that what is kept about the spending of keys with a cap is what their charges come to.
// The error is not nil when the file could not be read; what it found is in the report.
//
// Whoever can write the file can write all of it anew; [DB.AuditAgainst] finds that out.
func (db *DB) Audit(ctx context.Context) (Report, error) {
	return audit(ctx, db.file, nil)
}

// AuditAgainst is an [DB.Audit] that compares the file with what [DB.Heads] wrote earlier, too. It fails with ErrHeads
// when that is not whole.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return Report{}, err
	}
	return audit(ctx, db.file, kept)
}

// Heads writes what stands for every account's entries and every key as the file is at one moment, as JSON Lines of
// some 150 bytes each. Kept where nobody who can write the file can write, they let [DB.AuditAgainst] find out what an
// audit of the file alone cannot: that the last entries of an account were taken away with their trace in the totals,
// that a whole history was written anew, or that a key was brought back to life.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	if err := writeHeads(ctx, db.read, w); err != nil {
		return fmt.Errorf("sqlite: heads: %w", explain(err))
	}
	return nil
}

// Export writes every account, key (its hash, for nobody has the key) and entry that is in the file when it begins, as
// JSON Lines; a key that is revoked meanwhile may be written as either. Records are not part of it. It reads in ranges,
// so that a reader who pauses keeps nobody from beginning the write-ahead log anew.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	if err := export(ctx, db.read, w); err != nil {
		return fmt.Errorf("sqlite: export: %w", explain(err))
	}
	return nil
}

// Import adds everything that Export wrote, or nothing. It fails with ErrImport, with ErrExists when it would have to
// overwrite, with credits.ErrBroken when an entry does not follow from the one before it, and with ErrInUse when
// another process serves the file, for its callers would have to wait. All of r is read and checked before anything is
// written; until then it waits in a temporary file.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := importFrom(ctx, db.file, r); err != nil {
		return fmt.Errorf("sqlite: import: %w", err)
	}
	return nil
}

// ErrHeads says that what an audit was to be checked against is not what Heads wrote, or not the whole of it.
var ErrHeads = bookkeeping.ErrHeads

// The errors of an import. Nothing was imported.
var (
	// ErrImport says that what is imported is no whole export of this version.
	ErrImport = bookkeeping.ErrImport
	// ErrExists says that the file has one of the accounts, keys or holds already.
	ErrExists = bookkeeping.ErrExists
)
