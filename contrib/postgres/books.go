package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Audit proves that every balance is the sum of its account's entries and never below 0, that no entry was changed,
// added or taken away (each one's hash covers the one before it, and each account's row says with which one they end),
// that what is held is the sum of the holds, and that what is kept about the spending of keys with a cap is what their
// charges come to. It reads each account as it is at one moment, a page at a time, beside replicas that charge. The error
// is not nil when the database could not be read; what it found is in the report.
//
// No transaction stays open for that, nor does any isolation level matter: an account's head, its holds and what stands
// behind its last entry are seen by one statement, and what stands before that entry never changes.
//
// Whoever can write the database can write all of it anew; [DB.AuditAgainst] finds that out.
func (db *DB) Audit(ctx context.Context) (bookkeeping.Report, error) {
	return db.audit(ctx, bookkeeping.NewAuditor(nil))
}

// AuditAgainst is an [DB.Audit] that compares with what [DB.Heads] wrote earlier, too, whichever store that was. It fails
// with bookkeeping.ErrHeads when that is not whole.
func (db *DB) AuditAgainst(ctx context.Context, heads io.Reader) (bookkeeping.Report, error) {
	kept, err := bookkeeping.ReadHeads(heads)
	if err != nil {
		return bookkeeping.Report{}, err
	}
	return db.audit(ctx, bookkeeping.NewAuditor(kept))
}

func (db *DB) audit(ctx context.Context, a *bookkeeping.Auditor) (bookkeeping.Report, error) {
	if err := db.auditWith(ctx, a); err != nil {
		return bookkeeping.Report{}, err
	}
	return a.Report(), nil
}

// auditWith hands all that is here to a.
func (db *DB) auditWith(ctx context.Context, a *bookkeeping.Auditor) error {
	err := db.eachKey(ctx, func(k keys.Key) error { // before the accounts: a new key may be of a new account
		a.Key(k)
		return nil
	})
	if err == nil {
		err = db.auditBooks(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("postgres: audit: %w", err)
	}
	return nil
}

func (db *DB) auditBooks(ctx context.Context, a *bookkeeping.Auditor) error {
	return db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			a.Account(h.ID)
			if h.held != h.holds {
				a.Problem("account %s counts %d credits that are held, and its holds come to %d", h.ID, h.held, h.holds)
			}
			if h.behind > 0 {
				a.Problem("account %s ends with entry %d, and %d more stand behind it", h.ID, h.last.Seq, h.behind)
			}
			for key, spent := range h.spent {
				a.Spending(h.ID, key, spent)
			}
		}
		strays := map[int64]int{} // entries by the numbers of accounts that are not part of it
		err := db.eachEntry(ctx, p, func(no int64, h *head, e credits.Entry) error {
			if h == nil {
				strays[no]++
			} else {
				a.Entry(e)
			}
			return nil
		})
		for _, h := range p.accounts {
			a.Last(h.ID, h.last)
		}
		if err == nil {
			err = db.auditStrays(ctx, a, strays)
		}
		return err
	})
}

// auditStrays reports the entries of no account. Those of a new one came with it, so that it is there by now.
func (db *DB) auditStrays(ctx context.Context, a *bookkeeping.Auditor, strays map[int64]int) error {
	if len(strays) == 0 {
		return nil
	}
	nobodys, err := list(ctx, db, pgx.RowTo[int64], "SELECT no FROM unnest($1::bigint[]) AS u (no) "+
		"WHERE NOT EXISTS (SELECT 1 FROM @accounts a WHERE a.no = u.no) ORDER BY no", slices.Collect(maps.Keys(strays)))
	for _, no := range nobodys {
		a.Problem("%d entries belong to account number %d, which is not there", strays[no], no)
	}
	return err
}

