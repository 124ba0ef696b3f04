package cursor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
)

// ErrLost means that the place of a cursor is no longer stored.
var ErrLost = errors.New("the results behind this cursor are not stored any more")

// Notes stores what is too long for a cursor; a [records.Store] implements it.
type Notes interface {
	Get(ctx context.Context, key string) (records.Record, error)
	Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error)
}

// Keeper makes cursors from places and finds the places again. If a place would make a cursor longer than callers may
// send, it is stored in the notes, and the cursor refers to it. It is safe for concurrent use.
type Keeper struct {
	sealer *Sealer
	notes  Notes
	max    int
}

// NewKeeper returns a Keeper whose cursors are at most [operation.MaxCursor] bytes long.
func NewKeeper(sealer *Sealer, notes Notes) *Keeper {
	return &Keeper{sealer, notes, operation.MaxCursor}
}

// kept is part of the binding of a cursor that only refers to a note.
const kept = "kept|"

// Seal returns a cursor that only opens for the same binding. Equal places have equal cursors. subjects are the marks
// of everyone whom the place may name.
func (k *Keeper) Seal(ctx context.Context, binding string, place []byte, subjects privacy.Marks) (string, error) {
	if base64.RawURLEncoding.EncodedLen(overhead+len(place)) <= k.max {
		return k.sealer.Seal(binding, place), nil
	}
	// The reference is sealed, so callers cannot ask for another's note, and notes need no owner.
	sum := sha256.Sum256(place)
	if _, err := k.notes.Put(ctx, records.Record{Key: noteKey(sum[:]), Value: place, Subjects: subjects}, Life); err != nil {
		return "", err
	}
	return k.sealer.Seal(kept+binding, sum[:]), nil
}

// Open returns the place that was sealed for binding. It returns [ErrInvalid] if text is not such a cursor, and
// [ErrLost] if the place is no longer stored.
func (k *Keeper) Open(ctx context.Context, binding, text string) ([]byte, error) {
	place, err := k.sealer.Open(binding, text)
	if err == nil {
		return place, nil
	}
	sum, err := k.sealer.Open(kept+binding, text)
	if err != nil {
		return nil, err
	}
	note, err := k.notes.Get(ctx, noteKey(sum))
	if errors.Is(err, records.ErrAbsent) {
		return nil, ErrLost
	}
	return note.Value, err
}

func noteKey(sum []byte) string { return "cursor/place/" + hex.EncodeToString(sum) }
