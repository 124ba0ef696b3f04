// Package records stores the engine's short-lived data: the jobs of fan-out searches, and the answers that are repeated
// for an Idempotency-Key.
//
// A record is a value under a key until its time to live has passed, with a version for conditional updates.
// [NewMemory] keeps records in the process; store/sqlite keeps them across a restart. The bytes of one owner's records
// are limited, and [Compress] reduces them. Other implementations must pass the suite of records/recordstest.
package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/privacy"
)

// The errors of a [Store].
var (
	// ErrAbsent means that there is no such record, or that it has expired.
	ErrAbsent = errors.New("records: absent")
	// ErrConflict means that the record no longer has the expected version, or does not exist. Nothing was changed.
	ErrConflict = errors.New("records: another version")
	// ErrQuota means that the records of an owner have reached their limit. Nothing was written. The error is a
	// [*QuotaError].
	ErrQuota = errors.New("records: the owner's records have reached their size limit")
)

// QuotaError is an ErrQuota.
type QuotaError struct {
	Owner      string
	Bytes      int64         // the limit for the owner's records
	RetryAfter time.Duration // until the first of them expires
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("%v: %d bytes of %q", ErrQuota, e.Bytes, e.Owner)
}

// Unwrap returns [ErrQuota].
func (e *QuotaError) Unwrap() error { return ErrQuota }

// DefaultOwnerBytes is the limit for the records of one owner in a store without a configured one.
const DefaultOwnerBytes = 256 << 20

// Record is a value under a key.
type Record struct {
	Key     string
	Owner   string // the account whose limit its bytes count against; "" for none
	Value   []byte
	Version int64 // changes with every write; never 0 in a store
	// Subjects are the marks of everyone in Value, by which the record is found when one of them is erased. They are
	// write-only.
	Subjects privacy.Marks
}

// Size returns the number of bytes of r that count for its owner.
func (r Record) Size() int64 { return int64(len(r.Key) + len(r.Value)) }

// Key returns the key of a record of that kind for parts. The length of each part precedes it, so that different
// parts never have the same key, whatever characters they have.
func Key(kind string, parts ...string) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, p := range parts {
		b.WriteString("/" + strconv.Itoa(len(p)) + ":" + p)
	}
	return b.String()
}

// Store stores records. Implementations are safe for concurrent use, and copy values in and out.
//
// The bytes of the live records of an owner are limited: a new record above the limit fails with ErrQuota. An existing
// record may be replaced by a longer one even above the limit. A caller can therefore add a record first and be sure
// that its later content will be accepted.
type Store interface {
	// Get returns the record under key, or ErrAbsent.
	Get(ctx context.Context, key string) (Record, error)
	// Put writes r for ttl and returns its new version. If r.Version is 0, it replaces any record under the key.
	// Otherwise it replaces only the live record of that version, and fails with ErrConflict when there is none. Of
	// several concurrent calls with the same version, exactly one succeeds.
	Put(ctx context.Context, r Record, ttl time.Duration) (version int64, err error)
	// Add writes r for ttl unless there is a live record under its key, and returns the record that is then stored. Of
	// several concurrent calls for the same key, exactly one adds.
	Add(ctx context.Context, r Record, ttl time.Duration) (stored Record, added bool, err error)
	// Delete removes the record under key, if there is one. With a version other than 0 it removes only the record of
	// that version, and fails with ErrConflict when there is a different one.
	Delete(ctx context.Context, key string, version int64) error
	// Keys returns the keys of the live records that begin with prefix, sorted.
	Keys(ctx context.Context, prefix string) ([]string, error)
	// Erase removes the records of which s is a subject, including expired ones, counted by [Kind].
	privacy.Eraser
}

// Kind returns the kind of the record under a key, as erasures count it.
func Kind(key string) string {
	kind, _, _ := strings.Cut(key, "/")
	switch kind {
	case "idempotency":
		return "idempotent answers"
	case "job":
		return "jobs"
	case "cursor":
		return "cursors"
	case "mcp":
		return "answers in parts"
	}
	return "records"
}
