package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// found is what a platform finds.
type found = providers.Page[schema.SearchResult]

var errDisk = errors.New("the disk is full")

// faulty is a ledger that calls settle, if it is not nil, instead of settling.
type faulty struct {
	credits.Ledger
	settle func(c credits.Charge) error
}

func (f *faulty) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if err := f.settle(c); err != nil {
		return credits.Receipt{}, err
	}
	return f.Ledger.Settle(ctx, h, c)
}

// brittle is a store of records that fails when put returns an error.
type brittle struct {
	records.Store
	mu   sync.Mutex
	fail func(key string) error
}

func (b *brittle) set(fail func(key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fail
}

func (b *brittle) check(key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail == nil {
		return nil
	}
	return b.fail(key)
}

func (b *brittle) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if err := b.check(r.Key); err != nil {
		return 0, err
	}
	return b.Store.Put(ctx, r, ttl)
}

func (b *brittle) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	if err := b.check(r.Key); err != nil {
		return records.Record{}, false, err
	}
	return b.Store.Add(ctx, r, ttl)
}

func (b *brittle) Delete(ctx context.Context, key string, version int64) error {
	if err := b.check(key); err != nil {
		return err
	}
	return b.Store.Delete(ctx, key, version)
}

// jobs fails for the records of jobs and of idempotency keys.
func jobs(key string) error {
	if strings.HasPrefix(key, "job/") || strings.HasPrefix(key, "idempotency/") {
		return errDisk
	}
	return nil
}

// TestASearchThatCannotBeStoredIsReplayed fails every write of a keyed search after the one before its charges.
func TestASearchThatCannotBeStoredIsReplayed(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	store := &brittle{Store: records.NewMemory(records.MemoryConfig{})}
	store.set(func(key string) error {
		if err := jobs(key); err != nil && writes.Add(1) > 2 {
			return err
		}
		return nil
	})
	e := enginetest.New(t, enginetest.Config{
		Records: store, Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X),
	})
	req := socialdata.SearchAcrossRequest{Query: "tea", ReadOptions: socialdata.ReadOptions{IdempotencyKey: "0123456789abcdef"}, Wait: time.Second}
	first, err := e.Client.SearchAcross(t.Context(), req)
	if err != nil || writes.Load() < 3 {
		t.Fatalf("%d writes, %v; want 3 or more", writes.Load(), err)
	}
	store.set(nil)
	e.Clock.Advance(time.Minute) // its time is over
	before := e.Balance(t)
	again, err := e.Client.SearchAcross(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(first.Data, again.Data); diff != "" || e.Balance(t) != before {
		t.Errorf("%d credits, then %d (-first +again):\n%s", before, e.Balance(t), diff)
	}
}

// slow delays the results of a search.
func slow(p providers.Provider, d time.Duration) providers.Provider {
	find := p.Search
	p.Search = func(ctx context.Context, q providers.SearchQuery, token string) (found, error) {
		select {
		case <-time.After(d):
			return find(ctx, q, token)
		case <-ctx.Done():
			return found{}, ctx.Err()
		}
	}
	return p
}

// twoWorld is an engine with two platforms, of which the second takes five seconds.
func twoWorld(t *testing.T, cfg enginetest.Config) *enginetest.Engine {
	t.Helper()
	cfg.Providers = []providers.Provider{
		enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...)),
		slow(enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 2)...)), 5*time.Second),
	}
	return enginetest.New(t, cfg)
}

// over returns a client with the stores of e, replacing the ledger or the store of records if given.
func over(
	t *testing.T, e *enginetest.Engine, ledger credits.Ledger, store records.Store, p ...providers.Provider,
) *socialdata.Client {
	t.Helper()
	if ledger == nil {
		ledger = e.Ledger
	}
	if store == nil {
		store = e.Records
	}
	client, err := socialdata.New(socialdata.WithProviders(p), socialdata.WithLedger(ledger),
		socialdata.WithRecords(store),
		socialdata.WithClock(e.Clock.Now), socialdata.WithCursorKeys([]byte(enginetest.CursorKey)),
		socialdata.WithEnricher(enginetest.Enricher()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client.As(e.Key)
}

func twoPlatforms() []providers.Provider {
	return []providers.Provider{
		enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...)),
		slow(enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 2)...)), 5*time.Second),
	}
}

