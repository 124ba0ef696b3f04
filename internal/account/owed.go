package account

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// ToldAsFailed is the reason of a refund: the caller was told that the call failed, and it turned out to be charged.
const ToldAsFailed = "told as failed"

const (
	owedPrefix = "told"
	owedTTL    = 7 * 24 * time.Hour // of a note that nothing has come of yet
	// owedBegin and owedEvery are how soon a note is looked at, and how often then until something comes of it.
	owedBegin, owedEvery = time.Second, 5 * time.Second
	// owedScan is how often the notes of other processes are looked for, and owedAge how old one must be before this
	// process takes it for that of one that has died: by then nothing of it can be on its way to the ledger any more.
	owedScan, owedAge = 20 * time.Second, 40 * time.Second
)

// owed are the charges whose callers were told that they had failed while that was not known. Each is noted, here and in
// the records; once the ledger can say that it was made after all, it is given back. There is one note for each charge,
// or for each idempotency key: who repeats the call under the key gets the answer for the charge instead.
type owed struct {
	*Accounts
	process string
	work    background.Group

	mu    sync.Mutex
	notes map[string]*due // that are not in the records yet, or that nothing has come of, by key
	timer *time.Timer
	scans *time.Timer
}

// due is a note in this process.
type due struct {
	key   string
	dues  []Due
	noted bool // it is in the records
}

// owedState says what has come of a note.
type owedState string

const (
	told      owedState = "told"
	refunding owedState = "refunding" // the refund is being written
	refunded  owedState = "refunded"
	answered  owedState = "answered" // the caller has repeated the call and has its answer for the charge
)

// owedNote is a note in the records.
type owedNote struct {
	State   owedState
	Dues    []Due // of which one at most has an entry: the ledger lets an idempotency key be charged once
	Before  int   // such refunds of the request that there were before
	Process string
	At      time.Time
}

func newOwed(a *Accounts) *owed {
	o := &owed{Accounts: a, process: rand.Text(), notes: map[string]*due{}}
	if a.Shared && a.Ledger != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.scans = time.AfterFunc(owedScan, o.scan)
	}
	return o
}

// close makes a last attempt and stops.
func (o *owed) close(ctx context.Context) error {
	o.mu.Lock()
	for _, t := range []*time.Timer{o.timer, o.scans} {
		if t != nil {
			t.Stop()
		}
	}
	open := len(o.notes) > 0
	o.mu.Unlock()
	err := o.work.Close(ctx)
	if open {
		o.pass(ctx)
	}
	return err
}

func owedKey(d Due) string {
	if d.Charge.IdempotencyKey != "" {
		return records.Key(owedPrefix, d.Hold.Spender.Account, d.Charge.IdempotencyKey)
	}
	return records.Key(owedPrefix, d.Hold.Spender.Account, d.Hold.ID)
}

// ToldAsFailed notes that the caller is told that the call failed that d is the charge of, while it is not known whether
// it was charged, because of cause. If it was, it is given back.
func (a *Accounts) ToldAsFailed(ctx context.Context, d Due, cause error) {
	if a.Ledger == nil || d.Hold.ID == "" {
		return
	}
	a.Log.WarnContext(ctx, "told as failed what may be charged; it is given back if it is",
		"request_id", d.Charge.RequestID, "hold", d.Hold.ID, "error", cause)
	o := a.owed
	o.mu.Lock()
	defer o.mu.Unlock()
	key := owedKey(d)
	n := o.notes[key]
	if n == nil {
		n = &due{key: key}
		o.notes[key] = n
	}
	n.dues, n.noted = append(n.dues, d), false
	o.wake(owedBegin)
}

// wake sees to it that the notes are looked at after d. The caller has the lock.
func (o *owed) wake(d time.Duration) {
	if o.timer == nil {
		o.timer = time.AfterFunc(d, o.again)
	}
}

// again looks at the notes, and once more later while there are some.
func (o *owed) again() {
	if !o.work.Begin() {
		return
	}
	defer o.work.End()
	o.pass(context.Background())
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer = nil; len(o.notes) > 0 {
		o.wake(owedEvery)
	}
}

