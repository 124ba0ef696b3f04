package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// listen makes an endpoint that gets changes of those types, or of all types if there are none. Nothing listens at its
// URL: these tests read the feed.
func listen(t *testing.T, c *socialdata.Client, types ...string) {
	t.Helper()
	spec := schema.EndpointSpec{URL: "http://127.0.0.1:9/", Types: types}
	if _, err := c.Account().Endpoints().Make(t.Context(), "mine", spec); err != nil {
		t.Fatal(err)
	}
}

// feed returns all changes of the account.
func feed(t *testing.T, c *socialdata.Client) []schema.Change {
	t.Helper()
	page, err := c.Account().Changes(t.Context(), accounts.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

// awaitFeed waits until the feed has n changes, and returns it.
func awaitFeed(t *testing.T, c *socialdata.Client, n int) (got []schema.Change) {
	t.Helper()
	await.Until(t, fmt.Sprintf("the feed to have %d changes", n), func() bool {
		got = feed(t, c)
		return len(got) >= n
	})
	return got
}

// marked revokes a new key with c, waits until that is in the feed, and returns all other changes. Everything that was
// noticed earlier is in the feed by then.
func marked(t *testing.T, e *enginetest.Engine, c *socialdata.Client) (out []schema.Change) {
	t.Helper()
	_, k, err := e.Keys.CreateKey(t.Context(), keys.NewKey{Account: e.Key.Account, Name: "old", Environment: keys.Live})
	if err == nil {
		_, err = c.Account().Keys().Revoke(t.Context(), k.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	mark := func(c schema.Change) bool { return c.Type == watch.KeyRevoked && *c.Key == k.ID }
	all := feed(t, c)
	for ; !slices.ContainsFunc(all, mark); all = feed(t, c) {
		time.Sleep(time.Millisecond)
	}
	return slices.DeleteFunc(all, func(c schema.Change) bool { return c.Type == watch.KeyRevoked })
}

// spend makes n calls.
func spend(t *testing.T, c *socialdata.Client, n int) {
	t.Helper()
	for range n {
		if err := oneCall(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func oneCall(ctx context.Context, c *socialdata.Client) error {
	_, err := c.Profile(ctx, socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"})
	return err
}

func grant(t *testing.T, e *enginetest.Engine, n int64) {
	t.Helper()
	if _, err := e.Ledger.Grant(t.Context(), e.Key.Account, n, "for a test"); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, c *socialdata.Client, low *int64) {
	t.Helper()
	want := schema.AccountSettings{CreditsLow: low}
	if got, err := c.Account().ChangeSettings(t.Context(), want); err != nil || !cmp.Equal(got, want) {
		t.Fatalf("the settings are %v, %v; want %v", got, err, want)
	}
	if got, err := c.Account().Settings(t.Context()); err != nil || !cmp.Equal(got, want) {
		t.Fatalf("the settings are %v, %v; want %v", got, err, want)
	}
}

// ofCredits returns a change that says how many credits are left.
func ofCredits(kind, left, detail string) schema.Change {
	return schema.Change{
		Type: kind, At: enginetest.Start, Detail: &detail,
		Fields: []schema.FieldChange{{Field: "credits", Before: json.RawMessage("null"), After: json.RawMessage(left)}},
	}
}

// compare compares changes, which must have different ids.
func compare(t *testing.T, want, got []schema.Change) {
	t.Helper()
	ids := map[string]bool{}
	for _, c := range got {
		ids[c.ID] = true
	}
	diff := cmp.Diff(want, got, cmpopts.IgnoreFields(schema.Change{}, "ID", "Seq", "Object"), cmpopts.EquateEmpty())
	if diff != "" || len(ids) != len(got) {
		t.Errorf("the feed with %d ids (-want +got):\n%s", len(ids), diff)
	}
}

func TestLowCreditsAreReportedOncePerCrossing(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 40})
	listen(t, e.Client)
	marked(t, e, e.Client)
	spend(t, e.Client, 36) // 4 are left, and a tenth of the last grant is 4
	compare(t, nil, marked(t, e, e.Client))
	spend(t, e.Client, 1)
	marked(t, e, e.Client)
	spend(t, e.Client, 2)
	grant(t, e, 30) // 31 are left, and the threshold is 3
	spend(t, e.Client, 28)
	marked(t, e, e.Client)
	spend(t, e.Client, 1)
	compare(t, []schema.Change{
		ofCredits(watch.CreditsLow, "3", "the account has 3 credits, fewer than 4"),
		ofCredits(watch.CreditsLow, "2", "the account has 2 credits, fewer than 3"),
	}, marked(t, e, e.Client))
}

func TestTheThresholdIsASettingOfTheAccount(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 40})
	put(t, e.Client, new(int64(0)))
	listen(t, e.Client, watch.CreditsLow, watch.KeyRevoked)
	spend(t, e.Client, 38) // never low
	put(t, e.Client, new(int64(2)))
	compare(t, nil, marked(t, e, e.Client))
	put(t, e.Client, new(int64(3)))
	compare(t, []schema.Change{
		ofCredits(watch.CreditsLow, "2", "the account has 2 credits, fewer than 3"),
	}, marked(t, e, e.Client))
	put(t, e.Client, nil)
	for _, n := range []int64{-1, credits.MaxBalance + 1} {
		_, err := e.Client.Account().ChangeSettings(t.Context(), schema.AccountSettings{CreditsLow: &n})
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.InvalidRequest {
			t.Errorf("a threshold of %d: %v, want invalid_request", n, err)
		}
	}
	_, err := e.Open.Account().Settings(t.Context())
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.Unauthorized {
		t.Errorf("settings of no account: %v, want unauthorized", err)
	}
}

func TestExhaustedCreditsAreReportedOnce(t *testing.T) {
	t.Parallel()
	const few = "a call was refused because the account has too few credits for it: 1"
	for _, tt := range []struct {
		name    string
		credits int64
		left    string
		detail  string
	}{
		{"when none are left", 6, "0", "the account has no credits left"},
		{"when they are too few for a call", 7, "1", few},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{Credits: tt.credits, Options: []socialdata.Option{
				socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 2}),
			}})
			put(t, e.Client, new(int64(0)))
			listen(t, e.Client)
			marked(t, e, e.Client)
			exhaust := func(calls int) []schema.Change {
				t.Helper()
				spend(t, e.Client, calls)
				for range 3 {
					err := oneCall(t.Context(), e.Client)
					if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.InsufficientCredits {
						t.Fatalf("a call without credits: %v, want insufficient_credits", err)
					}
				}
				return marked(t, e, e.Client)
			}
			want := ofCredits(watch.CreditsExhausted, tt.left, tt.detail)
			compare(t, []schema.Change{want}, exhaust(3))
			compare(t, []schema.Change{want}, exhaust(0))
			grant(t, e, 4)
			spend(t, e.Client, 1)
			marked(t, e, e.Client)
			compare(t, []schema.Change{want, want}, exhaust(1))
		})
	}
}

