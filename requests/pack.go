package requests

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// In a database, the log is stored in packed batches, so that writing a batch costs as much as writing a row.

// seqBits is how many bits of a Seq are the position in a batch; the rest is the number of the batch.
const seqBits = 10

// SeqOf returns the Seq of the request at index i of a batch, from 1.
func SeqOf(batch int64, i int) int64 { return batch<<seqBits | int64(i) }

// BatchOf returns the number of the batch with a Seq.
func BatchOf(seq int64) int64 { return seq >> seqBits }

// ErrPacked means that a batch cannot be decoded.
var ErrPacked = errors.New("requests: a batch of the log cannot be read")

// The versions of batches. Those of the version before are still read: their providers only have a name.
const (
	packVersion = 3
	packBefore  = 2
)

// Pack encodes requests as a batch, without their Seq.
func Pack(batch []Request) []byte {
	b := append(make([]byte, 0, 128*len(batch)+8), packVersion)
	for i := range batch {
		r := &batch[i]
		b = binary.AppendVarint(b, r.At.UnixMicro())
		for _, s := range []string{r.ID, r.Account, r.Key, r.Source, r.Operation, r.Platform, r.Code, r.Detail, r.Cache} {
			b = appendText(b, s)
		}
		b = appendNumbers(b, int64(r.Status), int64(r.Upstream), r.Credits, int64(r.Took), r.Held, int64(len(r.Providers)))
		for _, p := range r.Providers {
			b = appendNumbers(appendText(b, p.Name), int64(p.Calls), int64(p.Took), int64(p.Status))
			b = appendText(b, p.Cause)
		}
	}
	return b
}

func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Unpack decodes a batch and returns its requests that q selects, newest first. It fails with [ErrPacked].
func Unpack(number int64, packed []byte, q Query) ([]Request, error) {
	if len(packed) == 0 || packed[0] != packVersion && packed[0] != packBefore {
		return nil, fmt.Errorf("%w: number %d has another version", ErrPacked, number)
	}
	u := unpacker{left: packed[1:], before: packed[0] == packBefore}
	var found []Request
	for i := 0; len(u.left) > 0 && !u.broken; i++ {
		r := u.request()
		if r.Seq = SeqOf(number, i); q.Selects(&r) {
			found = append(found, r)
		}
	}
	if u.broken {
		return nil, fmt.Errorf("%w: number %d", ErrPacked, number)
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found, nil
}

// unpacker decodes a batch.
type unpacker struct {
	left   []byte
	before bool // the batch is of the version before
	broken bool
}

func (u *unpacker) request() (r Request) {
	r.At = time.UnixMicro(u.number()).UTC()
	for _, s := range []*string{
		&r.ID, &r.Account, &r.Key, &r.Source, &r.Operation, &r.Platform, &r.Code, &r.Detail, &r.Cache,
	} {
		*s = u.text()
	}
	r.Status, r.Upstream = int(u.number()), int(u.number())
	r.Credits, r.Took = u.number(), time.Duration(u.number())
	if !u.before {
		r.Held = u.number()
	}
	n := u.number()
	if n > int64(len(u.left)) { // each takes at least a byte
		u.broken, n = true, 0
	}
	for range n {
		r.Providers = append(r.Providers, u.provider())
	}
	return r
}

func (u *unpacker) provider() Provider {
	if u.before {
		return Provider{Name: u.text(), Calls: 1}
	}
	return Provider{
		Name: u.text(), Calls: int(u.number()), Took: time.Duration(u.number()), Status: int(u.number()), Cause: u.text(),
	}
}

func (u *unpacker) number() int64 {
	n, size := binary.Varint(u.left)
	if size <= 0 {
		u.broken, u.left = true, nil
		return 0
	}
	u.left = u.left[size:]
	return n
}

func (u *unpacker) text() string {
	n, size := binary.Uvarint(u.left)
	if size <= 0 || n > uint64(len(u.left)-size) {
		u.broken, u.left = true, nil
		return ""
	}
	s := string(u.left[size : size+int(n)])
	u.left = u.left[size+int(n):]
	return s
}
