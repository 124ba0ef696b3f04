package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// head describes the end of the ledger at one moment: the newest entry, the number of entries and the sum of their
// credits. It is written to a file of its own and synced at most headEvery after the entry. A database that has lost
// the write-ahead log, or a part of it, is consistent in itself; the head shows what is missing.
type head struct {
	At      time.Time `json:"at"`
	Entries int64     `json:"entries"`
	Credits int64     `json:"credits"`
	Account int64     `json:"account"` // the row number of the newest entry's account; 0 when there is no entry
	Seq     int64     `json:"seq"`
	Hash    string    `json:"hash"`
	Revoked string    `json:"revoked"` // the key that was revoked last
	Sum     uint32    `json:"sum"`     // a checksum of the other fields: a damaged line is ignored
}

// headEvery is the interval at which the head is written while there are new entries.
const headEvery = time.Second

// mostHeads is the size in bytes from which the file is rewritten.
const mostHeads = 64 << 10

func (h head) sum() uint32 {
	h.Sum = 0
	b, _ := json.Marshal(h) // of strings, numbers and a time: it cannot fail
	return crc32.ChecksumIEEE(b)
}

func (h head) line() []byte {
	h.Sum = h.sum()
	b, _ := json.Marshal(h)
	return append(append([]byte{'\n'}, b...), '\n') // the first ends a line that is incomplete
}

// headFile has heads, newest last. Every process that writes entries adds to it.
type headFile struct {
	path string
	last int64 // how many transactions had written when the head was last written
}

// read returns the newest head, the zero head when there is none, and the keys that were revoked.
func (f *headFile) read() (newest head, revoked []string, err error) {
	text, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return head{}, nil, err
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		var h head
		if json.Unmarshal(line, &h) != nil || h.Sum != h.sum() {
			continue
		}
		if h.Entries >= newest.Entries {
			newest = h
		}
		if h.Revoked != "" && !slices.Contains(revoked, h.Revoked) {
			revoked = append(revoked, h.Revoked)
		}
	}
	return newest, revoked, nil
}

// add writes a head after the others.
func (f *headFile) add(h head) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(h.line())
	return errors.Join(err, out.Sync(), out.Close())
}

// begin replaces all heads by one.
func (f *headFile) begin(h head) error {
	next := f.path + ".new"
	if err := errors.Join(os.Remove(next), (&headFile{path: next}).add(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(next, f.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

// long reports whether it is time to rewrite the file.
func (f *headFile) long() bool {
	info, err := os.Stat(f.path)
	return err != nil || info.Size() > mostHeads
}

// readHead returns the current head.
func (db *DB) readHead(ctx context.Context) (h head, err error) {
	h.At = db.cfg.Now().UTC()
	t, err := db.runner.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return h, explain(err)
	}
	defer t.Rollback() //nolint:errcheck // it only ends a snapshot
	err = t.QueryRowContext(ctx, "SELECT coalesce(sum(seq), 0), coalesce(sum(balance), 0), "+
		"coalesce((SELECT id FROM keys WHERE revoked_at IS NOT NULL ORDER BY revoked_at DESC LIMIT 1), '') FROM accounts").
		Scan(&h.Entries, &h.Credits, &h.Revoked)
	if err != nil {
		return h, explain(err)
	}
	var hash []byte
	err = t.QueryRowContext(ctx, "SELECT account, seq, hash FROM entries ORDER BY rowid DESC LIMIT 1").
		Scan(&h.Account, &h.Seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	h.Hash = hex.EncodeToString(hash)
	return h, explain(err)
}

// lacks reports whether the entry of h is missing.
func (db *DB) lacks(ctx context.Context, h head) (bool, error) {
	if h.Account == 0 {
		return false, nil
	}
	var hash []byte
	err := db.runner.readers.QueryRowContext(ctx, "SELECT hash FROM entries WHERE account = ? AND seq = ?", h.Account, h.Seq).
		Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return hex.EncodeToString(hash) != h.Hash, explain(err)
}

// valid reports whether one of the keys in revoked can be used.
func (db *DB) valid(ctx context.Context, revoked []string) (bool, error) {
	for _, id := range revoked {
		var n int64
		err := db.runner.readers.QueryRowContext(ctx, "SELECT count(*) FROM keys WHERE id = ? AND revoked_at IS NOT NULL", id).
			Scan(&n)
		if err != nil || n == 0 {
			return true, explain(err)
		}
	}
	return false, nil
}

// LostError is an [ErrLost].
type LostError struct {
	bookkeeping.Loss
	Revoked bool // whether a revoked key can be used again
}

// Error implements error.
func (e *LostError) Error() string {
	text := fmt.Sprintf("%v: at %s the books had %d entries of %d credits, and now they have %d of %d", ErrLost,
		e.At.Format(time.RFC3339), e.HadEntries, e.HadCredits, e.Entries, e.Credits)
	if e.Revoked {
		text += "; a key that was revoked is valid again"
	}
	return text
}

// Unwrap returns [ErrLost].
func (e *LostError) Unwrap() error { return ErrLost }

// verifyHead compares the database with its -head file, and writes the first head when there is none. If something is
// missing and this process is to serve the file, it fails, unless Config.AcceptLoss records the loss.
func (db *DB) verifyHead(ctx context.Context) error {
	kept, revoked, err := db.head.read() // first, because other processes may write meanwhile
	if err != nil {
		return err
	}
	db.head.last = db.runner.commits.Load()
	now, err := db.readHead(ctx)
	if err != nil {
		return err
	}
	lost, err := db.lacks(ctx, kept)
	if err != nil {
		return err
	}
	valid, err := db.valid(ctx, revoked)
	switch {
	case err != nil:
		return err
	case lost || valid || now.Entries < kept.Entries:
		e := &LostError{Revoked: valid, Loss: bookkeeping.Loss{
			At: kept.At, HadEntries: kept.Entries, HadCredits: kept.Credits, Entries: now.Entries, Credits: now.Credits,
		}}
		switch {
		case db.cfg.Admin:
			db.runner.refuse(e)
			return nil
		case !db.cfg.AcceptLoss:
			return e
		}
		if err := db.AcceptLoss(ctx, e.Loss); err != nil {
			return err
		}
		db.cfg.Logger.Warn("sqlite: a loss was accepted", "lost", e.Error())
		return db.head.begin(now)
	case kept.At.IsZero() && !db.cfg.Admin:
		return db.head.begin(now)
	}
	return nil
}

// keepHead writes the current head, if something was written since the last one.
func (db *DB) keepHead(ctx context.Context) error {
	commits := db.runner.commits.Load()
	if commits == db.head.last || db.runner.refused.Load() != nil {
		return nil
	}
	now, err := db.readHead(ctx)
	if err != nil {
		return err
	}
	if db.cfg.Admin || !db.head.long() { // only the process that serves replaces the file, because others add to it
		err = db.head.add(now)
	} else {
		err = db.head.begin(now)
	}
	if err == nil {
		db.head.last = commits
	}
	return err
}

// keepHeads calls keepHead regularly until ctx ends, and once more then.
func (db *DB) keepHeads(ctx context.Context) {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case <-tick.C:
		}
		if err := db.keepHead(context.WithoutCancel(ctx)); err != nil {
			db.cfg.Logger.Error("sqlite: write the head of the books", "error", err)
		}
	}
}