// onceFailing fails the first charge.
func onceFailing(ledger credits.Ledger) *faulty {
	var once sync.Once
	return &faulty{ledger, func(c credits.Charge) (err error) {
		if c.Amount > 0 {
			once.Do(func() { err = errDisk })
		}
		return err
	}}
}

func TestAChargeThatFailsIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		c := over(t, e, onceFailing(e.Ledger), nil, twoPlatforms()...)
		began := time.Now()
		got := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("answered after %v, want 1.1s at most", took)
		}
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Pending}, got.Meta.Platforms)
		wantMeta(t, got.Meta, 1, true)
		e.WantBalance(t, 998)
	})
}

func TestASearchThatAnsweredWithAProblemIsNeverCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
		defer leave()
		failing := &faulty{e.Ledger, func(c credits.Charge) error {
			if c.Amount > 0 && ctx.Err() == nil {
				return errDisk
			}
			return nil
		}}
		c := over(t, e, failing, nil, twoPlatforms()...)
		_, err := c.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "a", Wait: 1 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		time.Sleep(20 * time.Second)
		wantCharges(t, e)
		e.WantBalance(t, 1000)
	})
}

func TestLatePartsFailIfTheJobCannotBeStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &brittle{Store: records.NewMemory(records.MemoryConfig{}), fail: jobs}
		e := twoWorld(t, enginetest.Config{Records: store})
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Failed}, got.Meta.Platforms)
		time.Sleep(time.Minute)
		wantMeta(t, got.Meta, 1, false)
		e.WantBalance(t, 999)
	})
}

func TestALatePartIsRecordedBeforeItIsCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &brittle{Store: records.NewMemory(records.MemoryConfig{})}
		e := twoWorld(t, enginetest.Config{Records: store})
		first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		store.set(jobs) // the disk is full
		time.Sleep(10 * time.Second)
		wantCharges(t, e, enginetest.Charged(1, "search", "tiktok", "MISS"))
		store.set(nil)
		e.Clock.Advance(time.Minute)
		got := job(t, e.Client, first.Meta.JobID, 0)
		wantMeta(t, got.Meta, 1, false)
		wantResults(t, got.Data, len(first.Data))
	})
}

func TestTheRecordedHoldDecidesAfterACrash(t *testing.T) {
	t.Parallel()
	for name, charged := range map[string]bool{"before the charge": false, "after the charge": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := enginetest.New(t, enginetest.Config{})
				store := &brittle{Store: e.Records}
				dead := false
				ledger := &faulty{e.Ledger, func(c credits.Charge) error {
					if dead || c.Platform != "x" {
						return map[bool]error{true: errDisk}[dead]
					}
					dead = true
					store.set(jobs) // from now on no record can be written
					return map[bool]error{false: errDisk}[charged]
				}}
				before := over(t, e, ledger, store, twoPlatforms()...)
				first := searchAll(t, before, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
				time.Sleep(10 * time.Second)
				e.Clock.Advance(time.Minute)
				after := over(t, e, nil, nil, twoPlatforms()...)
				got := job(t, after, first.Meta.JobID, 0)
				if diff := gocmp.Diff([]string{"t0", "x0", "t1", "x1"}, enginetest.IDs(got.Data)); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				wantMeta(t, got.Meta, 2, false)
				e.WantBalance(t, 998)
			})
		})
	}
}

