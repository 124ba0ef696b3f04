package engine_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// lateSource answers shortly before the end of a call's time, so that the charge comes after it.
func lateSource() providers.Provider {
	wait := func(ctx context.Context) error {
		select {
		case <-time.After(14500 * time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p := enginetest.Profiles(platform.X, "x", schema.Own, func(ctx context.Context, handle string) (schema.Profile, error) {
		return enginetest.Profile(handle), wait(ctx)
	})
	p.Search = func(ctx context.Context, _ providers.SearchQuery, _ string) (providers.Page[schema.SearchResult], error) {
		return providers.Page[schema.SearchResult]{Items: enginetest.Some("x", 2)}, wait(ctx)
	}
	return p
}

// TestStoresThatHangDoNotDelayAnAnswer makes every store call, from each one of a call on, take almost as long as it
// may, or hang. The answer comes in time, and what is reported is what is charged.
func TestStoresThatHangDoNotDelayAnAnswer(t *testing.T) {
	t.Parallel()
	calls := map[string]operation.Call{
		"profile":       {Platform: "x", Params: url.Values{"handle": {"ann"}}},
		"profile/batch": {Platform: "x", Params: url.Values{"handles": {"ann,bob,carl"}}},
		"search_across": {Params: url.Values{"query": {"tea"}, "platforms": {"x,tiktok"}, "wait_s": {"25"}}},
	}
	for name, call := range calls {
		for _, hangs := range []time.Duration{1900 * time.Millisecond, time.Hour} {
			for _, key := range []string{"", "0123456789abcdef"} {
				t.Run(fmt.Sprint(name, hangs, key != ""), func(t *testing.T) {
					t.Parallel()
					call := call
					call.IdempotencyKey = key
					for from := range 16 {
						synctest.Test(t, func(t *testing.T) { playOvertime(t, name, call, from+1, hangs) })
					}
				})
			}
		}
	}
}

// TestTheTimeThatACallerAsksToWaitDoesNotCount waits for changes for longer than a call may take: the balance is read
// after that.
func TestTheTimeThatACallerAsksToWaitDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		began := time.Now()
		got, err := e.Client.Changes(t.Context(), socialdata.ChangesRequest{Wait: 25 * time.Second})
		if err != nil || got.Meta.CreditsRemaining != 1000 || time.Since(began) != 25*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), got, err)
		}
	})
}

// TestAStreamMayLastLongerThanACall follows changes while the key is looked up again and again.
func TestAStreamMayLastLongerThanACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		beats := 0
		err := e.Client.Stream(t.Context(), socialdata.Operation("changes"), operation.Call{}, func(operation.Event) bool {
			beats++
			return beats < 5
		})
		if err != nil || beats != 5 {
			t.Errorf("%d events came, and the stream ended with %v", beats, err)
		}
	})
}

// playOvertime makes a call while the stores hang, from one of their calls on, and compares what is reported with what
// is charged when they respond again. A call with a key is repeated until it is answered.
func playOvertime(t *testing.T, name string, call operation.Call, from int, hangs time.Duration) {
	t.Helper()
	ledger := credits.NewMemory(credits.MemoryConfig{})
	if _, err := ledger.Grant(t.Context(), "account", 1000, "for a test"); err != nil {
		t.Fatal(err)
	}
	m := enginetest.NewMachine(enginetest.Process{})
	for n := range 30 {
		m.Faults = append(m.Faults, enginetest.Fault{Call: from + n, Hangs: hangs})
	}
	tiktok := enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...))
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{lateSource(), tiktok}),
		socialdata.WithLedger(m.Ledger(ledger, false)),
		socialdata.WithRecords(m.Records(records.NewMemory(records.MemoryConfig{}))))
	if err != nil {
		t.Fatal(err)
	}
	m.Client = client.As(keys.Key{ID: "key", Account: "account"})
	a, err, _ := m.Do(t.Context(), name, call)
	for try := 0; err != nil && call.IdempotencyKey != "" && try < 200; try++ {
		time.Sleep(time.Second)
		a, err, _ = m.Do(t.Context(), name, call)
	}
	reported := int64(0)
	for try := 0; a != nil && try < 200; try++ {
		if err == nil {
			reported += a.Meta.CreditsUsed
			call = operation.Call{Params: url.Values{"id": {a.Meta.JobID}}}
		}
		if a.Meta.JobID == "" {
			break
		}
		time.Sleep(time.Second)
		next, failed, _ := m.Do(t.Context(), "job", call)
		if err = failed; err == nil {
			a = next
		}
	}
	time.Sleep(10 * time.Minute) // refunds are made, and holds have expired
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if left, err := ledger.Balance(t.Context(), "account"); err != nil || left != 1000-reported {
		t.Errorf("%s, hanging from call %d for %v: %d credits are left (%v), and %d were reported",
			name, from, hangs, left, err, reported)
	}
}
