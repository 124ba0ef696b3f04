package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/credits"
)

// Subject is a ledger that is compared with a model of it.
type Subject struct {
	Ledger credits.Ledger // in which Account exists and has no entries
	// Grant gives Account credits.
	Grant func(ctx context.Context, n int64) error
	// Restart returns the ledger as a new process would see it. Nil when nothing is durable.
	Restart func() (credits.Ledger, error)
	// HoldsLast reports that open holds survive a restart; else all of them are forgotten.
	HoldsLast bool
	// Audit audits the entries; nil when there is no audit.
	Audit func(ctx context.Context) error
	// Close is called last.
	Close func() error
}

// RunModel lets rapid generate sequences of holds, settles, releases, grants and their reversals, time-outs,
// cancellations, caps, charges that happen once, fan-outs that settle in parts concurrently, and restarts. It compares
// each answer with a simple model of the ledger: no sequence may overdraw, lose or create a credit.
func RunModel(t *testing.T, open func(t *testing.T, now func() time.Time) Subject) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		clock := NewClock()
		m := &model{
			t: t, clock: clock, subject: open(t, clock.Now), keyed: map[string]time.Time{}, reversed: map[int64]int64{},
		}
		defer func() {
			if err := m.subject.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}()
		actions := map[string]func(*rapid.T){
			"":           m.check,
			"reserve":    m.reserve,
			"settle":     m.settle,
			"settle two": m.settleTwice,
			"charge":     m.chargeNow,
			"fan out":    m.fanOut,
			"stampede":   m.stampede,
			"grant":      m.grant,
			"reverse":    m.reverse,
			"wait":       m.wait,
			"hang up":    m.hangUp,
		}
		if m.subject.Restart != nil {
			actions["restart"] = m.restart
		}
		rt.Repeat(actions)
		m.finish(rt)
	})
}

// model is a simple model of the ledger of one account.
type model struct {
	t       *testing.T
	clock   *Clock
	subject Subject

	balance int64
	entries []int64 // amounts, oldest first
	charges []modelCharge
	holds   []*modelHold
	keyed   map[string]time.Time // by idempotency key
	made    int                  // attempted charges in one step

	reversed map[int64]int64 // by seq of a grant, the seq of the entry that reverses it
}

type modelCharge struct {
	key    string
	amount int64
	day    int64
}

type modelHold struct {
	credits.Hold
	charged  bool // settled with an entry
	released bool // settled without one, and may be forgotten once it has expired
	lost     bool // open when the process ended
}

func (h *modelHold) open(now time.Time) bool {
	return !h.charged && !h.released && !h.lost && now.Before(h.Expires)
}

func (m *model) held(key string) (all, ofKey int64) {
	for _, h := range m.holds {
		if h.open(m.clock.Now()) {
			all += h.Amount
			if h.Spender.Key == key {
				ofKey += h.Amount
			}
		}
	}
	return all, ofKey
}

func (m *model) spent(key string) (total, today int64) {
	for _, c := range m.charges {
		if c.key == key {
			total += c.amount
			if c.day == credits.Day(m.clock.Now()) {
				today += c.amount
			}
		}
	}
	return total, today
}

// refusal returns the error that Reserve must give, or nil.
func (m *model) refusal(who credits.Spender, sum int64) error {
	all, ofKey := m.held(who.Key)
	if sum > m.balance-all {
		return credits.ErrInsufficient
	}
	total, today := m.spent(who.Key)
	over := func(bound *int64, n int64) bool { return sum > 0 && bound != nil && n+ofKey+sum > *bound }
	if who.Key != "" && (over(who.DayCap, today) || over(who.TotalCap, total)) {
		return credits.ErrCap
	}
	return nil
}

func drawSpender(rt *rapid.T) credits.Spender {
	bound := rapid.Ptr(rapid.Int64Range(0, 60), true)
	return credits.Spender{
		Account: Account, Key: rapid.SampledFrom([]string{"", "key_a", "key_b"}).Draw(rt, "key"),
		DayCap: bound.Draw(rt, "day cap"), TotalCap: bound.Draw(rt, "total cap"),
	}
}

func (m *model) reserve(rt *rapid.T) {
	who := drawSpender(rt)
	amounts := rapid.SliceOfN(rapid.Int64Range(0, 12), 0, 4).Draw(rt, "amounts")
	ttl := time.Duration(rapid.IntRange(1, 90).Draw(rt, "ttl")) * time.Minute
	m.reserveAs(rt, who, ttl, amounts)
}

