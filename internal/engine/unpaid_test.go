package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// unpaidEngine returns an engine in which handles that begin with "no" do not exist, and counts upstream calls.
func unpaidEngine(t *testing.T, credits int64) (*enginetest.Engine, *enginetest.Counter) {
	t.Helper()
	calls := &enginetest.Counter{}
	github := enginetest.Profiles(platform.GitHub, "github", schema.Own,
		func(_ context.Context, handle string) (schema.Profile, error) {
			calls.Add()
			if strings.HasPrefix(handle, "no") {
				return schema.Profile{}, providers.ErrNotFound
			}
			return enginetest.Profile(handle), nil
		})
	github.Search = func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
		calls.Add()
		return providers.Page[schema.SearchResult]{}, providers.Invalid("no")
	}
	return enginetest.New(t, enginetest.Config{
		Credits: credits, Providers: append(mock.New(mock.Config{}), github),
	}), calls
}

func profileOf(handle string) socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle}
}

// TestUnpaidCallsAreLimited checks that only an account that reads a thousand things that do not exist is refused,
// until it pays for some or time has passed (D97).
func TestUnpaidCallsAreLimited(t *testing.T) {
	t.Parallel()
	e, calls := unpaidEngine(t, 1000)
	ctx := t.Context()
	if _, err := e.Client.Profile(ctx, profileOf("octocat")); err != nil { // the bucket is full, and does not overflow
		t.Fatal(err)
	}
	for i := range 1000 {
		_, err := e.Client.Profile(ctx, profileOf(fmt.Sprint("no", i)))
		enginetest.WantProblem(t, err, problem.NotFound)
		_, err = e.Client.Profile(ctx, profileOf(fmt.Sprint("no", i))) // cached, so it takes none
		enginetest.WantProblem(t, err, problem.NotFound)
	}
	reached := calls.Count()
	if reached != 1001 {
		t.Fatalf("%d calls reached the upstream, want 1001", reached)
	}
	key, _ := e.Account(t, "other", 1)
	other := e.Open.As(key)
	refused := func(what string, err error) {
		t.Helper()
		if p := enginetest.WantProblem(t, err, problem.RateLimited, "were not charged"); p.RetryAfter <= 0 ||
			p.RetryAfter > 4*time.Second {
			t.Errorf("%s: retry after %v, want at most 4s", what, p.RetryAfter)
		}
	}
	balance := e.Balance(t)
	_, err := e.Client.Profile(ctx, profileOf(""))
	enginetest.WantProblem(t, err, problem.InvalidRequest) // the checks of D1 come first
	_, err = e.Client.Profile(ctx, profileOf("hubot"))
	refused("a read", err)
	_, err = e.Client.SearchAcross(ctx,
		socialdata.SearchAcrossRequest{Query: "cats", Platforms: []platform.ID{platform.GitHub}})
	refused("a search", err)
	if calls.Count() != reached || e.Balance(t) != balance {
		t.Errorf("%d calls went on, and the balance is %d, want %d", calls.Count()-reached, e.Balance(t), balance)
	}
	if _, err := other.Profile(ctx, profileOf("hubot")); err != nil {
		t.Errorf("another account: %v", err)
	}
	_, err = other.Profile(ctx, profileOf("monalisa"))
	enginetest.WantProblem(t, err, problem.InsufficientCredits)
	if _, err := e.Client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}); err != nil {
		t.Errorf("the sandbox: %v", err)
	}
	if _, err := e.Client.Profile(ctx, profileOf("octocat")); err != nil { // a hit is charged and gives one back
		t.Errorf("what the cache can answer: %v", err)
	}
	if _, err := e.Client.Profile(ctx, profileOf("mojombo")); err != nil {
		t.Errorf("after a call that was charged: %v", err)
	}
	e.Clock.Advance(time.Hour)
	reached = calls.Count()
	for i := range 1001 {
		_, err = e.Client.Profile(ctx, profileOf(fmt.Sprint("nor", i)))
	}
	refused("after an hour and a thousand calls", err)
	if n := calls.Count() - reached; n != 1000 {
		t.Errorf("%d calls reached the upstream in the next hour, want 1000", n)
	}
}

// TestUnpaidCallsAtTheSameTimeAreCounted checks that a call in progress takes an unpaid call until its result is known.
func TestUnpaidCallsAtTheSameTimeAreCounted(t *testing.T) {
	t.Parallel()
	e, calls := unpaidEngine(t, 1000)
	const at = 1200
	var all sync.WaitGroup
	for i := range at {
		all.Go(func() { _, _ = e.Client.Profile(t.Context(), profileOf(fmt.Sprint("no", i))) })
	}
	all.Wait()
	if n := calls.Count(); n != 1000 {
		t.Errorf("%d calls reached the upstream, want 1000", n)
	}
}

