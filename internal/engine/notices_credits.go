package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// reported records which changes of an account's credits were reported. All processes share it in the records.
type reported struct {
	Epoch string // of this record, a part of the ids of its changes
	Low   bool   // the balance is below the threshold
	Out   bool   // it is exhausted
	OutAt int64  // the balance when that was reported: it is exhausted until the balance is higher
	Lows  int64  // how often each was reported
	Outs  int64
	Last  int64 // the Seq of the last entry of the ledger that was read
	Grant int64 // the last grant up to it
}

const (
	entriesFirst = 100     // entries of the ledger that are read at first
	entriesMore  = 1000    // in each further part
	entriesSaved = 100_000 // entries after which the record is written although nothing was reported
)

// differs reports whether a balance may differ from what was reported: low, exhausted or neither. Open holds make it
// lower than the balance in the ledger, so tryCredits reads the ledger before it reports anything.
func (l *listener) differs(balance int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.wantsLocked(watch.CreditsLow, watch.CreditsExhausted):
		return false
	case !l.known || (balance < l.floor) != l.credits.Low:
		return true
	case l.credits.Out:
		return balance > l.credits.OutAt
	}
	return balance <= 0
}

// lacks notes that a call was refused, and returns whether the account has to be notified.
func (l *listener) lacks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lacking || l.credits.Out || !l.wantsLocked(watch.CreditsExhausted) {
		return false
	}
	l.lacking = true
	return true
}

// creditsOf reports changes of the credits of an account to its feed.
func (n *accountEvents) creditsOf(ctx context.Context, l *listener) error {
	if n.engine.accounts.Ledger == nil || !l.wants(watch.CreditsLow, watch.CreditsExhausted) {
		return nil
	}
	return n.retried(func() error { return n.tryCredits(ctx, l) })
}

// tryCredits fails with records.ErrConflict when another process has written the record meanwhile. It reads the record
// before the ledger: the changes that it reports have the same ids in every process that has read the same record.
func (n *accountEvents) tryCredits(ctx context.Context, l *listener) error {
	bounded, cancel := n.bounded(ctx)
	defer cancel()
	settings, err := n.engine.settings(bounded, l.account)
	if err != nil {
		return err
	}
	r, was, err := n.reported(bounded, l.account)
	if err != nil {
		return err
	}
	l.mu.Lock()
	now, lacking := was, l.lacking
	if l.credits.Last > now.Last { // read before, and not written
		now.Last, now.Grant = l.credits.Last, l.credits.Grant
	}
	l.mu.Unlock()
	balance, entered, err := n.readEntries(ctx, l.account, &now)
	if err != nil {
		return err
	}
	floor := now.Grant / 10
	if settings.CreditsLow != nil {
		floor = *settings.CreditsLow
	}
	var found []schema.Change
	tell := func(kind string, count int64, detail string) {
		c := webhooks.Own(l.account, kind, n.engine.cfg.Now(), []string{was.Epoch, strconv.FormatInt(count, 10)}, detail)
		after := json.RawMessage(strconv.FormatInt(balance, 10))
		c.Fields = []schema.FieldChange{{Field: "credits", Before: json.RawMessage("null"), After: after}}
		found = append(found, c)
	}
	if now.Low = entered && balance < floor; now.Low && !was.Low {
		now.Lows++
		tell(watch.CreditsLow, now.Lows, fmt.Sprintf("the account has %d credits, fewer than %d", balance, floor))
	}
	now.Out = was.Out && balance <= was.OutAt
	if !now.Out && (lacking || entered && balance <= 0) {
		now.Out, now.OutAt = true, balance
		now.Outs++
		detail := "the account has no credits left"
		if balance > 0 {
			detail = fmt.Sprintf("a call was refused because the account has too few credits for it: %d", balance)
		}
		tell(watch.CreditsExhausted, now.Outs, detail)
	}
	if err := n.tell(ctx, l, found...); err != nil {
		return err
	}
	if now.Low != was.Low || now.Out != was.Out || now.Outs != was.Outs || now.Last-was.Last >= entriesSaved {
		if err := n.put(ctx, r, now); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.credits, l.floor, l.known, l.lacking = now, floor, true, l.lacking && !lacking
	return nil
}

// reported reads the record of what was reported of an account's credits, and makes it if it does not exist.
func (n *accountEvents) reported(ctx context.Context, account string) (r records.Record, s reported, err error) {
	key := records.Key("credits", account)
	r, err = n.engine.cfg.Records.Get(ctx, key)
	if errors.Is(err, records.ErrAbsent) {
		var value []byte
		if value, err = json.Marshal(reported{Epoch: rand.Text()}); err != nil {
			return r, s, err
		}
		r, _, err = n.engine.cfg.Records.Add(ctx, records.Record{Key: key, Value: value}, secretTTL)
	}
	if err == nil {
		err = json.Unmarshal(r.Value, &s)
	}
	return r, s, err
}

// readEntries reads the entries after the last one that was read, newest first, until it finds a grant. It returns the
// balance without open holds, and whether there is any entry.
func (n *accountEvents) readEntries(ctx context.Context, account string, s *reported) (balance int64, any bool, err error) {
	who := n.engine.accounts.Caller(&keys.Key{Account: account})
	last, newest := s.Last, int64(0)
	for q := (credits.Query{Limit: entriesFirst}); ; q.Limit = entriesMore {
		bounded, cancel := n.bounded(ctx)
		part, err := who.Entries(bounded, q)
		cancel()
		if err != nil {
			return 0, false, err
		}
		for i := range part {
			e := &part[i]
			if newest == 0 {
				newest, balance = e.Seq, e.Balance
				if newest < last { // this is another ledger than last time
					last = 0
				}
			}
			granted := e.Seq > last && e.Kind == credits.Granted
			if granted {
				s.Grant = e.Amount
			}
			if granted || e.Seq <= last {
				s.Last = newest
				return balance, true, nil
			}
			q.Before = e.Seq
		}
		if len(part) < q.Limit {
			s.Last = newest
			return balance, newest > 0, nil
		}
	}
}
