package engine_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
)

// slowLedger answers its n-th call only when the call's context ends.
type slowLedger struct {
	credits.Ledger
	reserve, settle bool
}

func (l *slowLedger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	if l.reserve {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.Ledger.Reserve(ctx, who, ttl, amounts...)
}

func (l *slowLedger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if l.settle && c.Amount > 0 {
		<-ctx.Done()
		return credits.Receipt{}, ctx.Err()
	}
	return l.Ledger.Settle(ctx, h, c)
}

type slowRecords struct{ records.Store }

func (slowRecords) Add(ctx context.Context, _ records.Record, _ time.Duration) (records.Record, bool, error) {
	<-ctx.Done()
	return records.Record{}, false, ctx.Err()
}

// TestAStoreThatHangsDoesNotBlockCallersForLong checks that the caller gets an answer that does not blame the caller,
// and pays nothing.
func TestAStoreThatHangsDoesNotBlockCallersForLong(t *testing.T) {
	t.Parallel()
	all := socialdata.Operations()
	profile := all[slices.IndexFunc(all, func(o *operation.Operation) bool { return o.Name == "profile" })]
	for name, hang := range map[string]func(*slowLedger) records.Store{
		"reserve": func(l *slowLedger) records.Store { l.reserve = true; return nil },
		"settle":  func(l *slowLedger) records.Store { l.settle = true; return nil },
		"records": func(*slowLedger) records.Store { return slowRecords{records.NewMemory(records.MemoryConfig{})} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := &slowLedger{}
				e := enginetest.New(t,
					enginetest.Config{Records: hang(slow), Options: []socialdata.Option{socialdata.WithLedger(slow)}})
				slow.Ledger = e.Ledger
				began := time.Now()
				_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), profile, operation.Call{
					Platform: "mock", Params: url.Values{"handle": {"ann"}}, IdempotencyKey: "0123456789abcdef", RequestID: "req_1",
				})
				enginetest.WantProblem(t, err, problem.PlatformUnavailable, "")
				if p, ok := errors.AsType[*problem.Error](err); !ok || p.RetryAfter != 2*time.Second {
					t.Errorf("got %+v, want a problem to retry after 2s", err)
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("answered after %v, want at most 15s", took)
				}
				time.Sleep(time.Second) // what is held is released
				e.WantBalance(t, 1000)
			})
		})
	}
}
