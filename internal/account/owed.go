package account

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// ToldAsFailed is the reason of a refund for a charge whose caller was told that the call failed.
const ToldAsFailed = "told as failed"

const (
	owedPrefix = "told"
	owedTTL    = 7 * 24 * time.Hour // of a note that is still unresolved
	// owedBegin is the delay before a note is first processed, and owedEvery the interval until it is resolved.
	owedBegin, owedEvery = time.Second, 5 * time.Second
	// owedScan is how often notes of other processes are searched, and owedAge how old one must be before this process
	// assumes that its process has died: by then no request of that process can still reach the ledger.
	owedScan, owedAge = 20 * time.Second, 40 * time.Second
)

// owed handles charges whose calls were reported as failed while it was unknown whether the charge was made. Each is
// noted in memory and in the records, and refunded once the ledger reports that the charge was made. There is one note
// for each charge, or for each idempotency key: a caller that repeats the call with the key gets the answer for the
// charge instead.
type owed struct {
	*Accounts
	process string
	work    background.Group

	mu    sync.Mutex
	notes map[string]*due // those not yet in the records, or unresolved, by key
	timer *time.Timer
	scans *time.Timer
}

// due is a note in this process.
type due struct {
	key   string
	dues  []Due
	noted bool // it is in the records
	// untold means that the charge was noted for an answer, and that this answer has failed then.
	untold bool
}

// owedState is the state of a note.
type owedState string

const (
	told      owedState = "told"
	refunding owedState = "refunding" // the refund is being written
	refunded  owedState = "refunded"
	answered  owedState = "answered" // the caller has repeated the call and got its answer for the charge
)

