package bookkeeping

import (
	"context"
	"io"
)

// Bookkeeper proves what is in a store and moves it to another. Implementations are safe for concurrent use, and work
// beside callers that charge.
type Bookkeeper interface {
	// Audit proves that every balance is the sum of its account's entries and never below 0, that no entry was changed, added
	// or taken away, and that what else is kept of them fits. What it found is in the report; the error is not nil when the
	// store could not be read.
	Audit(ctx context.Context) (Report, error)
	// AuditAgainst is an Audit that compares with what Heads wrote earlier, too, whichever store that was. It fails with
	// ErrHeads when that is not whole.
	AuditAgainst(ctx context.Context, heads io.Reader) (Report, error)
	// Heads writes what stands for every account's entries and every key, as JSON Lines of some 150 bytes each. Kept where no
	// one who can write the store can write, they let AuditAgainst find out what an audit of the store alone cannot.
	Heads(ctx context.Context, w io.Writer) error
	// Export writes every account, key (its hash alone) and entry that is there when it begins, as JSON Lines; a key that is
	// revoked meanwhile may be written as either. Records are not part of it.
	Export(ctx context.Context, w io.Writer) error
	// Import adds everything that Export wrote, or nothing. It fails with ErrImport when that is not whole, with ErrExists when
	// it would have to overwrite, and with credits.ErrBroken when an entry does not follow from the one before it.
	Import(ctx context.Context, r io.Reader) error
}
