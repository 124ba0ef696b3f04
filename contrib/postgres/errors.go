package postgres

import "errors"

// The errors of this package.
var (
	// ErrNewer means that the schema was made by a later version of this package, which this version cannot serve.
	ErrNewer = errors.New("postgres: this schema is newer than this program")
	// ErrOlder means that the schema was replaced by one of an earlier version while it was served. Opening it again
	// migrates it.
	ErrOlder = errors.New("postgres: this schema is older than this program")
	// ErrClosed means that Close was called.
	ErrClosed = errors.New("postgres: closed")
	// ErrPlacement means that the database has a different part of the accounts than the configuration expects.
	ErrPlacement = errors.New("postgres: the database is another shard")
	// ErrUnsure means that the connection was lost during a commit, and that it could not be determined whether it
	// succeeded. Settling a hold again returns the result; before repeating a grant, look at the account's entries.
	ErrUnsure = errors.New("postgres: the connection was lost, and it is not known whether this was written")
)
