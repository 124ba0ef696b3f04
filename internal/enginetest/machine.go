package enginetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/store/records"
)

// Process has the store calls of one process that fail, by their numbers.
type Process struct {
	Faults []Fault
	Ends   int // the call before which the process ends; 0 for never
}

// Fault is a call of a store that fails or hangs.
type Fault struct {
	Call  int
	After bool          // the call is made, but returns an error
	Hangs time.Duration // how long the call takes; if that is within the caller's time, it does not fail
}

// DrawProcess draws a process whose stores hang for at most longest, in steps of a tenth of a second. It ends within
// its first calls if ends is set.
func DrawProcess(t *rapid.T, longest time.Duration, ends bool) Process {
	p := Process{Faults: drawFaults(t, longest)}
	if ends {
		p.Ends = rapid.IntRange(1, 25).Draw(t, "end")
		p.findOut()
	}
	return p
}

// findOut removes the faults just before the end of the process, which would hide a charge from its caller: the process
// would end before it knows the result of a write. The same goes for an end between a write and its result.
func (p *Process) findOut() {
	for end := p.Ends - 1; len(p.Faults) > 0; end-- {
		at := slices.IndexFunc(p.Faults, func(f Fault) bool { return f.Call == end })
		if at < 0 {
			return
		}
		p.Faults = slices.Delete(p.Faults, at, at+1)
	}
}

// Faulty reports whether consecutive store calls fail, including those during one that hangs.
func (p *Process) Faulty() bool {
	for i, f := range p.Faults {
		if f.Hangs > 0 || i > 0 && f.Call == p.Faults[i-1].Call+1 {
			return true
		}
	}
	return false
}

// drawFaults lets calls fail, also several consecutive ones.
func drawFaults(t *rapid.T, longest time.Duration) []Fault {
	const step = 100 * time.Millisecond
	var out []Fault
	at := 0
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		at += rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4, 6, 8, 10, 12}).Draw(t, "calls later")
		f := Fault{Call: at - 1, After: rapid.Bool().Draw(t, "done")}
		if rapid.IntRange(0, 3).Draw(t, "hangs") == 0 {
			f.Hangs = time.Duration(rapid.IntRange(1, int(longest/step)).Draw(t, "how long")) * step
		}
		out = append(out, f)
	}
	return out
}

// Machine simulates a process that may fail and end: all calls of the stores that it returns pass through it. It runs
// in a bubble of testing/synctest. Its stores do not fail until Client is set.
type Machine struct {
	Process

	Client *socialdata.Client
	Ended  chan struct{} // closed when it ends
	mu     sync.Mutex
	calls  int
	faulty int       // calls that failed
	at     time.Time // when it ended
	failed time.Time // when a call failed that no later one has compensated
}

// Wrong returns the number of store calls that have failed.
func (m *Machine) Wrong() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.faulty
}

// Failed notes that a failure was reported to a caller now.
func (m *Machine) Failed() { m.setFailed(time.Now()) }

// Compensated notes that the charges of failed calls have been reported since.
func (m *Machine) Compensated() { m.setFailed(time.Time{}) }

func (m *Machine) setFailed(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = at
}

// Forgetful reports whether the machine ended soon after a call had failed, before it could resolve that.
func (m *Machine) Forgetful() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.at.IsZero() && !m.failed.IsZero() && m.at.Sub(m.failed) < 30*time.Second
}

// ErrFault is the error of a store that fails.
var ErrFault = errors.New("the disk is full")

// NewMachine returns a machine that plays p.
func NewMachine(p Process) *Machine { return &Machine{Process: p, Ended: make(chan struct{})} }

// call makes a store call, or fails, or ends the process before it: calls of a process that has ended never return.
func (m *Machine) call(ctx context.Context, do func() error) error {
	m.mu.Lock()
	m.calls++
	n := m.calls
	if n == m.Ends {
		m.at = time.Now()
		close(m.Ended)
	}
	dead := m.Ends > 0 && n >= m.Ends
	m.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	for _, f := range m.Faults {
		if f.Call == n {
			m.mu.Lock()
			m.faulty++
			m.mu.Unlock()
			return f.happen(ctx, do)
		}
	}
	return do()
}

