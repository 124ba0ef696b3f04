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
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/watch"
)

// Sink receives the content of an export, in the order of the export.
type Sink interface {
	Account(a keys.Account) error
	Key(k keys.Key) error
	Entry(e credits.Entry) error
	Monitor(m watch.Monitor) error        // without a snapshot
	Feed(account string, seq int64) error // the number of the last change in the account's feed
	Endpoint(e watch.Endpoint) error      // with its sealed secrets
	Record(r records.Record, expires time.Time) error
	Blocklist(b Blocklist) error     // once at most
	Receipt(r privacy.Receipt) error // in order
}

// Discard is a [Sink] that ignores everything: [Read] then only checks.
var Discard Sink = discard{}

type discard struct{}

func (discard) Account(keys.Account) error { return nil }
func (discard) Key(keys.Key) error         { return nil }
func (discard) Entry(credits.Entry) error  { return nil }

func (discard) Monitor(watch.Monitor) error            { return nil }
func (discard) Feed(string, int64) error               { return nil }
func (discard) Endpoint(watch.Endpoint) error          { return nil }
func (discard) Record(records.Record, time.Time) error { return nil }
func (discard) Blocklist(Blocklist) error              { return nil }
func (discard) Receipt(privacy.Receipt) error          { return nil }

// Read checks the export in r line by line and passes the content of each valid line to into. It returns ErrImport when
// r is not a complete export, ErrExists when it contains something twice, credits.ErrBroken when an entry does not
// follow from the previous one, privacy.ErrBroken when a receipt does not, and the first error of into. The data that
// into has received before an error is incomplete.
func Read(ctx context.Context, r io.Reader, into Sink) error {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	d.DisallowUnknownFields()
	c := checker{into: into, accounts: map[string]*credits.Entry{}, taken: map[string]struct{}{}}
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

// checker is the state of a Read. Its memory grows with the accounts, keys and monitors, not with the entries.
type checker struct {
	into     Sink
	accounts map[string]*credits.Entry // the last entry of each
	taken    map[string]struct{}       // what must be unique: see once
	receipt  privacy.Receipt           // the last one
	seen     endLine
}

// once returns an ErrExists when it is called again for the same thing.
func (c *checker) once(kind string, parts ...string) error {
	id := kind + "\x00" + strings.Join(parts, "\x00")
	if _, ok := c.taken[id]; ok {
		return fmt.Errorf("%w: %s %q, twice", ErrExists, kind, strings.Join(parts, "/"))
	}
	c.taken[id] = struct{}{}
	return nil
}

// owned returns an ErrImport unless the account of something is in the export.
func (c *checker) owned(what, name, account string) error {
	if _, ok := c.accounts[account]; !ok {
		return fmt.Errorf("%w: %s %q belongs to account %q, which is not in it", ErrImport, what, name, account)
	}
	return nil
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
		if l.Header.Version < 1 || l.Header.Version > formatVersion {
			return fmt.Errorf("%w: version %d, but this program reads versions 1 to %d", ErrImport, l.Header.Version,
				formatVersion)
		}
		return nil
	case l.Account != nil:
		return c.account(keys.Account(*l.Account))
	case l.Key != nil:
		return c.key(l.Key)
	case l.Entry != nil:
		return c.entry(l.Entry)
	case l.Monitor != nil:
		return c.monitor(l.Monitor.monitor())
	case l.Feed != nil:
		return c.feed(*l.Feed)
	case l.Endpoint != nil:
		return c.endpoint(*l.Endpoint)
	case l.Record != nil:
		return c.record(*l.Record)
	case l.Blocklist != nil:
		return c.blocklist(*l.Blocklist)
	case l.Receipt != nil:
		return c.nextReceipt(*l.Receipt)
	}
	return fmt.Errorf("%w: an empty line", ErrImport)
}

func (c *checker) account(a keys.Account) error {
	c.seen.Accounts++
	if err := errors.Join(checkID(a.ID), keys.CheckName(a.Name), checkTime(a.CreatedAt)); err != nil {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	for _, name := range slices.Compact([]string{a.ID, a.Name}) {
		if err := c.once("account", name); err != nil {
			return err
		}
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
	if err := c.owned("key", k.ID, k.Account); err != nil {
		return err
	}
	if err := c.once("key", k.ID); err != nil {
		return err
	}
	if c.seen.Entries > 0 { // what the key has spent would not be counted
		return fmt.Errorf("%w: key %q comes after an entry", ErrImport, k.ID)
	}
	if err := checkKey(k); err != nil {
		return fmt.Errorf("%w: key %q: %w", ErrImport, k.ID, err)
	}
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

func (c *checker) monitor(m watch.Monitor) error {
	c.seen.Monitors++
	if err := errors.Join(watch.CheckName(m.Name), m.Check(0), checkTime(m.CreatedAt), credits.CheckText("key", m.Key),
		credits.CheckText("platform", m.Platform)); err != nil {
		return fmt.Errorf("%w: monitor %q: %w", ErrImport, m.Name, err)
	}
	if err := c.owned("monitor", m.Name, m.Account); err != nil {
		return err
	}
	if err := c.once("monitor", m.Account, m.Name); err != nil {
		return err
	}
	return c.into.Monitor(m)
}

func (c *checker) feed(l feedLine) error {
	c.seen.Feeds++
	if err := c.owned("feed", "", l.Account); err != nil {
		return err
	}
	if err := c.once("feed", l.Account); err != nil {
		return err
	}
	return c.into.Feed(l.Account, l.Seq)
}

func (c *checker) endpoint(e watch.Endpoint) error {
	c.seen.Endpoints++
	if err := errors.Join(watch.CheckName(e.Name), credits.CheckText("problem", e.Problem)); err != nil {
		return fmt.Errorf("%w: endpoint %q: %w", ErrImport, e.Name, err)
	}
	if err := c.owned("endpoint", e.Name, e.Account); err != nil {
		return err
	}
	if err := c.once("endpoint", e.Account, e.Name); err != nil {
		return err
	}
	return c.into.Endpoint(e)
}

func (c *checker) record(l recordLine) error {
	c.seen.Records++
	if err := errors.Join(credits.CheckText("owner", l.Owner), checkTime(l.Expires)); err != nil {
		return fmt.Errorf("%w: record %q: %w", ErrImport, l.Key, err)
	}
	if err := c.once("record", l.Key); err != nil {
		return err
	}
	r := records.Record{Key: l.Key, Owner: l.Owner, Value: l.Value, Subjects: privacy.Marks(l.Subjects)}
	return c.into.Record(r, l.Expires)
}

func (c *checker) blocklist(b Blocklist) error {
	if c.seen.Blocklists++; c.seen.Blocklists > 1 {
		return fmt.Errorf("%w: a block list, twice", ErrExists)
	}
	if len(b.Secret) != privacy.SecretLen || b.Epoch < 0 {
		return fmt.Errorf("%w: the block list is not one", ErrImport)
	}
	if err := b.Each(func([]byte, privacy.Name) error { return nil }); err != nil {
		return err
	}
	return c.into.Blocklist(b)
}

func (c *checker) nextReceipt(r privacy.Receipt) error {
	c.seen.Receipts++
	if sealed := r.Seal(c.receipt); sealed.No != r.No || sealed.Before != r.Before || sealed.Hash != r.Hash {
		return fmt.Errorf("%w: number %d", privacy.ErrBroken, c.receipt.No+1)
	}
	c.receipt = r
	return c.into.Receipt(r)
}

// Head returns only the part of e on which the next entry of its account depends.
func Head(e credits.Entry) credits.Entry {
	return credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
}
