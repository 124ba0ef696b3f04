package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/records"
)

// Shards is several databases over which the accounts are distributed. An account's id determines the database of its
// entries, holds and keys, so that a charge never involves two; a record's key determines its database. The limit for
// the records of one owner applies in each database.
//
// The number of databases and their order are part of the configuration and must never change. Each database records
// its place, and is refused with ErrPlacement in another one. Begin with more databases than servers, and move whole
// databases to servers of their own as they grow. To change the number nevertheless, stop the replicas, Export from the
// old databases and Import into new ones.
type Shards struct {
	dbs     []*DB
	ledger  *ShardedLedger
	keys    *ShardedKeys
	records *ShardedRecords
}

// OpenShards opens the databases of cfgs, at least one, in this order.
func OpenShards(ctx context.Context, cfgs ...Config) (*Shards, error) {
	if len(cfgs) == 0 {
		return nil, errors.New("postgres: open: no databases are given")
	}
	s := &Shards{dbs: make([]*DB, len(cfgs))}
	for i, cfg := range cfgs {
		db, err := open(ctx, cfg.withDefaults(), i, len(cfgs))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("postgres: open shard %d of %d: %w", i+1, len(cfgs), err), s.Close())
		}
		s.dbs[i] = db
	}
	// New fails only for a size below 1.
	of, _ := lru.New[string, *DB](s.dbs[0].cfg.CachedKeys)
	s.ledger, s.keys, s.records = &ShardedLedger{s}, &ShardedKeys{s, of}, &ShardedRecords{s}
	return s, nil
}

// Ledger returns the ledger in all databases.
func (s *Shards) Ledger() *ShardedLedger { return s.ledger }

// Keys returns the accounts and keys in all databases.
func (s *Shards) Keys() *ShardedKeys { return s.keys }

// Blocklist returns the blocklist of erasures, which is in the first database.
func (s *Shards) Blocklist() *Blocklist { return s.dbs[0].Blocklist() }

// Records returns the records in all databases.
func (s *Shards) Records() *ShardedRecords { return s.records }

// Requests returns the request log and the usage of all accounts, which are in the first database.
func (s *Shards) Requests() *Requests { return s.dbs[0].Requests() }

// Ping returns nil when all databases can be reached and written.
func (s *Shards) Ping(ctx context.Context) error {
	return s.all(ctx, func(ctx context.Context, _ int, db *DB) error { return db.Ping(ctx) })
}

