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

// head is where the books ended at one moment: their newest entry, how many there were and what they came to. It is
// written to a file of its own at most headEvery after the entry, and synced there. A database that has lost the
// write-ahead log, or a part of it, is in order by itself; the head shows what it lacks.
type head struct {
	At      time.Time `json:"at"`
	Entries int64     `json:"entries"`
	Credits int64     `json:"credits"`
	Account int64     `json:"account"` // the number of the account of the newest entry; 0 when there is none
	Seq     int64     `json:"seq"`
	Hash    string    `json:"hash"`
	Revoked string    `json:"revoked"` // the key that this process has revoked last
	Sum     uint32    `json:"sum"`     // over all the rest: a line that was damaged counts for nothing
}

// headEvery is how often the head is written while entries are.
const headEvery = time.Second

// mostHeads is how long the file becomes, in bytes, before it is written anew.
const mostHeads = 64 << 10

func (h head) sum() uint32 {
	h.Sum = 0
	b, _ := json.Marshal(h) // of strings, numbers and a time: it cannot fail
	return crc32.ChecksumIEEE(b)
}

func (h head) line() []byte {
	h.Sum = h.sum()
	b, _ := json.Marshal(h)
	return append(append([]byte{'\n'}, b...), '\n') // the first ends a line that was cut
}

// headFile keeps heads, newest last. Every process that writes entries adds to it.
type headFile struct {
	path string
	last int64 // the writer's posted when a head was last written
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

// add writes a head behind the others.
func (f *headFile) add(h head) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(h.line())
	return errors.Join(err, out.Sync(), out.Close())
}

// begin puts one head in the place of all.
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

// long reports whether it is time to write the file anew.
func (f *headFile) long() bool {
	info, err := os.Stat(f.path)
	return err != nil || info.Size() > mostHeads
}

// look calls do while the tail and the tables are of one moment. It writes nothing.
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

// head returns where the books end. It is called within look.
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

// lacks reports whether the books do not have what h was the head of. It is called within look.
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

// valid reports whether one of the keys, which were revoked, is not.
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
	Revoked bool // whether a key that was revoked can be used again
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

// prove compares the file with the head that was kept beside it, and keeps the first head when there is none. A
// file that is served and has lost something is refused unless that is accepted, which becomes part of its books.
func (f *file) prove() error {
	kept, revoked, err := f.head.read() // first, for other processes may write meanwhile
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

// accept notes a loss in the file and goes on from what is there.
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

// keepHead writes where the books end, if entries were added since the last time.
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
	} else { // the process that serves alone begins anew, for others add to the file that is there
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

// keepHeads does so until stop is closed, and once more then.
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
