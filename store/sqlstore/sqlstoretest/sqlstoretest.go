// Package sqlstoretest is the suite of what the stores of an SQL database promise together. Every driver passes it, and
// the suites of the contracts.
package sqlstoretest

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/sqlstore"
	"github.com/socialdata/socialdata/watch"
)

// Options are those of the database that [Open] opens. A zero value means the driver's.
type Options struct {
	Now        func() time.Time
	Logger     *slog.Logger
	FlushEvery time.Duration
	MaxUses    int
}

// Subject is an open database.
type Subject struct {
	*sqlstore.DB
	// Number runs a query and returns its result. @ stands for what the names of tables begin with.
	Number func(query string) (int64, error)
	// Write runs a statement, in which @ stands for the same.
	Write func(statement string) error
}

// Open returns a new, empty database. It cleans up through t.
type Open func(t *testing.T, o Options) Subject

// Run tests the database of a driver.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"sizes of each kind", testSizes},
		{"housekeeping past every lifetime", testHousekeeping},
		{"many used keys are written at once", testCrowded},
		{"a monitor that cannot be read", testUnreadable},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

// number is [Subject.Number], which must succeed.
func (s Subject) number(t *testing.T, query string) int64 {
	t.Helper()
	n, err := s.Number(query)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// patience is how long a test waits for what happens soon.
const patience = 2 * time.Minute

// soon waits until a query returns that number.
func (s Subject) soon(t *testing.T, want int64, query string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		got := s.number(t, query)
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %d after %v; want %d", query, got, patience, want)
		}
	}
}

