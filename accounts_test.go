package socialdata_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// deployment is a number of processes that share their stores. Each has a clock of its own.
type deployment struct {
	ledger  *credits.Memory
	keys    *keys.Memory
	watches *watch.Memory
}

func newDeployment() deployment {
	ledger := credits.NewMemory(credits.MemoryConfig{})
	return deployment{ledger, keys.NewMemory(keys.MemoryConfig{Ledger: ledger}), watch.NewMemory()}
}

// process starts a process whose clock is ahead by what ahead has.
func (d deployment) process(t *testing.T, ahead *atomic.Int64) *socialdata.Client {
	t.Helper()
	client, err := socialdata.New(socialdata.WithLedger(d.ledger), socialdata.WithKeys(d.keys),
		socialdata.WithWatches(d.watches), socialdata.WithPrivateWebhooks(),
		socialdata.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// grants returns the amounts of the monthly grants of an account, by month, and fails if a month has two.
func (d deployment) grants(t *testing.T, account string) map[string]int64 {
	t.Helper()
	entries, err := d.ledger.Entries(t.Context(), credits.Query{Account: account, Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, e := range entries {
		month, monthly := strings.CutPrefix(e.Hold, "gift "+account+" monthly/"+account+"/")
		if !monthly {
			continue
		}
		if _, twice := found[month]; twice {
			t.Errorf("%s was granted twice", month)
		}
		found[month] = e.Amount
	}
	return found
}

func make1(t *testing.T, c *socialdata.Client, name string, spec schema.AccountSpec) schema.Account {
	t.Helper()
	a, _, err := c.Operator().Accounts().Make(t.Context(), name, spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMonthlyCreditsAreGrantedAtOnceAndOnTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, right := newDeployment(), &atomic.Int64{}
		c := d.process(t, right)
		a := make1(t, c, "shop", schema.AccountSpec{Credits: 5, Monthly: new(int64(100))})
		if a.Balance != 105 || a.Monthly != 100 {
			t.Errorf("the new account is %+v; want 105 credits", a)
		}
		for range 2 { // a change counts from the next month
			if a = make1(t, c, a.ID, schema.AccountSpec{Credits: 5, Monthly: new(int64(30))}); a.Balance != 105 || a.Monthly != 30 {
				t.Errorf("the changed account is %+v; want 105 credits", a)
			}
		}
		// The bubble begins with the year 2000. Its own time passes by minutes only, for the sake of all other timers.
		right.Store(int64(time.Until(time.Date(2000, 2, 1, 0, 0, 0, 0, time.UTC)) - 90*time.Second))
		time.Sleep(90*time.Second - time.Nanosecond)
		synctest.Wait()
		if n, _ := d.ledger.Balance(t.Context(), a.ID); n != 105 {
			t.Errorf("the balance at the end of the month is %d; want 105", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n, _ := d.ledger.Balance(t.Context(), a.ID); n != 135 {
			t.Errorf("the balance at 00:00 on the first is %d; want 135", n)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		right.Add(int64(70 * 24 * time.Hour)) // two more months begin meanwhile: the first of them is not made up
		c = d.process(t, right)
		synctest.Wait()
		want := map[string]int64{"2000-01": 100, "2000-02": 30, "2000-04": 30}
		if got := d.grants(t, a.ID); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("granted %v; want %v", got, want)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMonthlyCreditsAreGrantedOnce lets processes with clocks of their own start, end, jump and change the same account,
// and compares each month's grant with the numbers that were valid.
func TestMonthlyCreditsAreGrantedOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { manyProcesses(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func manyProcesses(t *testing.T, random *rand.Rand) {
	t.Helper()
	const processes = 3
	d := newDeployment()
	var clocks [processes]atomic.Int64
	var running [processes]*socialdata.Client
	start := func(i int) {
		if running[i] == nil {
			running[i] = d.process(t, &clocks[i])
		}
	}
	for i := range processes {
		start(i)
	}
	a := make1(t, running[0], "shop", schema.AccountSpec{Monthly: new(int64(1))})
	valid := map[int64]bool{1: true} // all numbers that were ever set, but 0
	for step := range 60 {
		i := random.IntN(processes)
		switch random.IntN(6) {
		case 0: // both are set at the same time, by two processes
			var both sync.WaitGroup
			for j := range processes {
				if n := random.Int64N(3) * int64(step+2); running[j] != nil {
					if n > 0 {
						valid[n] = true
					}
					both.Go(func() { make1(t, running[j], a.ID, schema.AccountSpec{Monthly: &n}) })
				}
			}
			both.Wait()
		case 1: // a clock jumps
			clocks[i].Add((random.Int64N(80) - 40) * int64(24*time.Hour))
		case 2:
			if running[i] != nil {
				if err := running[i].Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				running[i] = nil
			}
		case 3:
			start(i)
		default: // time passes for all
			more := random.Int64N(int64(20 * 24 * time.Hour))
			for j := range clocks {
				clocks[j].Add(more)
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
	}
	got := d.grants(t, a.ID)
	sum := int64(0)
	for month, n := range got {
		sum += n
		if !valid[n] {
			t.Errorf("%s was granted %d, which was never set", month, n)
		}
	}
	if n, err := d.ledger.Balance(t.Context(), a.ID); n != sum || err != nil || len(got) < 2 {
		t.Errorf("the balance is %d, %v; want %d of %d months", n, err, sum, len(got))
	}
	for i := range processes {
		start(i)
	}
	closed, err := running[0].Operator().Accounts().Close(t.Context(), a.ID)
	if err != nil || closed.ClosedAt == nil {
		t.Fatalf("Close = %+v, %v; want it closed", closed, err)
	}
	for i := range clocks {
		clocks[i].Add(int64(100 * 24 * time.Hour))
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	if n, err := d.ledger.Balance(t.Context(), a.ID); n != closed.Balance || err != nil {
		t.Errorf("the balance of the closed account is %d, %v; want still %d", n, err, closed.Balance)
	}
	for i := range processes {
		if err := running[i].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOperatorManagesAccounts(t *testing.T) {
	t.Parallel()
	d := newDeployment()
	c := d.process(t, &atomic.Int64{})
	defer c.Close(t.Context()) //nolint:errcheck // the test has ended
	all := c.Operator().Accounts()
	a, isNew, err := all.Make(t.Context(), "shop", schema.AccountSpec{Credits: 10})
	if err != nil || !isNew || a.Balance != 10 || a.ID == "" {
		t.Fatalf("Make = %+v, %v, %v; want a new account with 10 credits", a, isNew, err)
	}
	if again, isNew, err := all.Make(t.Context(), "shop", schema.AccountSpec{Credits: 10}); err != nil || isNew || again != a {
		t.Errorf("Make again = %+v, %v, %v; want the account unchanged", again, isNew, err)
	}
	for range 3 {
		if got, err := all.Grant(t.Context(), "shop", schema.CreditGrant{Credits: 7, Key: "invoice 7"}); err != nil || got.Balance != 17 {
			t.Errorf("Grant = %+v, %v; want 17 credits", got, err)
		}
	}
	if got, err := all.Grant(t.Context(), a.ID, schema.CreditGrant{Credits: 3}); err != nil || got.Balance != 20 {
		t.Errorf("Grant = %+v, %v; want 20 credits", got, err)
	}
	charge(t, d.ledger, a.ID, "req_1", 5)
	if got, err := all.Refund(t.Context(), "shop", schema.CreditRefund{Credits: 2, RequestID: "req_1"}); err != nil || got.Balance != 17 {
		t.Errorf("Refund = %+v, %v; want 17 credits", got, err)
	}

	_, _, err = all.Make(t.Context(), "low", schema.AccountSpec{Monthly: new(int64(-1))})
	wantCode(t, "Make with too little a month", err, problem.InvalidRequest)
	_, err = all.Show(t.Context(), "low")
	wantCode(t, "Show of what was refused", err, problem.NotFound)
	_, err = all.Grant(t.Context(), "shop", schema.CreditGrant{Credits: 8, Key: "invoice 7"})
	wantCode(t, "Grant with a used key", err, problem.InvalidRequest)
	_, err = all.Grant(t.Context(), "shop", schema.CreditGrant{Credits: 8, Key: "monthly/" + a.ID + "/2030-01"})
	wantCode(t, "Grant with a key of a month", err, problem.InvalidRequest)
	_, err = all.Grant(t.Context(), "shop", schema.CreditGrant{Credits: 0})
	wantCode(t, "Grant of nothing", err, problem.InvalidRequest)
	_, err = all.Refund(t.Context(), "shop", schema.CreditRefund{Credits: 4, RequestID: "req_1"})
	wantCode(t, "Refund of more than was paid", err, problem.InvalidRequest)
	_, err = all.Grant(t.Context(), "none", schema.CreditGrant{Credits: 1})
	wantCode(t, "Grant to an unknown account", err, problem.NotFound)

	secret, k, err := d.keys.CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	own := c.As(k)
	_, _, err = own.Operator().Accounts().Make(t.Context(), "mine", schema.AccountSpec{Credits: 1})
	wantCode(t, "Make with a key", err, problem.Unauthorized)
	if _, err := own.Account().Endpoints().Make(t.Context(), "hook", schema.EndpointSpec{URL: "http://127.0.0.1:9/in"}); err != nil {
		t.Fatal(err)
	}

	closed, err := all.Close(t.Context(), "shop")
	if err != nil || closed.ClosedAt == nil || closed.Balance != 17 {
		t.Fatalf("Close = %+v, %v; want it closed with 17 credits", closed, err)
	}
	if again, err := all.Close(t.Context(), "shop"); err != nil || *again.ClosedAt != *closed.ClosedAt {
		t.Errorf("Close again = %+v, %v; want it closed at %s", again, err, *closed.ClosedAt)
	}
	if _, err := c.Authenticate(t.Context(), secret); problemCode(err) != problem.Unauthorized {
		t.Errorf("a key of a closed account: %v; want unauthorized", err)
	}
	if left, err := d.watches.Endpoints(t.Context(), a.ID, "", 0); len(left) > 0 || err != nil {
		t.Errorf("the closed account has endpoints %+v, %v; want none", left, err)
	}
	_, err = all.Grant(t.Context(), "shop", schema.CreditGrant{Credits: 1})
	wantCode(t, "Grant to a closed account", err, problem.InvalidRequest)
	_, _, err = all.Make(t.Context(), "shop", schema.AccountSpec{Monthly: new(int64(1))})
	wantCode(t, "Make of a closed account", err, problem.InvalidRequest)
	if got, err := all.Refund(t.Context(), "shop", schema.CreditRefund{Credits: 3, RequestID: "req_1"}); err != nil || got.Balance != 20 {
		t.Errorf("Refund to a closed account = %+v, %v; want 20 credits", got, err)
	}

	for i := range 150 {
		make1(t, c, fmt.Sprint("more ", i), schema.AccountSpec{})
	}
	if n := len(items(t, all.List(t.Context()))); n != 151 {
		t.Errorf("List has %d accounts; want 151", n)
	}
}

// charge charges an account for a request.
func charge(t *testing.T, l *credits.Memory, account, request string, n int64) {
	t.Helper()
	holds, err := l.Reserve(t.Context(), credits.Spender{Account: account}, time.Minute, n)
	if err == nil {
		_, err = l.Settle(t.Context(), holds[0], credits.Charge{Amount: n, RequestID: request, Operation: "profile"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func problemCode(err error) problem.Code {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return ""
}

func wantCode(t *testing.T, what string, err error, want problem.Code) {
	t.Helper()
	if got := problemCode(err); got != want {
		t.Errorf("%s: %v; want %s", what, err, want)
	}
}
