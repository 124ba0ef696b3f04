package sqlite

import (
	"context"
	"fmt"
	"io"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Report is the result of an audit.
type Report = bookkeeping.Report

var _ bookkeeping.Bookkeeper = (*DB)(nil)

// Audit checks a snapshot of the whole file. It proves that every balance is the sum of its account's entries and never
// below 0; that no entry was changed, added or removed (each hash covers the previous one, and the file counts the
// entries); and that the spending of each key with a cap is the sum of its charges. Findings are in the report; the
// error is not nil when the file could not be read.
//
// Someone who can write the file can rewrite all of it consistently, which only [DB.AuditAgainst] detects.
func (db *DB) Audit(ctx context.Context) (Report, error) {
	return audit(ctx, db.file, nil)
}

// AuditAgainst is [DB.Audit], and also compares the file with what [DB.Heads] wrote earlier. It fails with ErrHeads
// when that is not complete.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return Report{}, err
	}
	return audit(ctx, db.file, kept)
}

// Heads writes the last entry of every account, and every key, in one snapshot of the file, as JSON Lines of some 150
// bytes each. If they are stored where someone who can write the file cannot write, [DB.AuditAgainst] detects what an
// audit of the file alone cannot: that the last entries of an account were removed and the totals corrected, that a
// whole history was rewritten, or that a revoked key became valid again.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	if err := writeHeads(ctx, db.read, w); err != nil {
		return fmt.Errorf("sqlite: heads: %w", explain(err))
	}
	return nil
}

// Export writes every account, key (its hash, since the key itself is not stored) and entry that is in the file when it
// begins, as JSON Lines. A key that is revoked meanwhile may be written as either. Records are not exported. Export
// reads in ranges, so that a slow reader does not keep the write-ahead log from being reused.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	if err := export(ctx, db.read, w); err != nil {
		return fmt.Errorf("sqlite: export: %w", explain(err))
	}
	return nil
}

// Import adds everything that Export wrote, or nothing. It fails with ErrImport, with ErrExists when it would have to
// overwrite, with credits.ErrBroken when an entry does not follow from the previous one, and with ErrInUse when another
// process serves the file, because its callers would have to wait. It reads all of r into a temporary file and checks
// it before it writes anything.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := importFrom(ctx, db.file, r); err != nil {
		return fmt.Errorf("sqlite: import: %w", err)
	}
	return nil
}

// ErrHeads means that the heads for an audit were not written by Heads, or are incomplete.
var ErrHeads = bookkeeping.ErrHeads

// The errors of an import that has added nothing.
var (
	// ErrImport means that the input is not a complete export of this version.
	ErrImport = bookkeeping.ErrImport
	// ErrExists means that the file already has one of the accounts, keys or holds.
	ErrExists = bookkeeping.ErrExists
)