// Heads writes what stands for every account's entries and every key, each as it is at one moment, as JSON Lines of some
// 150 bytes each. Kept where nobody who can write the database can write, they let [DB.AuditAgainst] find out what an
// audit of the database alone cannot: that the last entries of an account were taken away with all their traces, that a
// whole history was written anew, or that a key was brought back to life.
func (db *DB) Heads(ctx context.Context, w io.Writer) error {
	out := bookkeeping.NewHeadsWriter(w)
	if err := db.heads(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

func (db *DB) heads(ctx context.Context, out *bookkeeping.HeadsWriter) error {
	err := db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			if err := out.Account(h.ID, h.last); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.eachKey(ctx, out.Key)
	}
	if err != nil {
		return fmt.Errorf("postgres: heads: %w", err)
	}
	return nil
}

// Export writes every account, key (its hash, for nobody has the key) and entry that is there when it begins, as JSON
// Lines that every store can import; a key that is revoked meanwhile may be written as either. Holds and records are not
// part of it. It reads a page at a time, so that a reader who pauses keeps no transaction open.
func (db *DB) Export(ctx context.Context, w io.Writer) error {
	out, err := bookkeeping.NewWriter(w)
	if err != nil {
		return err
	}
	x, err := db.exportAccounts(ctx, out)
	if err == nil {
		err = x.keys(ctx, out)
	}
	if err == nil {
		err = x.entries(ctx, out)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// export is one that is under way. Its memory grows with the accounts, not with the entries.
type export struct {
	db    *DB
	parts []part
	there map[string]bool // accounts that are part of it
}

// exportAccounts begins an export.
func (db *DB) exportAccounts(ctx context.Context, out *bookkeeping.Writer) (*export, error) {
	x := &export{db: db, there: map[string]bool{}}
	err := db.eachPart(ctx, func(p part) error {
		for _, h := range p.accounts {
			if err := out.Account(h.Account); err != nil {
				return err
			}
			x.there[h.ID] = true
		}
		x.parts = append(x.parts, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: export: %w", err)
	}
	return x, nil
}

// keys writes the keys of the accounts that are part of it.
func (x *export) keys(ctx context.Context, out *bookkeeping.Writer) error {
	err := x.db.eachKey(ctx, func(k keys.Key) error {
		if !x.there[k.Account] {
			return nil
		}
		return out.Key(k)
	})
	if err != nil {
		return fmt.Errorf("postgres: export: %w", err)
	}
	return nil
}

// entries writes the entries of the accounts that are part of it.
func (x *export) entries(ctx context.Context, out *bookkeeping.Writer) error {
	for _, p := range x.parts {
		err := x.db.eachEntry(ctx, p, func(_ int64, h *head, e credits.Entry) error {
			if h == nil {
				return nil // of an account that is not part of it, or is not there, which an audit finds
			}
			return out.Entry(e)
		})
		if err != nil {
			return fmt.Errorf("postgres: export: %w", err)
		}
	}
	return nil
}

// head is an account as it is at one moment.
type head struct {
	keys.Account
	no     int64
	last   credits.Entry
	held   int64                    // as the account counts it
	holds  int64                    // what its holds come to
	behind int64                    // entries behind the last one, which nobody can have written who knows it
	spent  map[string]credits.Spent // by keys whose spending is counted
}

// accountsAtOnce and entriesAtOnce are how many rows are read before they are dealt with.
const (
	accountsAtOnce = 500
	entriesAtOnce  = 5000
)

// part is the accounts with the numbers from from to until. The parts of a database leave out no number.
type part struct {
	accounts    []head
	from, until int64
}

// eachPart calls do for every part of the accounts, the oldest first.
func (db *DB) eachPart(ctx context.Context, do func(p part) error) error {
	for p := (part{from: math.MinInt64}); ; p.from = p.until + 1 {
		var err error
		p.accounts, err = list(ctx, db, scanHead, `
			SELECT no, id, name, created_at, seq, balance, at, hash, held,
				coalesce((SELECT sum(amount) FROM @holds h WHERE h.account = a.no), 0)::bigint,
				(SELECT count(*) FROM @entries e WHERE e.account = a.no AND e.seq > a.seq),
				ARRAY (SELECT key FROM @spending s WHERE s.account = a.no ORDER BY key),
				ARRAY (SELECT total FROM @spending s WHERE s.account = a.no ORDER BY key),
				ARRAY (SELECT day FROM @spending s WHERE s.account = a.no ORDER BY key),
				ARRAY (SELECT today FROM @spending s WHERE s.account = a.no ORDER BY key)
			FROM @accounts a WHERE no >= $1 ORDER BY no LIMIT $2`, p.from, accountsAtOnce)
		if err != nil {
			return err
		}
		p.until = math.MaxInt64
		if len(p.accounts) == accountsAtOnce {
			p.until = p.accounts[accountsAtOnce-1].no
		}
		if err := do(p); err != nil || p.until == math.MaxInt64 {
			return err
		}
	}
}

func scanHead(row pgx.CollectableRow) (h head, err error) {
	var created, at int64
	var hash []byte
	var names []string
	var total, day, today []int64
	err = row.Scan(&h.no, &h.ID, &h.Name, &created, &h.last.Seq, &h.last.Balance, &at, &hash, &h.held, &h.holds,
		&h.behind, &names, &total, &day, &today)
	h.CreatedAt = fromMicros(created)
	if h.last.Seq > 0 {
		h.last.At = fromMicros(at)
		copy(h.last.Hash[:], hash)
	}
	h.spent = map[string]credits.Spent{}
	for i, name := range names {
		h.spent[name] = credits.Spent{Total: total[i], Day: day[i], Today: today[i]}
	}
	return h, err
}

// numberedEntry is an entry with the number of its account.
type numberedEntry struct {
	no int64
	credits.Entry
}

func scanNumberedEntry(row pgx.CollectableRow) (e numberedEntry, err error) {
	e.Entry, err = scanEntry(row, "", &e.no)
	return e, err
}

// eachEntry calls do for the entries of a part of the accounts, by account and in their order. Entries that are newer
// than the account's head are left out, and those of an account that is new or is not there have no head.
func (db *DB) eachEntry(ctx context.Context, p part, do func(no int64, h *head, e credits.Entry) error) error {
	heads := map[int64]*head{}
	for i := range p.accounts {
		heads[p.accounts[i].no] = &p.accounts[i]
	}
	for no, seq := p.from, int64(math.MinInt64); ; {
		rows, err := list(ctx, db, scanNumberedEntry, "SELECT account, "+entryColumns+" FROM @entries "+
			"WHERE (account, seq) >= ($1, $2) AND account <= $3 ORDER BY account, seq LIMIT $4", no, seq, p.until, entriesAtOnce)
		if err != nil {
			return err
		}
		for _, e := range rows {
			h := heads[e.no]
			no, seq = e.no, e.Seq+1
			if h != nil {
				if e.Account = h.ID; e.Seq > h.last.Seq {
					continue
				}
			}
			if err := do(e.no, h, e.Entry); err != nil {
				return err
			}
		}
		if len(rows) < entriesAtOnce {
			return nil
		}
	}
}

// eachKey calls do for every key, the oldest first.
func (db *DB) eachKey(ctx context.Context, do func(keys.Key) error) error {
	if err := db.keys.flush(ctx); err != nil {
		return err
	}
	for from := int64(math.MinInt64); ; {
		var no int64
		page, err := list(ctx, db, func(row pgx.CollectableRow) (keys.Key, error) {
			return scanKey(numbered{row, &no})
		}, selectNumberedKeys+" WHERE no > $1 ORDER BY no LIMIT $2", from, accountsAtOnce)
		if err != nil {
			return err
		}
		for _, k := range page {
			if err := do(k); err != nil {
				return err
			}
		}
		if len(page) < accountsAtOnce {
			return nil
		}
		from = no
	}
}

// numbered reads the columns of a row behind its number.
type numbered struct {
	pgx.CollectableRow
	no *int64
}

// Scan is that of [pgx.CollectableRow].
func (n numbered) Scan(to ...any) error { return n.CollectableRow.Scan(append([]any{n.no}, to...)...) }

// Import adds everything that an export of any store holds, or nothing. It fails with bookkeeping.ErrImport, with
// bookkeeping.ErrExists when it would have to overwrite, and with credits.ErrBroken when an entry does not follow from the one
// before it. All of r is read and checked before anything is written; until then it waits in a temporary file. Replicas
// may serve meanwhile.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := db.readImport(ctx, r); err != nil {
		return fmt.Errorf("postgres: import: %w", err)
	}
	return nil
}

func (db *DB) readImport(ctx context.Context, r io.Reader) (err error) {
	spool, err := os.CreateTemp("", "socialdata-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	if err := bookkeeping.Read(ctx, io.TeeReader(r, spool), bookkeeping.Discard); err != nil {
		return err
	}
	return db.transact(ctx, func(ctx context.Context, t *tx) error {
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		m := &importer{
			ctx: ctx, db: db, tx: t, nos: map[string]int64{}, last: map[string]credits.Entry{},
			spent: map[spender]*credits.Spent{},
		}
		if err := bookkeeping.Read(ctx, spool, m); err != nil {
			return err
		}
		return t.end(ctx, m.finish())
	})
}

// importer writes what is imported. Its memory grows with the accounts and keys, not with the entries.
type importer struct {
	ctx context.Context // of the one transaction that it is part of
	db  *DB
	tx  *tx

	nos     map[string]int64
	last    map[string]credits.Entry
	keys    []keys.Key
	spent   map[spender]*credits.Spent // of keys with a cap
	waiting []entry
}

// importedAtOnce is how many entries one statement writes.
const importedAtOnce = 1000

// Account implements [bookkeeping.Sink].
func (m *importer) Account(a keys.Account) error {
	no, err := insertAccount(m.ctx, m.db, m.tx, a, credits.Entry{})
	if errors.Is(err, keys.ErrTaken) {
		err = fmt.Errorf("%w: account %q", bookkeeping.ErrExists, a.Name)
	}
	m.nos[a.ID] = no
	return err
}

// Key implements [bookkeeping.Sink].
func (m *importer) Key(k keys.Key) error {
	m.keys = append(m.keys, k)
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[spender{k.Account, k.ID}] = &credits.Spent{}
	}
	return nil
}

// Entry implements [bookkeeping.Sink].
func (m *importer) Entry(e credits.Entry) error {
	m.last[e.Account] = e
	if s, ok := m.spent[spender{e.Account, e.Key}]; ok && e.Kind == credits.Charged {
		*s = s.Add(-e.Amount, e.Time())
	}
	m.waiting = append(m.waiting, entry{m.nos[e.Account], e})
	if len(m.waiting) < importedAtOnce {
		return nil
	}
	return m.flush()
}

func (m *importer) flush() error {
	err := m.tx.step(m.ctx, func(q *pgx.Batch) { q.Queue(m.db.sql(insertEntries), columns(m.waiting)...) })
	m.waiting = m.waiting[:0]
	return exists(err, "an entry")
}

// finish writes the entries that still wait, the heads of the accounts and the keys.
func (m *importer) finish() error {
	if err := m.flush(); err != nil {
		return err
	}
	for page := range slices.Chunk(m.keys, importedAtOnce) {
		inserted := int64(0)
		err := m.tx.step(m.ctx, func(q *pgx.Batch) {
			for _, k := range page {
				spent := credits.Spent{}
				if s, ok := m.spent[spender{k.Account, k.ID}]; ok {
					spent = *s
				}
				queueKey(m.db, q, k, spent, &inserted)
			}
		})
		if err == nil && inserted < int64(len(page)) {
			err = fmt.Errorf("%w: a key", bookkeeping.ErrExists)
		}
		if err != nil {
			return exists(err, "a key")
		}
	}
	b := newBatch(m.db, m.tx)
	for id, e := range m.last {
		b.accounts[id] = &account{id: id, no: m.nos[id], last: e, dirty: true}
	}
	return m.tx.step(m.ctx, b.queueAccounts)
}

// exists says what is there already when the tables forbid a second one.
func exists(err error, what string) error {
	if isCode(err, uniqueViolation) {
		return fmt.Errorf("%w: %s", bookkeeping.ErrExists, what)
	}
	return err
}
