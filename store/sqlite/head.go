package sqlite

import (
	"bytes"
	"database/sql/driver"
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
	Revoked string    `json:"revoked"` // the last key that this process has revoked
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
	last int64 // the writer's posted when the head was last written
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

// look calls do while the tail and the tables agree. do must not write.
func (w *writer) look(do func() error) error {
	return w.do(&task{outside: true, apply: func(w *writer) error {
		if err := w.c.script("BEGIN"); err != nil {
			return err
		}
		err := w.notice()
		if err == nil {
			err = do()
		}
		return errors.Join(err, w.c.script("COMMIT"))
	}})
}

// head returns the current head. It is called within look.
func (w *writer) head() (h head, err error) {
	var v [2]driver.Value
	if _, err := w.c.row("SELECT entries, credits FROM totals", v[:]); err != nil {
		return h, err
	}
	h = head{
		At: w.now().UTC(), Revoked: *w.revoked.Load(),
		Entries: value[int64](v[0]) + int64(w.tail.entries), Credits: value[int64](v[1]) + w.tail.credits,
	}
	if n := len(w.tail.rows); n > 0 {
		entries := w.tail.rows[n-1].entries
		e := entries[len(entries)-1]
		h.Account, h.Seq, h.Hash = e.account, e.Seq, hex.EncodeToString(e.Hash[:])
		return h, nil
	}
	var last [3]driver.Value
	found, err := w.c.row("SELECT account, seq, hash FROM entries ORDER BY no DESC LIMIT 1", last[:])
	if found {
		h.Account, h.Seq = value[int64](last[0]), value[int64](last[1])
		h.Hash = hex.EncodeToString(value[[]byte](last[2]))
	}
	return h, err
}

// lacks reports whether the entry of h is missing. It is called within look.
func (w *writer) lacks(h head) (bool, error) {
	if h.Account == 0 {
		return false, nil
	}
	for _, row := range w.tail.rows {
		for i := range row.entries {
			if e := &row.entries[i]; e.account == h.Account && e.Seq == h.Seq {
				return hex.EncodeToString(e.Hash[:]) != h.Hash, nil
			}
		}
	}
	var v [1]driver.Value
	found, err := w.c.row("SELECT hash FROM entries WHERE account = ? AND seq = ?", v[:], h.Account, h.Seq)
	return !found || hex.EncodeToString(value[[]byte](v[0])) != h.Hash, err
}

// valid reports whether one of the keys in revoked can be used.
func (w *writer) valid(revoked []string) (bool, error) {
	for _, id := range revoked {
		n, err := w.c.number("SELECT count(*) FROM keys WHERE id = ? AND revoked_at IS NOT NULL", id)
		if err != nil || n == 0 {
			return true, err
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

// prove compares the database with its -head file, and writes the first head when there is none. If something is
// missing and this process is to serve the file, it fails, unless Config.AcceptLoss records the loss.
func (f *file) prove() error {
	kept, revoked, err := f.head.read() // first, because other processes may write meanwhile
	if err != nil {
		return err
	}
	var now head
	var lost, valid bool
	err = f.writer.look(func() (err error) {
		if now, err = f.writer.head(); err != nil {
			return err
		}
		if lost, err = f.writer.lacks(kept); err != nil {
			return err
		}
		lost = lost || now.Entries < kept.Entries
		valid, err = f.writer.valid(revoked)
		return err
	})
	f.head.last = f.writer.posted.Load()
	switch {
	case err != nil:
		return err
	case lost || valid:
		e := &LostError{Revoked: valid, Loss: bookkeeping.Loss{
			At: kept.At, HadEntries: kept.Entries, HadCredits: kept.Credits, Entries: now.Entries, Credits: now.Credits,
		}}
		switch {
		case f.cfg.Admin:
			f.lost = e
			return nil
		case !f.cfg.AcceptLoss:
			return e
		}
		return f.accept(e, now)
	case kept.At.IsZero() && !f.cfg.Admin:
		return f.head.begin(now)
	}
	return nil
}

// accept records a loss in the file and makes its present end the head.
func (f *file) accept(e *LostError, now head) error {
	err := f.writer.alone(func(c *conn) error {
		_, err := c.exec("INSERT INTO losses VALUES (NULL, ?, ?, ?, ?, ?, ?)", f.cfg.Now().UnixMicro(),
			e.At.UnixMicro(), e.HadEntries, e.HadCredits, e.Entries, e.Credits)
		return err
	})
	if err != nil {
		return err
	}
	f.cfg.Logger.Warn("sqlite: a loss was accepted", "lost", e.Error())
	return f.head.begin(now)
}

// keepHead writes the current head, if entries were added since the last one.
func (f *file) keepHead() error {
	posted := f.writer.posted.Load()
	if posted == f.head.last || f.lost != nil {
		return nil
	}
	var now head
	err := f.writer.look(func() (err error) {
		now, err = f.writer.head()
		return err
	})
	if err != nil {
		return err
	}
	if f.cfg.Admin || !f.head.long() {
		err = f.head.add(now)
	} else { // only the process that serves replaces the file, because others add to the existing one
		_, revoked, readErr := f.head.read()
		if readErr != nil {
			return readErr
		}
		if now.Revoked == "" && len(revoked) > 0 {
			now.Revoked = revoked[len(revoked)-1]
		}
		err = f.head.begin(now)
	}
	if err == nil {
		f.head.last = posted
	}
	return err
}

// keepHeads calls keepHead regularly until stop is closed, and once more then.
func (f *file) keepHeads(stop <-chan struct{}) {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-stop:
			open = false
		case <-tick.C:
		}
		if err := f.keepHead(); err != nil {
			f.cfg.Logger.Error("sqlite: write the head of the books", "error", err)
		}
	}
}
