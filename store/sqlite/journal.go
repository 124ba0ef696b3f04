package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
)

// A row of the journal has the entries of one transaction in one blob: a format byte and, for each entry, its numbers
// as varints, its texts preceded by their lengths, and its hash. Accounts are given by row number, as in the table of
// entries. A row takes one to four pages, whatever the number of accounts in it; an entry in the table of entries takes
// a page in each index as well.
const journalFormat = 1

// appendEntries appends a row's blob to b.
func appendEntries(b []byte, entries []numbered) []byte {
	b = append(b, journalFormat)
	for i := range entries {
		e := &entries[i]
		b = binary.AppendVarint(b, e.account)
		b = binary.AppendVarint(b, e.Seq)
		b = binary.AppendVarint(b, e.Amount)
		b = binary.AppendVarint(b, e.Balance)
		b = binary.AppendVarint(b, e.At.UnixMicro())
		var back int64 // how far the clock was set back
		if !e.Clock.IsZero() {
			back = e.At.UnixMicro() - e.Clock.UnixMicro()
		}
		b = binary.AppendVarint(b, back)
		for _, s := range texts(&e.Entry) {
			b = binary.AppendUvarint(b, uint64(len(*s)))
			b = append(b, *s...)
		}
		b = append(b, e.Hash[:]...)
	}
	return b
}

// texts returns the texts of e in the order of the journal, without the account's id.
func texts(e *credits.Entry) [9]*string {
	return [9]*string{
		(*string)(&e.Kind), &e.Key, &e.Operation, &e.Platform, &e.RequestID, &e.Cache, &e.Reason, &e.Hold, &e.IdempotencyKey,
	}
}

// decodeEntries returns the entries that appendEntries has written, without the ids of the accounts.
func decodeEntries(no int64, blob []byte) ([]numbered, error) {
	damaged := func() ([]numbered, error) {
		return nil, fmt.Errorf("%w: row %d of the journal", ErrCorrupt, no)
	}
	if len(blob) == 0 || blob[0] != journalFormat {
		return damaged()
	}
	var found []numbered
	for r := (blobReader{rest: blob[1:]}); len(r.rest) > 0; {
		e := numbered{account: r.number()}
		e.Seq, e.Amount, e.Balance = r.number(), r.number(), r.number()
		at, back := r.number(), r.number()
		if e.At = fromMicros(at); back != 0 {
			e.Clock = fromMicros(at - back)
		}
		for _, s := range texts(&e.Entry) {
			*s = string(r.bytes(r.length()))
		}
		copy(e.Hash[:], r.bytes(uint64(len(e.Hash))))
		if r.short {
			return damaged()
		}
		found = append(found, e)
	}
	return found, nil
}

// readJournal calls do for each entry in the journal, in order and without the id of its account.
func readJournal(ctx context.Context, tx *sql.Tx, do func(numbered) error) (err error) {
	rows, err := tx.QueryContext(ctx, "SELECT no, entries FROM journal ORDER BY no")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var no int64
		var blob []byte
		if err := rows.Scan(&no, &blob); err != nil {
			return err
		}
		entries, err := decodeEntries(no, blob)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// blobReader reads a blob from its beginning. After the first value that is missing, all values are zero.
type blobReader struct {
	rest  []byte
	short bool
}

func (r *blobReader) number() int64 {
	n, size := binary.Varint(r.rest)
	r.bytes(sizeOf(size))
	return n
}

func (r *blobReader) length() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.bytes(sizeOf(size))
	return n
}

// sizeOf returns the size of a varint of n bytes: if n is not positive, more bytes than a blob can have.
func sizeOf(n int) uint64 {
	if n <= 0 {
		return 1 << 63
	}
	return uint64(n)
}

func (r *blobReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.short = nil, true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// numbered is an entry with the row number of its account.
type numbered struct {
	account int64
	credits.Entry
}

// journalRow is a row of the journal.
type journalRow struct {
	no      int64
	entries []numbered
}
