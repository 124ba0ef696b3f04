package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// Blocklist is the blocklist in the file. A write is durable when it returns, and shares its transaction with charges.
type Blocklist struct{ file *file }

var _ privacy.Blocklist = (*Blocklist)(nil)

func (b *Blocklist) do(ctx context.Context, apply func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.file.writer.do(&task{apply: apply})
}

// Secret implements [privacy.Blocklist].
func (b *Blocklist) Secret(ctx context.Context) (secret []byte, err error) {
	err = b.do(ctx, func(w *writer) error {
		if err := beginPrivacy(w); err != nil {
			return err
		}
		var v [1]driver.Value
		_, err := w.c.row("SELECT secret FROM privacy", v[:])
		secret = append([]byte{}, value[[]byte](v[0])...)
		return err
	})
	return secret, err
}

// beginPrivacy makes the secret, unless there is one.
func beginPrivacy(w *writer) error {
	there, err := w.c.number("SELECT count(*) FROM privacy")
	if err != nil || there > 0 {
		return err
	}
	secret := make([]byte, privacy.SecretLen)
	rand.Read(secret) // never returns an error
	_, err = w.c.exec("INSERT INTO privacy VALUES (1, ?, 0)", secret)
	return err
}

// Announce implements [privacy.Blocklist].
func (b *Blocklist) Announce(ctx context.Context, a privacy.Announcement) (epoch int64, err error) {
	err = b.do(ctx, func(w *writer) (err error) {
		epoch, err = b.announce(w, a)
		return err
	})
	return epoch, err
}

func (b *Blocklist) announce(w *writer, a privacy.Announcement) (int64, error) {
	if err := beginPrivacy(w); err != nil {
		return 0, err
	}
	if _, err := w.c.exec("UPDATE privacy SET epoch = epoch + 1"); err != nil {
		return 0, err
	}
	epoch, err := w.c.number("SELECT epoch FROM privacy")
	if err != nil {
		return 0, err
	}
	now := b.file.cfg.Now().UnixNano()
	if _, err := w.c.exec("DELETE FROM erased WHERE at < ?", now-int64(privacy.Lately)); err != nil {
		return 0, err
	}
	for _, name := range a.Erased {
		if _, err := w.c.exec("INSERT OR IGNORE INTO erased VALUES (?, ?, ?)", epoch, int64(name), now); err != nil {
			return 0, err
		}
	}
	if a.Unblock {
		if _, err := w.c.exec("DELETE FROM blocked WHERE subject = ?", a.Digest[:]); err != nil {
			return 0, err
		}
	}
	for _, name := range a.Block {
		if _, err := w.c.exec("INSERT OR IGNORE INTO blocked VALUES (?, ?)", a.Digest[:], int64(name)); err != nil {
			return 0, err
		}
	}
	return epoch, nil
}

const selectEpoch = "SELECT coalesce(max(epoch), 0) FROM privacy"

// Epoch implements [privacy.Blocklist].
func (b *Blocklist) Epoch(ctx context.Context) (epoch int64, err error) {
	return epoch, explain(b.file.read.QueryRowContext(ctx, selectEpoch).Scan(&epoch))
}

// Load implements [privacy.Blocklist].
func (b *Blocklist) Load(ctx context.Context) (s privacy.State, err error) {
	// The epoch is read first: what is added after that is read again with the next epoch.
	if s.Epoch, err = b.Epoch(ctx); err != nil {
		return s, err
	}
	s.Blocked, err = listRows(ctx, b.file.read, func(rows *sql.Rows) (privacy.Name, error) {
		var n int64
		err := rows.Scan(&n)
		return privacy.Name(n), err
	}, "SELECT name FROM blocked")
	if err != nil {
		return s, err
	}
	s.Erased, err = listRows(ctx, b.file.read, func(rows *sql.Rows) (e privacy.Erased, err error) {
		var n int64
		err = rows.Scan(&e.Epoch, &n)
		e.Name = privacy.Name(n)
		return e, err
	}, "SELECT epoch, name FROM erased ORDER BY epoch, name")
	return s, err
}

// Renew implements [privacy.Blocklist].
func (b *Blocklist) Renew(ctx context.Context, process string, at int64) (epoch int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// A row that a crash of the machine loses is that of a process that the crash has ended.
	err = b.file.writer.do(&task{unsynced: true, apply: func(w *writer) (err error) {
		if _, err = w.c.exec("INSERT OR REPLACE INTO processes VALUES (?, ?, ?)", process, at,
			b.file.cfg.Now().UnixNano()); err != nil {
			return err
		}
		epoch, err = w.c.number(selectEpoch)
		return err
	}})
	return epoch, err
}

// Leave implements [privacy.Blocklist].
func (b *Blocklist) Leave(ctx context.Context, process string) error {
	return b.do(ctx, func(w *writer) error {
		_, err := w.c.exec("DELETE FROM processes WHERE id = ?", process)
		return err
	})
}

// Living implements [privacy.Blocklist].
func (b *Blocklist) Living(ctx context.Context) (found []privacy.Process, err error) {
	dead := b.file.cfg.Now().Add(-privacy.Dead).UnixNano()
	if err := b.do(ctx, func(w *writer) error {
		_, err := w.c.exec("DELETE FROM processes WHERE seen <= ?", dead)
		return err
	}); err != nil {
		return nil, err
	}
	return listRows(ctx, b.file.read, func(rows *sql.Rows) (p privacy.Process, err error) {
		var seen int64
		err = rows.Scan(&p.ID, &p.Epoch, &seen)
		p.Seen = fromNanos(seen)
		return p, err
	}, "SELECT id, epoch, seen FROM processes WHERE seen > ? ORDER BY id", dead)
}

// Append implements [privacy.Blocklist].
func (b *Blocklist) Append(ctx context.Context, r privacy.Receipt) (sealed privacy.Receipt, err error) {
	err = b.do(ctx, func(w *writer) error {
		var v [1]driver.Value
		there, err := w.c.row("SELECT body FROM receipts ORDER BY no DESC LIMIT 1", v[:])
		if err != nil {
			return err
		}
		var last privacy.Receipt
		if there {
			if last, err = readReceipt(value[[]byte](v[0])); err != nil {
				return err
			}
		}
		sealed = r.Seal(last)
		body, err := schema.Marshal(sealed)
		if err != nil {
			return err
		}
		_, err = w.c.exec("INSERT INTO receipts VALUES (?, ?)", sealed.No, body)
		return err
	})
	return sealed, err
}

func readReceipt(body []byte) (r privacy.Receipt, err error) {
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("sqlite: a receipt cannot be read: %w", err)
	}
	return r, nil
}

// Receipts implements [privacy.Blocklist].
func (b *Blocklist) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return listRows(ctx, b.file.read, func(rows *sql.Rows) (privacy.Receipt, error) {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return privacy.Receipt{}, err
		}
		return readReceipt(body)
	}, "SELECT body FROM receipts WHERE no > ? ORDER BY no LIMIT ?", after, orAll(limit))
}

// Scrub makes what was removed unreadable in the files. An erasure ends with it: it empties the write-ahead log, which
// has pages from before the removal.
func (b *Blocklist) Scrub(ctx context.Context) error { return b.file.scrub(ctx) }
