package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/schema"
)

// Batch reads many things by their keys with one request, or with as few as the upstream needs for them. The zero Batch is
// none: then each key is read by the operation's function.
type Batch[T any] struct {
	// Most is how many keys one call of Read takes, at least 2 where there is a Read.
	Most int
	// Bytes is how long the keys of one call may be together, in bytes, with one more between each two; 0 is no bound. A key
	// that is longer by itself is read by the operation's function.
	Bytes int
	// Limited says that the upstream leaves out things that exist: what Read does not return is then asked for by the
	// operation's function, and is not found only if that says so. See [ErrNotHere].
	Limited bool
	// Read reads the things of 1 to Most keys, which are in their canonical form and differ. It returns each under its key as
	// it was given, byte for byte the object that the operation's function returns for that key, raw included. A key that is
	// missing in the map does not exist, unless Limited is set or [Trace] was told that a row was left out: then the
	// operation's function is asked for it. What else came of single keys is a [KeysError] beside the map. Any other error is
	// that of all keys, and the map is not looked at. Read must not write to keys, is safe for concurrent use and ends when
	// ctx does.
	Read func(ctx context.Context, keys []string) (map[string]T, error)
}

// BatchBy is [Batch] for an operation that takes filters beside its key. The keys of one call share the filters: q is the
// query of each with its key field empty. Keys that cannot be asked for together are told apart inside Read.
type BatchBy[Q, T any] struct {
	Most    int
	Bytes   int
	Limited bool
	Read    func(ctx context.Context, keys []string, q Q) (map[string]T, error)
}

// Batches are the operations of which an upstream reads many things at once. Each stands beside the function of the same
// name in [Provider], and is not looked at where that is nil. Who replaces a function replaces or clears its batch too.
type Batches struct {
	Profile   Batch[schema.Profile]    `op:"profile"`
	Audience  Batch[schema.Audience]   `op:"audience"`
	Live      Batch[schema.LiveStream] `op:"live"`
	Post      Batch[schema.Post]       `op:"post"`
	Track     Batch[schema.Track]      `op:"track"`
	Community Batch[schema.Profile]    `op:"community"`
	Store     Batch[Storefront]        `op:"store"`
	Ad        Batch[schema.Ad]         `op:"ad"`
	Event     Batch[schema.Event]      `op:"event"`

	Transcript BatchBy[TranscriptQuery, schema.Transcript] `op:"transcript"`
	Collection BatchBy[CollectionQuery, schema.Collection] `op:"collection"`
	Product    BatchBy[ProductQuery, schema.Product]       `op:"product"`
}

// KeysError is what came of single keys of a [Batch], where that is not an object: [ErrNotFound] with the owner's reason is
// final, any other error leaves the key to the operation's function.
type KeysError map[string]error

// Error counts the errors and says what one of them is. It names no key.
func (e KeysError) Error() string {
	for _, key := range slices.Sorted(maps.Keys(e)) {
		return fmt.Sprintf("%d keys failed, one of them with: %v", len(e), e[key])
	}
	return "no key failed"
}

// Apart parts the error of a [Batch] into what came of single keys and what holds for all of them.
func Apart(err error) (KeysError, error) {
	if e, ok := errors.AsType[KeysError](err); ok {
		return e, nil
	}
	return nil, err
}

// AtOnce returns how many keys one request for op takes: 1 where each is read by itself, and 0 where p does not serve op.
func (p Provider) AtOnce(op Op) int {
	if !p.Serves(op) {
		return 0
	}
	if b := p.batch(op); b.IsValid() && !b.FieldByName("Read").IsNil() {
		return max(1, int(b.FieldByName("Most").Int()))
	}
	return 1
}