// Close closes all databases, like [DB.Close].
func (s *Shards) Close() error {
	var errs []error
	for _, db := range s.dbs {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// pick returns the database for name.
func (s *Shards) pick(name string) *DB {
	h := sha256.Sum256([]byte(name))
	return s.dbs[binary.BigEndian.Uint64(h[:])%uint64(len(s.dbs))]
}

// all calls do for all databases concurrently and returns the first error.
func (s *Shards) all(ctx context.Context, do func(ctx context.Context, i int, db *DB) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, db := range s.dbs {
		g.Go(func() error { return do(ctx, i, db) })
	}
	return g.Wait()
}

// gather reads from all databases concurrently.
func gather[T any](ctx context.Context, s *Shards, read func(ctx context.Context, db *DB) ([]T, error)) ([]T, error) {
	parts := make([][]T, len(s.dbs))
	err := s.all(ctx, func(ctx context.Context, i int, db *DB) (err error) {
		parts[i], err = read(ctx, db)
		return err
	})
	return append([]T{}, slices.Concat(parts...)...), err
}

// eraseFrom erases a subject from one store of each database, and returns what was removed.
func eraseFrom[E privacy.Eraser](
	ctx context.Context, who privacy.Subject, s *Shards, store func(*DB) E,
) (map[string]int, error) {
	removed := map[string]int{}
	for _, db := range s.dbs {
		more, err := store(db).Erase(ctx, who)
		privacy.Add(removed, more)
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// mentionsIn counts the mentions of a subject in one store of each database.
func mentionsIn[C privacy.MentionCounter](
	ctx context.Context, who privacy.Subject, s *Shards, store func(*DB) C,
) (sum int, err error) {
	for _, db := range s.dbs {
		n, err := store(db).Mentions(ctx, who)
		if err != nil {
			return sum, err
		}
		sum += n
	}
	return sum, nil
}

// find searches all databases concurrently for what at most one of them has. Errors other than absent are returned only
// if it is not found, so that what one database has is found even if another is unavailable.
func find[T any](
	ctx context.Context, s *Shards, absent error, ask func(ctx context.Context, db *DB) (T, error),
) (found T, at *DB, err error) {
	type answer struct {
		t   T
		db  *DB
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(s.dbs))
	for _, db := range s.dbs {
		go func() {
			t, err := ask(ctx, db)
			answers <- answer{t, db, err}
		}()
	}
	for range s.dbs {
		a := <-answers
		if a.err == nil {
			return a.t, a.db, nil
		}
		if err == nil || errors.Is(err, absent) {
			err = a.err
		}
	}
	return found, nil, err
}

// ShardedLedger is the ledger of [Shards].
type ShardedLedger struct{ s *Shards }

var (
	_ credits.Charger = (*ShardedLedger)(nil)
	_ credits.Granter = (*ShardedLedger)(nil)
)

// Reserve implements [credits.Ledger].
func (l *ShardedLedger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	return l.s.pick(who.Account).Ledger().Reserve(ctx, who, ttl, amounts...)
}

// Settle implements [credits.Ledger].
func (l *ShardedLedger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	return l.s.pick(h.Spender.Account).Ledger().Settle(ctx, h, c)
}

// Charge implements [credits.Charger].
func (l *ShardedLedger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	return l.s.pick(who.Account).Ledger().Charge(ctx, who, c)
}

// Balance implements [credits.Ledger].
func (l *ShardedLedger) Balance(ctx context.Context, account string) (int64, error) {
	return l.s.pick(account).Ledger().Balance(ctx, account)
}

// Entries implements [credits.Ledger].
func (l *ShardedLedger) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	return l.s.pick(q.Account).Ledger().Entries(ctx, q)
}

// Grant is like [Ledger.Grant].
func (l *ShardedLedger) Grant(ctx context.Context, account string, n int64, reason string) (int64, error) {
	return l.s.pick(account).Ledger().Grant(ctx, account, n, reason)
}

// Refund is like [Ledger.Refund].
func (l *ShardedLedger) Refund(ctx context.Context, account string, n int64, requestID, reason string) (int64, error) {
	return l.s.pick(account).Ledger().Refund(ctx, account, n, requestID, reason)
}

// Give is like [Ledger.Give].
func (l *ShardedLedger) Give(ctx context.Context, g credits.Gift) (int64, error) {
	return l.s.pick(g.Account).Ledger().Give(ctx, g)
}

// Reverse is like [Ledger.Reverse].
func (l *ShardedLedger) Reverse(
	ctx context.Context, account string, seq int64, reason string,
) (credits.Reversal, error) {
	return l.s.pick(account).Ledger().Reverse(ctx, account, seq, reason)
}

// ShardedKeys is the accounts and keys of [Shards]. The keys of an account are in its database. Since a key does not
// contain its account, a lookup that is not cached asks all databases.
type ShardedKeys struct {
	s  *Shards
	of *lru.Cache[string, *DB] // the databases of keys, by id
}

var (
	_ keys.Store = (*ShardedKeys)(nil)
	_ keys.Admin = (*ShardedKeys)(nil)
)

// Lookup implements [keys.Store].
func (k *ShardedKeys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	for _, db := range k.s.dbs {
		if key, ok := db.keys.remembered(h); ok {
			return key, nil
		}
	}
	key, db, err := find(ctx, k.s, keys.ErrUnknown, func(ctx context.Context, db *DB) (keys.Key, error) {
		return db.Keys().Lookup(ctx, h)
	})
	if err == nil {
		k.of.Add(key.ID, db)
	}
	return key, err
}

// Touch implements [keys.Store].
func (k *ShardedKeys) Touch(id string, at time.Time) {
	if db, ok := k.of.Get(id); ok {
		db.Keys().Touch(id, at)
		return
	}
	for _, db := range k.s.dbs { // databases without the key write nothing
		db.Keys().Touch(id, at)
	}
}

// CreateAccount is like [Keys.CreateAccount].
func (k *ShardedKeys) CreateAccount(ctx context.Context, name string) (keys.Account, error) {
	return k.OpenAccount(ctx, name, 0, "")
}

// OpenAccount is like [Keys.OpenAccount]. The account gets an id for the database that its name determines, so that if
// two accounts with one name are opened at the same time, one fails there. Imported accounts with the name are searched
// for in all databases.
func (k *ShardedKeys) OpenAccount(ctx context.Context, name string, n int64, reason string) (keys.Account, error) {
	db := k.s.pick(name)
	_, err := k.Account(ctx, name)
	switch {
	case err == nil:
		return keys.Account{}, fmt.Errorf("%w: account %q", keys.ErrTaken, name)
	case !errors.Is(err, keys.ErrAbsent):
		return keys.Account{}, err
	}
	a := keys.Account{ID: keys.NewID("acct"), Name: name, CreatedAt: db.keys.now()}
	for k.s.pick(a.ID) != db {
		a.ID = keys.NewID("acct")
	}
	if err := db.Keys().openAccount(ctx, a, n, reason); err != nil {
		return keys.Account{}, err
	}
	return a, nil
}

// Account is like [Keys.Account].
func (k *ShardedKeys) Account(ctx context.Context, idOrName string) (keys.Account, error) {
	a, _, err := find(ctx, k.s, keys.ErrAbsent, func(ctx context.Context, db *DB) (keys.Account, error) {
		return db.Keys().Account(ctx, idOrName)
	})
	return a, err
}

// Accounts is like [Keys.Accounts].
func (k *ShardedKeys) Accounts(ctx context.Context) ([]keys.Account, error) {
	all, err := gather(ctx, k.s, func(ctx context.Context, db *DB) ([]keys.Account, error) {
		return db.Keys().Accounts(ctx)
	})
	slices.SortStableFunc(all, func(a, b keys.Account) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// CreateKey is like [Keys.CreateKey].
func (k *ShardedKeys) CreateKey(ctx context.Context, n keys.NewKey) (secret string, key keys.Key, err error) {
	a, err := k.Account(ctx, n.Account)
	if err != nil {
		return "", keys.Key{}, err
	}
	n.Account = a.ID
	return k.s.pick(a.ID).Keys().CreateKey(ctx, n)
}

// Key is like [Keys.Key].
func (k *ShardedKeys) Key(ctx context.Context, id string) (keys.Key, error) {
	key, _, err := find(ctx, k.s, keys.ErrAbsent, func(ctx context.Context, db *DB) (keys.Key, error) {
		return db.Keys().Key(ctx, id)
	})
	return key, err
}

// Keys is like [Keys.Keys].
func (k *ShardedKeys) Keys(ctx context.Context, account string) ([]keys.Key, error) {
	if account != "" {
		a, err := k.Account(ctx, account)
		if err != nil {
			return nil, err
		}
		return k.s.pick(a.ID).Keys().Keys(ctx, a.ID)
	}
	all, err := gather(ctx, k.s, func(ctx context.Context, db *DB) ([]keys.Key, error) { return db.Keys().Keys(ctx, "") })
	slices.SortStableFunc(all, func(a, b keys.Key) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// Revoke is like [Keys.Revoke].
func (k *ShardedKeys) Revoke(ctx context.Context, id string) (keys.Key, error) {
	db, err := k.having(ctx, id)
	if err != nil {
		return keys.Key{}, err
	}
	return db.Keys().Revoke(ctx, id)
}

// Change is like [Keys.Change].
func (k *ShardedKeys) Change(ctx context.Context, id string, change func(*keys.Key) error) (keys.Key, error) {
	db, err := k.having(ctx, id)
	if err != nil {
		return keys.Key{}, err
	}
	return db.Keys().Change(ctx, id, change)
}

// Rotate is like [Keys.Rotate].
func (k *ShardedKeys) Rotate(ctx context.Context, id string, until time.Time) (string, keys.Key, error) {
	db, err := k.having(ctx, id)
	if err != nil {
		return "", keys.Key{}, err
	}
	return db.Keys().Rotate(ctx, id, until)
}

// having returns the database that has the key with that id.
func (k *ShardedKeys) having(ctx context.Context, id string) (*DB, error) {
	_, db, err := find(ctx, k.s, keys.ErrAbsent, func(ctx context.Context, db *DB) (keys.Key, error) {
		return db.Keys().Key(ctx, id)
	})
	return db, err
}

// ShardedRecords is the records of [Shards].
type ShardedRecords struct{ s *Shards }

var (
	_ records.Store          = (*ShardedRecords)(nil)
	_ privacy.MentionCounter = (*ShardedRecords)(nil)
)

// Get implements [records.Store].
func (r *ShardedRecords) Get(ctx context.Context, key string) (records.Record, error) {
	return r.s.pick(key).Records().Get(ctx, key)
}

// Put implements [records.Store].
func (r *ShardedRecords) Put(ctx context.Context, rec records.Record, ttl time.Duration) (version int64, err error) {
	return r.s.pick(rec.Key).Records().Put(ctx, rec, ttl)
}

// Add implements [records.Store].
func (r *ShardedRecords) Add(
	ctx context.Context, rec records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	return r.s.pick(rec.Key).Records().Add(ctx, rec, ttl)
}

// Delete implements [records.Store].
func (r *ShardedRecords) Delete(ctx context.Context, key string, version int64) error {
	return r.s.pick(key).Records().Delete(ctx, key, version)
}

// Erase implements [records.Store].
func (r *ShardedRecords) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	return eraseFrom(ctx, s, r.s, (*DB).Records)
}

// Mentions implements [privacy.MentionCounter].
func (r *ShardedRecords) Mentions(ctx context.Context, s privacy.Subject) (int, error) {
	return mentionsIn(ctx, s, r.s, (*DB).Records)
}

// Keys implements [records.Store].
func (r *ShardedRecords) Keys(ctx context.Context, prefix string) ([]string, error) {
	all, err := gather(ctx, r.s, func(ctx context.Context, db *DB) ([]string, error) {
		return db.Records().Keys(ctx, prefix)
	})
	slices.Sort(all)
	return all, err
}

// Audit is [DB.Audit], for all databases.
func (s *Shards) Audit(ctx context.Context) (bookkeeping.Report, error) {
	return s.audit(ctx, bookkeeping.NewAuditor(nil))
}

// AuditAgainst is [DB.AuditAgainst], for all databases.
func (s *Shards) AuditAgainst(ctx context.Context, heads io.Reader) (bookkeeping.Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return bookkeeping.Report{}, err
	}
	return s.audit(ctx, bookkeeping.NewAuditor(kept))
}

func (s *Shards) audit(ctx context.Context, a *bookkeeping.Auditor) (bookkeeping.Report, error) {
	for i, db := range s.dbs {
		if err := db.auditWith(ctx, a); err != nil {
			return bookkeeping.Report{}, err
		}
		misplaced, err := list(ctx, db, scanAccount, selectAccounts)
		if err != nil {
			return bookkeeping.Report{}, err
		}
		for _, m := range misplaced {
			if s.pick(m.ID) != db {
				a.Problem("account %s is in database %d, but its id determines another one", m.ID, i+1)
			}
		}
	}
	return a.Report(), nil
}

// Heads is [DB.Heads], for all databases.
func (s *Shards) Heads(ctx context.Context, w io.Writer) error {
	out := bookkeeping.NewHeadsWriter(w)
	for _, db := range s.dbs {
		if err := db.heads(ctx, out); err != nil {
			return err
		}
	}
	return out.Close()
}

// Export is [DB.Export], for all databases.
func (s *Shards) Export(ctx context.Context, w io.Writer) error {
	out, err := bookkeeping.NewWriter(w)
	if err != nil {
		return err
	}
	parts := make([]*export, len(s.dbs))
	for i, db := range s.dbs {
		if parts[i], err = db.exportAccounts(ctx, out); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := p.keys(ctx, out); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := p.entries(ctx, out); err != nil {
			return err
		}
	}
	return out.Close()
}

// Import is like [DB.Import]: each account is imported into the database that its id determines. Each database imports
// all of its part or nothing; when one fails, the error names it, and the earlier ones have theirs.
func (s *Shards) Import(ctx context.Context, r io.Reader) (err error) {
	split := &splitter{ctx: ctx, s: s, to: map[*DB]*bookkeeping.Writer{}}
	files := make([]*os.File, len(s.dbs))
	for i, db := range s.dbs {
		if files[i], err = os.CreateTemp("", "socialdata-import-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files[i].Close(), os.Remove(files[i].Name())) }()
		if split.to[db], err = bookkeeping.NewWriter(files[i]); err != nil {
			return err
		}
	}
	if err := bookkeeping.Read(ctx, r, split); err != nil {
		return fmt.Errorf("postgres: import: %w", err)
	}
	for i, db := range s.dbs {
		if err := split.to[db].Close(); err != nil {
			return err
		}
		if _, err := files[i].Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := db.Import(ctx, files[i]); err != nil {
			return fmt.Errorf("shard %d of %d: %w", i+1, len(s.dbs), err)
		}
	}
	return nil
}

// splitter splits an import into an export for each database.
type splitter struct {
	ctx context.Context // of the read
	s   *Shards
	to  map[*DB]*bookkeeping.Writer
}

// Account implements [bookkeeping.Sink].
func (p *splitter) Account(a keys.Account) error {
	for _, name := range slices.Compact([]string{a.ID, a.Name}) {
		if _, err := p.s.keys.Account(p.ctx, name); !errors.Is(err, keys.ErrAbsent) {
			return cmp.Or(err, fmt.Errorf("%w: account %q", bookkeeping.ErrExists, name))
		}
	}
	return p.to[p.s.pick(a.ID)].Account(a)
}

// Key implements [bookkeeping.Sink].
func (p *splitter) Key(k keys.Key) error { return p.to[p.s.pick(k.Account)].Key(k) }

// Entry implements [bookkeeping.Sink].
func (p *splitter) Entry(e credits.Entry) error { return p.to[p.s.pick(e.Account)].Entry(e) }
