package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/watch"
)

// benchMonitors returns how many monitors there are: SOCIALDATA_MONITORS, or 1,000.
func benchMonitors() int { return benchSize("SOCIALDATA_MONITORS", 1000) }

// benchRound is how long the monitors are polled in an iteration: SOCIALDATA_MONITORS_FOR, or two seconds.
func benchRound() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("SOCIALDATA_MONITORS_FOR")); err == nil && d > 0 {
		return d
	}
	return 2 * time.Second
}

// The times between two polls: of 100,000 monitors at 15 minutes, and of 1,000,000 at an hour. With fewer monitors the
// pace is the same, and ends sooner.
const (
	paceOfFile     = 15 * time.Minute / 100_000
	paceOfReplicas = time.Hour / 1_000_000
)

// polling is the store of replicas that poll while it is on, by a clock that stops while it is off. Their polls are
// therefore never late because they were off.
type polling struct {
	on   atomic.Bool
	mu   sync.Mutex
	at   time.Time // when the clock was stopped or started last, by itself
	from time.Time // when it was started
	late []time.Duration
}

// now returns the time of the clock.
func (p *polling) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on.Load() {
		return p.at
	}
	return p.at.Add(time.Since(p.from))
}

// turn turns the polls on or off.
func (p *polling) turn(on bool) {
	at := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.from = at, time.Now()
	p.on.Store(on)
}

// latest returns the number of polls, and how long after it was due the latest was committed, and 99 of 100.
func (p *polling) latest() (n int, most, p99 time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.late) == 0 {
		return 0, 0, 0
	}
	slices.Sort(p.late)
	return len(p.late), p.late[len(p.late)-1], p.late[len(p.late)*99/100]
}

// polled is a store whose polls are noted.
type polled struct {
	watch.Store

	by *polling
}

func (s polled) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]watch.Claim, error) {
	if !s.by.on.Load() {
		return nil, nil
	}
	return s.Store.Claim(ctx, now, n, lease)
}

func (s polled) Commit(ctx context.Context, p watch.Poll) error {
	err := s.Store.Commit(ctx, p)
	late := s.by.now().Sub(p.Claim.Due)
	if err == nil {
		s.by.mu.Lock()
		defer s.by.mu.Unlock()
		s.by.late = append(s.by.late, late)
	}
	return err
}

// BenchmarkMonitors polls monitors on the sandbox, each for the first time, at an even pace: in a file beside callers
// who pay, whose calls it counts by turns with the polls and without them; and in PostgreSQL by three replicas. It
// reports the polls a second and how late the latest of them was committed.
func BenchmarkMonitors(b *testing.B) {
	b.Run("a file", benchMonitorsBesideLoad)
	b.Run("PostgreSQL", benchMonitorsOfReplicas)
}

func benchMonitorsBesideLoad(b *testing.B) {
	at := commandLine{DB: filepath.Join(b.TempDir(), "t.db")}
	db, polls := benchStore(b, at), &polling{at: time.Now().UTC()}
	payers := benchAccounts(b, db, 100)
	fillMonitors(b, db.Watches(), payers, polls.at, accounts.WatchRequest{Operation: "posts", Every: 15 * time.Minute})
	caller := benchClient(b, db, polls).As(payers[0])
	var quiet, beside []float64
	for b.Loop() {
		quiet = append(quiet, paidCalls(b, caller))
		polls.turn(true)
		beside = append(beside, paidCalls(b, caller))
		polls.turn(false)
	}
	slices.Sort(quiet)
	slices.Sort(beside)
	without, with := quiet[len(quiet)/2], beside[len(beside)/2]
	b.ReportMetric(without, "calls/s-without")
	b.ReportMetric(with, "calls/s-beside")
	b.ReportMetric(100*(1-with/without), "%-lost")
	reportPolls(b, polls, benchRound()*time.Duration(b.N))
}

func benchMonitorsOfReplicas(b *testing.B) {
	dsn := newDatabase(b)
	at := commandLine{Postgres: dsn}
	db, polls := benchStore(b, at), &polling{at: time.Now().UTC()}
	payers := benchAccounts(b, db, max(1, benchMonitors()/1000))
	multiplyMonitors(b, dsn, db, payers, polls.at)
	for range 3 {
		benchClient(b, benchStore(b, at), polls)
	}
	b.ResetTimer()
	polls.turn(true)
	for b.Loop() {
		time.Sleep(benchRound())
	}
	polls.turn(false)
	reportPolls(b, polls, benchRound()*time.Duration(b.N))
}