// owedNote is a note in the records.
type owedNote struct {
	State owedState
	Dues  []Due // at most one of them has an entry: the ledger charges an idempotency key once
	// Answered are the calls that got the answer. A call that has failed can be among them: its write of the note can
	// have been made although it was reported as failed.
	Answered []string `json:",omitempty"`
	Process  string
	At       time.Time
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

// ToldAsFailed notes that the call charged with d is reported as failed to its caller, while it is unknown, because of
// cause, whether it was charged. If it was, the charge is refunded.
func (a *Accounts) ToldAsFailed(ctx context.Context, d Due, cause error) {
	a.toldAsFailed(ctx, d, false, cause)
}

// Untold is [Accounts.ToldAsFailed] for a charge that was settled for an answer which then failed, because of cause,
// and that no other answer reports.
func (a *Accounts) Untold(ctx context.Context, d Due, cause error) {
	a.toldAsFailed(ctx, d, true, cause)
}

func (a *Accounts) toldAsFailed(ctx context.Context, d Due, untold bool, cause error) {
	if a.Ledger == nil || d.Hold.ID == "" {
		return
	}
	a.Log.WarnContext(ctx, "a call was reported as failed and may have been charged; if it was, the charge is refunded",
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
	n.dues, n.noted, n.untold = append(n.dues, d), false, n.untold || untold
	o.wake(owedBegin)
}

// wake makes sure that the notes are processed after d. The caller holds the lock.
func (o *owed) wake(d time.Duration) {
	if o.timer == nil {
		o.timer = time.AfterFunc(d, o.again)
	}
}

// again processes the notes, and repeats this later while there are any.
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

// pass tries to resolve every note of this process.
func (o *owed) pass(ctx context.Context) {
	o.mu.Lock()
	keys := slices.Sorted(maps.Keys(o.notes))
	o.mu.Unlock()
	for _, key := range keys {
		if err := o.tryOwn(ctx, key); err != nil {
			o.Log.DebugContext(ctx, "the charge of a call that was reported as failed is not resolved yet", "error", err)
		}
	}
}

// tryOwn writes a note of this process to the records and tries to resolve it.
func (o *owed) tryOwn(ctx context.Context, key string) error {
	o.mu.Lock()
	n := o.notes[key]
	dues, noted, untold := slices.Clone(n.dues), n.noted, n.untold
	o.mu.Unlock()
	if !noted {
		if err := o.put(ctx, key, dues, untold); err != nil {
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

// put adds dues to the note in the records, which may have those of another attempt with the same key. If untold is
// set, a note that it was answered is replaced: that answer has failed.
func (o *owed) put(ctx context.Context, key string, dues []Due, untold bool) error {
	for {
		mine := &owedNote{State: told, Dues: dues, Process: o.process, At: o.Now()}
		r, err := o.encode(key, mine)
		if err != nil {
			return err
		}
		current, added, err := o.Records.Add(ctx, r, owedTTL)
		if err != nil || added {
			return err
		}
		there := &owedNote{}
		if err := json.Unmarshal(current.Value, there); err != nil {
			return err
		}
		ttl := owedTTL
		switch {
		case there.State == answered && (untold || there.withdraw(o.process, dues)):
			there = &owedNote{State: told}
			there.add(dues)
		case there.State == answered: // others have the answer
			ttl = credits.IdempotentFor
		case there.State == told:
			there.add(dues)
		default:
			return nil // finish does what remains to be done
		}
		there.Process, there.At = o.process, o.Now()
		if _, err = o.write(ctx, key, there, current.Version, ttl); !errors.Is(err, records.ErrConflict) {
			return err
		}
	}
}

// add adds dues to the note, those that it does not have.
func (n *owedNote) add(dues []Due) {
	for _, d := range dues {
		if !slices.ContainsFunc(n.Dues, func(t Due) bool { return t.Hold.ID == d.Hold.ID }) {
			n.Dues = append(n.Dues, d)
		}
	}
}

// withdraw removes calls of a process that have failed from those that got the answer, and reports whether it has removed
// the last one.
func (n *owedNote) withdraw(process string, dues []Due) bool {
	before := len(n.Answered)
	n.Answered = slices.DeleteFunc(n.Answered, func(call string) bool {
		return slices.ContainsFunc(dues, func(d Due) bool { return callOf(process, d) == call })
	})
	return before > 0 && len(n.Answered) == 0
}

// callOf returns the name of a call of a process in the list of those that got the answer.
func callOf(process string, d Due) string { return process + " " + strconv.FormatUint(d.Call, 10) }

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

// finish refunds the charge of a note in the records, if it was made, and removes the note. It returns nil when nothing
// remains to be done.
func (o *owed) finish(ctx context.Context, key string) error {
	current, err := o.Records.Get(ctx, key)
	if errors.Is(err, records.ErrAbsent) {
		return nil
	}
	n := &owedNote{}
	if err == nil {
		err = json.Unmarshal(current.Value, n)
	}
	if err != nil || n.State == answered || n.State == refunded {
		return err
	}
	made, err := o.made(ctx, n.Dues)
	if err != nil {
		return err
	}
	if made == nil {
		return o.Records.Delete(ctx, key, current.Version)
	}
	version := current.Version
	if n.State == told { // from now on a repeated call reports that the charge is refunded
		n.State, n.Process, n.At = refunding, o.process, o.Now()
		if version, err = o.write(ctx, key, n, version, owedTTL); err != nil {
			return err
		}
	}
	if err := o.refund(ctx, *made); err != nil {
		return err
	}
	if made.Charge.IdempotencyKey == "" {
		return o.Records.Delete(ctx, key, version)
	}
	n.State = refunded
	_, err = o.write(ctx, key, n, version, credits.IdempotentFor)
	return err
}

// made releases what dues still hold, and returns the one that was charged, with the amount; nil when none was.
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
		// With an idempotency key, settling a hold may return the charge of another call, which that call has reported.
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

// mostOfRequest is more than the number of entries of any request.
const mostOfRequest = 1000

func (o *owed) entriesOf(ctx context.Context, d Due) ([]credits.Entry, error) {
	return o.entries(ctx, credits.Query{
		Account: d.Hold.Spender.Account, RequestID: d.Charge.RequestID, Limit: mostOfRequest,
	})
}

// refund gives back a charge, once however often it is called: the gift has a key. A panic of the ledger becomes an
// error.
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
	_, err = granter.Give(bounded, credits.Gift{
		Account: d.Hold.Spender.Account, Kind: credits.Refunded, Amount: d.Charge.Amount, RequestID: d.Charge.RequestID,
		Reason: ToldAsFailed, Key: ToldAsFailed + " " + d.Hold.ID,
	})
	if err == nil {
		o.Log.InfoContext(ctx, "refunded the charge of a call that was reported as failed", "request_id", d.Charge.RequestID,
			"credits", d.Charge.Amount)
	}
	return err
}

// answered notes that a call that was reported as failed has been repeated with its idempotency key, and gets the
// answer for its charge. If that was already refunded, the answer is reported to cost nothing.
func (o *owed) answered(ctx context.Context, d Due, receipt credits.Receipt) (credits.Receipt, error) {
	if d.Call == 0 {
		d.Call = calls.Add(1)
	}
	key := owedKey(d)
	for {
		mine := &owedNote{State: answered, Answered: []string{callOf(o.process, d)}, Process: o.process, At: o.Now()}
		r, err := o.encode(key, mine)
		if err != nil {
			return receipt, err
		}
		current, added, err := o.Records.Add(ctx, r, credits.IdempotentFor)
		if err != nil {
			return receipt, err
		}
		if added {
			return receipt, nil
		}
		there := &owedNote{}
		if err := json.Unmarshal(current.Value, there); err != nil {
			return receipt, err
		}
		if there.State == refunding || there.State == refunded {
			receipt.Charged, receipt.Back = 0, true
			return receipt, nil
		}
		if slices.Contains(there.Answered, mine.Answered[0]) {
			return receipt, nil
		}
		mine.Answered = append(mine.Answered, there.Answered...)
		if _, err := o.write(ctx, key, mine, current.Version, credits.IdempotentFor); !errors.Is(err, records.ErrConflict) {
			return receipt, err
		}
	}
}

// scan resolves the notes of processes that have died.
func (o *owed) scan() {
	if !o.work.Begin() {
		return
	}
	defer o.work.End()
	ctx := operation.After(context.Background())
	if keys, err := o.Records.Keys(ctx, owedPrefix+"/"); err == nil {
		for _, key := range keys {
			if err := o.takeUp(ctx, key); err != nil {
				o.Log.DebugContext(ctx, "the charge of a call that was reported as failed is not resolved yet", "error", err)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scans.Reset(owedScan)
}

// takeUp resolves another process's note, once it is old enough.
func (o *owed) takeUp(ctx context.Context, key string) error {
	current, err := o.Records.Get(ctx, key)
	if err != nil {
		return err
	}
	n := &owedNote{}
	if err := json.Unmarshal(current.Value, n); err != nil {
		return err
	}
	if n.Process == o.process || n.State == answered || n.State == refunded || o.Now().Sub(n.At) < owedAge {
		return nil
	}
	return o.finish(ctx, key)
}
