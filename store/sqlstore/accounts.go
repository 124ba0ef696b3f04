package sqlstore

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
	if err := s.db.fits(ctx, n); err != nil {
		return keys.Account{}, err
	}
	a := keys.Account{ID: keys.NewID("acct"), Name: name, CreatedAt: s.now()}
	err := s.db.write(ctx, func(t tx) error {
		// The name must not be another account's id: then one text would mean two accounts.
		taken, err := t.maybe([]any{new(int64)}, "SELECT 1 FROM @accounts WHERE name = ? OR id = ?", name, name)
		if err == nil && taken {
			err = fmt.Errorf("%w: account %q", keys.ErrTaken, name)
		}
		if err != nil {
			return err
		}
		opened := loaded{State: credits.NewState(a.ID)}
		if err := t.row([]any{&opened.no}, "INSERT INTO @accounts (id, name, created_at, hash) VALUES (?, ?, ?, ?) RETURNING no",
			a.ID, a.Name, a.CreatedAt.UnixMicro(), []byte{}); err != nil ||
			n == 0 {
			return err
		}
		now, err := t.now()
		if err != nil {
			return err
		}
		if _, err := opened.Give(credits.Entry{Account: a.ID, Kind: credits.Granted, Amount: n, Reason: reason}, now); err != nil {
			return err
		}
		return (&group{accounts: map[string]*loaded{a.ID: &opened}}).save(t)
	})
	if err != nil {
		return keys.Account{}, err
	}
	return a, nil
}

const selectAccounts = "SELECT id, name, created_at, monthly, closed_at FROM @accounts"

func scanAccount(r row) (keys.Account, error) {
	var a accountRow
	err := r.Scan(a.into()...)
	return a.read(), err
}

// accountRow is an account as it is read.
type accountRow struct {
	keys.Account

	created int64
	closed  *int64
}

func (a *accountRow) into() []any { return []any{&a.ID, &a.Name, &a.created, &a.Monthly, &a.closed} }

func (a *accountRow) read() keys.Account {
	a.CreatedAt = fromMicros(a.created)
	if a.closed != nil {
		a.ClosedAt = new(fromMicros(*a.closed))
	}
	return a.Account
}

// Account returns the account with that id or name, or keys.ErrAbsent.
func (s *Keys) Account(ctx context.Context, idOrName string) (a keys.Account, err error) {
	err = sql.ErrNoRows
	if storable(idOrName) {
		a, err = one(ctx, s.db, scanAccount, selectAccounts+" WHERE id = ? OR name = ?", idOrName, idOrName)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: account %q", keys.ErrAbsent, idOrName)
	}
	return a, err
}

// Accounts returns every account, oldest first.
func (s *Keys) Accounts(ctx context.Context) ([]keys.Account, error) {
	return list(ctx, s.db, scanAccount, selectAccounts+" ORDER BY no")
}

// SetMonthly implements [keys.Admin].
func (s *Keys) SetMonthly(ctx context.Context, idOrName string, n int64) (keys.Account, error) {
	return s.changeAccount(ctx, idOrName, func(t tx, a *keys.Account) error {
		if err := a.CheckMonthly(n); err != nil {
			return err
		}
		a.Monthly = n
		return t.exec("UPDATE @accounts SET monthly = ? WHERE id = ?", n, a.ID)
	})
}

// CloseAccount implements [keys.Admin]. It returns when every process refuses the keys, like [Keys.Revoke].
func (s *Keys) CloseAccount(ctx context.Context, idOrName string) (keys.Account, error) {
	a, err := s.changeAccount(ctx, idOrName, func(t tx, a *keys.Account) error {
		if a.ClosedAt != nil {
			return nil
		}
		a.ClosedAt, a.Monthly = new(s.now()), 0
		if err := t.exec("UPDATE @accounts SET monthly = 0, closed_at = ? WHERE id = ?", micros(a.ClosedAt), a.ID); err != nil {
			return err
		}
		return t.exec("UPDATE @keys SET revoked_at = ? WHERE account = ? AND revoked_at IS NULL", micros(a.ClosedAt), a.ID)
	})
	if err != nil {
		return keys.Account{}, err
	}
	return a, s.leasesEnd(ctx, a.ID)
}

// changeAccount applies do to the account with that id or name, which is locked, and returns it.
func (s *Keys) changeAccount(
	ctx context.Context, idOrName string, do func(t tx, a *keys.Account) error,
) (a keys.Account, err error) {
	if a, err = s.Account(ctx, idOrName); err != nil {
		return keys.Account{}, err
	}
	err = s.db.write(ctx, func(t tx) error {
		var locked accountRow
		if err := t.row(locked.into(), selectAccounts+" WHERE id = ? {lock}", a.ID); err != nil {
			return err
		}
		a = locked.read()
		return do(t, &a)
	})
	if err != nil {
		return keys.Account{}, err
	}
	return a, nil
}

