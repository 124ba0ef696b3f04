package cursor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/store/records"
)

// ErrLost says that what a cursor stands for is not kept any more.
var ErrLost = errors.New("what the cursor stands for is not kept any more")

// Notes is where a [Keeper] leaves what is too long for a cursor: a [records.Store] is one.
type Notes interface {
	Get(ctx context.Context, key string) (records.Record, error)
	Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error)
}

// Keeper makes cursors of places and finds the places again. A place that would make a longer cursor than callers may
// send is left in the notes, and the cursor says where. It is safe for concurrent use.
type Keeper struct {
	sealer *Sealer
	notes  Notes
	max    int
}

// NewKeeper returns a Keeper whose cursors are at most [operation.MaxCursor] bytes long.
func NewKeeper(sealer *Sealer, notes Notes) *Keeper {
	return &Keeper{sealer, notes, operation.MaxCursor}
}

// kept marks the binding of a cursor that only says where its place is noted.
const kept = "kept|"

// Seal returns a cursor that opens for the same binding only. Equal places have equal cursors.
func (k *Keeper) Seal(ctx context.Context, binding string, place []byte) (string, error) {
	if base64.RawURLEncoding.EncodedLen(overhead+len(place)) <= k.max {
		return k.sealer.Seal(binding, place), nil
	}
	// The reference is sealed, so nobody can ask for what is another's: notes need no owner.
	sum := sha256.Sum256(place)
	if _, err := k.notes.Put(ctx, records.Record{Key: noteKey(sum[:]), Value: place}, Life); err != nil {
		return "", err
	}
	return k.sealer.Seal(kept+binding, sum[:]), nil
}

// Open returns the place that was sealed for binding. It fails with [ErrInvalid] for what is no such cursor, and with
// [ErrLost].
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
