// Package records keeps the engine's short-lived notes: jobs of a fan-out search and the answers that an
// Idempotency-Key may ask for again.
//
// A record is bytes under a key until a time, with a version for those who read, change and write. [NewMemory] keeps
// records in the process; store/sqlite keeps them over a restart. What the records of one owner take is bounded, and
// [Compress] makes it less. Whoever writes another store runs the suite of store/records/recordstest over it.
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
	// ErrAbsent says that there is no such record, or that its time has passed.
	ErrAbsent = errors.New("records: absent")
	// ErrConflict says that the record is not of the expected version any more, or not there. Nothing was changed.
	ErrConflict = errors.New("records: another version")
	// ErrQuota says that the records of an owner take as much as they may. Nothing was written. The error is a
	// [*QuotaError].
	ErrQuota = errors.New("records: the owner's records take as much as they may")
)

// QuotaError is an ErrQuota.
type QuotaError struct {
	Owner      string
	Bytes      int64         // that the owner's records may take
	RetryAfter time.Duration // until the first of them ends
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("%v: %d bytes of %q", ErrQuota, e.Bytes, e.Owner)
}

// Unwrap returns [ErrQuota].
func (e *QuotaError) Unwrap() error { return ErrQuota }

// DefaultOwnerBytes is what the records of one owner may take in a store whose configuration does not say.
const DefaultOwnerBytes = 256 << 20

// Record is a value under a key.
type Record struct {
	Key     string
	Owner   string // the account that its bytes count against; "" for nobody's
	Value   []byte
	Version int64 // another one after every write; never 0 in a store
	// Subjects are the marks of everyone in Value, by which the record is found when one of them is erased. They are written
	// and never read.
	Subjects privacy.Marks
}

// Size returns how many bytes of its owner's r takes.
func (r Record) Size() int64 { return int64(len(r.Key) + len(r.Value)) }

// Key returns the key of a record of that kind about parts. Each part stands behind its length, so that no other parts
// share the key, whatever characters are in them.
func Key(kind string, parts ...string) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, p := range parts {
		b.WriteString("/" + strconv.Itoa(len(p)) + ":" + p)
	}
	return b.String()
}

// Store keeps records. Implementations are safe for concurrent use; values are copied in and out.
//
// The live records of an owner take no more bytes than the store allows, with one exception: a record that is there
// may be written over with a longer value. So whoever has added a record for what is still to come is sure to get that
// into it. When there is no room, a new record of that owner fails with ErrQuota.
type Store interface {
	// Get returns the record under key, or ErrAbsent.
	Get(ctx context.Context, key string) (Record, error)
	// Put writes r until ttl has passed and returns its new version. With r.Version 0 it writes over whatever stands
	// under the key; else only over the live record of that version, and fails with ErrConflict when there is none.
	// Of any number of concurrent calls with one version exactly one writes.
	Put(ctx context.Context, r Record, ttl time.Duration) (version int64, err error)
	// Add writes r until ttl has passed unless a record stands under its key, and returns the record that then stands
	// there. Of any number of concurrent calls for one key exactly one adds.
	Add(ctx context.Context, r Record, ttl time.Duration) (stands Record, added bool, err error)
	// Delete removes the record under key, if there is one. With a version other than 0 it removes only the record of
	// that version, and fails with ErrConflict when another stands there.
	Delete(ctx context.Context, key string, version int64) error
	// Keys returns the keys of the live records that begin with prefix, in order.
	Keys(ctx context.Context, prefix string) ([]string, error)
	// Erase removes the records of which s is a subject, dead ones too, by the kinds that [Kind] names.
	privacy.Eraser
}

// Kind returns what the record under a key is, in the words in which erasures count.
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
