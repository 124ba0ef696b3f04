package bookkeeping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Memory is the [Bookkeeper] of the in-memory stores.
type Memory struct {
	keys   *keys.Memory
	ledger *credits.Memory
}

var _ Bookkeeper = (*Memory)(nil)

// NewMemory returns the bookkeeper of accounts and keys, and of the ledger that they spend from.
func NewMemory(accounts *keys.Memory, ledger *credits.Memory) *Memory {
	return &Memory{keys: accounts, ledger: ledger}
}

// books is all stored data.
type books struct {
	accounts []keys.Account
	keys     []keys.Key
	entries  []credits.Entry // in order for each account
}

// look reads all data. Entries and keys are read before their accounts, so that the account of each is included.
func (m *Memory) look(ctx context.Context) (b books, err error) {
	before, err := m.keys.Accounts(ctx)
	if err != nil {
		return b, err
	}
	for _, a := range before {
		found, err := m.ledger.Entries(ctx, credits.Query{Account: a.ID, Limit: math.MaxInt})
		if err != nil && !errors.Is(err, credits.ErrUnknownAccount) { // it was created without a ledger
			return b, err
		}
		slices.Reverse(found)
		b.entries = append(b.entries, found...)
	}
	if b.keys, err = m.keys.Keys(ctx, ""); err != nil {
		return b, err
	}
	b.accounts, err = m.keys.Accounts(ctx)
	return b, err
}

// Audit implements [Bookkeeper].
func (m *Memory) Audit(ctx context.Context) (Report, error) { return m.audit(ctx, nil) }

// AuditAgainst implements [Bookkeeper].
func (m *Memory) AuditAgainst(ctx context.Context, heads io.Reader) (Report, error) {
	kept, err := ReadHeads(heads)
	if err != nil {
		return Report{}, err
	}
	return m.audit(ctx, kept)
}

func (m *Memory) audit(ctx context.Context, kept *Heads) (Report, error) {
	b, err := m.look(ctx)
	if err != nil {
		return Report{}, err
	}
	a := NewAuditor(kept)
	for _, k := range b.keys {
		a.Key(k)
	}
	for _, account := range b.accounts {
		a.Account(account.ID)
	}
	for _, e := range b.entries {
		a.Entry(e)
	}
	return a.Report(), nil
}

// Heads implements [Bookkeeper].
func (m *Memory) Heads(ctx context.Context, w io.Writer) error {
	b, err := m.look(ctx)
	if err != nil {
		return err
	}
	last := map[string]credits.Entry{}
	for _, e := range b.entries {
		last[e.Account] = e
	}
	out := NewHeadsWriter(w)
	for _, a := range b.accounts {
		if err := out.Account(a.ID, last[a.ID]); err != nil {
			return err
		}
	}
	for _, k := range b.keys {
		if err := out.Key(k); err != nil {
			return err
		}
	}
	return out.Close()
}

// Export implements [Bookkeeper].
func (m *Memory) Export(ctx context.Context, w io.Writer) error {
	b, err := m.look(ctx)
	if err != nil {
		return err
	}
	out, err := NewWriter(w)
	if err != nil {
		return err
	}
	if err := b.copyTo(out); err != nil {
		return err
	}
	return out.Close()
}

// copyTo passes everything to a sink.
func (b *books) copyTo(out Sink) error {
	for _, a := range b.accounts {
		if err := out.Account(a); err != nil {
			return err
		}
	}
	for _, k := range b.keys {
		if err := out.Key(k); err != nil {
			return err
		}
	}
	for _, e := range b.entries {
		if err := out.Entry(e); err != nil {
			return err
		}
	}
	return nil
}

// Import implements [Bookkeeper].
func (m *Memory) Import(ctx context.Context, r io.Reader) error {
	var b books
	if err := Read(ctx, r, &b); err != nil {
		return err
	}
	ids := make([]string, len(b.accounts))
	for i, a := range b.accounts {
		ids[i] = a.ID
	}
	err := m.keys.Restore(b.accounts, b.keys, func() error { return m.ledger.Restore(ids, b.entries) })
	if err != nil { // the export itself is complete
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return nil
}

// Account implements [Sink].
func (b *books) Account(a keys.Account) error {
	b.accounts = append(b.accounts, a)
	return nil
}

// Key implements [Sink].
func (b *books) Key(k keys.Key) error {
	b.keys = append(b.keys, k)
	return nil
}

// Entry implements [Sink].
func (b *books) Entry(e credits.Entry) error {
	b.entries = append(b.entries, e)
	return nil
}