func TestAccountsGetOnlyTheirOwnEvents(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 20})
	key, _ := e.Account(t, "other", 20)
	other := e.Open.As(key)
	listen(t, e.Client)
	listen(t, other)
	marked(t, e, e.Client)
	spend(t, e.Client, 20)
	if got := marked(t, e, e.Client); len(got) != 2 {
		t.Errorf("the account gets %v; want low and exhausted credits", got)
	}
	if _, err := other.Account().Keys().Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if got := awaitFeed(t, other, 1); len(got) != 1 || got[0].Key == nil || *got[0].Key != key.ID {
		t.Errorf("another account gets %v; want its own key", got)
	}
	for _, c := range append(feed(t, e.Client), feed(t, other)...) {
		b, err := json.Marshal(c)
		if err != nil || strings.Contains(string(b), e.Secret) {
			t.Errorf("an event has a key: %s, %v", b, err)
		}
	}
}

// replica returns another engine with the stores of e, bound to e's key.
func replica(t *testing.T, e *enginetest.Engine, store watch.Store) *socialdata.Client {
	t.Helper()
	c, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(e.Ledger),
		socialdata.WithKeys(e.Keys), socialdata.WithRecords(e.Records), socialdata.WithClock(e.Clock.Now),
		socialdata.WithCursorKeys([]byte(enginetest.CursorKey)), socialdata.WithWatches(store),
		socialdata.WithPrivateWebhooks(), socialdata.WithRate(keys.Rate{Capacity: 1_000_000, Refill: 1_000_000}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c.As(e.Key)
}

func TestReplicasReportAnEventOnce(t *testing.T) {
	t.Parallel()
	store := watch.NewMemory()
	e := enginetest.New(t, enginetest.Config{
		Credits: 100, Options: []socialdata.Option{socialdata.WithWatches(store)},
	})
	all := []*socialdata.Client{e.Client, replica(t, e, store), replica(t, e, store)}
	listen(t, e.Client)
	for _, c := range all {
		listen(t, c) // each knows the endpoint from then on
		marked(t, e, c)
	}
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			for oneCall(t.Context(), c) == nil {
			}
		})
	}
	wg.Wait()
	all = append(all, replica(t, e, store)) // and one that begins afterwards
	for _, c := range all {
		marked(t, e, c)
	}
	count := map[string]int{}
	for _, c := range feed(t, e.Client) {
		count[c.Type]++
	}
	want := map[string]int{watch.CreditsLow: 1, watch.CreditsExhausted: 1, watch.KeyRevoked: 7}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("events of %d replicas (-want +got):\n%s", len(all), diff)
	}
}

