package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
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
						t.Errorf("Settle(%d) = %+v, %v", n, r, err)
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
		t.Error("no call was refused: the test shows nothing")
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

// TestAnAccountHasTheSameLaneOnEveryReplica checks that an account has the same lane on all replicas, so that lanes do
// not wait for all lanes of another replica.
func TestAnAccountHasTheSameLaneOnEveryReplica(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.Lanes = 4
	one, other := openDB(t, cfg).Ledger(), openDB(t, cfg).Ledger()
	used := map[int]bool{}
	for i := range 100 {
		account := keys.NewID("acct")
		lane := slices.Index(one.lanes, one.lane(account))
		if got := slices.Index(other.lanes, other.lane(account)); got != lane {
			t.Fatalf("account %d has lane %d and, on the other replica, %d", i, lane, got)
		}
		used[lane] = true
	}
	if len(used) != cfg.Lanes {
		t.Errorf("%d lanes are used; want all %d", len(used), cfg.Lanes)
	}
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

// withParam returns cfg with one more parameter in its DSN, which must be a URL.
func withParam(cfg Config, param string) Config {
	separator := "?"
	for _, c := range cfg.DSN {
		if c == '?' {
			separator = "&"
		}
	}
	cfg.DSN += separator + param
	return cfg
}

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
	return begin(t, db, "UPDATE @accounts SET first = first WHERE id = $1", account)
}

