package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// head is a snapshot of an account.
type head struct {
	keys.Account
	no     int64
	last   credits.Entry
	held   int64                    // according to the account's row
	holds  int64                    // the sum of its holds
	behind int64                    // entries after the last one, which only someone who tampered can have written
	spent  map[string]credits.Spent // by keys whose spending is tracked
}

// accountsAtOnce and entriesAtOnce are how many rows are read at once.
const (
	accountsAtOnce = 500
	entriesAtOnce  = 5000
)

// part is the accounts with the numbers from from to until. The parts of a database cover all numbers.
type part struct {
	accounts    []head
	from, until int64
}

// eachPart calls do for every part of the accounts, oldest first.
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

// eachEntry calls do for the entries of a part of the accounts, by account and in order. Entries that are newer than
// the account's head are left out. Those of an account that is new or missing have no head.
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

// eachKey calls do for every key, oldest first.
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

// numbered reads the columns of a row that follow its number.
type numbered struct {
	pgx.CollectableRow
	no *int64
}

// Scan is like [pgx.CollectableRow.Scan].
func (n numbered) Scan(to ...any) error { return n.CollectableRow.Scan(append([]any{n.no}, to...)...) }