// leasesEnd returns when no process uses the previous state of a key or an account any more.
func (s *Keys) leasesEnd(ctx context.Context, id string) error {
	lease := s.db.cfg.KeyLease
	select {
	case <-time.After(lease):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("store: %s is changed, but processes may still use the previous key for %v: %w", id, lease, ctx.Err())
	}
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
	err = s.db.write(ctx, func(t tx) error {
		var owner accountRow
		if err := t.row(owner.into(), selectAccounts+" WHERE id = ? {lock}", a.ID); err != nil {
			return err
		}
		if err := owner.read().Serves(); err != nil {
			return err
		}
		if n.Unique {
			if err := t.unlessNamed(k); err != nil {
				return err
			}
		}
		return t.insertKey(k)
	})
	if err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// unlessNamed returns keys.ErrTaken when another active key of the account, which is locked, has the name of k.
func (t tx) unlessNamed(k keys.Key) error {
	taken, err := t.maybe(
		[]any{new(int64)},
		"SELECT no FROM @keys WHERE account = ? AND name = ? AND revoked_at IS NULL LIMIT 1",
		k.Account,
		k.Name,
	)
	if err == nil && taken {
		err = fmt.Errorf("%w: key %q", keys.ErrTaken, k.Name)
	}
	return err
}

// Change implements [keys.Admin]. It returns when every process applies the change, like [Keys.Revoke].
func (s *Keys) Change(ctx context.Context, id string, change func(*keys.Key) error) (keys.Key, error) {
	return s.change(ctx, id, func(k *keys.Key) (err error) {
		*k, err = k.Change(change)
		return err
	})
}

// Rotate implements [keys.Admin]. It returns when every process applies the change, like [Keys.Revoke].
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

// Revoke revokes the key with that id and returns it. It returns when no process accepts the key any more: where
// processes use a key that they have read for a while, after that while. If ctx ends before that, the key is revoked
// nevertheless. Revoking it again changes nothing. It fails with keys.ErrAbsent.
func (s *Keys) Revoke(ctx context.Context, id string) (keys.Key, error) {
	return s.change(ctx, id, func(k *keys.Key) error {
		if k.RevokedAt == nil {
			k.RevokedAt = new(s.now())
		}
		return nil
	})
}

// change applies do to the key with that id, which is locked, and writes the result. It returns that when no process
// uses the previous key any more.
func (s *Keys) change(ctx context.Context, id string, do func(*keys.Key) error) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	if !storable(id) {
		return keys.Key{}, noKey(id)
	}
	err := s.db.write(ctx, func(t tx) error {
		var found keyRow
		there, err := t.maybe(found.into(), selectKeys+" WHERE id = ? {lock}", id)
		if err == nil && !there {
			err = noKey(id)
		}
		if err != nil {
			return err
		}
		k, err := found.read()
		if err := cmp.Or(err, do(&k)); err != nil {
			return err
		}
		return t.exec(`
			UPDATE @keys SET prefix = ?, hash = ?, former_hash = ?, former_until = ?, capacity = ?, refill = ?, day_cap = ?,
				total_cap = ?, manage = ?, bounds = ?, revoked_at = ?
			WHERE id = ?`, append(changeable(k), micros(k.RevokedAt), id)...)
	})
	if err != nil {
		return keys.Key{}, err
	}
	if err := s.leasesEnd(ctx, id); err != nil {
		return keys.Key{}, err
	}
	return s.Key(ctx, id)
}

func noKey(id string) error { return fmt.Errorf("%w: key %q", keys.ErrAbsent, id) }

// Key returns the key with that id, or keys.ErrAbsent.
func (s *Keys) Key(ctx context.Context, id string) (k keys.Key, err error) {
	if err := s.flush(ctx); err != nil {
		return keys.Key{}, err
	}
	err = sql.ErrNoRows
	if storable(id) {
		k, err = one(ctx, s.db, scanKey, selectKeys+" WHERE id = ?", id)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = noKey(id)
	}
	return k, err
}

// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first, including
// revoked ones.
func (s *Keys) Keys(ctx context.Context, account string) ([]keys.Key, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	if account == "" {
		return list(ctx, s.db, scanKey, selectKeys+" ORDER BY no")
	}
	a, err := s.Account(ctx, account)
	if err != nil {
		return nil, err
	}
	return list(ctx, s.db, scanKey, selectKeys+" WHERE account = ? ORDER BY no", a.ID)
}