// TestUnpaidCallsOfOneAccountDoNotAffectOthers checks that a call that joins the read of an account without unpaid
// calls makes a read of its own, so that no other account is kept from the upstream.
func TestUnpaidCallsOfOneAccountDoNotAffectOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads enginetest.Counter
		var first string // the account without unpaid calls
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Own,
				func(ctx context.Context, handle string) (schema.Profile, error) {
					reads.Add()
					time.Sleep(time.Second)
					if callctx.Of(ctx).Caller.Account == first {
						return schema.Profile{}, &providers.Error{
							Kind: providers.ErrUnavailable, RetryAfter: time.Hour, Blame: providers.BlameNone, Err: providers.ErrShare,
						}
					}
					return enginetest.Profile(handle), nil
				})},
		})
		first = e.Key.Account
		key, _ := e.Account(t, "other", 10)
		done := make(chan error, 1)
		go func() {
			_, err := e.Client.Profile(t.Context(), profileOf("octocat"))
			done <- err
		}()
		synctest.Wait() // it reads
		if _, err := e.Open.As(key).Profile(t.Context(), profileOf("octocat")); err != nil {
			t.Errorf("the call that joined: %v", err)
		}
		if p := enginetest.WantProblem(t, <-done, problem.PlatformUnavailable); p.RetryAfter != time.Hour {
			t.Errorf("the call without unpaid calls left: retry after %v, want 1h", p.RetryAfter)
		}
		if reads.Count() != 2 {
			t.Errorf("%d reads, want one of each", reads.Count())
		}
		if _, err := e.Open.As(key).Profile(t.Context(), profileOf("hubot")); err != nil {
			t.Errorf("the upstream is blocked for all accounts: %v", err)
		}
	})
}

// TestAJoinedReadCountsForEachCallersAccount checks that a joined read counts in parts for the accounts of its callers,
// and continues without the keys of an account that has used its share (D98).
func TestAJoinedReadCountsForEachCallersAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &enginetest.Batched{Most: 100, Answers: time.Second}
		p := source.Provider(platform.X, "x")
		many := p.Batches.Profile.Read
		var mu sync.Mutex
		var made []map[string]int // the number of keys by account, of each request
		greedy := ""              // the account that has used its share
		p.Batches.Profile.Read = func(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
			caller := callctx.Of(ctx).Caller
			keys := caller.Keys
			if keys == nil {
				keys = map[string]int{caller.Account: len(handles)}
			}
			mu.Lock()
			made = append(made, keys)
			mu.Unlock()
			if keys[greedy] > 0 {
				return nil, &providers.Error{
					Kind: providers.ErrUnavailable, RetryAfter: time.Hour, Blame: providers.BlameNone,
					Err: &providers.ShareError{Account: greedy},
				}
			}
			return many(ctx, handles)
		}
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)}, Providers: []providers.Provider{p},
		})
		other, _ := e.Account(t, "other", 1000)
		clients := map[string]*socialdata.Client{e.Key.Account: e.Client, other.Account: e.Open.As(other)}
		round := func(name string) map[string]int { // the answered calls by account
			answered := map[string]int{}
			var all sync.WaitGroup
			all.Go(func() { // occupies the lane
				_, _ = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.X, Handle: name})
			})
			synctest.Wait()
			for account, client := range clients {
				for i := range 20 {
					if account == e.Key.Account && i >= 15 {
						continue
					}
					all.Go(func() {
						handle := fmt.Sprint(name, account, i)
						_, err := client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.X, Handle: handle})
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							answered[account]++
						} else {
							enginetest.WantProblem(t, err, problem.PlatformUnavailable)
						}
					})
				}
			}
			all.Wait()
			return answered
		}
		mine, others := e.Key.Account, other.Account
		if got := round("a"); got[mine] != 15 || got[others] != 20 {
			t.Errorf("answered %v; want 15 of mine, 20 of others", got)
		}
		if diff := cmp.Diff([]map[string]int{{mine: 15, others: 20}}, made); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		made, greedy = nil, mine // fewer keys than the other, so that the request is not made for this account
		if got := round("b"); got[mine] != 0 || got[others] != 20 {
			t.Errorf("answered %v; want 0 of mine, 20 of others", got)
		}
		if diff := cmp.Diff([]map[string]int{{mine: 15, others: 20}, {others: 20}}, made); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
