package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/schema"
)

// Batch reads many things by their keys, with as few requests as the upstream allows. The zero Batch reads nothing:
// then the operation's function reads each key.
type Batch[T any] struct {
	// Most is the maximum number of keys in one call of Read, at least 2 if Read is set.
	Most int
	// Bytes is the maximum total length of the keys in one call, in bytes, including one separator between each two; 0
	// is no limit. A single key that is longer is read by the operation's function.
	Bytes int
	// Limited reports that the upstream omits some things that exist: what Read does not return is then read by the
	// operation's function, and is not found only if that function says so. See [ErrNotHere].
	Limited bool
	// Read reads the things of 1 to Most keys, which are canonical and distinct. It returns each under the given key,
	// byte for byte the object that the operation's function returns for that key, including raw. A key that is missing
	// in the map does not exist, unless Limited is set or [Trace] was told that a row was left out: then the
	// operation's function reads it. Other results for single keys are in a [KeysError], returned together with the
	// map. Any other error is for all keys, and the map is ignored. Read must not modify keys, is safe for concurrent
	// use and returns when ctx ends.
	Read func(ctx context.Context, keys []string) (map[string]T, error)
}

// BatchBy is [Batch] for an operation that takes filters besides its key. The keys of one call share the filters: q is
// the query of each with its key field empty. Read must separate keys that cannot be requested together.
type BatchBy[Q, T any] struct {
	Most    int
	Bytes   int
	Limited bool
	Read    func(ctx context.Context, keys []string, q Q) (map[string]T, error)
}

// Batches are the operations with which an upstream reads many things in one request. Each field has the name of the
// function in [Provider], and is ignored if that is nil. Code that replaces a function must replace or clear its batch
// too.
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

// KeysError contains the results of a [Batch] for single keys that are not objects: [ErrNotFound] with its reason is
// final; with any other error the key is read by the operation's function.
type KeysError map[string]error

// Error returns the number of errors and the text of one of them. It contains no key.
func (e KeysError) Error() string {
	for _, key := range slices.Sorted(maps.Keys(e)) {
		return fmt.Sprintf("%d keys failed, one of them with: %v", len(e), e[key])
	}
	return "no key failed"
}

// Apart splits the error of a [Batch] into the results for single keys and the error for all of them.
func Apart(err error) (KeysError, error) {
	if e, ok := errors.AsType[KeysError](err); ok {
		return e, nil
	}
	return nil, err
}

// AtOnce returns the maximum number of keys in one request for op: 1 if each is read alone, and 0 if p does not serve
// op.
func (p *Provider) AtOnce(op Op) int {
	if !p.Serves(op) {
		return 0
	}
	if b := p.batch(op); b.IsValid() && !b.FieldByName("Read").IsNil() {
		return max(1, int(b.FieldByName("Most").Int()))
	}
	return 1
}