func (m *model) reserveAs(rt *rapid.T, who credits.Spender, ttl time.Duration, amounts []int64) []*modelHold {
	var sum int64
	for _, n := range amounts {
		sum += n
	}
	want := m.refusal(who, sum)
	holds, err := m.subject.Ledger.Reserve(m.t.Context(), who, ttl, amounts...)
	if !errors.Is(err, want) || (err != nil && errors.Is(err, credits.ErrCap) != errors.Is(want, credits.ErrCap)) {
		rt.Fatalf("Reserve(%+v, %v) = %v; want %v", who, amounts, err, want)
	}
	var made []*modelHold
	for _, h := range holds {
		made = append(made, &modelHold{Hold: h})
	}
	m.holds = append(m.holds, made...)
	return made
}

func (m *model) drawHold(rt *rapid.T) *modelHold {
	if len(m.holds) == 0 {
		rt.Skip("no holds")
	}
	// The latest ones: those that ended long ago matter little.
	latest := m.holds[max(0, len(m.holds)-8):]
	return rapid.SampledFrom(latest).Draw(rt, "hold")
}

func (m *model) settle(rt *rapid.T) {
	h := m.drawHold(rt)
	m.settleWith(rt, h, credits.Charge{
		Amount:         rapid.Int64Range(0, h.Amount+1).Draw(rt, "charge"),
		Platform:       rapid.SampledFrom([]string{"github", "x"}).Draw(rt, "platform"),
		IdempotencyKey: rapid.SampledFrom([]string{"", "", "once_a", "once_b"}).Draw(rt, "idempotency key"),
	})
}

// settleWith settles and compares the result with the model's.
func (m *model) settleWith(rt *rapid.T, h *modelHold, c credits.Charge) {
	now := m.clock.Now()
	r, err := m.subject.Ledger.Settle(m.t.Context(), h.Hold, c)
	switch {
	case h.charged:
		m.wantErr(rt, err, nil)
	case h.released:
		// A ledger may forget a hold that ended without a charge, when it has expired or the process has ended.
		if err != nil && !errors.Is(err, credits.ErrExpired) {
			rt.Fatalf("Settle of a released hold = %v", err)
		}
	case !h.open(now):
		m.wantErr(rt, err, credits.ErrExpired)
	case c.Amount > h.Amount:
		m.wantErr(rt, err, credits.ErrAmount)
	default:
		m.wantErr(rt, err, nil)
		m.charge(h, c)
	}
	if all, _ := m.held(""); err == nil && r.Balance != m.balance-all {
		rt.Fatalf("Settle returned a balance of %d; want %d", r.Balance, m.balance-all)
	}
}

func (m *model) wantErr(rt *rapid.T, got, want error) {
	if !errors.Is(got, want) {
		rt.Fatalf("Settle = %v; want %v", got, want)
	}
}

func (m *model) charge(h *modelHold, c credits.Charge) {
	now := m.clock.Now()
	last, again := m.keyed[c.IdempotencyKey]
	if c.Amount == 0 || again && now.Sub(last) < 24*time.Hour {
		h.released = true
		return
	}
	h.charged = true
	m.balance -= c.Amount
	m.entries = append(m.entries, -c.Amount)
	m.charges = append(m.charges, modelCharge{h.Spender.Key, c.Amount, credits.Day(now)})
	if c.IdempotencyKey != "" {
		m.keyed[c.IdempotencyKey] = now
	}
}