func reportPolls(b *testing.B, polls *polling, during time.Duration) {
	b.Helper()
	n, most, p99 := polls.latest()
	if n == 0 {
		b.Error("nothing was polled")
	}
	b.ReportMetric(float64(n)/during.Seconds(), "polls/s")
	b.ReportMetric(most.Seconds(), "s-latest")
	b.ReportMetric(p99.Seconds(), "s-p99")
}

// benchClient returns a client that polls.
func benchClient(b *testing.B, db *store, polls *polling) *socialdata.Client {
	b.Helper()
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()),
		socialdata.WithWatches(polled{db.Watches(), polls}), socialdata.WithClock(polls.now),
		socialdata.WithRate(keys.Rate{Capacity: 1e9, Refill: 1e9}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close(context.WithoutCancel(b.Context())) })
	return client
}

// benchMonitor returns a monitor of a key.
func benchMonitor(key keys.Key, name string, at time.Time, req accounts.WatchRequest) watch.Monitor {
	return watch.Monitor{
		Account: key.Account, Key: key.ID, Name: name, CreatedAt: at, Progress: watch.Progress{NextAt: at},
		Definition: watch.Definition{
			Ask: watch.Ask{
				Operation: req.Operation, Platform: string(platform.Mock), Params: map[string]string{"handle": "ann"},
				List: req.Operation == "posts",
			},
			Every: req.Every, Pages: 1,
		},
	}
}

// fillMonitors makes monitors that are due one after the other.
func fillMonitors(
	b *testing.B, to watch.Store, payers []keys.Key, at time.Time, req accounts.WatchRequest,
) {
	b.Helper()
	numbers := make(chan int)
	var work sync.WaitGroup
	for range 64 {
		work.Go(func() {
			for i := range numbers {
				due := at.Add(paceOfFile * time.Duration(i))
				m := benchMonitor(payers[i%len(payers)], fmt.Sprint("m", i), due, req)
				if _, _, err := to.Put(b.Context(), m, 0); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range benchMonitors() {
		numbers <- i
	}
	close(numbers)
	work.Wait()
}

// multiplyMonitors makes one monitor of each key, and copies them in the database, due at random at the same pace.
func multiplyMonitors(b *testing.B, dsn string, db *store, payers []keys.Key, at time.Time) {
	b.Helper()
	req := accounts.WatchRequest{Operation: "profile", Every: time.Hour}
	for _, key := range payers {
		if _, _, err := db.Watches().Put(b.Context(), benchMonitor(key, "m", at.Add(time.Hour), req), 0); err != nil {
			b.Fatal(err)
		}
	}
	c, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close(b.Context()) }()
	_, err = c.Exec(b.Context(), `
		INSERT INTO socialdata.monitors (account, name, key, paused, created_at, baseline, definition, progress, lease, until,
			next_at, platform)
		SELECT account, 'm-' || i, key, paused, created_at, baseline, definition, convert_to(jsonb_set(
			convert_from(progress, 'UTF8')::jsonb, '{NextAt}', to_jsonb(to_char(to_timestamp(due / 1e9) AT TIME ZONE 'UTC',
			'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))::text, 'UTF8'), '', 0, due, platform
		FROM (SELECT m.*, i, $2 + abs(hashtextextended(account || i, 0) % $3) AS due
			FROM socialdata.monitors m, generate_series(2, $1) i) AS many`,
		benchMonitors()/len(payers), at.UnixNano(), int64(paceOfReplicas)*int64(benchMonitors()))
	if err != nil {
		b.Fatal(err)
	}
}

// paidCalls returns how many paid calls of a cached profile 64 callers make in a second.
func paidCalls(b *testing.B, caller *socialdata.Client) float64 {
	b.Helper()
	var n atomic.Int64
	var work sync.WaitGroup
	begun := time.Now()
	for range 64 {
		work.Go(func() {
			for time.Since(begun) < benchRound() {
				if _, err := caller.Profile(b.Context(), socialdata.ProfileRequest{
					Platform: platform.Mock, Handle: "ann",
				}); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	work.Wait()
	return float64(n.Load()) / time.Since(begun).Seconds()
}