// happen makes a call with a fault.
func (f Fault) happen(ctx context.Context, do func() error) error {
	if f.After {
		_ = do()
	}
	if f.Hangs == 0 {
		return ErrFault
	}
	select {
	case <-time.After(f.Hangs):
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.After {
		return ErrFault
	}
	return do()
}

// LongestAnswer is the maximum time of a call, including its store calls.
const LongestAnswer = 15 * time.Second

// Do makes a call. answered is false if the machine ends before it has answered. Do panics if the answer is later than
// allowed.
func (m *Machine) Do(ctx context.Context, name string, call operation.Call) (a *operation.Answer, err error, answered bool) {
	type result struct {
		a   *operation.Answer
		err error
	}
	done, began := make(chan result, 1), time.Now()
	go func() {
		a, err := m.Client.Do(ctx, socialdata.Operation(name), call)
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		wait, _ := strconv.Atoi(call.Params.Get("wait_s"))
		if name != "job" { // a poll waits before its time counts
			wait = 0
		}
		if took := time.Since(began); took > LongestAnswer+time.Duration(wait)*time.Second {
			panic(fmt.Sprintf("%s is answered after %v: %v", name, took, r.err))
		}
		return r.a, r.err, true
	case <-m.Ended:
	}
	synctest.Wait() // calls that needed no further store call are answered
	select {
	case r := <-done:
		return r.a, nil, r.err == nil
	default:
		return nil, nil, false
	}
}

// Close closes the machine's client. If the machine has ended, or ends meanwhile, nothing more is closed.
func (m *Machine) Close() error {
	closed := make(chan error, 1)
	go func() {
		defer close(closed)
		closed <- m.Client.Close(context.Background())
	}()
	return <-closed
}

// Ledger returns l as the machine calls it. With oneStep, it is a [credits.Charger].
func (m *Machine) Ledger(l *credits.Memory, oneStep bool) credits.Ledger {
	b := books{l, l, m}
	if oneStep {
		return charger{b, l}
	}
	return b
}

// books is the ledger as a machine calls it.
type books struct {
	credits.Ledger
	credits.Granter
	*Machine
}

func (b books) Give(ctx context.Context, g credits.Gift) (balance int64, err error) {
	err = b.call(ctx, func() (err error) { balance, err = b.Granter.Give(ctx, g); return err })
	return balance, err
}

func (b books) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) (holds []credits.Hold, err error) {
	err = b.call(ctx, func() (err error) { holds, err = b.Ledger.Reserve(ctx, who, ttl, amounts...); return err })
	if err != nil {
		return nil, err
	}
	return holds, nil
}

func (b books) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (r credits.Receipt, err error) {
	err = b.call(ctx, func() (err error) { r, err = b.Ledger.Settle(ctx, h, c); return err })
	if err != nil {
		return credits.Receipt{}, err
	}
	return r, nil
}

func (b books) Balance(ctx context.Context, account string) (n int64, err error) {
	err = b.call(ctx, func() (err error) { n, err = b.Ledger.Balance(ctx, account); return err })
	return n, err
}

// charger is [books] of a ledger that charges in one step.
type charger struct {
	books

	ledger credits.Charger
}

func (c charger) Charge(ctx context.Context, who credits.Spender, charge credits.Charge) (r credits.Receipt, err error) {
	err = c.call(ctx, func() (err error) { r, err = c.ledger.Charge(ctx, who, charge); return err })
	if err != nil {
		return credits.Receipt{}, err
	}
	return r, nil
}

// Records returns a store of records as the machine calls it.
func (m *Machine) Records(s records.Store) records.Store { return notes{s, m} }

// notes is the records store as a machine calls it.
type notes struct {
	records.Store
	*Machine
}

func (n notes) Get(ctx context.Context, key string) (r records.Record, err error) {
	err = n.call(ctx, func() (err error) { r, err = n.Store.Get(ctx, key); return err })
	return r, err
}

func (n notes) Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error) {
	err = n.call(ctx, func() (err error) { version, err = n.Store.Put(ctx, r, ttl); return err })
	return version, err
}

func (n notes) Add(
	ctx context.Context, r records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	if n.Client == nil { // New stores the secret of cursors
		return n.Store.Add(ctx, r, ttl)
	}
	err = n.call(ctx, func() (err error) { stored, added, err = n.Store.Add(ctx, r, ttl); return err })
	return stored, added, err
}

func (n notes) Delete(ctx context.Context, key string, version int64) error {
	return n.call(ctx, func() error { return n.Store.Delete(ctx, key, version) })
}

// Cache returns a cache as the machine calls it.
func (m *Machine) Cache(s cache.Store) cache.Store { return shelf{s, m} }

// shelf is the cache as a machine calls it.
type shelf struct {
	cache.Store
	*Machine
}

func (s shelf) Get(ctx context.Context, key string) (e *cache.Entry, err error) {
	err = s.call(ctx, func() (err error) { e, err = s.Store.Get(ctx, key); return err })
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (s shelf) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	return s.call(ctx, func() error { return s.Store.Set(ctx, key, e, ttl) })
}