// pass tries to bring every note of this process to its end.
func (o *owed) pass(ctx context.Context) {
	o.mu.Lock()
	keys := slices.Sorted(maps.Keys(o.notes))
	o.mu.Unlock()
	for _, key := range keys {
		if err := o.tryOwn(ctx, key); err != nil {
			o.Log.DebugContext(ctx, "what was told as failed is still open", "error", err)
		}
	}
}

// tryOwn brings a note of this process into the records and to its end.
func (o *owed) tryOwn(ctx context.Context, key string) error {
	o.mu.Lock()
	n := o.notes[key]
	dues, noted := slices.Clone(n.dues), n.noted
	o.mu.Unlock()
	if !noted {
		if err := o.put(ctx, key, dues); err != nil {
			return err
		}
		o.mu.Lock()
		n.noted = len(n.dues) == len(dues)
		o.mu.Unlock()
	}
	if err := o.finish(ctx, key); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(n.dues) == len(dues) {
		delete(o.notes, key)
	}
	return nil
}

// put notes dues in the records, beside those that another attempt under the same key has noted there.
func (o *owed) put(ctx context.Context, key string, dues []Due) error {
	for {
		mine := &owedNote{State: told, Dues: dues, Process: o.process, At: o.Now()}
		r, err := o.encode(key, mine)
		if err != nil {
			return err
		}
		stands, added, err := o.Records.Add(ctx, r, owedTTL)
		if err != nil || added {
			return err
		}
		there := &owedNote{}
		if err := json.Unmarshal(stands.Value, there); err != nil {
			return err
		}
		if there.State != told {
			return nil // finish says what is still to be done
		}
		for _, d := range dues {
			if !slices.ContainsFunc(there.Dues, func(t Due) bool { return t.Hold.ID == d.Hold.ID }) {
				there.Dues = append(there.Dues, d)
			}
		}
		there.Process, there.At = o.process, o.Now()
		if _, err = o.write(ctx, key, there, stands.Version, owedTTL); !errors.Is(err, records.ErrConflict) {
			return err
		}
	}
}

func (o *owed) encode(key string, n *owedNote) (records.Record, error) {
	value, err := schema.Marshal(n)
	return records.Record{Key: key, Value: value}, err
}

func (o *owed) write(ctx context.Context, key string, n *owedNote, over int64, ttl time.Duration) (int64, error) {
	r, err := o.encode(key, n)
	if err != nil {
		return 0, err
	}
	r.Version = over
	return o.Records.Put(ctx, r, ttl)
}

// finish gives back what a note in the records is about, if that was charged, and removes the note. It returns nil when
// nothing is left to be done.
func (o *owed) finish(ctx context.Context, key string) error {
	stands, err := o.Records.Get(ctx, key)
	if errors.Is(err, records.ErrAbsent) {
		return nil
	}
	n := &owedNote{}
	if err == nil {
		err = json.Unmarshal(stands.Value, n)
	}
	if err != nil || n.State == answered || n.State == refunded {
		return err
	}
	made, err := o.made(ctx, n.Dues)
	if err != nil {
		return err
	}
	if made == nil {
		return o.Records.Delete(ctx, key, stands.Version)
	}
	before, err := o.refunds(ctx, *made)
	if err != nil {
		return err
	}
	version := stands.Version
	if n.State == told { // from here on a repeated call is told that the charge is given back
		n.State, n.Before, n.Process, n.At = refunding, before, o.process, o.Now()
		if version, err = o.write(ctx, key, n, version, owedTTL); err != nil {
			return err
		}
	}
	if before == n.Before { // else an attempt of which it was not known has written it
		if err := o.refund(ctx, *made); err != nil {
			return err
		}
	}
	if made.Charge.IdempotencyKey == "" {
		return o.Records.Delete(ctx, key, version)
	}
	n.State = refunded
	_, err = o.write(ctx, key, n, version, credits.IdempotentFor)
	return err
}