// TestEveryReplicaAnswersAlike polls two processes by turns while one of them makes the search: each answer has
// everything so far.
func TestEveryReplicaAnswersAlike(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		platforms := append(twoPlatforms(),
			slow(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), 3*time.Second))
		one, another := over(t, e, nil, nil, platforms...), over(t, e, nil, nil, platforms...)
		first := searchAll(t, one, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		for _, want := range []int64{1, 2, 3} { // between two polls a part ends
			for _, c := range []*socialdata.Client{another, one} {
				got := job(t, c, first.Meta.JobID, 0)
				wantMeta(t, got.Meta, want, want < 3)
				wantResults(t, got.Data, int(2*want))
				e.WantBalance(t, 1000-3)
			}
			time.Sleep(2500 * time.Millisecond)
		}
	})
}

// TestAPollNeedsNoWrite polls while nothing can be written, first for a charge that could not be stored, and then after
// the deadline: what has been decided by then has to be stored before it is answered.
func TestAPollNeedsNoWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &brittle{Store: records.NewMemory(records.MemoryConfig{})}
		e := twoWorld(t, enginetest.Config{Records: store})
		id := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
		store.set(jobs)
		time.Sleep(6 * time.Second)
		wantMeta(t, job(t, e.Client, id, 0).Meta, 1, true)
		e.Clock.Advance(time.Minute)
		_, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: id})
		enginetest.WantProblem(t, err, problem.InternalError)
		store.set(nil)
		for range 2 {
			wantMeta(t, job(t, e.Client, id, 0).Meta, 1, false)
			e.WantBalance(t, 999)
		}
	})
}

func TestPageTwoOfAWideSearchRepeatsNothing(t *testing.T) {
	t.Parallel()
	var wide []providers.Provider
	named := ids{platform.TikTok, platform.X, platform.YouTube, platform.Threads}
	for n, id := range named {
		results := enginetest.Some(string(id), 100)
		if n > 0 { // the second page repeats what the first platform returned on the first
			results = append(results, enginetest.Some(string(named[0]), 100)...)
		} else {
			results = append(results, enginetest.Some("more", 100)...)
		}
		wide = append(wide, enginetest.Searcher(id, enginetest.Lists(100, results...)))
	}
	e := enginetest.Of(t, wide...)
	first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Platforms: named})
	second := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Platforms: named, Page: socialdata.Page{Cursor: first.Meta.NextCursor}})
	seen := map[string]bool{}
	for _, r := range first.Data {
		seen[r.Shared().URL] = true
	}
	again := 0
	for _, r := range second.Data {
		if seen[r.Shared().URL] {
			again++
		}
	}
	if again > 0 || len(first.Data) != 400 || len(second.Data) != 100 {
		t.Errorf("pages of %d and %d, %d were repeated; want 400, 100, 0", len(first.Data), len(second.Data), again)
	}
}

func TestProcessesWithOtherCursorKeysShareACache(t *testing.T) {
	t.Parallel()
	shared := cache.NewMemory(cache.MemoryConfig{})
	tags := map[string]bool{}
	for _, secret := range []string{strings.Repeat("a", 32), strings.Repeat("b", 32)} {
		nine := enginetest.Searcher(platform.TikTok, enginetest.Lists(5, enginetest.Some("t", 9)...))
		client, err := socialdata.New(socialdata.WithCache(shared), socialdata.WithCursorKeys([]byte(secret)),
			socialdata.WithProviders(providers.Chain{nine}))
		if err != nil {
			t.Fatal(err)
		}
		call := operation.Call{Params: url.Values{"query": {"coffee"}}}
		first, err := socialdata.FrontEnd(client).Do(t.Context(), socialdata.Operation("search_across"), call)
		if err != nil || first.Meta.NextCursor == "" {
			t.Fatal("there is no cursor", err)
		}
		tags[first.Tag] = true
		second := searchAll(t, client, socialdata.SearchAcrossRequest{Page: socialdata.Page{Cursor: first.Meta.NextCursor}})
		if len(second.Data) != 4 {
			t.Errorf("page two has %d results, want 4", len(second.Data))
		}
	}
	if len(tags) != 1 || tags[""] {
		t.Errorf("the same page has the tags %v, want one", tags)
	}
}

