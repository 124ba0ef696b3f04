package sqlstore

import (
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// group is what a transaction of the ledger has loaded of the accounts of its calls.
type group struct {
	now      time.Time
	accounts map[string]*loaded
	byNumber map[int64]*loaded
}

// loaded is an account, with its number.
type loaded struct {
	*credits.State
	no int64
}

// load locks the accounts of calls and reads what the rule needs to know of them. The lock and the rest are two
// statements: the second must read what the transaction wrote that had the lock before, and in PostgreSQL a statement
// reads what was committed when it began.
func load(t tx, calls []*call) (*group, error) {
	g := &group{accounts: map[string]*loaded{}, byNumber: map[int64]*loaded{}}
	if err := g.lock(t, calls); err != nil {
		return nil, err
	}
	var err error
	if g.now, err = t.now(); err != nil {
		return nil, err
	}
	var n needs
	for _, c := range calls {
		if a := g.accounts[c.account]; a != nil {
			n.open.add(a.no, g.now.UnixNano())
			c.needs(&n, a, g.now)
		}
	}
	if err := g.read(t, &n); err != nil {
		return nil, err
	}
	for who := range n.capped {
		if who.account.Spent[who.key] == nil {
			if err := g.sumSpent(t, who); err != nil {
				return nil, err
			}
		}
	}
	return g, g.ageKeyed(t)
}

// lock locks the accounts, all in the same order, and reads their last entries.
func (g *group) lock(t tx, calls []*call) error {
	var ids param
	for _, c := range calls {
		if storable(c.account) {
			ids.add(c.account)
		}
	}
	table, args := t.rows("t", ids.rows)
	var no, seq, balance, at int64
	var id string
	var hash []byte
	return t.each([]any{&no, &id, &seq, &balance, &at, &hash}, func() error {
		a := &loaded{credits.NewState(id), no}
		a.Last.Seq, a.Last.Balance = seq, balance
		if seq > 0 {
			a.Last.At = fromMicros(at)
		}
		copy(a.Last.Hash[:], hash)
		g.accounts[id], g.byNumber[no] = a, a
		return nil
	}, "SELECT no, id, seq, balance, at, hash FROM @accounts WHERE id IN (SELECT c1 FROM "+table+") ORDER BY no {lock}", args...)
}

// needs is what a transaction reads after it has locked the accounts. Each field has the rows of one part of the query.
type needs struct {
	open    param // accounts and the time: the sum of their open holds, by key
	holds   param // ids
	entries param // holds of entries
	spent   param // accounts and keys
	keyed   param // accounts and idempotency keys
	refunds param // accounts and requests
	grants  param // accounts and numbers of entries
	capped  map[spender]struct{}
}

type spender struct {
	account *loaded
	key     string
}

// param is rows of parameters, each once.
type param struct {
	rows [][]any
	seen map[[2]any]struct{}
}

func (p *param) add(row ...any) {
	id := [2]any{row[0], nil}
	if len(row) > 1 {
		id[1] = row[1]
	}
	if _, ok := p.seen[id]; ok {
		return
	}
	if p.seen == nil {
		p.seen = map[[2]any]struct{}{}
	}
	p.seen[id] = struct{}{}
	p.rows = append(p.rows, row)
}

func (n *needs) spender(a *loaded, who credits.Spender) {
	if who.Key == "" {
		return
	}
	n.spent.add(a.no, who.Key)
	if who.DayCap != nil || who.TotalCap != nil {
		if n.capped == nil {
			n.capped = map[spender]struct{}{}
		}
		n.capped[spender{a, who.Key}] = struct{}{}
	}
}

func (n *needs) charge(a *loaded, c credits.Charge) {
	if c.IdempotencyKey != "" && c.Amount > 0 {
		n.keyed.add(a.no, c.IdempotencyKey)
	}
}

func (n *needs) entryOf(hold string) { n.entries.add(hold) }

func (n *needs) refund(a *loaded, requestID string) {
	a.Refunds[requestID] = 0
	n.refunds.add(a.no, requestID)
}

// read reads all of n in one statement.
func (g *group) read(t tx, n *needs) error {
	const requestColumns = "SELECT 'refund', account, request_id, amount, 0, 0 FROM {rows} JOIN @entries ON "
	parts := []struct {
		of           param
		types, query string // {rows} stands for the table of parameters
	}{
		{n.open, "nn", "SELECT 'open', account, key, CAST(sum(amount) AS {int}), 0, 0 FROM {rows} " +
			"JOIN @holds ON account = c1 AND expires > c2 AND charged IS NULL GROUP BY account, key"},
		{n.holds, "t", "SELECT 'hold', account, id || ' ' || key, amount, expires, coalesce(charged, -1) FROM {rows} " +
			"JOIN @holds ON id = c1"},
		{
			n.entries, "t",
			"SELECT 'entry', account, hold, amount, seq, 0 FROM {rows} JOIN @entries ON hold = c1 AND hold <> ''",
		},
		{
			n.spent, "nt",
			"SELECT 'spent', account, key, total, day, today FROM {rows} JOIN @spending ON account = c1 AND key = c2",
		},
		{
			n.keyed, "nt",
			"SELECT 'keyed', c1, c2, -amount, seq, coalesce(clock, at) FROM {rows} JOIN @entries ON account = c1 " +
				"AND seq = (SELECT max(seq) FROM @entries WHERE account = c1 AND idempotency_key = c2 AND idempotency_key <> '')",
		},
		// The entries of a request, by either index: the sign keeps a database from taking that of the account.
		{n.refunds, "nt", requestColumns + "request_id = c2 AND account = c1 AND " + ownRequest},
		{
			n.refunds, "nt",
			requestColumns + "hold >= c2 || '/' AND hold < c2 || '0' AND hold <> '' AND request_id = c2 AND +account = c1",
		},
		{
			n.grants, "nn",
			"SELECT 'grant', account, kind, amount, seq, 0 FROM {rows} JOIN @entries ON account = c1 AND seq = c2",
		},
	}
	var queries []string
	var args []any
	for _, p := range parts {
		if len(p.of.rows) > 0 {
			table, rows := t.rows(p.types, p.of.rows)
			queries, args = append(queries, strings.Replace(p.query, "{rows}", table, 1)), append(args, rows...)
		}
	}
	if len(queries) == 0 {
		return nil
	}
	var part, text string
	var no, x, y, z int64
	return t.each([]any{&part, &no, &text, &x, &y, &z}, func() error {
		if a := g.byNumber[no]; a != nil { // else it is a hold of another account
			a.set(part, text, x, y, z)
		}
		return nil
	}, strings.Join(queries, " UNION ALL "), args...)
}

// set sets what a row of read says.
func (a *loaded) set(part, text string, x, y, z int64) {
	switch part {
	case "open":
		a.Held[text] = x
	case "hold":
		id, key, _ := strings.Cut(text, " ") // no id of a hold contains a space
		a.Holds[id] = &credits.HoldState{
			Hold: credits.Hold{
				ID: id, Spender: credits.Spender{Account: a.Account, Key: key}, Amount: x, Expires: fromNanos(y),
			},
			Ended: z >= 0, Charged: max(0, z),
		}
	case "entry":
		a.ByHold[text] = credits.Entry{Seq: y, Amount: x}
	case "spent":
		a.Spent[text] = &credits.Spent{Total: x, Day: y, Today: z}
	case "keyed":
		a.Keyed[text] = credits.KeyedCharge{Seq: y, Amount: x, Made: fromMicros(z)}
	case "refund":
		a.Refunds[text] -= x
	case "grant":
		a.Grants[y] = credits.Entry{Seq: y, Kind: credits.Kind(text), Amount: x}
	}
}

// sumSpent sums what a key has spent that had no cap until now.
func (g *group) sumSpent(t tx, who spender) error {
	var amount, at int64
	var spent credits.Spent
	err := t.each([]any{&amount, &at}, func() error {
		spent = spent.Add(amount, fromMicros(at))
		return nil
	}, "SELECT -amount, coalesce(clock, at) FROM @entries WHERE account = ? AND key = ? AND kind = 'charge' ORDER BY seq",
		who.account.no, who.key)
	who.account.Spent[who.key], who.account.Paid[who.key] = &spent, struct{}{}
	return err
}

// ageKeyed finds how old charges are that were made while the clock was ahead: as old as the next entry that was not.
func (g *group) ageKeyed(t tx) error {
	for _, a := range g.accounts {
		for key, k := range a.Keyed {
			if !k.Made.After(g.now) {
				continue
			}
			var at int64
			found, err := t.maybe([]any{&at}, "SELECT coalesce(clock, at) FROM @entries WHERE account = ? AND seq > ? AND "+
				"coalesce(clock, at) <= ? ORDER BY seq LIMIT 1", a.no, k.Seq, g.now.UnixMicro())
			if err != nil {
				return err
			}
			if found {
				k.Made = fromMicros(at)
				a.Keyed[key] = k
			}
		}
	}
	return nil
}

// save stores what was decided.
func (g *group) save(t tx) error {
	var entries, heads, ended, holds, spent [][]any
	for _, a := range g.accounts {
		for i := range a.Appended {
			entries = append(entries, entryRow(a.no, &a.Appended[i]))
		}
		if len(a.Appended) > 0 {
			heads = append(heads, []any{a.no, a.Last.Seq, a.Last.Balance, a.Last.At.UnixMicro(), a.Last.Hash[:]})
		}
		for key := range a.Paid {
			s := a.Spent[key]
			spent = append(spent, []any{a.no, key, s.Total, s.Day, s.Today})
		}
		for id, h := range a.Changed {
			if h == nil || h.Ended {
				ended = append(ended, []any{id})
			}
			if h != nil {
				var charged any
				if h.Ended {
					charged = h.Charged
				}
				holds = append(holds, []any{id, a.no, h.Spender.Key, h.Amount, h.Expires.UnixNano(), charged})
			}
		}
	}
	if err := t.insertEntries(entries); err != nil {
		return err
	}
	if err := t.updateHeads(heads); err != nil {
		return err
	}
	if len(ended) > 0 {
		table, args := t.rows("t", ended)
		if err := t.exec("DELETE FROM @holds WHERE id IN (SELECT c1 FROM "+table+")", args...); err != nil {
			return err
		}
	}
	if err := t.insert("INSERT INTO @holds (id, account, key, amount, expires, charged)", "tntnnn", "", holds); err != nil {
		return err
	}
	return t.insertSpent(spent)
}

// entryRow returns a row of entries.
func entryRow(account int64, e *credits.Entry) []any {
	var clock any
	if !e.Clock.IsZero() {
		clock = e.Clock.UnixMicro()
	}
	return []any{
		account, e.Seq, string(e.Kind), e.Amount, e.Balance, e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason,
		e.Hold, e.IdempotencyKey, e.At.UnixMicro(), clock, e.Hash[:],
	}
}

func (t tx) insertEntries(rows [][]any) error {
	return t.insert("{insert} INTO @entries (account, "+entryColumns+")", "nntnnttttttttnnb", "", rows)
}

// insertSpent sets what keys have spent.
func (t tx) insertSpent(rows [][]any) error {
	return t.insert("INSERT INTO @spending (account, key, total, day, today)", "ntnnn",
		" ON CONFLICT (account, key) DO UPDATE SET total = excluded.total, day = excluded.day, today = excluded.today", rows)
}

// updateHeads sets the last entries of accounts.
func (t tx) updateHeads(rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	table, args := t.rows("nnnnb", rows)
	return t.exec("UPDATE @accounts SET seq = c2, balance = c3, at = c4, hash = c5 FROM "+table+" WHERE no = c1", args...)
}