// made releases what is still held of dues, and returns the one that was charged, with what it came to; nil when none was.
func (o *owed) made(ctx context.Context, dues []Due) (*Due, error) {
	var made *Due
	for _, d := range dues {
		receipt, err := o.settle(ctx, d.Hold, credits.Charge{})
		if err != nil && !errors.Is(err, credits.ErrExpired) {
			return nil, err
		}
		if err != nil || receipt.Charged == 0 {
			continue
		}
		// Under an idempotency key a hold may have come to what another was charged, which its caller knows of.
		entries, err := o.entriesOf(ctx, d)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Kind == credits.Charged && e.Hold == d.Hold.ID {
				d.Charge.Amount = -e.Amount
				made = &d
			}
		}
	}
	return made, nil
}

// refunds counts the refunds that the request of d has had for having been told as failed.
func (o *owed) refunds(ctx context.Context, d Due) (n int, err error) {
	entries, err := o.entriesOf(ctx, d)
	for _, e := range entries {
		if e.Kind == credits.Refunded && e.Reason == ToldAsFailed {
			n++
		}
	}
	return n, err
}

// mostOfRequest is more entries than one request has.
const mostOfRequest = 1000

func (o *owed) entriesOf(ctx context.Context, d Due) ([]credits.Entry, error) {
	return o.entries(ctx, credits.Query{
		Account: d.Hold.Spender.Account, RequestID: d.Charge.RequestID, Limit: mostOfRequest,
	})
}

// refund is the ledger's Refund; a ledger that panics fails.
func (o *owed) refund(ctx context.Context, d Due) (err error) {
	granter, ok := o.Ledger.(credits.Granter)
	if !ok {
		return fmt.Errorf("socialdata: the ledger cannot refund %d credits of request %s", d.Charge.Amount, d.Charge.RequestID)
	}
	bounded, err := o.guard.ledger.enter(ctx, 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	_, err = granter.Refund(bounded, d.Hold.Spender.Account, d.Charge.Amount, d.Charge.RequestID, ToldAsFailed)
	if err == nil {
		o.Log.InfoContext(ctx, "refunded what was told as failed and was charged", "request_id", d.Charge.RequestID,
			"credits", d.Charge.Amount)
	}
	return err
}

// answered notes that a caller who was told that a charge had failed has repeated the call under its idempotency key, and
// gets the answer for that charge. When it was given back already, the answer is told to cost nothing.
func (o *owed) answered(ctx context.Context, d Due, receipt credits.Receipt) (credits.Receipt, error) {
	key := owedKey(d)
	for {
		mine := &owedNote{State: answered, Process: o.process, At: o.Now()}
		r, err := o.encode(key, mine)
		if err != nil {
			return receipt, err
		}
		stands, added, err := o.Records.Add(ctx, r, credits.IdempotentFor)
		if err != nil {
			return receipt, err
		}
		if added {
			return receipt, nil
		}
		there := &owedNote{}
		if err := json.Unmarshal(stands.Value, there); err != nil {
			return receipt, err
		}
		if there.State == refunding || there.State == refunded {
			receipt.Charged = 0
		}
		if there.State != told {
			return receipt, nil
		}
		if _, err := o.write(ctx, key, mine, stands.Version, credits.IdempotentFor); !errors.Is(err, records.ErrConflict) {
			return receipt, err
		}
	}
}

// scan takes up the notes of processes that have died, or that were answered before they were noted.
func (o *owed) scan() {
	if !o.work.Begin() {
		return
	}
	defer o.work.End()
	ctx := operation.After(context.Background())
	if keys, err := o.Records.Keys(ctx, owedPrefix+"/"); err == nil {
		for _, key := range keys {
			if err := o.takeUp(ctx, key); err != nil {
				o.Log.DebugContext(ctx, "what was told as failed is still open", "error", err)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scans.Reset(owedScan)
}

// takeUp brings another process's note to its end, once it is old enough.
func (o *owed) takeUp(ctx context.Context, key string) error {
	stands, err := o.Records.Get(ctx, key)
	if err != nil {
		return err
	}
	n := &owedNote{}
	if err := json.Unmarshal(stands.Value, n); err != nil {
		return err
	}
	if n.Process == o.process || n.State == answered || n.State == refunded || o.Now().Sub(n.At) < owedAge {
		return nil
	}
	return o.finish(ctx, key)
}
