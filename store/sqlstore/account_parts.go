package sqlstore

import (
	"context"
	"math"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// accountsAtOnce and entriesAtOnce are how many rows one query of an audit or an export reads.
const (
	accountsAtOnce = 500
	entriesAtOnce  = 1000
)

// part is some of the accounts: all whose numbers are above from, and until at most.
type part struct {
	from, until int64
	heads       []*head
	byNumber    map[int64]*head
	spent       []spentRow
}

// head is an account with its last entry, of which only the number, balance, time and hash are known.
type head struct {
	account keys.Account
	no      int64
	last    credits.Entry
	after   int64 // entries after the last one, of which there must be none
}

// spentRow is what a key has spent.
type spentRow struct {
	account int64
	key     string
	credits.Spent
}

// eachPart calls do for all accounts, oldest first. Each part is a snapshot.
func (db *DB) eachPart(ctx context.Context, do func(p *part) error) error {
	for from := int64(math.MinInt64); from < math.MaxInt64; {
		var p *part
		err := db.snapshot(ctx, func(snapshot querier) (err error) {
			p, err = db.readPart(ctx, snapshot, from)
			return err
		})
		if err != nil {
			return err
		}
		if err := do(p); err != nil {
			return err
		}
		from = p.until
	}
	return nil
}

func (db *DB) readPart(ctx context.Context, from querier, after int64) (*part, error) {
	p := &part{from: after, until: math.MaxInt64, byNumber: map[int64]*head{}}
	var err error
	p.heads, err = listFrom(ctx, db, from, scanHead, "SELECT no, id, name, created_at, monthly, closed_at, seq, balance, at, hash, "+
		"(SELECT count(*) FROM @entries e WHERE e.account = a.no AND e.seq > a.seq) "+
		"FROM @accounts a WHERE no > ? ORDER BY no LIMIT ?", after, accountsAtOnce)
	if err != nil {
		return nil, err
	}
	if len(p.heads) == accountsAtOnce {
		p.until = p.heads[accountsAtOnce-1].no
	}
	for _, h := range p.heads {
		p.byNumber[h.no] = h
	}
	p.spent, err = listFrom(ctx, db, from, func(r row) (s spentRow, err error) {
		err = r.Scan(&s.account, &s.key, &s.Total, &s.Day, &s.Today)
		return s, err
	}, "SELECT account, key, total, day, today FROM @spending WHERE account > ? AND account <= ?", p.from, p.until)
	return p, err
}

func scanHead(r row) (*head, error) {
	var h head
	var account accountRow
	var at int64
	var hash []byte
	err := r.Scan(append(append([]any{&h.no}, account.into()...), &h.last.Seq, &h.last.Balance, &at, &hash, &h.after)...)
	h.account = account.read()
	if h.last.Seq > 0 {
		h.last.At = fromMicros(at)
		copy(h.last.Hash[:], hash)
	}
	return &h, err
}

// numberedEntry is an entry with the number of its account.
type numberedEntry struct {
	credits.Entry

	no int64
}

// eachEntry calls do for the entries of the accounts of a part, in order, up to the last one of each. Those of an
// account that is new or missing have no head.
func (db *DB) eachEntry(ctx context.Context, p *part, do func(h *head, e *numberedEntry) error) error {
	after := []any{p.from, int64(math.MaxInt64), ""}
	return pages(func(numberedEntry) ([]numberedEntry, error) {
		return list(ctx, db, func(r row) (e numberedEntry, err error) {
			err = scanEntry(r, &e.Entry, &e.no)
			after = []any{e.no, e.Seq, e.Platform}
			return e, err
		}, "SELECT account, "+entryColumns+" FROM @entries WHERE (account, seq, platform) > (?, ?, ?) AND account <= ? "+
			"ORDER BY account, seq, platform LIMIT ?", append(after, p.until, entriesAtOnce)...)
	}, func(e *numberedEntry) error {
		h := p.byNumber[e.no]
		if h != nil {
			if e.Account = h.account.ID; e.Seq > h.last.Seq {
				return nil
			}
		}
		return do(h, e)
	})
}

// numberedKey is a key with the number of its row.
type numberedKey struct {
	keys.Key

	no int64
}

// eachKey calls do for every key, oldest first.
func (db *DB) eachKey(ctx context.Context, do func(k *numberedKey) error) error {
	return pages(func(last numberedKey) ([]numberedKey, error) {
		return list(ctx, db, func(r row) (k numberedKey, err error) {
			k.Key, err = scanKey(numberedRow{r, &k.no})
			return k, err
		}, "SELECT no, "+keyColumns+" FROM @keys WHERE no > ? ORDER BY no LIMIT ?", last.no, accountsAtOnce)
	}, do)
}

// numberedRow is a row whose first column is its number.
type numberedRow struct {
	row
	no *int64
}

// Scan scans the columns after the number.
func (r numberedRow) Scan(into ...any) error { return r.row.Scan(append([]any{r.no}, into...)...) }