// begin begins a transaction with a statement, and returns it and a function that waits until another transaction waits
// for it.
func begin(t *testing.T, db *DB, query string, args ...any) (tx pgx.Tx, awaited func()) {
	t.Helper()
	tx, err := db.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if _, err := tx.Exec(t.Context(), db.sql(query), args...); err != nil {
		t.Fatal(err)
	}
	return tx, func() {
		t.Helper()
		for {
			var n int
			err := db.pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "+
				"AND query LIKE '%' || $1 || '%'", db.cfg.Schema).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestASerializationFailureIsRepeatedUnnoticed(t *testing.T) {
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
		t.Error("nothing was provoked")
	}
	wantBalance(t, db, 6)
}

func TestADeadlockIsRepeatedUnnoticed(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	other := openDB(t, withParam(cfg, "deadlock_timeout=1h"))
	failed := &failures{}
	cfg.Tracer = failed
	// PostgreSQL checks for a deadlock once, this long after a transaction began to wait, and ends that transaction.
	db := openDB(t, withParam(cfg, "deadlock_timeout=2s"))
	addAccount(t, db, "first", 10)
	addAccount(t, db, "second", 10)
	tx, awaited := interfere(t, other, "second")
	var ops []op
	for _, account := range []string{"first", "second"} {
		s := &reservation{who: credits.Spender{Account: account}, ttl: time.Hour, sum: 4, holds: []credits.Hold{
			{ID: "hold of " + account, Spender: credits.Spender{Account: account}, Amount: 4},
		}}
		s.done = make(chan struct{})
		ops = append(ops, s)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		commitNow(db, false, ops...)
	}()
	awaited() // it has locked the first account, and waits for the second
	if _, err := tx.Exec(t.Context(), other.sql("UPDATE @accounts SET first = first WHERE id = 'first'")); err != nil {
		t.Fatal(err) // this one waits longer, and continues when the other has failed
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-done
	for _, o := range ops {
		if err := o.(*reservation).err; err != nil {
			t.Errorf("Reserve: %v", err)
		}
	}
	if failed.with(deadlockDetected) == 0 {
		t.Error("nothing was provoked")
	}
	wantAudit(t, db)
}

// TestACallThatTheDatabaseRefusesFailsAlone puts a key that the database cannot store among calls that share its
// transaction.
func TestACallThatTheDatabaseRefusesFailsAlone(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	var ops []op
	for _, key := range []string{"key_1", "nul\x00", "key_2"} {
		r := &reservation{
			who: credits.Spender{Account: "acct", Key: key}, ttl: time.Hour, sum: 4,
			holds: []credits.Hold{{ID: "hold of " + key, Spender: credits.Spender{Account: "acct", Key: key}, Amount: 4}},
		}
		r.done = make(chan struct{})
		ops = append(ops, r)
	}
	commitNow(db, false, ops...)
	for i, o := range ops {
		if err := o.(*reservation).err; (err != nil) != (i == 1) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	wantBalance(t, db, 92)
	wantAudit(t, db)
}

// TestAGrantThatMayHaveBeenWrittenIsNotRepeated repeats a grant, a hold and a release after an attempt whose result is
// unknown, but which was committed.
func TestAGrantThatMayHaveBeenWrittenIsNotRepeated(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	who := credits.Spender{Account: "acct"}
	open, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	calls := func() (*gift, *reservation, []*settlement) {
		g := &gift{entry: credits.Entry{Account: "acct", Kind: credits.Granted, Amount: 50}}
		r := &reservation{who: who, ttl: time.Hour, sum: 10, holds: []credits.Hold{{ID: "hold", Spender: who, Amount: 10}}}
		s := []*settlement{{hold: open[0]}, {hold: open[1], charge: credits.Charge{Amount: 3}}}
		for _, c := range []*call{&g.call, &r.call, &s[0].call, &s[1].call} {
			c.done = make(chan struct{})
		}
		return g, r, s
	}
	for _, unsure := range []bool{false, true} {
		db.ledger.ended.Purge() // as if another replica tried
		g, r, s := calls()
		commitNow(db, unsure, g, r, s[0], s[1])
		if errors.Is(g.err, ErrUnsure) != unsure {
			t.Errorf("unsure %t: the grant = %v", unsure, g.err)
		}
		if err := errors.Join(r.err, s[0].err, s[1].err); err != nil || s[1].receipt.Charged != 3 {
			t.Errorf("unsure %t: %v, %+v", unsure, err, s[1].receipt)
		}
		wantBalance(t, db, 100+50-10-3)
	}
	wantAudit(t, db)
}

// TestASettlementWithALostAnswerReturnsItsReceipt settles holds in an attempt that is committed without an answer.
func TestASettlementWithALostAnswerReturnsItsReceipt(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	open, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 5, 7, 9)
	if err != nil {
		t.Fatal(err)
	}
	charges := []credits.Charge{{Amount: 3, IdempotencyKey: "once"}, {Amount: 7, IdempotencyKey: "once"}, {}}
	want := []credits.Receipt{{Balance: 97, Charged: 3}, {Balance: 97, Charged: 3, Earlier: true}, {Balance: 97}}
	var ops []op
	for i := range open {
		ops = append(ops, &settlement{hold: open[i], charge: charges[i]})
	}
	for _, unsure := range []bool{false, true} {
		for _, o := range ops {
			o.(*settlement).done = make(chan struct{})
		}
		db.ledger.ended.Purge()
		commitNow(db, unsure, ops...)
		for i, o := range ops {
			s := o.(*settlement)
			got := s.receipt
			got.Balance = want[i].Balance // it grows when the others are settled
			if s.err != nil || got != want[i] {
				t.Errorf("unsure %t, hold %d: %+v, %v; want %+v", unsure, i, got, s.err, want[i])
			}
		}
	}
	wantBalance(t, db, 97)
	wantAudit(t, db)
}

// TestADamagedLedgerDoesNotBlockOtherAccounts adds an entry after the last one that an account's row has, as after a
// partial restore of a backup.
func TestADamagedLedgerDoesNotBlockOtherAccounts(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	addAccount(t, db, "damaged", 100)
	var ops []op
	for _, account := range []string{"damaged", "acct"} {
		hold, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: account}, time.Hour, 4)
		if err != nil {
			t.Fatal(err)
		}
		s := &settlement{hold: hold[0], charge: credits.Charge{Amount: 4}}
		s.done = make(chan struct{})
		ops = append(ops, s)
	}
	_, err := db.pool.Exec(t.Context(),
		db.sql("INSERT INTO @entries SELECT account, seq + 1, kind, amount, balance, key, "+
			"operation, platform, request_id, cache, reason, hold, idempotency_key, at, clock, hash FROM @entries "+
			"WHERE account = (SELECT no FROM @accounts WHERE id = 'damaged')"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	commitNow(db, false, ops...)
	if took := time.Since(began); took > db.cfg.Patience {
		t.Errorf("it has taken %v", took)
	}
	if err := ops[0].(*settlement).err; !isCode(err, uniqueViolation) {
		t.Errorf("the damaged account: %v", err)
	}
	if err := ops[1].(*settlement).err; err != nil {
		t.Errorf("the other one: %v", err)
	}
	wantBalance(t, db, 96)
}

// commitNow decides ops in one transaction. unsure means that an earlier attempt may have been committed.
func commitNow(db *DB, unsure bool, ops ...op) {
	for _, o := range ops {
		o.common().unsure = unsure
	}
	db.ledger.lanes[0].queue.Now(ops)
}

func wantBalance(t *testing.T, db *DB, want int64) {
	t.Helper()
	if got, err := db.Ledger().Balance(t.Context(), "acct"); err != nil || got != want {
		t.Errorf("Balance = %d, %v; want %d", got, err, want)
	}
}

// TestBrokenConnectionsLoseAndRepeatNothing breaks connections at random moments of the race, also during commits, so
// that their results are unknown. Between two breaks a call returns: on a busy machine, connections would otherwise
// break faster than they are made.
func TestBrokenConnectionsLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	cfg := withParam(newSchema(t), "application_name=broken")
	cfg.DSN += credits.NewIDs(time.Now()).Next()
	cfg.Patience = time.Minute
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "acct", 600)
	name := replicas[0].pool.Config().ConnConfig.RuntimeParams["application_name"]
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

func TestARevocationCountsOnEveryReplicaWhenItReturns(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.lease = 200 * time.Millisecond
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	if _, err := replicas[0].Keys().CreateAccount(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		secret, k, err := replicas[0].Keys().CreateKey(t.Context(), keys.NewKey{Account: "shop", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		h, err := keys.Parse(secret)
		if err != nil {
			t.Fatal(err)
		}
		var revoked atomic.Bool
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for accepted := 0; ; accepted++ {
					after := revoked.Load()
					_, err := replicas[i%2].Keys().Lookup(t.Context(), h)
					switch {
					case after && !errors.Is(err, keys.ErrUnknown):
						t.Errorf("round %d: a call after the revocation = %v; want ErrUnknown", round, err)
						return
					case after:
						if accepted == 0 {
							t.Error("the key was never accepted")
						}
						return
					case err != nil && !errors.Is(err, keys.ErrUnknown):
						t.Errorf("Lookup: %v", err)
						return
					}
				}
			})
		}
		if _, err := replicas[round%2].Keys().Revoke(t.Context(), k.ID); err != nil {
			t.Error(err)
		}
		revoked.Store(true)
		callers.Wait()
	}
}