func TestACallerWhoLeavesAStreamPaysForItsEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(5, enginetest.Some("t", 8)...)),
			enginetest.Searcher(platform.X, enginetest.Lists(5, enginetest.Some("x", 8)...)))
		results := 0
		err := socialdata.FrontEnd(e.Client).Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "coffee"),
			func(ev operation.Event) bool {
				synctest.Wait() // by the first event, both platforms have ended
				if ev.Result != nil {
					results++
				}
				return results < 5
			})
		synctest.Wait()
		if paid := len(e.Charges(t)); err != nil || paid != 1 || e.Balance(t) != 999 {
			t.Errorf("%d parts paid for one that was yielded, %d credits left, %v", paid, e.Balance(t), err)
		}
	})
}

// vague is a ledger that makes each charge but returns an error, and an error for the first release as well.
type vague struct {
	credits.Ledger
	mu    sync.Mutex
	asked map[string]int // by hold
}

func (v *vague) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	r, err := v.Ledger.Settle(ctx, h, c)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked[h.ID]++; v.asked[h.ID] <= 2 {
		return credits.Receipt{}, errDisk
	}
	return r, err
}

func TestAStreamReportsAChargeWithALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		c := over(t, e, &vague{Ledger: e.Ledger, asked: map[string]int{}}, nil, twoPlatforms()...)
		results := 0
		var reported schema.Meta
		err := socialdata.FrontEnd(c).Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "coffee"),
			func(ev operation.Event) bool {
				if ev.Result != nil {
					results++
				}
				if ev.Meta != nil {
					reported = *ev.Meta
				}
				return true
			})
		if charged := len(e.Charges(t)); err != nil || results != 4 || charged != 2 || reported.CreditsUsed != 2 {
			t.Errorf("%d results, %d credits and %d charges, %v; want 4, 2, 2", results, reported.CreditsUsed, charged, err)
		}
	})
}

func TestALedgerThatPanicsFails(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	c := over(t, e, &faulty{e.Ledger, func(credits.Charge) error { panic("ledger") }}, nil,
		enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)...)
	failsToPay(t, c)
	if len(e.Charges(t)) != 0 {
		t.Errorf("charges %v, want none", e.Charges(t))
	}
}

// failsToPay makes a search whose charges all fail, and hangs up before its time limit.
func failsToPay(t *testing.T, c *socialdata.Client) {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer leave()
	_, err := c.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "a"})
	enginetest.WantProblem(t, err, problem.UpstreamTimeout)
}

func TestCloseDuringSearches(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{
		Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X), Credits: 100_000,
	})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 20 {
				_, _ = e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: fmt.Sprint(i, k)})
			}
		})
		wg.Go(func() { _ = e.Client.Close(t.Context()) })
	}
	wg.Wait()
	_, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "shutting down")
}

func TestASearchThatFindsNoTextIsNotEnriched(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10)))
	got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic}})
	if got.Meta.CreditsUsed != 1 || e.Balance(t) != 999 {
		t.Errorf("%d credits although there was nothing to enrich, %d left", got.Meta.CreditsUsed, e.Balance(t))
	}
}

func TestASearchEndsWhileProvidersHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deaf := enginetest.Searcher(platform.X, func(context.Context, providers.SearchQuery, string) (found, error) {
			time.Sleep(10 * time.Minute)
			return found{}, nil
		})
		e := enginetest.Of(t, deaf)
		began := time.Now()
		_, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "a", Wait: 25 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "x")
		if took := time.Since(began); took != 14*time.Second || e.Balance(t) != 1000 {
			t.Errorf("after %v, %d credits are left; want 14s, 1000", took, e.Balance(t))
		}
		time.Sleep(10 * time.Minute) // until the provider has ended
	})
}

