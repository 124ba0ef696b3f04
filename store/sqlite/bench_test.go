package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// These benchmarks report ratios of measurements in the same process within the same seconds, because the number of
// charges a second depends more on the disk and on the load of the machine than on this package. BENCHMARKS.md has the
// table and the commands.

const (
	callers  = 64
	perRound = 4096 // charges; enough for a few checkpoints
)

// BenchmarkCharge compares charges of 64 callers to the driver alone with 256 entries a transaction. One round of each
// runs in turn; the ratio is that of the medians.
func BenchmarkCharge(b *testing.B) {
	for _, accounts := range []int{1, callers} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			group, raw := newGroup(b, accounts), newRaw(b, accounts)
			var perCharge [2][]float64
			var latencies []time.Duration
			for b.Loop() {
				took, each := group.round(b)
				perCharge[0] = append(perCharge[0], float64(took)/perRound)
				latencies = append(latencies, each...)
				perCharge[1] = append(perCharge[1], float64(raw.round(b))/perRound)
			}
			g, r := median(perCharge[0]), median(perCharge[1])
			slices.Sort(latencies)
			b.ReportMetric(0, "ns/op") // of two measurements: it would mean nothing
			b.ReportMetric(1e9/g, "charges/s")
			b.ReportMetric(1e9/r, "raw/s")
			b.ReportMetric(100*r/g, "%-of-raw")
			b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// group makes charges through the ledger.
type group struct {
	db     *DB
	ledger *sqlstore.Ledger
	who    []credits.Spender
	made   atomic.Int64
}

func newGroup(b *testing.B, accounts int) *group {
	b.Helper()
	db := openDB(b, Config{Path: filepath.Join(b.TempDir(), "group.db")})
	g := &group{db: db, ledger: db.Ledger()}
	for i := range accounts {
		id := fmt.Sprintf("acct_%020d", i)
		addAccount(b, db, id, 1_000_000_000)
		g.who = append(g.who, credits.Spender{Account: id, Key: fmt.Sprintf("key_%020d", i)})
	}
	return g
}

// round charges from all callers and returns how long it took, in total and for each charge.
func (g *group) round(b *testing.B) (time.Duration, []time.Duration) {
	b.Helper()
	each := make([]time.Duration, perRound)
	var wg sync.WaitGroup
	start := time.Now()
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < perRound; i += callers {
				before := time.Now()
				if err := g.charge(b, g.who[caller%len(g.who)]); err != nil {
					b.Error(err)
					return
				}
				each[i] = time.Since(before)
			}
		})
	}
	wg.Wait()
	return time.Since(start), each
}

func (g *group) charge(b *testing.B, who credits.Spender) error {
	b.Helper()
	_, err := g.ledger.Charge(b.Context(), who, credits.Charge{
		Amount: 1, Operation: "profile", Platform: "github", RequestID: fmt.Sprintf("req_%020d", g.made.Add(1)),
		Cache: "HIT",
	})
	return err
}

// raw writes the same entries into the same tables as a program that uses only the driver: with prepared statements of
// database/sql, from one goroutine, 256 entries a transaction.
type raw struct {
	db           *sql.DB
	insert, head *sql.Stmt
	last         []credits.Entry
	made         int
}

const rawAtOnce = 256

func newRaw(b *testing.B, accounts int) *raw {
	b.Helper()
	path := filepath.Join(b.TempDir(), "raw.db")
	db, err := Open(b.Context(), Config{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	pool, err := sql.Open("sqlite", dsn(path, writerParams+"&_pragma=wal_autocheckpoint(1000)"))
	if err != nil {
		b.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = pool.Close() })
	r := &raw{db: pool, last: make([]credits.Entry, accounts)}
	for i := range r.last {
		r.last[i].Balance = 1_000_000_000
	}
	if r.insert, err = pool.PrepareContext(b.Context(), "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"); err != nil {
		b.Fatal(err)
	}
	r.head, err = pool.PrepareContext(
		b.Context(),
		"UPDATE accounts SET seq = ?, balance = ?, at = ?, hash = ? WHERE no = ?",
	)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// round prepares the rows and returns how long it takes to write them.
func (r *raw) round(b *testing.B) time.Duration {
	b.Helper()
	rows := make([][]any, perRound)
	for i := range rows {
		rows[i] = r.row()
	}
	// For a context that can end, the driver starts a goroutine for each statement.
	ctx := context.WithoutCancel(b.Context())
	start := time.Now()
	for some := range slices.Chunk(rows, rawAtOnce) {
		tx, err := r.db.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		insert := tx.StmtContext(ctx, r.insert) //nolint:sqlclosecheck // the transaction's end closes it
		for _, row := range some {
			if _, err := insert.ExecContext(ctx, row...); err != nil {
				b.Fatal(err)
			}
		}
		head := tx.StmtContext(ctx, r.head) //nolint:sqlclosecheck // the transaction's end closes it
		for i, last := range r.last {
			if _, err := head.ExecContext(ctx, last.Seq, last.Balance, last.At.UnixMicro(), last.Hash[:], i+1); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

func (r *raw) row() []any {
	n := r.made % len(r.last)
	r.made++
	h := credits.Hold{ID: fmt.Sprintf("hold_%020d", r.made), Spender: credits.Spender{
		Account: fmt.Sprintf("acct_%020d", n), Key: fmt.Sprintf("key_%020d", n),
	}}
	e := credits.Charge{
		Amount: 1, Operation: "profile", Platform: "github", RequestID: fmt.Sprintf("req_%020d", r.made), Cache: "MISS",
	}.Entry(h, time.Now()).Next(r.last[n])
	r.last[n] = e
	return []any{
		n + 1, e.Seq, string(e.Kind), e.Amount, e.Balance, e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason,
		e.Hold, e.IdempotencyKey, e.At.UnixMicro(), nil, e.Hash[:],
	}
}