func TestALeaseLastsNoLongerThanASecond(t *testing.T) {
	t.Parallel()
	if got := (Config{}).withDefaults().lease; got > time.Second {
		t.Errorf("a key is remembered for %v", got)
	}
	asked := time.Now()
	for name, k := range map[string]leased{
		"an expired lease":                       {asked: asked.Add(-time.Second)},
		"a clock that was set back":              {asked: asked.Add(time.Hour)},
		"a machine that was suspended meanwhile": {asked: asked.Round(0).Add(-time.Minute)},
	} {
		if k.valid(time.Second) {
			t.Errorf("%s counts", name)
		}
	}
	if !(leased{asked: asked}).valid(time.Hour) {
		t.Error("a new lease is not valid")
	}
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

func TestASchemaOfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	db := openDB(t, cfg)
	if _, err := db.pool.Exec(t.Context(), db.sql("INSERT INTO @migrations VALUES (1000)")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), cfg); !errors.Is(err, ErrNewer) {
		t.Errorf("Open = %v; want ErrNewer", err)
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
	if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 4}); !errors.Is(err, ErrClosed) {
		t.Errorf("Settle = %v; want ErrClosed", err)
	}
	// Another replica can see and settle the hold.
	other := openDB(t, cfg)
	wantBalance(t, other, 6)
	r, err := other.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 3})
	if err != nil || r != (credits.Receipt{Balance: 7, Charged: 3}) {
		t.Errorf("Settle = %+v, %v", r, err)
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