// delayed is a store of records that calls a function before the first record of a job is written.
type delayed struct {
	records.Store
	once   sync.Once
	before func()
}

func (h *delayed) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if strings.HasPrefix(r.Key, "job/") {
		h.once.Do(h.before)
	}
	return h.Store.Put(ctx, r, ttl)
}

// TestAStaleCopyDoesNotLoseResults polls another process for a job at its deadline. That process has read the
// record before the last part is found and charged, and writes it after that.
func TestAStaleCopyDoesNotLoseResults(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"found": 1800 * time.Millisecond, "paid": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := enginetest.New(t, enginetest.Config{})
				ledger := &faulty{e.Ledger, func(c credits.Charge) error {
					if c.Platform == "x" && c.Amount > 0 {
						time.Sleep(slow)
					}
					return nil
				}}
				makes := over(t, e, ledger, nil, twoPlatforms()...)
				asks := over(t, e, nil, &delayed{Store: e.Records, before: func() { time.Sleep(1800 * time.Millisecond) }},
					twoPlatforms()...)
				first := searchAll(t, makes, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
				time.Sleep(2500 * time.Millisecond)
				e.Clock.Advance(time.Minute) // for the other process, the deadline has passed
				got := job(t, asks, first.Meta.JobID, 0)
				wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK}, got.Meta.Platforms)
				time.Sleep(time.Minute)
				if got.Meta.CreditsUsed != 2 || e.Balance(t) != 998 {
					t.Errorf("%d credits used, %d left; want 2, 998", got.Meta.CreditsUsed, e.Balance(t))
				}
			})
		})
	}
}

// TestALedgerThatHangsDoesNotBlockJobs lets the charge of a late part hang. Meanwhile polls are answered, and another
// part ends and is reported.
func TestALedgerThatHangsDoesNotBlockJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ledger := &faulty{e.Ledger, func(c credits.Charge) error {
			if c.Platform == "x" && c.Amount > 0 {
				time.Sleep(1400 * time.Millisecond)
			}
			return nil
		}}
		platforms := append(twoPlatforms(),
			slow(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), 6*time.Second))
		c := over(t, e, ledger, nil, platforms...)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		hangs := time.Now().Add(4500 * time.Millisecond)
		for _, want := range []struct {
			at   time.Duration // after the charge began to hang
			used int64
			x    schema.PlatformState
		}{
			{0, 1, schema.Pending},
			{700 * time.Millisecond, 1, schema.Pending}, // the other part waits for one attempt
			{2 * time.Second, 3, schema.OK},
			{8 * time.Second, 3, schema.OK},
		} {
			time.Sleep(time.Until(hangs.Add(want.at)))
			began := time.Now()
			got := job(t, c, first.Meta.JobID, 0)
			if took := time.Since(began); took != 0 {
				t.Errorf("at %v a poll takes %v, want no time", want.at, took)
			}
			if state := got.Meta.Platforms[platform.X]; got.Meta.CreditsUsed != want.used || state != want.x {
				t.Errorf("at %v %d credits are reported, and x is %s; want %d, %s", want.at, got.Meta.CreditsUsed, state, want.used,
					want.x)
			}
		}
		e.WantBalance(t, 997)
	})
}

// TestResultsFoundDuringTheFirstChargeAreCharged lets a part be found while the charges of the first answer hang.
func TestResultsFoundDuringTheFirstChargeAreCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ledger := &faulty{e.Ledger, func(c credits.Charge) error {
			if c.Platform == "tiktok" && c.Amount > 0 {
				time.Sleep(1200 * time.Millisecond)
			}
			return nil
		}}
		c := over(t, e, ledger, nil, twoPlatforms()...)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 4 * time.Second})
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Pending}, first.Meta.Platforms)
		got := job(t, c, first.Meta.JobID, 9)
		wantMeta(t, got.Meta, 2, false)
		wantResults(t, got.Data, 4)
		e.WantBalance(t, 998)
	})
}

