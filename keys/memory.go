package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/credits"
)

// Memory is a [Store] and an [Admin] that keeps everything in memory only.
type Memory struct {
	now    func() time.Time
	ledger *credits.Memory // nil for none

	mu       sync.RWMutex
	accounts []Account // oldest first
	keys     map[string]*Key
	order    []string // ids of keys, oldest first
	byHash   map[Hash]*Key
}

var (
	_ Store = (*Memory)(nil)
	_ Admin = (*Memory)(nil)
)

// MemoryConfig configures a [Memory]. The zero value is ready to use.
type MemoryConfig struct {
	Now func() time.Time // the clock; nil means time.Now
	// Ledger grants the initial credits of new accounts. Nil if accounts begin without credits.
	Ledger *credits.Memory
}

// NewMemory returns a store without accounts.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Memory{now: cfg.Now, ledger: cfg.Ledger, keys: map[string]*Key{}, byHash: map[Hash]*Key{}}
}

// CreateAccount creates an account without credits. It returns ErrTaken and ErrInvalid.
func (m *Memory) CreateAccount(ctx context.Context, name string) (Account, error) {
	return m.OpenAccount(ctx, name, 0, "")
}

// OpenAccount implements [Admin]. Without [MemoryConfig.Ledger] an account cannot begin with credits.
func (m *Memory) OpenAccount(ctx context.Context, name string, n int64, reason string) (Account, error) {
	if err := cmp.Or(ctx.Err(), CheckOpening(name, n, reason)); err != nil {
		return Account{}, err
	}
	if n > 0 && m.ledger == nil {
		return Account{}, errors.New("keys: an account cannot begin with credits without MemoryConfig.Ledger")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.account(name); err == nil {
		return Account{}, fmt.Errorf("%w: account %q", ErrTaken, name)
	}
	a := Account{ID: NewID("acct"), Name: name, CreatedAt: stamp(m.now())}
	switch {
	case n > 0:
		if _, err := m.ledger.Grant(ctx, a.ID, n, reason); err != nil {
			return Account{}, err
		}
	case m.ledger != nil:
		m.ledger.Open(a.ID)
	}
	m.accounts = append(m.accounts, a)
	return a, nil
}

// Restore adds accounts and keys as they were in another store, and calls do to add what belongs to them: all or
// nothing. It returns ErrTaken when a name or an id is in use, ErrAbsent for a key without an account, and the error of
// do.
func (m *Memory) Restore(accounts []Account, restored []Key, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.accounts)
	for _, a := range accounts {
		for _, name := range []string{a.ID, a.Name} {
			if _, err := find(all, name); err == nil {
				return fmt.Errorf("%w: account %q", ErrTaken, name)
			}
		}
		all = append(all, a)
	}
	for _, k := range restored {
		_, id := m.keys[k.ID]
		if _, hash := m.byHash[k.Hash]; id || hash {
			return fmt.Errorf("%w: key %q", ErrTaken, k.ID)
		}
		if _, err := find(all, k.Account); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	m.accounts = all
	for _, k := range restored {
		m.add(k)
	}
	return nil
}

// add adds a key.
func (m *Memory) add(k Key) {
	m.keys[k.ID], m.byHash[k.Hash] = &k, &k
	if k.Former != nil {
		m.byHash[k.Former.Hash] = &k
	}
	m.order = append(m.order, k.ID)
}

// Account returns the account with that id or name, or ErrAbsent.
func (m *Memory) Account(_ context.Context, idOrName string) (Account, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.account(idOrName)
}

func (m *Memory) account(idOrName string) (Account, error) { return find(m.accounts, idOrName) }

// SetMonthly implements [Admin].
func (m *Memory) SetMonthly(_ context.Context, idOrName string, n int64) (Account, error) {
	return m.changeAccount(idOrName, func(a *Account) error {
		if err := a.CheckMonthly(n); err != nil {
			return err
		}
		a.Monthly = n
		return nil
	})
}

// CloseAccount implements [Admin].
func (m *Memory) CloseAccount(_ context.Context, idOrName string) (Account, error) {
	return m.changeAccount(idOrName, func(a *Account) error {
		if a.ClosedAt != nil {
			return nil
		}
		a.ClosedAt, a.Monthly = new(stamp(m.now())), 0
		for _, k := range m.keys {
			if k.Account == a.ID && k.RevokedAt == nil {
				k.RevokedAt = a.ClosedAt
			}
		}
		return nil
	})
}

// changeAccount applies change to an account and returns it.
func (m *Memory) changeAccount(idOrName string, change func(*Account) error) (Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(idOrName)
	if err != nil {
		return Account{}, err
	}
	i := slices.IndexFunc(m.accounts, func(other Account) bool { return other.ID == a.ID })
	if err := change(&m.accounts[i]); err != nil {
		return Account{}, err
	}
	return m.accounts[i], nil
}

func find(accounts []Account, idOrName string) (Account, error) {
	for _, a := range accounts {
		if a.ID == idOrName || a.Name == idOrName {
			return a, nil
		}
	}
	return Account{}, fmt.Errorf("%w: account %q", ErrAbsent, idOrName)
}

// Accounts returns every account, oldest first.
func (m *Memory) Accounts(context.Context) ([]Account, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.accounts), nil
}

