package records

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/socialdata/socialdata/privacy"
)

// Compress returns a store that compresses values before it writes them to s, and expands them when it reads. The limit
// of an owner then applies to compressed bytes. Either all users of the same records must use it, or none.
func Compress(s Store) Store { return compressed{s} }

type compressed struct{ Store }

// The first byte of a stored value is its encoding.
const (
	plain    = 0
	deflated = 1
)

// worthwhile is the minimum length of a value that is compressed, in bytes.
const worthwhile = 256

var errFormat = errors.New("records: the value was not written by this program")

// Get implements [Store].
func (c compressed) Get(ctx context.Context, key string) (Record, error) {
	r, err := c.Store.Get(ctx, key)
	if err != nil {
		return Record{}, err
	}
	return expand(r)
}

// Put implements [Store].
func (c compressed) Put(ctx context.Context, r Record, ttl time.Duration) (int64, error) {
	r.Value = shrink(r.Value)
	return c.Store.Put(ctx, r, ttl)
}

// Add implements [Store].
func (c compressed) Add(ctx context.Context, r Record, ttl time.Duration) (stored Record, added bool, err error) {
	r.Value = shrink(r.Value)
	stored, added, err = c.Store.Add(ctx, r, ttl)
	if err != nil {
		return Record{}, false, err
	}
	stored, err = expand(stored)
	return stored, added, err
}

// writers are used again: a new one takes more than a megabyte (BenchmarkPut).
var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails only for a level that does not exist
	return w
}}

func shrink(value []byte) []byte {
	if len(value) >= worthwhile {
		b := bytes.NewBuffer([]byte{deflated})
		w := writers.Get().(*flate.Writer)
		w.Reset(b)
		_, _ = w.Write(value) // a buffer never fails
		_ = w.Close()
		writers.Put(w)
		if b.Len() <= len(value) {
			return b.Bytes()
		}
	}
	return append([]byte{plain}, value...)
}

// Mentions reports whether a stored value, compressed or not, mentions s although marks, the marks of its record, do
// not contain s. It is for implementations of [privacy.MentionCounter].
func Mentions(value []byte, marks privacy.Marks, s privacy.Subject) bool {
	if s.In(marks) {
		return false
	}
	if r, err := expand(Record{Value: value}); err == nil {
		value = r.Value
	}
	return s.Mentioned(value)
}

func expand(r Record) (Record, error) {
	if len(r.Value) == 0 || r.Value[0] > deflated {
		return Record{}, fmt.Errorf("%w: %q", errFormat, r.Key)
	}
	rest := r.Value[1:]
	if r.Value[0] == deflated {
		var err error
		if rest, err = io.ReadAll(flate.NewReader(bytes.NewReader(rest))); err != nil {
			return Record{}, fmt.Errorf("%w: %q: %w", errFormat, r.Key, err)
		}
	}
	r.Value = rest
	return r, nil
}
