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

const packVersion = 1

// Pack encodes requests as a batch, without their Seq.
func Pack(batch []Request) []byte {
	b := append(make([]byte, 0, 128*len(batch)+8), packVersion)
	for i := range batch {
		r := &batch[i]
		b = binary.AppendVarint(b, r.At.UnixMicro())
		for _, s := range []string{r.ID, r.Account, r.Key, r.Operation, r.Platform, r.Code, r.Cache} {
			b = appendText(b, s)
		}
		for _, n := range []int64{int64(r.Status), r.Credits, int64(r.Took), int64(len(r.Providers))} {
			b = binary.AppendVarint(b, n)
		}
		for _, p := range r.Providers {
			b = appendText(b, p)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Unpack decodes a batch and returns its requests that q selects, newest first. It fails with [ErrPacked].
func Unpack(number int64, packed []byte, q Query) ([]Request, error) {
	if len(packed) == 0 || packed[0] != packVersion {
		return nil, fmt.Errorf("%w: number %d has another version", ErrPacked, number)
	}
	u := unpacker{left: packed[1:]}
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
	broken bool
}

func (u *unpacker) request() (r Request) {
	r.At = time.UnixMicro(u.number()).UTC()
	for _, s := range []*string{&r.ID, &r.Account, &r.Key, &r.Operation, &r.Platform, &r.Code, &r.Cache} {
		*s = u.text()
	}
	r.Status, r.Credits, r.Took = int(u.number()), u.number(), time.Duration(u.number())
	n := u.number()
	if n > int64(len(u.left)) { // each takes at least a byte
		u.broken, n = true, 0
	}
	for range n {
		r.Providers = append(r.Providers, u.text())
	}
	return r
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
