package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// Blocklist is the block list in a database. A write is durable when it returns.
type Blocklist struct{ db *DB }

var _ privacy.Blocklist = (*Blocklist)(nil)

// Blocklist returns the block list.
func (db *DB) Blocklist() *Blocklist { return &Blocklist{db} }

// lockPrivacy returns the secret, which it makes unless there is one, and the epoch. Transactions that call it take
// place one after the other.
func (t tx) lockPrivacy() (secret []byte, epoch int64, err error) {
	there, err := t.maybe([]any{&secret, &epoch}, "SELECT secret, epoch FROM @privacy {lock}")
	if err != nil || there {
		return secret, epoch, err
	}
	secret = make([]byte, privacy.SecretLen)
	rand.Read(secret) // never returns an error
	// If another transaction does so at the same time, one of the two is repeated.
	return secret, 0, t.exec("INSERT INTO @privacy (one, secret, epoch) VALUES (1, ?, 0)", secret)
}

// Secret implements [privacy.Blocklist].
func (b *Blocklist) Secret(ctx context.Context) (secret []byte, err error) {
	err = b.db.write(ctx, func(t tx) (err error) {
		secret, _, err = t.lockPrivacy()
		return err
	})
	return secret, err
}

// Announce implements [privacy.Blocklist].
func (b *Blocklist) Announce(ctx context.Context, a privacy.Announcement) (epoch int64, err error) {
	err = b.db.write(ctx, func(t tx) (err error) {
		if _, epoch, err = t.lockPrivacy(); err != nil {
			return err
		}
		epoch++
		return t.announce(a, epoch)
	})
	return epoch, err
}

func (t tx) announce(a privacy.Announcement, epoch int64) error {
	now, err := t.now()
	if err != nil {
		return err
	}
	var erased, blocked [][]any
	for _, name := range a.Erased {
		erased = append(erased, []any{epoch, int64(name), now.UnixNano()})
	}
	for _, name := range a.Block {
		blocked = append(blocked, []any{a.Digest[:], int64(name)})
	}
	if err := t.exec("UPDATE @privacy SET epoch = ?", epoch); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM @erased WHERE at < ?", now.Add(-privacy.Lately).UnixNano()); err != nil {
		return err
	}
	if err := t.insert("INSERT INTO @erased (epoch, name, at)", "nnn", " ON CONFLICT DO NOTHING", erased); err != nil {
		return err
	}
	if a.Unblock {
		if err := t.exec("DELETE FROM @blocked WHERE subject = ?", a.Digest[:]); err != nil {
			return err
		}
	}
	return t.insert("INSERT INTO @blocked (subject, name)", "bn", " ON CONFLICT DO NOTHING", blocked)
}

const selectEpoch = "SELECT coalesce(max(epoch), 0) FROM @privacy"

// Epoch implements [privacy.Blocklist].
func (b *Blocklist) Epoch(ctx context.Context) (int64, error) {
	return one(ctx, b.db, scanOne[int64], selectEpoch)
}

// Load implements [privacy.Blocklist].
func (b *Blocklist) Load(ctx context.Context) (s privacy.State, err error) {
	// The epoch is read first: what is added after that is read again with the next epoch.
	if s.Epoch, err = b.Epoch(ctx); err != nil {
		return s, err
	}
	s.Blocked, err = list(ctx, b.db, func(r row) (privacy.Name, error) {
		n, err := scanOne[int64](r)
		return privacy.Name(n), err
	}, "SELECT name FROM @blocked")
	if err != nil {
		return s, err
	}
	s.Erased, err = list(ctx, b.db, func(r row) (e privacy.Erased, err error) {
		var n int64
		err = r.Scan(&e.Epoch, &n)
		e.Name = privacy.Name(n)
		return e, err
	}, "SELECT epoch, name FROM @erased ORDER BY epoch, name")
	return s, err
}

// Renew implements [privacy.Blocklist]. It writes no more often than is needed to count as live: a write waits for the
// disk.
func (b *Blocklist) Renew(ctx context.Context, process string, at int64) (epoch int64, err error) {
	err = b.db.write(ctx, func(t tx) error {
		var since, reached int64
		noted, err := t.maybe(
			[]any{&since, &reached},
			"SELECT "+sqlNow+" - seen, epoch FROM @processes WHERE id = ?",
			b.db.clock(),
			process,
		)
		if err != nil {
			return err
		}
		if !noted || reached != at || since < 0 || since >= int64(privacy.Dead/4) {
			if err := t.exec("INSERT INTO @processes (id, epoch, seen) VALUES (?, ?, "+sqlNow+
				") ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, seen = excluded.seen", process, at, b.db.clock()); err != nil {
				return err
			}
		}
		return t.row([]any{&epoch}, selectEpoch)
	})
	return epoch, err
}

// Leave implements [privacy.Blocklist].
func (b *Blocklist) Leave(ctx context.Context, process string) error {
	return b.db.write(ctx, func(t tx) error { return t.exec("DELETE FROM @processes WHERE id = ?", process) })
}

// Living implements [privacy.Blocklist].
func (b *Blocklist) Living(ctx context.Context) (found []privacy.Process, err error) {
	err = b.db.write(ctx, func(t tx) error {
		err := t.exec("DELETE FROM @processes WHERE seen <= "+sqlNow+" - ?", b.db.clock(), int64(privacy.Dead))
		if err != nil {
			return err
		}
		found = []privacy.Process{}
		var p privacy.Process
		var seen int64
		return t.each([]any{&p.ID, &p.Epoch, &seen}, func() error {
			p.Seen = fromNanos(seen)
			found = append(found, p)
			return nil
		}, "SELECT id, epoch, seen FROM @processes ORDER BY id")
	})
	return found, err
}

// Append implements [privacy.Blocklist].
func (b *Blocklist) Append(ctx context.Context, r privacy.Receipt) (sealed privacy.Receipt, err error) {
	err = b.db.write(ctx, func(t tx) error {
		if _, _, err := t.lockPrivacy(); err != nil {
			return err
		}
		var body []byte
		var last privacy.Receipt
		there, err := t.maybe([]any{&body}, "SELECT body FROM @receipts ORDER BY no DESC LIMIT 1")
		if err == nil && there {
			last, err = readReceipt(body)
		}
		if err != nil {
			return err
		}
		sealed = r.Seal(last)
		if body, err = schema.Marshal(sealed); err != nil {
			return err
		}
		return t.exec("INSERT INTO @receipts (no, body) VALUES (?, ?)", sealed.No, body)
	})
	return sealed, err
}

func readReceipt(body []byte) (r privacy.Receipt, err error) {
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("store: a receipt cannot be read: %w", err)
	}
	return r, nil
}

// Receipts implements [privacy.Blocklist].
func (b *Blocklist) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return list(ctx, b.db, func(r row) (privacy.Receipt, error) {
		body, err := scanOne[[]byte](r)
		if err != nil {
			return privacy.Receipt{}, err
		}
		return readReceipt(body)
	}, "SELECT body FROM @receipts WHERE no > ? ORDER BY no LIMIT ?", after, cmp.Or(int64(limit), math.MaxInt64))
}

// Scrub makes what was removed unreadable in the files. An erasure ends with it.
func (b *Blocklist) Scrub(ctx context.Context) error {
	if b.db.cfg.Scrub == nil {
		return nil
	}
	return b.db.cfg.Scrub(ctx)
}