// chargeNow charges in one step, and sometimes asks for the result of the charge.
func (m *model) chargeNow(rt *rapid.T) {
	l, ok := m.subject.Ledger.(credits.Charger)
	if !ok {
		rt.Skip("no credits.Charger")
	}
	m.made++
	spender := drawSpender(rt)
	c := credits.Charge{
		Amount:         rapid.Int64Range(-1, 12).Draw(rt, "amount"),
		ID:             fmt.Sprintf("chg_%d", m.made),
		IdempotencyKey: rapid.SampledFrom([]string{"", "", "once_a", "once_b"}).Draw(rt, "idempotency key"),
	}
	want := m.refusal(spender, c.Amount)
	if last, again := m.keyed[c.IdempotencyKey]; again && c.Amount > 0 && m.clock.Now().Sub(last) < 24*time.Hour {
		want = nil // the earlier charge is returned
	}
	if c.Amount < 0 {
		want = credits.ErrAmount
	}
	r, err := l.Charge(m.t.Context(), spender, c)
	if !errors.Is(err, want) || errors.Is(err, credits.ErrCap) != errors.Is(want, credits.ErrCap) {
		rt.Fatalf("Charge(%+v, %+v) = %v; want %v", spender, c, err, want)
	}
	h := &modelHold{Hold: credits.Hold{ID: c.ID, Spender: spender, Amount: c.Amount}}
	if err == nil {
		m.charge(h, c)
	}
	if all, _ := m.held(""); err == nil && r.Balance != m.balance-all {
		rt.Fatalf("Charge returned a balance of %d; want %d", r.Balance, m.balance-all)
	}
	if rapid.Bool().Draw(rt, "ask") {
		r, err := l.Settle(m.t.Context(), h.Hold, credits.Charge{})
		switch {
		case h.charged:
			if err != nil || r.Charged != c.Amount {
				rt.Fatalf("Settle after a charge = %+v, %v", r, err)
			}
		case c.IdempotencyKey == "": // else it may also return the earlier charge
			m.wantErr(rt, err, credits.ErrExpired)
		}
	}
}

// settleTwice settles one hold from two goroutines: it is charged once.
func (m *model) settleTwice(rt *rapid.T) {
	h := m.drawHold(rt)
	if !h.open(m.clock.Now()) {
		rt.Skip("not open")
	}
	c := credits.Charge{Amount: h.Amount}
	m.both(rt, func() error {
		_, err := m.subject.Ledger.Settle(m.t.Context(), h.Hold, c)
		return err
	}, 2)
	m.charge(h, c)
}

