package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// CreateAccount makes an account. It fails with keys.ErrTaken when there is one with that name, and with
// keys.ErrInvalid when the name is invalid.
func (s *Keys) CreateAccount(ctx context.Context, name string) (keys.Account, error) {
	return s.OpenAccount(ctx, name, 0, "")
}

// OpenAccount implements [keys.Admin].
func (s *Keys) OpenAccount(ctx context.Context, name string, n int64, reason string) (keys.Account, error) {
	if err := cmp.Or(ctx.Err(), keys.CheckOpening(name, n, reason)); err != nil {
		return keys.Account{}, err
	}
	a := keys.Account{ID: keys.NewID("acct"), Name: name, CreatedAt: s.now()}
	t := &task{alone: true, apply: func(w *writer) error {
		// The name must not be another account's id: then one text would mean two accounts.
		if err := notTaken(w.c, name); err != nil {
			return err
		}
		if err := insertAccount(w.c, a); err != nil || n == 0 {
			return err
		}
		_, err := w.append(&cached{account: a.ID}, credits.Entry{
			Account: a.ID, Kind: credits.Granted, Amount: n, Reason: reason, At: w.now(),
		})
		return err
	}}
	if err := s.file.announce(func() error { return s.file.writer.do(t) }); err != nil {
		return keys.Account{}, err
	}
	return a, nil
}

// Account returns the account with that id or name, or keys.ErrAbsent.
func (s *Keys) Account(ctx context.Context, idOrName string) (keys.Account, error) {
	a, err := scanAccount(s.file.read.QueryRowContext(ctx, selectAccounts+" WHERE id = ?1 OR name = ?1", idOrName))
	if errors.Is(err, sql.ErrNoRows) {
		return keys.Account{}, noAccount(idOrName)
	}
	return a, explain(err)
}

func noAccount(idOrName string) error { return fmt.Errorf("%w: account %q", keys.ErrAbsent, idOrName) }

// Accounts returns every account, oldest first.
func (s *Keys) Accounts(ctx context.Context) ([]keys.Account, error) {
	return list(ctx, s.file.read, scanAccount, selectAccounts+" ORDER BY no")
}

// CreateKey implements [keys.Admin].
func (s *Keys) CreateKey(ctx context.Context, n keys.NewKey) (secret string, k keys.Key, err error) {
	a, err := s.Account(ctx, n.Account)
	if err != nil {
		return "", keys.Key{}, err
	}
	secret, k, err = n.Mint(a.ID, s.now())
	if err != nil {
		return "", keys.Key{}, err
	}
	err = s.file.writer.do(&task{alone: true, apply: func(w *writer) error {
		if err := unlessNamed(w.c, n, a.ID); err != nil {
			return err
		}
		if err := insertKey(w.c, k); err != nil {
			return err
		}
		if k.DayCap == nil && k.TotalCap == nil {
			return nil
		}
		_, err := w.c.exec("INSERT INTO spending SELECT no, ?, 0, 0, 0 FROM accounts WHERE id = ?", k.ID, k.Account)
		return err
	}})
	if err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// unlessNamed returns keys.ErrTaken when n must have a unique name, but another key has it.
func unlessNamed(c *conn, n keys.NewKey, account string) error {
	if !n.Unique {
		return nil
	}
	taken, err := c.number("SELECT count(*) FROM keys WHERE account = ? AND name = ? AND revoked_at IS NULL", account,
		n.Name)
	if err == nil && taken > 0 {
		err = fmt.Errorf("%w: key %q", keys.ErrTaken, n.Name)
	}
	return err
}

// Change implements [keys.Admin].
func (s *Keys) Change(ctx context.Context, id string, change func(*keys.Key) error) (keys.Key, error) {
	return s.change(ctx, id, func(k *keys.Key) (err error) {
		*k, err = k.Change(change)
		return err
	})
}

// Rotate implements [keys.Admin].
func (s *Keys) Rotate(ctx context.Context, id string, until time.Time) (secret string, k keys.Key, err error) {
	k, err = s.change(ctx, id, func(k *keys.Key) (err error) {
		secret, err = k.Rotate(until)
		return err
	})
	if err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// change applies do to the key with that id, writes the result, and announces it to every process. The key is read in
// the transaction, so that neither another process nor another call changes it meanwhile.
func (s *Keys) change(ctx context.Context, id string, do func(*keys.Key) error) (k keys.Key, err error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	err = s.file.lock.change(func() error {
		return s.file.writer.alone(func(c *conn) error {
			found, err := scanKey(s.file.read.QueryRowContext(ctx, selectKeys+" WHERE id = ?", id))
			if errors.Is(err, sql.ErrNoRows) {
				return noKey(id)
			}
			if err = cmp.Or(explain(err), do(&found)); err != nil {
				return err
			}
			_, err = c.exec(`
				UPDATE keys SET prefix = ?, hash = ?, former_hash = ?, former_until = ?, capacity = ?, refill = ?, day_cap = ?,
					total_cap = ?, manage = ?, bounds = ?
				WHERE id = ? AND revoked_at IS NULL`, append(changeable(found), id)...)
			return err
		})
	})
	if err != nil {
		return keys.Key{}, err
	}
	return s.Key(ctx, id)
}

// Key returns the key with that id, or keys.ErrAbsent.
func (s *Keys) Key(ctx context.Context, id string) (keys.Key, error) {
	if err := s.flush(); err != nil {
		return keys.Key{}, err
	}
	k, err := scanKey(s.file.read.QueryRowContext(ctx, selectKeys+" WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return keys.Key{}, noKey(id)
	}
	return k, explain(err)
}

func noKey(id string) error { return fmt.Errorf("%w: key %q", keys.ErrAbsent, id) }

// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first, including
// revoked ones.
func (s *Keys) Keys(ctx context.Context, account string) ([]keys.Key, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	if account == "" {
		return list(ctx, s.file.read, scanKey, selectKeys+" ORDER BY no")
	}
	a, err := s.Account(ctx, account)
	if err != nil {
		return nil, err
	}
	return list(ctx, s.file.read, scanKey, selectKeys+" WHERE account = ? ORDER BY no", a.ID)
}

// Revoke revokes the key with that id and returns it. No later call in any process accepts the key. Revoking it again
// changes nothing. It fails with keys.ErrAbsent.
func (s *Keys) Revoke(ctx context.Context, id string) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	err := s.file.lock.change(func() error {
		return s.file.writer.alone(func(c *conn) error {
			n, err := c.exec("UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", s.now().UnixMicro(), id)
			if err == nil && n == 0 {
				return noKey(id)
			}
			return err
		})
	})
	if err != nil {
		return keys.Key{}, err
	}
	s.file.writer.revoked.Store(&id)
	s.file.writer.posted.Add(1)
	return s.Key(ctx, id)
}

// now returns the time with the precision of the file.
func (s *Keys) now() time.Time { return s.file.cfg.Now().UTC().Truncate(time.Microsecond) }