// TestALostChargeIsRefundedWhenTheCallerHangsUp lets a ledger charge and return an error until the caller has left.
func TestALostChargeIsRefundedWhenTheCallerHangsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ledger := &vagueFor{Memory: e.Ledger, until: time.Now().Add(3 * time.Second)}
		c := over(t, e, ledger, nil, twoPlatforms()...)
		ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
		defer leave()
		_, err := c.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "a", Wait: 1 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		time.Sleep(time.Minute)
		e.WantBalance(t, 1000)
	})
}

// vagueFor is a ledger that makes charges but returns errors until a time.
type vagueFor struct {
	*credits.Memory
	until time.Time
}

func (v *vagueFor) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	r, err := v.Memory.Settle(ctx, h, c)
	if time.Now().Before(v.until) {
		return credits.Receipt{}, errDisk
	}
	return r, err
}

// TestARefundedSearchCanBeRepeatedWithItsKey repeats a search that was reported as failed, charged and
// refunded.
func TestARefundedSearchCanBeRepeatedWithItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ledger := &vagueFor{Memory: e.Ledger, until: time.Now().Add(20 * time.Second)}
		one := enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...))
		c := over(t, e, ledger, nil, one)
		call := operation.Call{Params: url.Values{"query": {"coffee"}}, IdempotencyKey: "0123456789abcdef"}
		if _, err := socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation("search_across"), call); err == nil {
			t.Fatal("a search is answered of which it is unknown whether it is paid for")
		}
		time.Sleep(time.Minute)
		e.Clock.Advance(time.Minute)
		e.WantBalance(t, 1000)
		a, err := socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation("search_across"), call)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Meta.Platforms[platform.TikTok]; got != schema.OK || a.Meta.CreditsUsed != 1 || e.Balance(t) != 999 {
			t.Errorf("tiktok is %s for %d credits, %d left; want ok, 1, 999", got, a.Meta.CreditsUsed, e.Balance(t))
		}
	})
}

// TestTheDeadlineOfADeadProcessIsNotMoved answers a job whose process has died, after the clock was set back.
func TestTheDeadlineOfADeadProcessIsNotMoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		makes, asks := over(t, e, nil, nil, twoPlatforms()...), over(t, e, nil, nil, twoPlatforms()...)
		first := searchAll(t, makes, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		e.Clock.Advance(-time.Hour)
		got := job(t, asks, first.Meta.JobID, 0)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Failed}, got.Meta.Platforms)
		time.Sleep(time.Minute)
	})
}

// TestASearchThatAnotherProcessAnswersIsNotRefunded repeats a search under its key at a process that answers it, while
// the process that made it, and reported it as failed, is still finding out what was charged and cannot
// write records.
func TestASearchThatAnotherProcessAnswersIsNotRefunded(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		makes  func(began time.Time, real *credits.Memory) credits.Ledger
		adopts func(real *credits.Memory) credits.Ledger
	}{
		"the one that adopts it charges": {
			func(began time.Time, real *credits.Memory) credits.Ledger {
				return &unreachable{Memory: real, until: began.Add(30 * time.Second)}
			},
			func(real *credits.Memory) credits.Ledger { return real },
		},
		"the one that adopts it finds the charge by its hold": {
			func(began time.Time, real *credits.Memory) credits.Ledger {
				return &vagueFor{Memory: real, until: began.Add(30 * time.Second)}
			},
			func(real *credits.Memory) credits.Ledger { return &losesFirst{Memory: real} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, began := enginetest.New(t, enginetest.Config{}), time.Now()
				one := enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...))
				cutOff := &brittle{Store: e.Records}
				time.AfterFunc(10*time.Second, func() { cutOff.set(func(string) error { return errDisk }) })
				time.AfterFunc(40*time.Second, func() { cutOff.set(nil) })
				makes, adopts := over(t, e, s.makes(began, e.Ledger), cutOff, one), over(t, e, s.adopts(e.Ledger), nil, one)
				call := operation.Call{Params: url.Values{"query": {"coffee"}}, IdempotencyKey: "0123456789abcdef"}
				failed := make(chan error, 1)
				go func() {
					_, err := socialdata.FrontEnd(makes).Do(t.Context(), socialdata.Operation("search_across"), call)
					failed <- err
				}()
				time.Sleep(16 * time.Second)
				e.Clock.Advance(time.Minute) // the time of the search is over
				var reported int64
				for answered := false; !answered && time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
					if a, err := socialdata.FrontEnd(adopts).Do(t.Context(), socialdata.Operation("search_across"), call); err == nil {
						reported, answered = a.Meta.CreditsUsed, true
					}
				}
				time.Sleep(5 * time.Minute)
				if err := <-failed; err == nil {
					t.Error("a search is answered of which it is unknown whether it is paid for")
				}
				if charged := 1000 - e.Balance(t); reported != 1 || charged != 1 {
					t.Errorf("%d credits reported and %d charged, want 1 of each", reported, charged)
				}
			})
		})
	}
}

