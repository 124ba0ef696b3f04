package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

const onceKey = "order-0123456789"

// once makes a read of a GitHub profile with an idempotency key.
func once(ctx context.Context, c *socialdata.Client, key, handle string) (*operation.Answer, error) {
	req := enginetest.Call("handle", handle)
	req.Platform, req.IdempotencyKey = "github", key
	return socialdata.FrontEnd(c).Do(ctx, socialdata.Operation("profile"), req)
}

func TestARepetitionWithTheSameKeyIsFree(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(&calls)))
	first, err := once(t.Context(), e.Client, onceKey, "octocat")
	if err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(23 * time.Hour) // the cache has expired
	again, err := once(t.Context(), e.Client, onceKey, "octocat")
	if err != nil {
		t.Fatal(err)
	}
	if first.Replayed || !again.Replayed || string(first.Data) != string(again.Data) || calls.Count() != 1 {
		t.Errorf("replayed %t, %t after %d calls:\n%s\n%s", first.Replayed, again.Replayed, calls.Count(), first.Data,
			again.Data)
	}
	if again.Meta.CreditsUsed != 1 || again.Meta.CreditsRemaining != 999 || again.Meta.RequestID == first.Meta.RequestID ||
		again.TTL != 0 {
		t.Errorf("meta is %+v, good for %v; want 1 credit used, 999 left, an id of its own, no time", again.Meta, again.TTL)
	}
	if e.Clock.Advance(2 * time.Hour); e.Balance(t) != 999 {
		t.Errorf("%d credits are left, want 999", e.Balance(t))
	}
	if later, err := once(t.Context(), e.Client, onceKey, "octocat"); err != nil || later.Replayed ||
		later.Meta.CreditsUsed != 1 {
		t.Errorf("after a day: %+v, %v; want a new call for 1 credit", later, err)
	}
}

func TestAnIdempotencyKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	use := func(operation, path string, params ...string) error {
		req := enginetest.Call(params...)
		req.Platform, req.Path, req.IdempotencyKey = "mock", path, onceKey
		_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation(operation), req)
		return err
	}
	if err := use("raw", "users/salma", "x", "1"); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another path":       use("raw", "users/noura", "x", "1"),
		"other parameters":   use("raw", "users/salma", "x", "2"),
		"more parameters":    use("raw", "users/salma", "x", "1", "fresh", "true"),
		"another operation":  use("profile", "", "handle", "salma"),
		"the fan-out search": use("search_across", "", "query", "salma"),
		"an enrichment":      use("enrich", "", "text", "salma"),
	} {
		if enginetest.WantProblem(t, err, problem.InvalidRequest, "Idempotency-Key"); t.Failed() {
			t.Fatalf("%s: the key is not refused", name)
		}
	}
	if err := use("raw", "users/salma", "x", "1"); err != nil || e.Balance(t) != 999 {
		t.Errorf("got %v, %d credits are left; want 999", err, e.Balance(t))
	}
	other, _ := e.Account(t, "another", 10)
	req := enginetest.Call("handle", "salma")
	req.Platform, req.IdempotencyKey = "mock", onceKey
	if a, err := socialdata.FrontEnd(e.Client.As(other)).Do(t.Context(), socialdata.Operation("profile"), req); err != nil || a.Replayed {
		t.Errorf("another account's key: %+v, %v; want no replay", a, err)
	}
}

func TestAFailureLeavesNoRecord(t *testing.T) {
	t.Parallel()
	broken := true
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			if broken {
				return schema.Profile{}, providers.Unavailable(nil, "down")
			}
			return enginetest.Profile(handle), nil
		}))
	_, err := once(t.Context(), e.Client, onceKey, "octocat")
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	broken = false
	if a, err := once(t.Context(), e.Client, onceKey, "octocat"); err != nil || a.Replayed || a.Meta.CreditsUsed != 1 {
		t.Errorf("got %+v, %v; want a new call for 1 credit", a, err)
	}
	_, err = once(t.Context(), e.Client, "too short", "octocat")
	enginetest.WantProblem(t, err, problem.InvalidRequest, "16 to 128")
	_, err = once(t.Context(), e.Client, strings.Repeat("x", 129), "octocat")
	enginetest.WantProblem(t, err, problem.InvalidRequest, "16 to 128")
	_, err = once(t.Context(), e.Client, "with a space in the middle", "octocat")
	enginetest.WantProblem(t, err, problem.InvalidRequest, "visible")
}

func TestConcurrentFirstCallsAreChargedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		release := make(chan struct{})
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(_ context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				<-release
				return enginetest.Profile(handle), nil
			}))
		var wg sync.WaitGroup
		var mu sync.Mutex
		replayed := map[bool]int{}
		for range 20 {
			wg.Go(func() {
				a, err := once(t.Context(), e.Client, onceKey, "octocat")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				replayed[a.Replayed]++
			})
		}
		time.AfterFunc(time.Second, func() { close(release) })
		wg.Wait()
		if diff := cmp.Diff(map[bool]int{false: 1, true: 19}, replayed); diff != "" {
			t.Errorf("replayed (-want +got):\n%s", diff)
		}
		if calls.Count() != 1 || e.Balance(t) != 999 {
			t.Errorf("%d calls, %d credits left; want 1, 999", calls.Count(), e.Balance(t))
		}
	})
}

func TestARepeatedFanOutIsFree(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 3)...)),
		enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 3)...)))
	req := enginetest.Call("query", "coffee")
	req.IdempotencyKey = onceKey
	first, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"), req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"), req)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Data) != string(again.Data) || !again.Replayed || e.Balance(t) != 998 {
		t.Errorf("replayed %t, %d credits are left; want a replay, 998", again.Replayed, e.Balance(t))
	}
}

func TestTheLedgerDoesNotContainTheRequest(t *testing.T) {
	t.Parallel()
	store := records.NewMemory(records.MemoryConfig{})
	kept := map[string]string{} // the ledger's idempotency key of each request
	for _, handle := range []string{"octocat", "private-person", "octocat"} {
		e := enginetest.New(t, enginetest.Config{Records: store, Providers: []providers.Provider{
			enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(new(enginetest.Counter))),
		}})
		key := onceKey + handle
		if _, err := once(t.Context(), e.Client, key, handle); err != nil {
			t.Fatal(err)
		}
		// So that the call is repeated.
		if err := store.Delete(t.Context(), calls.RecordKey(calls.KeyedID(e.Key.Account, key)), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := once(t.Context(), e.Client, key, handle); err != nil || e.Balance(t) != 999 {
			t.Errorf("the call, made again without its record, leaves %d credits, %v", e.Balance(t), err)
		}
		entries, err := e.Ledger.Entries(t.Context(), credits.Query{Account: e.Key.Account, Limit: 1})
		if err != nil || len(entries) != 1 {
			t.Fatalf("entries %+v, %v; want one", entries, err)
		}
		name := entries[0].IdempotencyKey
		request := sha256.Sum256([]byte("profile|github|?handle=" + handle))
		for _, plain := range []string{key, handle, hex.EncodeToString(request[:])} {
			if strings.Contains(fmt.Sprint(entries[0]), plain) {
				t.Errorf("the entry holds %q: %+v", plain, entries[0])
			}
		}
		if before, ok := kept[handle]; ok && before != name {
			t.Errorf("another engine over the same records knows the call as %q, and not as %q", name, before)
		}
		kept[handle] = name
	}
	if kept["octocat"] == kept["private-person"] {
		t.Error("two requests are one in the books")
	}
}