// fanOut holds several parts at once, and settles each from a goroutine of its own: some for less, some for nothing.
func (m *model) fanOut(rt *rapid.T) {
	who := drawSpender(rt)
	amounts := rapid.SliceOfN(rapid.Int64Range(1, 4), 2, 6).Draw(rt, "amounts")
	parts := m.reserveAs(rt, who, time.Hour, amounts)
	var wg sync.WaitGroup
	var failed atomic.Value
	var charges []credits.Charge
	for _, h := range parts {
		c := credits.Charge{Amount: rapid.Int64Range(0, h.Amount).Draw(rt, "charge")}
		charges = append(charges, c)
		wg.Go(func() {
			if _, err := m.subject.Ledger.Settle(m.t.Context(), h.Hold, c); err != nil {
				failed.Store(err)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		rt.Fatalf("Settle of a part: %v", err)
	}
	// They ended in any order, so only the sums are equal. The entries are compared as a set.
	for i, h := range parts {
		m.charge(h, charges[i])
	}
	m.reorder(rt)
}

// reorder brings the model's last entries into the ledger's order, if they are the same ones.
func (m *model) reorder(rt *rapid.T) {
	got := m.amounts(rt)
	if len(got) != len(m.entries) {
		rt.Fatalf("%d entries; want %d", len(got), len(m.entries))
	}
	a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(m.entries))
	if !slices.Equal(a, b) {
		rt.Fatalf("entries %v; want %v in some order", got, m.entries)
	}
	m.entries = got
}

// stampede lets many callers reserve the same amount at once: exactly as many succeed as the balance allows.
func (m *model) stampede(rt *rapid.T) {
	const callers = 8
	n := rapid.Int64Range(1, 20).Draw(rt, "amount")
	who := credits.Spender{Account: Account, Key: "key_a"}
	all, _ := m.held("")
	want := min(callers, (m.balance-all)/n)
	var mu sync.Mutex
	var holds []credits.Hold
	var wg sync.WaitGroup
	var failed atomic.Value
	for range callers {
		wg.Go(func() {
			h, err := m.subject.Ledger.Reserve(m.t.Context(), who, time.Hour, n)
			if err != nil && !errors.Is(err, credits.ErrInsufficient) {
				failed.Store(err)
			}
			mu.Lock()
			defer mu.Unlock()
			holds = append(holds, h...)
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		rt.Fatalf("Reserve: %v", err)
	}
	if int64(len(holds)) != want {
		rt.Fatalf("%d callers hold %d of %d; want %d", len(holds), n, m.balance-all, want)
	}
	for _, h := range holds {
		m.holds = append(m.holds, &modelHold{Hold: h})
	}
}

func (m *model) both(rt *rapid.T, do func() error, n int) {
	var wg sync.WaitGroup
	var failed atomic.Value
	for range n {
		wg.Go(func() {
			if err := do(); err != nil {
				failed.Store(err)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) grant(rt *rapid.T) {
	n := rapid.Int64Range(-1, 40).Draw(rt, "credits")
	err := m.subject.Grant(m.t.Context(), n)
	if n <= 0 {
		if !errors.Is(err, credits.ErrAmount) {
			rt.Fatalf("Grant(%d) = %v; want ErrAmount", n, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("Grant(%d): %v", n, err)
	}
	m.balance += n
	m.entries = append(m.entries, n)
}

// reverse reverses one of the latest entries, which need not be a grant, or an entry that does not exist.
func (m *model) reverse(rt *rapid.T) {
	l, ok := m.subject.Ledger.(credits.Granter)
	if !ok {
		rt.Skip("no credits.Granter")
	}
	n := int64(len(m.entries))
	seq := rapid.Int64Range(max(0, n-8), n+1).Draw(rt, "seq")
	var amount int64
	if seq >= 1 && seq <= n {
		amount = m.entries[seq-1]
	}
	all, _ := m.held("")
	at, earlier := m.reversed[seq]
	var want error
	switch {
	case amount <= 0:
		want = credits.ErrNotGrant
	case !earlier && amount > m.balance-all:
		want = credits.ErrInsufficient
	}
	r, err := l.Reverse(m.t.Context(), Account, seq, "")
	if !errors.Is(err, want) {
		rt.Fatalf("Reverse(%d), of %d credits where %d are free, = %v; want %v", seq, amount, m.balance-all, err, want)
	}
	if err != nil {
		return
	}
	if !earlier {
		at = n + 1
		m.reversed[seq] = at
		m.balance -= amount
		m.entries = append(m.entries, -amount)
	}
	if r.Entry.Seq != at || r.Entry.Amount != -amount || r.Earlier != earlier || r.Balance != m.balance-all {
		rt.Fatalf("Reverse(%d) = %+v; want entry %d of %d credits, earlier: %v, and a balance of %d", seq, r, at, -amount,
			earlier, m.balance-all)
	}
}

func (m *model) wait(rt *rapid.T) {
	m.clock.Advance(time.Duration(rapid.IntRange(1, 600).Draw(rt, "minutes")) * time.Minute)
}

// hangUp calls with a cancelled context: nothing happens.
func (m *model) hangUp(rt *rapid.T) {
	ctx, cancel := context.WithCancel(m.t.Context())
	cancel()
	if _, err := m.subject.Ledger.Reserve(ctx, credits.Spender{Account: Account}, time.Hour, 0); err == nil {
		rt.Fatal("Reserve succeeded for a caller that had left")
	}
	h := m.drawHold(rt)
	if _, err := m.subject.Ledger.Settle(ctx, h.Hold, credits.Charge{Amount: h.Amount}); err == nil {
		rt.Fatal("Settle succeeded for a caller that had left")
	}
}

func (m *model) restart(rt *rapid.T) {
	l, err := m.subject.Restart()
	if err != nil {
		rt.Fatalf("Restart: %v", err)
	}
	m.subject.Ledger = l
	for _, h := range m.holds {
		h.lost = !h.charged && !m.subject.HoldsLast
	}
}

// check runs after each step.
func (m *model) check(rt *rapid.T) {
	all, _ := m.held("")
	got, err := m.subject.Ledger.Balance(m.t.Context(), Account)
	if err != nil || got != m.balance-all || got < 0 {
		rt.Fatalf("Balance = %d, %v; want %d, which is %d less %d held", got, err, m.balance-all, m.balance, all)
	}
}

func (m *model) amounts(rt *rapid.T) []int64 {
	found, err := m.subject.Ledger.Entries(m.t.Context(), credits.Query{Account: Account, Limit: 100_000})
	if err != nil {
		rt.Fatalf("Entries: %v", err)
	}
	var got []int64
	last := credits.Entry{}
	for _, e := range slices.Backward(found) {
		if err := e.Follows(last); err != nil {
			rt.Fatal(err)
		}
		got, last = append(got, e.Amount), e
	}
	return got
}

func (m *model) finish(rt *rapid.T) {
	if got := m.amounts(rt); !slices.Equal(got, m.entries) {
		rt.Fatalf("entries %v; want %v", got, m.entries)
	}
	if m.subject.Audit != nil {
		if err := m.subject.Audit(m.t.Context()); err != nil {
			rt.Fatal(err)
		}
	}
}
