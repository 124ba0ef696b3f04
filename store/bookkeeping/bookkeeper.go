package bookkeeping

import (
	"context"
	"io"
)

// Bookkeeper audits a store and moves its content to another. Implementations are safe for concurrent use, also with
// callers that charge.
type Bookkeeper interface {
	// Audit proves that every balance is the sum of its account's entries and never negative, that no entry was
	// changed, added or removed, and that other stored data agrees. The findings are in the report; the error is not
	// nil when the store could not be read.
	Audit(ctx context.Context) (Report, error)
	// AuditAgainst is an Audit that also compares with what Heads wrote earlier, for this or another store. It returns
	// ErrHeads when that is incomplete.
	AuditAgainst(ctx context.Context, heads io.Reader) (Report, error)
	// Heads writes a digest of every account's entries and of every key, as JSON Lines of about 150 bytes each. If it
	// is stored where those who can write to the store cannot change it, AuditAgainst finds changes that an audit of
	// the store alone cannot find.
	Heads(ctx context.Context, w io.Writer) error
	// Export writes every account, key (only its hash) and entry that exists when it begins, as JSON Lines; a key that
	// is revoked in the meantime may be written as either. Then it writes the monitors and endpoints of these accounts,
	// the records that are [Lasting], the block list and the receipts of erasures, but not what [NotExported] says. It
	// has the secrets of the deployment, and must be kept like the database.
	Export(ctx context.Context, w io.Writer) error
	// Import adds everything that Export wrote, or nothing. It returns ErrImport when that is incomplete, ErrExists
	// when it would have to overwrite, and credits.ErrBroken when an entry does not follow from the one before it.
	Import(ctx context.Context, r io.Reader) error
}
