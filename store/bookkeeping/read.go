package bookkeeping

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Sink receives the content of an export, in the order of the export.
type Sink interface {
	Account(a keys.Account) error
	Key(k keys.Key) error
	Entry(e credits.Entry) error
}

// Discard is a [Sink] that ignores everything: [Read] then only checks.
var Discard Sink = discard{}

type discard struct{}

func (discard) Account(keys.Account) error { return nil }
func (discard) Key(keys.Key) error         { return nil }
func (discard) Entry(credits.Entry) error  { return nil }

// Read checks the export in r line by line and passes each valid account, key and entry to into. It returns ErrImport
// when r is not a complete export, ErrExists when it contains something twice, credits.ErrBroken when an entry does not
// follow from the previous one, and the first error of into. The data that into has received before an error is
// incomplete.
func Read(ctx context.Context, r io.Reader, into Sink) error {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	d.DisallowUnknownFields()
	c := checker{
		into: into, accounts: map[string]*credits.Entry{}, names: map[string]struct{}{}, keys: map[string]struct{}{},
	}
	for n := 1; ; n++ {
		var l line
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrImport, n, err)
		}
		if (n == 1) != (l.Header != nil) {
			return fmt.Errorf("%w: line %d: the header must be the first line, once", ErrImport, n)
		}
		if l.End != nil {
			return c.end(*l.End, d)
		}
		if err := c.line(l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// checker is the state of a Read. Its memory grows with the accounts and keys, not with the entries.
type checker struct {
	into     Sink
	accounts map[string]*credits.Entry // the last entry of each
	names    map[string]struct{}       // names and ids of accounts, which must be unique
	keys     map[string]struct{}
	seen     endLine
}

func (c *checker) end(want endLine, d *json.Decoder) error {
	if c.seen != want {
		return fmt.Errorf("%w: %+v were announced, but there are %+v", ErrImport, want, c.seen)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: there is data after its end", ErrImport)
	}
	return nil
}

func (c *checker) line(l line) error {
	switch {
	case l.Header != nil:
		if l.Header.Version != formatVersion {
			return fmt.Errorf("%w: version %d, but this program reads version %d", ErrImport, l.Header.Version, formatVersion)
		}
		return nil
	case l.Account != nil:
		return c.account(keys.Account(*l.Account))
	case l.Key != nil:
		return c.key(l.Key)
	case l.Entry != nil:
		return c.entry(l.Entry)
	}
	return fmt.Errorf("%w: an empty line", ErrImport)
}

func (c *checker) account(a keys.Account) error {
	c.seen.Accounts++
	if err := errors.Join(checkID(a.ID), keys.CheckName(a.Name), checkTime(a.CreatedAt)); err != nil {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	for _, name := range slices.Compact([]string{a.ID, a.Name}) {
		if _, ok := c.names[name]; ok {
			return fmt.Errorf("%w: account %q, twice", ErrExists, name)
		}
		c.names[name] = struct{}{}
	}
	c.accounts[a.ID] = &credits.Entry{}
	return c.into.Account(a)
}

func (c *checker) key(l *keyLine) error {
	c.seen.Keys++
	k, err := l.key()
	if err != nil {
		return err
	}
	if _, ok := c.accounts[k.Account]; !ok {
		return fmt.Errorf("%w: key %q belongs to account %q, which is not in it", ErrImport, k.ID, k.Account)
	}
	if _, ok := c.keys[k.ID]; ok {
		return fmt.Errorf("%w: key %q, twice", ErrExists, k.ID)
	}
	if c.seen.Entries > 0 { // what the key has spent would not be counted
		return fmt.Errorf("%w: key %q comes after an entry", ErrImport, k.ID)
	}
	if err := checkKey(k); err != nil {
		return fmt.Errorf("%w: key %q: %w", ErrImport, k.ID, err)
	}
	c.keys[k.ID] = struct{}{}
	return c.into.Key(k)
}

// checkKey returns an error unless k is a possible key.
func checkKey(k keys.Key) error {
	n := keys.NewKey{Name: k.Name, Environment: k.Environment, Rate: k.Rate, DayCap: k.DayCap, TotalCap: k.TotalCap}
	if err := errors.Join(checkID(k.ID), n.Check(), checkTime(k.CreatedAt)); err != nil {
		return err
	}
	if len(k.Prefix) != keys.PrefixLen || checkID(k.Prefix) != nil ||
		!strings.HasPrefix(k.Prefix, "sk_"+string(k.Environment)+"_") {
		return fmt.Errorf("%q is not the prefix of a key", k.Prefix)
	}
	return nil
}

// checkID returns an error unless id consists of visible ASCII characters, as all ids do.
func checkID(id string) error {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return fmt.Errorf("the id %q has characters that no id has", id)
		}
	}
	if id == "" || len(id) > 100 {
		return fmt.Errorf("the id %.120q must have 1 to 100 characters", id)
	}
	return nil
}

// checkTime returns an error unless t is a time that a store can keep.
func checkTime(t time.Time) error {
	if t.Year() < 1970 || t.Year() > 9999 {
		return fmt.Errorf("the time %v is outside the range of a socialdata database", t)
	}
	return nil
}

func (c *checker) entry(l *entryLine) error {
	c.seen.Entries++
	e, err := l.entry()
	if err != nil {
		return err
	}
	last, ok := c.accounts[e.Account]
	if !ok {
		return fmt.Errorf("%w: an entry belongs to account %q, which is not in it", ErrImport, e.Account)
	}
	for _, s := range []string{
		e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason, e.Hold, e.IdempotencyKey,
	} {
		if err := credits.CheckText("entry", s); err != nil {
			return fmt.Errorf("%w: %w", ErrImport, err)
		}
	}
	if err := errors.Join(checkTime(e.At), checkTime(e.Time())); err != nil {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	if err := e.Follows(*last); err != nil {
		return err
	}
	*last = Head(e)
	return c.into.Entry(e)
}

// Head returns only the part of e on which the next entry of its account depends.
func Head(e credits.Entry) credits.Entry {
	return credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
}
