package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// race lets callers on every replica hold and charge from one account until it is empty, and checks that the ledger has
// exactly the charges that were reported to the callers. It counts in done the calls of the ledger that have returned.
func race(t *testing.T, replicas []*DB, balance int64, done *atomic.Int64) {
	t.Helper()
	var charged, refused atomic.Int64
	var callers sync.WaitGroup
	for i := range 8 * len(replicas) {
		l := replicas[i%len(replicas)].Ledger()
		who := credits.Spender{Account: "acct", Key: "key", TotalCap: new(balance - 7)}
		callers.Go(func() {
			for call := range 1000 {
				holds, err := l.Reserve(t.Context(), who, time.Hour, 3, 2)
				done.Add(1)
				if errors.Is(err, credits.ErrInsufficient) {
					refused.Add(1)
					return
				}
				if err != nil {
					t.Errorf("Reserve: %v", err)
					return
				}
				id := fmt.Sprintf("req_%d_%d", i, call)
				for j, n := range []int64{int64(1 + call%3), 0} {
					r, err := l.Settle(t.Context(), holds[j], credits.Charge{Amount: n, RequestID: id, Late: n > 0})
					done.Add(1)
					if err != nil || r.Charged != n {
						t.Errorf("Settle(%d) = %+v, %v; want as many charged", n, r, err)
						return
					}
					charged.Add(n)
				}
			}
		})
	}
	callers.Wait()
	for _, db := range replicas {
		if got, err := db.Ledger().Balance(t.Context(), "acct"); err != nil || got != balance-charged.Load() {
			t.Errorf("Balance = %d, %v; want %d less %d charged", got, err, balance, charged.Load())
		}
	}
	if refused.Load() == 0 {
		t.Error("no call was refused; want the account to be empty in the end")
	}
	wantAudit(t, replicas[0])
}

func wantAudit(t *testing.T, db *DB) {
	t.Helper()
	if err := auditOf(t.Context(), db); err != nil {
		t.Errorf("audit: %v", err)
	}
}

func TestTwoReplicasNeverSpendMoreThanThereIs(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "acct", 500)
	race(t, replicas, 500, new(atomic.Int64))
}

// TestSerializableTransactionsAreRepeated runs the race with transactions that PostgreSQL ends with 40001 whenever two
// of them conflict, like distributed databases that are compatible with it.
func TestSerializableTransactionsAreRepeated(t *testing.T) {
	t.Parallel()
	failed := &failures{}
	for range 20 { // two transactions may not meet in one race
		cfg := withParam(newSchema(t), "default_transaction_isolation=serializable")
		cfg.Tracer = failed
		replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
		addAccount(t, replicas[0], "acct", 100)
		race(t, replicas, 100, new(atomic.Int64))
		if failed.with(serializationFailure) > 0 {
			return
		}
	}
	t.Error("no transaction failed: nothing was repeated")
}

// Error codes of conflicts and of limits.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	statementTimeout     = "57014"
)

// failures counts the statements of batches that fail in the database, by code.
type failures struct {
	mu    sync.Mutex
	codes map[string]int
}

func (f *failures) with(code string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.codes[code]
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (f *failures) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if e, ok := errors.AsType[*pgconn.PgError](data.Err); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.codes == nil {
			f.codes = map[string]int{}
		}
		f.codes[e.Code]++
	}
}

// TraceBatchStart implements [pgx.BatchTracer].
func (*failures) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*failures) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart implements [pgx.QueryTracer].
func (*failures) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*failures) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// interfere begins a transaction that locks an account's row.
func interfere(t *testing.T, db *DB, account string) (tx pgx.Tx, awaited func()) {
	t.Helper()
	return begin(t, db, "UPDATE @accounts SET at = at WHERE id = $1", account)
}

// begin begins a transaction with a statement, and returns it and a function that waits until another transaction waits
// for it.
func begin(t *testing.T, db *DB, query string, args ...any) (tx pgx.Tx, awaited func()) {
	t.Helper()
	tx, err := db.runner.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if _, err := tx.Exec(t.Context(), db.sql(query), args...); err != nil {
		t.Fatal(err)
	}
	return tx, func() {
		t.Helper()
		await.Until(t, "a transaction to wait", func() bool {
			var n int
			err := db.runner.pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "+
				"AND query LIKE '%' || $1 || '%'", db.schema).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n > 0
		})
	}
}

func TestSerializationFailuresAreRepeated(t *testing.T) {
	t.Parallel()
	failed := &failures{}
	cfg := withParam(newSchema(t), "default_transaction_isolation=repeatable%20read")
	cfg.Tracer = failed
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 10)
	tx, awaited := interfere(t, db, "acct")
	done := make(chan error, 1)
	go func() {
		_, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 4)
		done <- err
	}()
	awaited()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Reserve: %v", err)
	}
	if failed.with(serializationFailure) == 0 {
		t.Error("no transaction failed to serialize, so nothing was repeated")
	}
	wantBalance(t, db, 6)
}

