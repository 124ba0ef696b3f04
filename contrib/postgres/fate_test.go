package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/faultnet"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// losing loses the answers to some commits, and some commits.
type losing struct {
	failures
	proxy   *faultnet.Proxy
	mu      sync.Mutex
	commits int
	answers int // lost
	lost    int
}

// TraceBatchStart implements [pgx.BatchTracer].
func (l *losing) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if queries := data.Batch.QueuedQueries; queries[len(queries)-1].SQL != "COMMIT" {
		return ctx
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.commits++; l.commits % 7 {
	case 0:
		l.answers++
		l.proxy.LoseAnswers(true)
		time.AfterFunc(15*time.Millisecond, func() {
			l.proxy.Cut()
			l.proxy.LoseAnswers(false)
		})
	case 3:
		l.lost++
		l.proxy.Cut()
	}
	return ctx
}

// openLosing opens two replicas, the second with a tracer that loses commits.
func openLosing(t *testing.T) (direct, lossy *DB, tracer *losing) {
	t.Helper()
	cfg := newSchema(t)
	direct, tracer = openDB(t, cfg), &losing{}
	cfg, tracer.proxy = throughProxy(t, cfg)
	cfg.Tracer = tracer
	return direct, openDB(t, cfg), tracer
}

// TestLostCommitsAreReportedCorrectly compares what was reported to callers with what is written, after commits and
// answers to commits that were lost.
func TestLostCommitsAreReportedCorrectly(t *testing.T) {
	t.Parallel()
	direct, replica, tracer := openLosing(t)
	addAccount(t, direct, "acct", 1_000_000)
	var mu sync.Mutex
	reported := map[string]int64{}
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := range 40 {
				id := fmt.Sprint("req_", caller, "_", i)
				_, err := replica.Ledger().
					Charge(t.Context(), credits.Spender{Account: "acct"}, credits.Charge{Amount: 1, RequestID: id})
				charged := int64(1)
				if errors.Is(err, sqlstore.ErrNotWritten) {
					charged = 0
				} else if err != nil {
					t.Errorf("%s: %v", id, err)
				}
				mu.Lock()
				reported[id] = charged
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	for id, want := range reported {
		entries, err := direct.Ledger().Entries(t.Context(), credits.Query{Account: "acct", RequestID: id})
		if err != nil || int64(len(entries)) != want {
			t.Errorf("%s has %d entries, %v; %d were reported", id, len(entries), err, want)
		}
	}
	if tracer.answers == 0 || tracer.lost == 0 {
		t.Errorf("of %d commits %d answers and %d commits were lost; want some of both", tracer.commits, tracer.answers, tracer.lost)
	}
	wantAudit(t, direct)
}

// TestAccountsOfLostCommitsAreMadeOnce loses the commit of an account, or its answer.
func TestAccountsOfLostCommitsAreMadeOnce(t *testing.T) {
	t.Parallel()
	direct, db, _ := openLosing(t)
	for i := range 14 {
		name := fmt.Sprint("shop ", i)
		a, err := db.Keys().OpenAccount(t.Context(), name, 5, "")
		stored, found := direct.Keys().Account(t.Context(), name)
		switch {
		case err == nil && (found != nil || stored.ID != a.ID):
			t.Errorf("%s was made as %s, and there is %+v, %v", name, a.ID, stored, found)
		case err != nil && (!errors.Is(err, sqlstore.ErrNotWritten) || !errors.Is(found, keys.ErrAbsent)):
			t.Errorf("%s was not made: %v; there is %+v, %v", name, err, stored, found)
		}
	}
	wantAudit(t, direct)
}