// unreachable is a ledger that fails to settle until a time.
type unreachable struct {
	*credits.Memory
	until time.Time
}

func (u *unreachable) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if time.Now().Before(u.until) {
		return credits.Receipt{}, errDisk
	}
	return u.Memory.Settle(ctx, h, c)
}

// losesFirst is a ledger that makes the first charge and returns an error.
type losesFirst struct {
	*credits.Memory
	once sync.Once
}

func (l *losesFirst) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (r credits.Receipt, err error) {
	r, err = l.Memory.Settle(ctx, h, c)
	if c.Amount > 0 {
		l.once.Do(func() { r, err = credits.Receipt{}, errDisk })
	}
	return r, err
}

// stuck is a store of records with slow writes of jobs.
type stuck struct {
	records.Store
	mu   sync.Mutex
	long time.Duration
}

func (s *stuck) set(long time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.long = long
}

func (s *stuck) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	long := s.long
	s.mu.Unlock()
	if jobs(r.Key) != nil {
		select {
		case <-time.After(long):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return s.Store.Put(ctx, r, ttl)
}

// TestAStoreOfRecordsThatHangsDoesNotBlockJobs lets the write for a late part hang: polls are answered meanwhile.
func TestAStoreOfRecordsThatHangsDoesNotBlockJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &stuck{Store: e.Records}
		c := over(t, e, nil, store, append(twoPlatforms(),
			slow(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), 6*time.Second))...)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		store.set(1800 * time.Millisecond)
		asked := time.Now()
		for _, tt := range []struct {
			at      time.Duration
			credits int64
			x       schema.PlatformState
		}{
			{5500 * time.Millisecond, 1, schema.Pending},
			{6500 * time.Millisecond, 1, schema.Pending},
			{8 * time.Second, 2, schema.OK}, // it is charged, and that is not noted yet
		} {
			time.Sleep(time.Until(asked.Add(tt.at - time.Second)))
			began := time.Now()
			got := job(t, c, first.Meta.JobID, 0)
			if took := time.Since(began); took != 0 || got.Meta.CreditsUsed != tt.credits {
				t.Errorf("at %v a poll takes %v and reports %d credits; want no time, %d", tt.at, took, got.Meta.CreditsUsed, tt.credits)
			}
			wantStates(t, states{platform.TikTok: schema.OK, platform.X: tt.x, platform.YouTube: schema.Pending},
				got.Meta.Platforms)
		}
		time.Sleep(time.Minute)
		store.set(0)
		e.Clock.Advance(time.Minute) // what could not be recorded as charged is settled at the deadline
		got := job(t, c, first.Meta.JobID, 0)
		wantMeta(t, got.Meta, 3, false)
		wantResults(t, got.Data, len(first.Data)+4)
		e.WantBalance(t, 997)
	})
}
