package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

const (
	benchReplicas = 2
	benchCharges  = 16_384 // in each round
)

// BenchmarkCharge lets callers on two replicas hold and charge without a pause, each waiting until its charge is
// durable. It alternates with pgbench, with as many clients on the same server. SOCIALDATA_BENCH_CALLERS sets the
// number of callers.
func BenchmarkCharge(b *testing.B) {
	callers := 128
	if n, err := strconv.Atoi(os.Getenv("SOCIALDATA_BENCH_CALLERS")); err == nil {
		callers = n
	}
	for _, accounts := range []int{1, 1000} {
		b.Run(fmt.Sprintf("accounts=%d/pgbench", accounts), func(b *testing.B) { benchmarkPgbench(b, accounts, callers) })
		b.Run(fmt.Sprintf("accounts=%d/ledger", accounts), func(b *testing.B) { benchmarkLedger(b, accounts, callers) })
	}
}

func benchmarkLedger(b *testing.B, accounts, callers int) {
	b.Helper()
	cfg := newSchema(b)
	var replicas [benchReplicas]*DB
	for i := range replicas {
		replicas[i] = openDB(b, cfg)
	}
	ids := make([]string, accounts)
	for i := range ids {
		ids[i] = fmt.Sprintf("acct_%06d", i)
		addAccount(b, replicas[0], ids[i], 1_000_000_000)
	}
	var rates []float64
	var took []time.Duration
	used := serverCPU(b, replicas[0])
	for b.Loop() {
		began := time.Now()
		took = append(took, charges(b, replicas[:], ids, callers)...)
		rates = append(rates, benchCharges/time.Since(began).Seconds())
	}
	used = serverCPU(b, replicas[0]) - used
	slices.Sort(rates)
	slices.Sort(took)
	b.ReportMetric(rates[len(rates)/2], "charges/s")
	b.ReportMetric(float64(used.Microseconds())/float64(len(took)), "server-µs/charge")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	if err := auditOf(b.Context(), replicas[0]); err != nil {
		b.Errorf("audit: %v", err)
	}
}

// charges makes one round and returns how long each charge took, from the hold until it was durable.
func charges(b *testing.B, replicas []*DB, ids []string, callers int) []time.Duration {
	b.Helper()
	var next atomic.Int64
	took := make([]time.Duration, benchCharges)
	var wg sync.WaitGroup
	for i := range callers {
		l := replicas[i%len(replicas)].Ledger()
		wg.Go(func() {
			for n := next.Add(1) - 1; n < benchCharges; n = next.Add(1) - 1 {
				began := time.Now()
				who := credits.Spender{Account: ids[rand.IntN(len(ids))], Key: "key_benchmark"}
				holds, err := l.Reserve(b.Context(), who, time.Minute, 4)
				if err == nil {
					_, err = l.Settle(b.Context(), holds[0], credits.Charge{
						Amount: 1, Operation: "profile", Platform: "github", RequestID: holds[0].ID, Cache: "MISS",
					})
				}
				if err != nil {
					b.Error(err)
					return
				}
				took[n] = time.Since(began)
			}
		})
	}
	wg.Wait()
	return took
}

var (
	tps       = regexp.MustCompile(`tps = ([0-9.]+)`)
	processed = regexp.MustCompile(`actually processed: ([0-9]+)`)
)

// benchmarkPgbench runs transactions of one prepared INSERT and UPDATE, on tables with a primary key as their only
// index.
func benchmarkPgbench(b *testing.B, accounts, callers int) {
	b.Helper()
	program, err := exec.LookPath("pgbench")
	if err != nil {
		b.Skip("pgbench is not installed")
	}
	db := openDB(b, newSchema(b))
	conn, err := db.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	_, err = conn.Conn().PgConn().Exec(b.Context(), db.sql(fmt.Sprintf(`
		CREATE TABLE @bench_accounts (no INT PRIMARY KEY, balance BIGINT NOT NULL) WITH (fillfactor = 50);
		CREATE TABLE @bench_entries (account INT NOT NULL, amount BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL);
		INSERT INTO @bench_accounts SELECT no, 1000000000 FROM generate_series(1, %d) AS no`, accounts))).ReadAll()
	conn.Release()
	if err != nil {
		b.Fatal(err)
	}
	script := filepath.Join(b.TempDir(), "charge.sql")
	if err := os.WriteFile(script, []byte(db.sql(fmt.Sprintf(`\set no random(1, %d)
BEGIN;
INSERT INTO @bench_entries VALUES (:no, -1, now());
UPDATE @bench_accounts SET balance = balance - 1 WHERE no = :no;
COMMIT;
`, accounts))), 0o600); err != nil {
		b.Fatal(err)
	}
	var rates []float64
	made := 0
	used := serverCPU(b, db)
	for b.Loop() {
		out, err := exec.CommandContext(b.Context(), program, "-n", "-M", "prepared", "-T", "3", "-j", "2",
			"-c", strconv.Itoa(min(callers, 64)), "-f", script, db.cfg.DSN).CombinedOutput()
		rate, count := tps.FindSubmatch(out), processed.FindSubmatch(out)
		if err != nil || rate == nil || count == nil {
			b.Fatalf("pgbench: %v\n%s", err, out)
		}
		perSecond, err := strconv.ParseFloat(string(rate[1]), 64)
		n, nerr := strconv.Atoi(string(count[1]))
		if err = errors.Join(err, nerr); err != nil {
			b.Fatal(err)
		}
		rates = append(rates, perSecond)
		made += n
	}
	used = serverCPU(b, db) - used
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "charges/s")
	b.ReportMetric(float64(used.Microseconds())/float64(made), "server-µs/charge")
}

// serverCPU returns the processor time that all processes of the server have used, if it runs on this machine and
// Linux; else 0.
func serverCPU(b *testing.B, db *DB) time.Duration {
	b.Helper()
	var file string
	if err := db.pool.QueryRow(b.Context(), "SELECT pg_read_file('postmaster.pid')").Scan(&file); err != nil {
		return 0 // without the permission, the benchmark runs without it
	}
	pid, _, _ := strings.Cut(file, "\n")
	children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond
	ticks := cpuTicks(pid, 4) // user, system, and the same of child processes that have ended
	for child := range strings.FieldsSeq(string(children)) {
		ticks += cpuTicks(child, 2)
	}
	return time.Duration(ticks) * tick
}

// cpuTicks returns the sum of the first n times of a process, or 0 if it has just ended.
// https://www.kernel.org/doc/html/latest/filesystems/proc.html#process-specific-subdirectories
func cpuTicks(pid string, n int) (sum int64) {
	stat, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime = 11 // counted from after the name
	for i := utime; i < utime+n && i < len(fields); i++ {
		ticks, _ := strconv.ParseInt(fields[i], 10, 64)
		sum += ticks
	}
	return sum
}
