// Package records keeps the engine's short-lived notes: jobs of a fan-out search and the answers that an
// Idempotency-Key may ask for again.
//
// A record is bytes under a key until a time. [NewMemory] keeps them in the process; store/sqlite keeps them over a
// restart. Whoever writes another runs the suite of store/records/recordstest over it.
package records

import (
	"context"
	"errors"
	"time"
)

// ErrAbsent says that there is no such record, or that its time has passed.
var ErrAbsent = errors.New("records: absent")

// Store keeps records. Implementations are safe for concurrent use; values are copied in and out.
type Store interface {
	// Get returns the value under key, or ErrAbsent.
	Get(ctx context.Context, key string) ([]byte, error)
	// Put writes value under key, over whatever stood there, until ttl has passed.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error
	// Add writes value under key unless a record stands there, which it then returns instead.
	// Of any number of concurrent calls for one key exactly one adds.
	Add(ctx context.Context, key string, value []byte, ttl time.Duration) (existing []byte, added bool, err error)
	// Delete removes the record under key, if there is one.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys of the live records that begin with prefix, in order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}