// CreateKey creates a key and returns its secret, which is not stored. It returns ErrAbsent when the account does not
// exist, and ErrInvalid.
func (m *Memory) CreateKey(_ context.Context, n NewKey) (secret string, k Key, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(n.Account)
	if err == nil {
		err = a.Serves()
	}
	if err != nil {
		return "", Key{}, err
	}
	secret, k, err = n.Mint(a.ID, m.now())
	if err != nil {
		return "", Key{}, err
	}
	for _, other := range m.keys {
		if n.Unique && other.Account == a.ID && other.Name == n.Name && other.RevokedAt == nil {
			return "", Key{}, fmt.Errorf("%w: key %q", ErrTaken, n.Name)
		}
	}
	m.add(k)
	return secret, k, nil
}

// Change implements [Admin].
func (m *Memory) Change(_ context.Context, id string, change func(*Key) error) (Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.keys[id]
	if !ok {
		return Key{}, fmt.Errorf("%w: key %q", ErrAbsent, id)
	}
	to, err := k.Change(change)
	if err != nil {
		return Key{}, err
	}
	*k = to
	return to, nil
}

// Rotate implements [Admin].
func (m *Memory) Rotate(_ context.Context, id string, until time.Time) (string, Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.keys[id]
	if !ok {
		return "", Key{}, fmt.Errorf("%w: key %q", ErrAbsent, id)
	}
	former := k.Former
	secret, err := k.Rotate(until)
	if err != nil {
		return "", Key{}, err
	}
	if former != nil {
		delete(m.byHash, former.Hash)
	}
	m.byHash[k.Hash] = k
	return secret, *k, nil
}

// Key returns the key with that id, or ErrAbsent.
func (m *Memory) Key(_ context.Context, id string) (Key, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k, ok := m.keys[id]
	if !ok {
		return Key{}, fmt.Errorf("%w: key %q", ErrAbsent, id)
	}
	return *k, nil
}

// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first and
// including revoked ones.
func (m *Memory) Keys(_ context.Context, account string) ([]Key, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if account != "" {
		a, err := m.account(account)
		if err != nil {
			return nil, err
		}
		account = a.ID
	}
	found := []Key{}
	for _, id := range m.order {
		if k := m.keys[id]; account == "" || k.Account == account {
			found = append(found, *k)
		}
	}
	return found, nil
}

// Revoke revokes the key with that id for good, from the next call on, and returns it. Revoking it again changes
// nothing. It returns ErrAbsent if there is no such key.
func (m *Memory) Revoke(_ context.Context, id string) (Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.keys[id]
	if !ok {
		return Key{}, fmt.Errorf("%w: key %q", ErrAbsent, id)
	}
	if k.RevokedAt == nil {
		k.RevokedAt = new(stamp(m.now()))
	}
	return *k, nil
}

// Lookup implements [Store].
func (m *Memory) Lookup(ctx context.Context, h Hash) (Key, error) {
	if err := ctx.Err(); err != nil {
		return Key{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	k, ok := m.byHash[h]
	if !ok || k.RevokedAt != nil || !k.Accepts(h, m.now()) {
		return Key{}, ErrUnknown
	}
	return *k, nil
}

// touchEvery is how far the recorded time of the last use may lag behind.
const touchEvery = time.Second

// Touch implements [Store].
func (m *Memory) Touch(id string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The time is replaced, not overwritten, since callers share it. A busy key does not get a new one for every call.
	if k, ok := m.keys[id]; ok && (k.LastUsedAt == nil || at.Sub(*k.LastUsedAt) >= touchEvery) {
		k.LastUsedAt = new(stamp(at))
	}
}

// CheckName returns ErrInvalid unless name is valid for an account or a key: UTF-8 of 1 to 100 bytes, only visible
// characters and plain spaces, and no leading or trailing space. Otherwise two accounts could have names that look the
// same.
func CheckName(name string) error {
	if name == "" || len(name) > 100 || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unseen) {
		return fmt.Errorf("%w: the name %.120q must be UTF-8 of 1 to 100 bytes, without control or invisible characters "+
			"and without leading or trailing space", ErrInvalid, name)
	}
	return nil
}

// unseen reports whether a character is invisible or changes the direction of text: controls, direction marks,
// characters without width, spaces other than the plain one, and letters that are drawn as nothing.
func unseen(r rune) bool {
	return !unicode.IsPrint(r) || r == '\u2800' || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// stamp truncates t to what every store can keep.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
