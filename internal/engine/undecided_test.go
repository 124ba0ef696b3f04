package engine_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
)

// losing is a ledger whose answers are lost for a while, beginning with the next charge, which is still made.
type losing struct {
	*credits.Memory
	mu     sync.Mutex
	loses  bool // the next charge is made, but its answer is lost
	gone   bool
	breaks func() // called when that begins
}

var errGone = errors.New("the connection is lost")

func (l *losing) set(loses, gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loses, l.gone = loses, gone
}

// answer returns whether a call reaches the ledger, and whether its answer arrives.
func (l *losing) answer(amount int64) (reaches, comes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return false, false
	}
	if l.loses && amount > 0 {
		if l.gone = true; l.breaks != nil {
			l.breaks()
		}
		return true, false
	}
	return true, true
}

// through makes a charge, unless the ledger is gone or loses the answer.
func (l *losing) through(c credits.Charge, charge func() (credits.Receipt, error)) (credits.Receipt, error) {
	reaches, comes := l.answer(c.Amount)
	if !reaches {
		return credits.Receipt{}, errGone
	}
	r, err := charge()
	if !comes {
		return credits.Receipt{}, errGone
	}
	return r, err
}

func (l *losing) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	return l.through(c, func() (credits.Receipt, error) { return l.Memory.Settle(ctx, h, c) })
}

func (l *losing) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	return l.through(c, func() (credits.Receipt, error) { return l.Memory.Charge(ctx, who, c) })
}

// undecided is an engine with a losing ledger.
func undecided(t *testing.T, store records.Store) (*enginetest.Engine, *losing) {
	t.Helper()
	l := &losing{}
	return losingEngine(t, store, l, l), l
}

// losingEngine is an engine with a ledger that is l, or a part of it.
func losingEngine(t *testing.T, store records.Store, l *losing, ledger credits.Ledger) *enginetest.Engine {
	t.Helper()
	e := enginetest.New(t, enginetest.Config{Records: store, Options: []socialdata.Option{socialdata.WithLedger(ledger)}})
	l.Memory = e.Ledger
	return e
}

// twoSteps is a ledger without [credits.Charger].
type twoSteps struct {
	credits.Ledger
	credits.Granter
}

func keyedProfile(handle, key, id string) operation.Call {
	return operation.Call{
		Platform: "mock", Params: url.Values{"handle": {handle}}, IdempotencyKey: key, RequestID: id,
	}
}

// kinds returns the kinds and amounts of the account's entries for a request, oldest first.
func kinds(t *testing.T, e *enginetest.Engine, request string) []credits.Entry {
	t.Helper()
	entries, err := e.Ledger.Entries(t.Context(), credits.Query{Account: e.Key.Account, RequestID: request})
	if err != nil {
		t.Fatal(err)
	}
	out := []credits.Entry{}
	for i := range entries {
		found := entries[len(entries)-1-i]
		out = append(out, credits.Entry{Kind: found.Kind, Amount: found.Amount, Reason: found.Reason})
	}
	return out
}

var (
	chargedOne = credits.Entry{Kind: credits.Charged, Amount: -1}
	givenBack  = credits.Entry{Kind: credits.Refunded, Amount: 1, Reason: "told as failed"}
)