func testSizes(t *testing.T, open Open) {
	t.Helper()
	s := open(t, Options{})
	for _, name := range []string{"first", "second"} {
		a, err := s.Keys().OpenAccount(t.Context(), name, 10, "to start with")
		if err == nil {
			_, err = s.Ledger().Grant(t.Context(), a.ID, 10, "more")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put := map[string]int{"job/1": 50_000, "idempotency/1": 100, "idempotency/2": 100, "word": 10, "no/kind": 10}
	for key, n := range put {
		if _, err := s.Records().Put(t.Context(), records.Record{Key: key, Value: make([]byte, n)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Requests().Add(t.Context(),
		[]requests.Request{{ID: "req_1", At: time.Now()}, {ID: "req_2", At: time.Now()}}, nil); err != nil {
		t.Fatal(err)
	}
	sizes, err := s.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, bytes := map[string]int64{}, map[string]int64{}
	for _, size := range sizes {
		if rows[size.Kind], bytes[size.Kind] = size.Rows, size.Bytes; size.Bytes <= 0 {
			t.Errorf("%s take %d bytes", size.Kind, size.Bytes)
		}
	}
	want := map[string]int64{
		bookkeeping.SizeBooks: 4, bookkeeping.SizeRequests: 2, bookkeeping.SizeUsage: 0, "jobs": 1, "idempotent answers": 2,
		"records": 2,
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if bytes["jobs"] < 100*bytes["idempotent answers"] {
		t.Errorf("the job of 50,000 bytes takes %d, and both answers take %d", bytes["jobs"], bytes["idempotent answers"])
	}
}

// testHousekeeping charges without a pause while the clock passes the lifetimes of everything that is stored: no charge
// fails, and everything that has expired is removed.
func testHousekeeping(t *testing.T, open Open) {
	t.Helper()
	var logged lockedBuilder
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	s := open(t, Options{
		Now: now, FlushEvery: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	const balance, dead = 1_000_000, 520 // more than one transaction removes
	var accounts []string
	for i := range 4 {
		a, err := s.Keys().OpenAccount(t.Context(), fmt.Sprint("account ", i), balance, "")
		if err != nil {
			t.Fatal(err)
		}
		accounts = append(accounts, a.ID)
	}
	_, key, err := s.Keys().CreateKey(t.Context(), keys.NewKey{Account: accounts[0], Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var callers sync.WaitGroup
	var charged atomic.Int64
	for _, account := range accounts {
		callers.Go(func() {
			who := credits.Spender{Account: account, Key: key.ID, DayCap: new(int64(balance))}
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				holds, err := s.Ledger().Reserve(t.Context(), who, time.Hour, 1, 1) // one of them is never settled
				if err == nil {
					_, err = s.Ledger().Settle(t.Context(), holds[0], credits.Charge{
						Amount: 1, Late: true, IdempotencyKey: fmt.Sprint(n), // which expires after a day
					})
				}
				if err != nil {
					t.Errorf("a charge beside housekeeping = %v", err)
					return
				}
				charged.Add(1)
			}
		})
	}
	for round := range 2 {
		var puts sync.WaitGroup
		for part := range 4 {
			puts.Go(func() {
				for i := part; i < dead; i += 4 {
					rec := records.Record{Key: fmt.Sprintf("job/%d/%d", round, i), Value: []byte("x")}
					if i%2 == 0 {
						rec.Owner = accounts[i%len(accounts)]
					}
					if _, err := s.Records().Put(t.Context(), rec, time.Hour); err != nil {
						t.Error(err)
					}
				}
			})
		}
		puts.Wait()
		if _, err := s.Records().Put(t.Context(), records.Record{Key: "alive"}, 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		before := charged.Load()
		ahead.Add(int64(48 * time.Hour))
		s.soon(t, 1, "SELECT count(*) FROM @records")
		if n := s.number(t, "SELECT CAST(sum(bytes) AS BIGINT) FROM @record_owners"); n != 0 {
			t.Errorf("the owners have %d bytes after the records were removed", n)
		}
		for end := time.Now().Add(patience); !t.Failed() && charged.Load() < before+100; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no more charges are made")
			}
		}
	}
	s.Keys().Touch(key.ID, now())
	s.soon(t, 1, "SELECT count(*) FROM @keys WHERE last_used_at IS NOT NULL")
	close(done)
	callers.Wait()
	ahead.Add(int64(2 * time.Hour))
	s.soon(t, 0, "SELECT count(*) FROM @holds")
	left := int64(0)
	for _, account := range accounts { // the holds that were not settled have expired
		n, err := s.Ledger().Balance(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		left += n
	}
	if want := int64(len(accounts))*balance - charged.Load(); left != want {
		t.Errorf("%d credits are left; want %d", left, want)
	}
	if text := logged.String(); text != "" {
		t.Errorf("housekeeping logs %s", text)
	}
}

// testCrowded uses so many keys that their times are written before it is time.
func testCrowded(t *testing.T, open Open) {
	t.Helper()
	const used = 10
	s := open(t, Options{FlushEvery: time.Hour, MaxUses: 2 * used})
	if _, err := s.Keys().CreateAccount(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	for range used {
		_, k, err := s.Keys().CreateKey(t.Context(), keys.NewKey{Account: "first", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		s.Keys().Touch(k.ID, time.Now())
	}
	s.soon(t, used, "SELECT count(*) FROM @keys WHERE last_used_at IS NOT NULL")
}

// lockedBuilder is a strings.Builder that is safe for concurrent use.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements [io.Writer].
func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// testUnreadable damages the definition of one monitor and the progress of another. The others of the account are
// polled, both are shown, and they can be made again and ended.
func testUnreadable(t *testing.T, open Open) {
	t.Helper()
	var log strings.Builder
	s := open(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w, due := s.Watches(), time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
	put := func(name string) {
		t.Helper()
		_, _, err := w.Put(t.Context(), watch.Monitor{
			Account: "ann", Name: name, CreatedAt: due,
			Definition: watch.Definition{Ask: watch.Ask{Operation: "profile"}, Every: time.Hour},
			Progress:   watch.Progress{NextAt: due},
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	claims := func() (names []string) {
		t.Helper()
		got, err := w.Claim(t.Context(), time.Now(), 10, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got {
			names = append(names, c.Monitor.Name)
		}
		slices.Sort(names)
		return names
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		put(name)
	}
	for name, column := range map[string]string{"a": "definition", "c": "progress"} {
		if err := s.Write("UPDATE @monitors SET " + column + " = substr(" + column + ", 2) WHERE name = '" + name + "'"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"b", "d"}, claims()); diff != "" {
		t.Errorf("polled (-want +got):\n%s", diff)
	}
	for _, name := range []string{"a", "c"} {
		m, err := w.Monitor(t.Context(), "ann", name)
		if err != nil || m.Shown() != watch.Stopped || m.Detail == "" {
			t.Errorf("monitor %s is %q, %q, %v", name, m.Shown(), m.Detail, err)
		}
		if !strings.Contains(log.String(), "monitor="+name) {
			t.Errorf("the log does not name monitor %s:\n%s", name, log.String())
		}
		if _, err := w.Pause(t.Context(), "ann", name, true, due); err == nil {
			t.Errorf("monitor %s was written without having been read", name)
		}
	}
	if all, err := w.Monitors(t.Context(), "ann", "", "", 0); err != nil || len(all) != 4 {
		t.Errorf("%d monitors are listed, %v", len(all), err)
	}
	put("a")
	if diff := cmp.Diff([]string{"a"}, claims()); diff != "" {
		t.Errorf("polled once it was made again (-want +got):\n%s", diff)
	}
	if err := w.End(t.Context(), "ann", "c"); err != nil {
		t.Error(err)
	}
}