// TestBrokenConnectionsLoseAndRepeatNothing breaks connections at random moments of the race, also during commits, so
// that their results are unknown. Between two breaks a call returns: on a busy machine, connections would otherwise
// break faster than they are made.
func TestBrokenConnectionsLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	cfg := withParam(newSchema(t), "application_name=broken")
	cfg.DSN += credits.NewID("")
	cfg.Patience = time.Minute
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "acct", 600)
	name := replicas[0].runner.pool.Config().ConnConfig.RuntimeParams["application_name"]
	ctx, stop := context.WithCancel(t.Context())
	var breaker sync.WaitGroup
	var done atomic.Int64
	broken := 0
	breaker.Go(func() {
		c, err := pgx.Connect(ctx, newSchema(t).DSN)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close(context.Background()) //nolint:errcheck // only a test's own
		for ctx.Err() == nil {
			var n int
			err := c.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity "+
				"WHERE application_name = $1 AND state <> 'idle' ORDER BY random() LIMIT 1) AS one", name).Scan(&n)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			broken += n
			for before := done.Load(); done.Load() == before && ctx.Err() == nil; {
				time.Sleep(time.Millisecond)
			}
		}
	})
	race(t, replicas, 600, &done)
	stop()
	breaker.Wait()
	if broken == 0 {
		t.Error("no connection was broken")
	}
	t.Logf("%d connections were broken", broken)
}

func TestReplicasThatStartAtOnceMakeOneSchema(t *testing.T) {
	t.Parallel()
	for _, noLock := range []bool{false, true} {
		cfg := newSchema(t)
		cfg.NoAdvisoryLock = noLock
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				db, err := Open(t.Context(), cfg)
				if err != nil {
					t.Errorf("without the lock %t: %v", noLock, err)
					return
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}

func TestAClosedReplicaLeavesItsHoldsToTheOthers(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 10)
	who := credits.Spender{Account: "acct"}
	holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 4}); !errors.Is(err, sqlstore.ErrClosed) {
		t.Errorf("Settle = %v; want ErrClosed", err)
	}
	// Another replica can see and settle the hold.
	other := openDB(t, cfg)
	wantBalance(t, other, 6)
	r, err := other.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 3})
	if err != nil || r != (credits.Receipt{Balance: 7, Charged: 3}) {
		t.Errorf("Settle = %+v, %v; want 3 charged and a balance of 7", r, err)
	}
}

// TestAnAuditBesideReplicasFindsNothing audits while callers on two replicas charge and open accounts.
func TestAnAuditBesideReplicasFindsNothing(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "acct", 1_000_000)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	var made atomic.Int64
	for i := range 8 {
		db := replicas[i%2]
		callers.Go(func() {
			who := credits.Spender{Account: "acct", Key: "key", TotalCap: new(int64(1_000_000))}
			for ctx.Err() == nil {
				a, err := db.Keys().OpenAccount(t.Context(), fmt.Sprint("shop ", made.Add(1)), 10, "to start with")
				if err == nil {
					_, _, err = db.Keys().CreateKey(t.Context(),
						keys.NewKey{Account: a.ID, Environment: keys.Live, DayCap: new(int64(9))})
				}
				for _, who := range []credits.Spender{who, {Account: a.ID}} {
					var holds []credits.Hold
					if err == nil {
						holds, err = db.Ledger().Reserve(t.Context(), who, time.Hour, 3)
					}
					if err == nil {
						_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 2})
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 0; n < 20 || made.Load() < 100 && !t.Failed(); n++ {
		wantAudit(t, replicas[0])
	}
	stop()
	callers.Wait()
	wantAudit(t, replicas[1])
}

func TestDeadlocksAreRepeated(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	other := openDB(t, withParam(cfg, "deadlock_timeout=1h"))
	failed := &failures{}
	cfg.Tracer = failed
	// PostgreSQL checks for a deadlock once, this long after a transaction began to wait, and ends that transaction.
	db := openDB(t, withParam(cfg, "deadlock_timeout=2s"))
	db.runner.patience = time.Minute // on a slow machine it may check before there is one, and only a time-out ends the wait
	addAccount(t, db, "first", 10)
	addAccount(t, db, "second", 10)
	tx, awaited := interfere(t, other, "second")
	done := make(chan error, 1)
	go func() {
		done <- db.runner.Write(t.Context(), func(tx sqlstore.Tx) error {
			for _, account := range []string{"first", "second"} {
				if err := tx.Query([]any{new(string)}, nil, db.sql("UPDATE @accounts SET at = at WHERE id = $1 RETURNING id"), account); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	awaited() // it has locked the first account, and waits for the second
	if _, err := tx.Exec(t.Context(), other.sql("UPDATE @accounts SET at = at WHERE id = 'first'")); err != nil {
		t.Fatal(err) // this one waits longer, and continues when the other has failed
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Write: %v", err)
	}
	if failed.with(deadlockDetected) == 0 {
		t.Error("there was no deadlock, so nothing was repeated")
	}
}

// TestADamagedLedgerDoesNotBlockOtherAccounts adds an entry after the last one that an account's row has, as after a
// partial restore of a backup, and lets calls of both accounts share transactions.
func TestADamagedLedgerDoesNotBlockOtherAccounts(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	addAccount(t, db, "damaged", 100)
	script(t, db, "INSERT INTO @entries SELECT account, seq + 1, kind, amount, balance, key, operation, platform, request_id, "+
		"cache, reason, hold, idempotency_key, at, clock, hash FROM @entries "+
		"WHERE account = (SELECT no FROM @accounts WHERE id = 'damaged')")
	var callers sync.WaitGroup
	for i := range 20 {
		account := []string{"damaged", "acct"}[i%2]
		callers.Go(func() {
			// Without a platform, like the entry that is there already.
			_, err := db.Ledger().Charge(t.Context(), credits.Spender{Account: account}, credits.Charge{Amount: 4})
			if isCode(err, uniqueViolation) != (account == "damaged") || err != nil && account == "acct" {
				t.Errorf("a charge of the account %s: %v; want only that of the damaged one to fail", account, err)
			}
		})
	}
	callers.Wait()
	wantBalance(t, db, 60)
}