// TestAChargeOfAFailedCallIsRefunded loses the answer to a charge, of a miss and of a hit, for less than the
// call's time and for longer.
func TestAChargeOfAFailedCallIsRefunded(t *testing.T) {
	t.Parallel()
	profile := socialdata.Operation("profile")
	for name, tt := range map[string]struct {
		hit   bool
		steps bool // the ledger holds and settles a hit like a miss
		gone  time.Duration
		told  bool // it is reported as failed
		want  []credits.Entry
	}{
		"a miss, and it is back in time":             {false, false, 5 * time.Second, false, []credits.Entry{chargedOne}},
		"a hit, and it is back in time":              {true, false, 5 * time.Second, false, []credits.Entry{chargedOne}},
		"a hit in two steps, and it is back in time": {true, true, 5 * time.Second, false, []credits.Entry{chargedOne}},
		"a miss, and it is unavailable":              {false, false, time.Minute, true, []credits.Entry{chargedOne, givenBack}},
		"a hit, and it is unavailable":               {true, false, time.Minute, true, []credits.Entry{chargedOne, givenBack}},
		"a hit in two steps, and it is unavailable":  {true, true, time.Minute, true, []credits.Entry{chargedOne, givenBack}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, l := undecided(t, nil)
				if tt.steps {
					e = losingEngine(t, nil, l, twoSteps{l, l})
				}
				if tt.hit {
					if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), profile, keyedProfile("ann", "", "req_0")); err != nil {
						t.Fatal(err)
					}
				}
				l.breaks = func() { time.AfterFunc(tt.gone, func() { l.set(false, false) }) }
				l.set(true, false)
				began := time.Now()
				answer, err := socialdata.FrontEnd(e.Client).Do(t.Context(), profile, keyedProfile("ann", "", "req_1"))
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("answered after %v, want at most 15s", took)
				}
				if tt.told {
					enginetest.WantProblem(t, err, problem.PlatformUnavailable)
				} else if err != nil || answer.Meta.CreditsUsed != 1 {
					t.Errorf("Do = %+v, %v; want 1 credit used", answer, err)
				}
				time.Sleep(tt.gone + time.Minute)
				if diff := cmp.Diff(tt.want, kinds(t, e, "req_1")); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestARepeatedCallIsChargedOnce repeats a call that was reported as failed, before and after its
// refund, also on another process, whose ledger may lose an answer in turn.
func TestARepeatedCallIsChargedOnce(t *testing.T) {
	t.Parallel()
	profile := socialdata.Operation("profile")
	for name, tt := range map[string]struct {
		after time.Duration // after the ledger is back
	}{
		"at once": {time.Millisecond},
		"later":   {time.Minute},
	} {
		for _, elsewhere := range []string{"", " elsewhere", " elsewhere, where the answer is lost first"} {
			t.Run(name+elsewhere, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e, l := undecided(t, nil)
					other := e.Client
					if elsewhere != "" {
						second := &losing{Memory: e.Ledger, loses: strings.HasSuffix(elsewhere, "first")}
						second.breaks = func() { time.AfterFunc(100*time.Millisecond, func() { second.set(false, false) }) }
						client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(second),
							socialdata.WithRecords(e.Records), socialdata.WithClock(e.Clock.Now))
						if err != nil {
							t.Fatal(err)
						}
						defer client.Close(context.Background()) //nolint:errcheck // only a test's own
						other = client.As(e.Key)
					}
					l.set(true, false)
					_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), profile, keyedProfile("ann", idempotencyKey, "req_1"))
					enginetest.WantProblem(t, err, problem.PlatformUnavailable)
					e.Clock.Advance(time.Minute) // the failure is not stored any more
					l.set(false, false)
					time.Sleep(tt.after)
					answer, err := socialdata.FrontEnd(other).Do(t.Context(), profile, keyedProfile("ann", idempotencyKey, "req_2"))
					if err != nil || answer.Meta.CreditsUsed != 1 {
						t.Fatalf("repeated: %+v, %v; want 1 credit used", answer, err)
					}
					time.Sleep(5 * time.Minute)
					charged := int64(0) // a charge that was refunded is made anew
					for _, entry := range append(kinds(t, e, "req_1"), kinds(t, e, "req_2")...) {
						charged -= entry.Amount
					}
					if charged != 1 || e.Balance(t) != 999 {
						t.Errorf("%d credits are charged, and %d left; want 1, 999", charged, e.Balance(t))
					}
				})
			})
		}
	}
}

// TestARecordedRefundOutlivesItsProcess ends a process that has reported a charge under a key as failed and has recorded
// this.
func TestARecordedRefundOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, l := undecided(t, nil)
		l.set(true, false)
		_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), keyedProfile("ann", idempotencyKey, "req_1"))
		enginetest.WantProblem(t, err, problem.PlatformUnavailable)
		time.Sleep(5 * time.Second) // it is recorded
		if err := e.Open.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		client, err := socialdata.New(socialdata.WithLedger(e.Ledger), socialdata.WithRecords(e.Records),
			socialdata.WithClock(e.Clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.Background()) //nolint:errcheck // only a test's own
		e.Clock.Advance(time.Minute)             // old enough for the record of a dead process
		time.Sleep(time.Minute)
		want := []credits.Entry{chargedOne, givenBack}
		if diff := cmp.Diff(want, kinds(t, e, "req_1")); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	})
}