func TestKeysRevokedElsewhereAreReported(t *testing.T) {
	t.Parallel()
	store := watch.NewMemory()
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithWatches(store)}})
	var ids []string
	for range 2 { // before and after there is an endpoint
		_, k, err := e.Keys.CreateKey(t.Context(),
			keys.NewKey{Account: e.Key.Account, Name: "old", Environment: keys.Live})
		if err == nil {
			_, err = e.Keys.Revoke(t.Context(), k.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
		e.Clock.Advance(time.Hour)
		listen(t, e.Client)
	}
	got := awaitFeed(t, replica(t, e, store), 1)
	k, err := e.Keys.Key(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	compare(t, []schema.Change{{
		Type: watch.KeyRevoked, At: *k.RevokedAt, Key: &ids[1], Fields: []schema.FieldChange{},
		Detail: new(fmt.Sprintf("the key %q, which begins with %s, is revoked", k.Name, k.Prefix)),
	}}, got)
}

// TestAnEventIsReportedOnceDespiteFailedWrites lets writes of the record of reported changes fail at first.
func TestAnEventIsReportedOnceDespiteFailedWrites(t *testing.T) {
	t.Parallel()
	failing := &failingCredits{Store: records.NewMemory(records.MemoryConfig{})}
	failing.fails.Store(true)
	e := enginetest.New(t, enginetest.Config{Credits: 50, Records: failing})
	listen(t, e.Client)
	spend(t, e.Client, 45)
	marked(t, e, e.Client)
	spend(t, e.Client, 1)
	want := []schema.Change{ofCredits(watch.CreditsLow, "4", "the account has 4 credits, fewer than 5")}
	compare(t, want, marked(t, e, e.Client))
	spend(t, e.Client, 1)
	compare(t, want, marked(t, e, e.Client))
	failing.fails.Store(false)
	spend(t, e.Client, 1)
	compare(t, want, marked(t, e, e.Client))
}

// failingCredits are records whose writes of reported credits fail while fails is set.
type failingCredits struct {
	records.Store
	fails atomic.Bool
}

func (r *failingCredits) Put(ctx context.Context, rec records.Record, ttl time.Duration) (int64, error) {
	if r.fails.Load() && strings.HasPrefix(rec.Key, "credits/") {
		return 0, errors.New("no")
	}
	return r.Store.Put(ctx, rec, ttl)
}

// hangingFeed is a store whose Tell answers only when its context ends.
type hangingFeed struct {
	*watch.Memory
	entered chan struct{}
}

func (s *hangingFeed) Tell(ctx context.Context, _ string, _ []schema.Change) error {
	select {
	case s.entered <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestCallsDoNotWaitForEvents(t *testing.T) {
	t.Parallel()
	store := &hangingFeed{watch.NewMemory(), make(chan struct{}, 1)}
	e := enginetest.New(t, enginetest.Config{
		Credits: 20, Options: []socialdata.Option{socialdata.WithWatches(store)},
	})
	listen(t, e.Client)
	spend(t, e.Client, 19)
	<-store.entered // and hangs, for longer than this test takes
	spend(t, e.Client, 1)
	e.WantBalance(t, 0)
}

// unsteady is a provider of profiles that fails while fails is set.
func unsteady(fails *atomic.Bool) providers.Provider {
	return enginetest.Profiles(platform.GitHub, "github", schema.Own,
		func(_ context.Context, handle string) (schema.Profile, error) {
			if fails.Load() {
				return schema.Profile{}, providers.Unavailable(nil, "the upstream answered 500")
			}
			return enginetest.Profile(handle), nil
		})
}

// ask reads n profiles, and ignores their failures.
func ask(t *testing.T, c *socialdata.Client, n int) {
	t.Helper()
	for i := range n {
		_, _ = c.Profile(t.Context(), socialdata.ProfileRequest{
			Platform: platform.GitHub, Handle: fmt.Sprint("a", i), ReadOptions: socialdata.ReadOptions{Fresh: true},
		})
	}
}

func TestAPlatformIsDownAndUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fails, never atomic.Bool
		store := watch.NewMemory()
		cfg := enginetest.Config{
			Records: records.NewMemory(records.MemoryConfig{}), Providers: []providers.Provider{unsteady(&fails)},
			Options: []socialdata.Option{socialdata.WithClock(time.Now), socialdata.WithWatches(store)},
		}
		e := enginetest.New(t, cfg)
		cfg.Providers = []providers.Provider{unsteady(&never)}
		cfg.Options = append(cfg.Options, socialdata.WithKeys(e.Keys), socialdata.WithLedger(e.Ledger))
		other := enginetest.New(t, cfg)
		well := other.Open.As(e.Key)
		listen(t, e.Client, watch.PlatformDown, watch.PlatformUp)
		ask(t, e.Client, 1)
		ask(t, well, 1)
		wait := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			var got []string
			for _, c := range feed(t, well) {
				got = append(got, c.Type)
				if *c.Platform != string(platform.GitHub) || c.Monitor != nil || c.Detail == nil {
					t.Errorf("the event is %+v, want one of GitHub with a detail and no monitor", c)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("the feed (-want +got):\n%s", diff)
			}
		}
		const down, up = watch.PlatformDown, watch.PlatformUp
		fails.Store(true)
		wait(time.Minute)
		ask(t, e.Client, 8)
		wait(0, down)
		for range 3 { // it is tried again, and fails
			wait(25*time.Second, down)
			ask(t, e.Client, 3)
		}
		fails.Store(false)
		wait(25*time.Second, down)
		ask(t, e.Client, 1)
		wait(0, down, up)
		fails.Store(true)
		ask(t, e.Client, 8)
		wait(0, down, up, down)
		if err := e.Open.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait(time.Minute, down, up, down)
		wait(2*time.Minute, down, up, down, up) // the process has ended and renews nothing
	})
}
