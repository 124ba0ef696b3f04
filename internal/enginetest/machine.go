package enginetest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/records"
)

// Process has the store calls of one process that fail, by their numbers.
type Process struct {
	Faults    []Fault
	Ends      int  // the call before which the process ends; 0 for never
	EndsAfter bool // that call is made, but its result is not known
}

// Fault is a call of a store that fails or hangs.
type Fault struct {
	Call  int
	After bool          // the call is made, but returns an error
	Hangs time.Duration // how long the call takes; if that is within the caller's time, it does not fail
	Lands time.Duration // the call fails at once, and is made only after this time
}

// Machine simulates a process that may fail and end: all calls of the stores that it returns pass through it. It runs
// in a bubble of testing/synctest. Its stores do not fail until Client is set.
type Machine struct {
	Process

	Client *socialdata.Client
	Ended  chan struct{} // closed when it ends
	mu     sync.Mutex
	calls  int
}

// ErrFault is the error of a store that fails.
var ErrFault = errors.New("the disk is full")

// NewMachine returns a machine that plays p.
func NewMachine(p Process) *Machine { return &Machine{Process: p, Ended: make(chan struct{})} }

// call makes a store call, or fails, or ends the process: calls of a process that has ended never return.
func (m *Machine) call(ctx context.Context, do func(context.Context) error) error {
	if m.Client == nil {
		return do(ctx)
	}
	m.mu.Lock()
	m.calls++
	n := m.calls
	m.mu.Unlock()
	if m.Ends > 0 && n >= m.Ends {
		if n == m.Ends {
			defer close(m.Ended)
			if m.EndsAfter {
				_ = do(ctx)
			}
		}
		runtime.Goexit()
	}
	if at := slices.IndexFunc(m.Faults, func(f Fault) bool { return f.Call == n }); at >= 0 {
		return m.Faults[at].happen(ctx, do)
	}
	return do(ctx)
}

// happen makes a call with a fault.
func (f Fault) happen(ctx context.Context, do func(context.Context) error) error {
	if f.Lands > 0 {
		late := context.WithoutCancel(ctx)
		time.AfterFunc(f.Lands, func() { _ = do(late) })
		return ErrFault
	}
	if f.After {
		_ = do(ctx)
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
	return do(ctx)
}

// Do makes a call. answered is false if the machine ends before it has answered.
func (m *Machine) Do(ctx context.Context, name string, call operation.Call) (a *operation.Answer, err error, answered bool) {
	var got struct { // not the results: the call may go on behind the end of the machine
		a   *operation.Answer
		err error
	}
	if !m.Run(func() { got.a, got.err = socialdata.FrontEnd(m.Client).Do(ctx, socialdata.Operation(name), call) }) {
		return nil, nil, false
	}
	return got.a, got.err, true
}

// Run runs do, and reports whether it has ended: not if the machine ends before.
func (m *Machine) Run(do func()) (ended bool) {
	done := make(chan struct{})
	go func() {
		do()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-m.Ended:
	}
	select {
	case <-done:
		return true
	case <-time.After(time.Millisecond): // what needed no further store call has ended
		return false
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

func (b books) Give(ctx context.Context, g credits.Gift) (int64, error) {
	return result(ctx, b.Machine, func(ctx context.Context) (int64, error) { return b.Granter.Give(ctx, g) })
}

func (b books) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	return result(ctx, b.Machine, func(ctx context.Context) ([]credits.Hold, error) {
		return b.Ledger.Reserve(ctx, who, ttl, amounts...)
	})
}

func (b books) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	return result(ctx, b.Machine, func(ctx context.Context) (credits.Receipt, error) { return b.Ledger.Settle(ctx, h, c) })
}

func (b books) Balance(ctx context.Context, account string) (int64, error) {
	return result(ctx, b.Machine, func(ctx context.Context) (int64, error) { return b.Ledger.Balance(ctx, account) })
}

func (b books) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	return result(ctx, b.Machine, func(ctx context.Context) ([]credits.Entry, error) { return b.Ledger.Entries(ctx, q) })
}

// charger is [books] of a ledger that charges in one step.
type charger struct {
	books

	ledger credits.Charger
}

func (c charger) Charge(ctx context.Context, who credits.Spender, charge credits.Charge) (credits.Receipt, error) {
	return result(ctx, c.Machine, func(ctx context.Context) (credits.Receipt, error) {
		return c.ledger.Charge(ctx, who, charge)
	})
}

// result makes a store call that returns a value.
func result[T any](ctx context.Context, m *Machine, do func(context.Context) (T, error)) (T, error) {
	var got, none T
	err := m.call(ctx, func(ctx context.Context) (err error) {
		got, err = do(ctx)
		return err
	})
	if err != nil {
		return none, err
	}
	return got, nil
}

// Records returns a store of records as the machine calls it.
func (m *Machine) Records(s records.Store) records.Store { return notes{s, m} }

// notes is the records store as a machine calls it.
type notes struct {
	records.Store
	*Machine
}

func (n notes) Get(ctx context.Context, key string) (records.Record, error) {
	return result(ctx, n.Machine, func(ctx context.Context) (records.Record, error) { return n.Store.Get(ctx, key) })
}

func (n notes) Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error) {
	return result(ctx, n.Machine, func(ctx context.Context) (int64, error) { return n.Store.Put(ctx, r, ttl) })
}

func (n notes) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	type both struct {
		stored records.Record
		added  bool
	}
	got, err := result(ctx, n.Machine, func(ctx context.Context) (b both, err error) {
		b.stored, b.added, err = n.Store.Add(ctx, r, ttl)
		return b, err
	})
	return got.stored, got.added, err
}

func (n notes) Delete(ctx context.Context, key string, version int64) error {
	return n.call(ctx, func(ctx context.Context) error { return n.Store.Delete(ctx, key, version) })
}

// Cache returns a cache as the machine calls it.
func (m *Machine) Cache(s cache.Store) cache.Store { return shelf{s, m} }

// shelf is the cache as a machine calls it.
type shelf struct {
	cache.Store
	*Machine
}

func (s shelf) Get(ctx context.Context, key string) (*cache.Entry, error) {
	return result(ctx, s.Machine, func(ctx context.Context) (*cache.Entry, error) { return s.Store.Get(ctx, key) })
}

func (s shelf) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	return s.call(ctx, func(ctx context.Context) error { return s.Store.Set(ctx, key, e, ttl) })
}
