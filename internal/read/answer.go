package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// Answer makes the complete answer of q, with raw and enrichment if requested, within the remaining time of the call,
// and returns its price. known is what [Reader.Recall] found.
func (r *Reader) Answer(
	ctx context.Context, q *Query, known *cache.Entry, left time.Duration, a *operation.Answer,
) (credits.Quote, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	entry, state, err := r.read(ctx, q, known)
	a.Meta.Cache = state
	if caller.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, providers.ErrTimeout) {
		err = &providers.Error{Kind: providers.ErrTimeout, Err: err} // our time limit was reached, not the caller's
	}
	if err != nil {
		return credits.Quote{}, err
	}
	if err := r.Fill(ctx, a, entry, q); err != nil {
		return credits.Quote{}, err
	}
	quote := r.Priced(q, entry)
	if q.Enrich && r.Enrich(ctx, q, entry, a) != AllEnriched {
		quote.Enrich = 0
	}
	return quote, caller.Err() // a caller that left during the enrichment does not pay for half an answer
}

// Priced returns the price of q when entry answers it: the quote, less the price of the parts that could not be read.
// Of several answers in a row without rows of the upstream, only the first has a price.
// If nothing had to be read again, it is the price of a hit.
func (r *Reader) Priced(q *Query, entry *cache.Entry) credits.Quote {
	quote := q.Quote
	quote.Base = credits.Price(q.base, q.anew(), false).Base
	for _, id := range entry.Failed {
		quote.Base -= credits.Price(r.Base(platform.ID(id)), q.anew(), false).Base
	}
	if rowless(entry) > 1 {
		quote.Base = 0
	}
	return quote
}

// Fill copies an entry into an answer, with raw if it was requested. The caller owns the answer.
func (r *Reader) Fill(ctx context.Context, a *operation.Answer, entry *cache.Entry, q *Query) (err error) {
	if err := r.fill(a, entry, q); err != nil {
		return err
	}
	a.Meta.NextCursor, err = r.sealNext(ctx, q, entry)
	return err
}

// fill is [Reader.Fill] without the cursor of the next page.
func (r *Reader) fill(a *operation.Answer, entry *cache.Entry, q *Query) error {
	age := max(0, r.cfg.Now().Sub(entry.FetchedAt))
	a.Tag, a.Fresh, a.Unknown = entry.Tag, q.Fresh, entry.Unknown
	a.Meta.DataAgeS = int64(age.Seconds())
	life := q.Row.life(entry)
	if q.Within {
		life = min(life, q.MaxAge)
	}
	a.TTL = life - age
	var err error
	if q.Typed && !q.Raw && !q.Enrich && q.Row.Decode != nil { // raw and enrichment are added to the encoded data
		value, err := r.Value(q, entry)
		if err != nil {
			return err
		}
		a.Envelope = q.Row.Envelop(value)
	} else {
		a.Data = json.RawMessage(entry.Data)
	}
	if !q.Raw {
		return nil
	}
	if entry.Page != "" {
		a.Meta.Raw = json.RawMessage(entry.Page)
	}
	a.Tag = Tag(append([]string{a.Tag, "raw", entry.Page}, entry.Raw...)...)
	a.Data, err = Splice(a.Data, "raw", entry.Raw)
	return err
}

// Value returns the decoded data of an entry that answers q, which is shared. If the entry is in this process, it is
// decoded once for all callers; callers that waited for a flight hold the entry as it was before it was stored.
func (r *Reader) Value(q *Query, entry *cache.Entry) (value any, err error) {
	if entry.Value == nil && r.near != nil {
		if kept := r.near.Peek(q.key); kept != nil && kept.Data == entry.Data {
			entry = kept
		}
	}
	if value = entry.Value; value == nil {
		if value, err = q.Row.Decode(entry.Data); err != nil {
			return nil, fmt.Errorf("socialdata: a cached answer cannot be decoded: %w", err)
		}
		if r.near != nil {
			r.near.Keep(q.key, entry, value)
		}
	}
	return value, nil
}

// sealNext returns the cursor of the next page, or "".
func (r *Reader) sealNext(ctx context.Context, q *Query, entry *cache.Entry) (string, error) {
	if entry.Next == "" {
		return "", nil
	}
	place, err := cursor.Place(entry.Next)
	if err != nil {
		return "", fmt.Errorf("socialdata: the place of the next page cannot be read: %w", err)
	}
	if q.until != (cursor.Until{}) {
		at, err := cursor.Decode(place)
		if err != nil {
			return "", fmt.Errorf("socialdata: the place of the next page cannot be read: %w", err)
		}
		at.Until = q.until
		place = at.Encode()
	}
	return r.cfg.Cursors.Seal(ctx, q.Bound, place, namedBy(r.cfg.Erased, q))
}

// Tag returns a tag that changes when one of parts does.
func Tag[V string | []byte](parts ...V) string {
	sum := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		sum.Write(n[:])
		sum.Write([]byte(p))
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// Splice returns data, one object or an array of them, with one more field in each object: the value with the same
// index, or null when that is empty. The objects themselves are copied unchanged.
func Splice[V string | []byte](data []byte, field string, values []V) ([]byte, error) {
	if len(data) == 0 || data[0] != '[' {
		if len(values) == 0 {
			return data, nil
		}
		return appendField(nil, data, field, values[0]), nil
	}
	objects := jsontext.Elements(data)
	if objects == nil {
		return nil, errNoArray
	}
	if len(objects) != len(values) {
		return nil, fmt.Errorf("socialdata: %d values of %s for %d objects", len(values), field, len(objects))
	}
	out := []byte{'['}
	for i, o := range objects {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendField(out, o, field, values[i])
	}
	return append(out, ']'), nil
}

var errNoArray = errors.New("socialdata: the encoded data is not an array")

func appendField[V string | []byte](out, object []byte, field string, value V) []byte {
	if len(value) == 0 {
		value = V("null")
	}
	out = append(out, bytes.TrimSuffix(object, []byte("}"))...)
	out = append(out, `,"`+field+`":`...)
	out = append(out, value...)
	return append(out, '}')
}
