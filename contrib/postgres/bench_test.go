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
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
)

// BenchmarkCharge compares charges of hits with pgbench's simple update on the same server: first pgbench, then callers
// on one replica, and the same number on each of three, also with each account kept at one of the three. They charge
// without a pause and wait until each charge is durable. SOCIALDATA_BENCH_CALLERS sets how many clients pgbench has, and
// callers each replica; SOCIALDATA_BENCH_DELAY how long each message between replicas and server takes, as in a network.
func BenchmarkCharge(b *testing.B) {
	callers := 64
	if n, err := strconv.Atoi(os.Getenv("SOCIALDATA_BENCH_CALLERS")); err == nil {
		callers = n
	}
	b.Run("pgbench", func(b *testing.B) { benchmarkPgbench(b, callers) })
	for _, accounts := range []int{1, 64, 1000} {
		for _, replicas := range []int{1, 3} {
			b.Run(fmt.Sprintf("accounts=%d/replicas=%d", accounts, replicas), func(b *testing.B) {
				benchmarkLedger(b, accounts, replicas, callers, false)
			})
		}
		if accounts > 1 {
			b.Run(fmt.Sprintf("accounts=%d/replicas=3,kept", accounts), func(b *testing.B) {
				benchmarkLedger(b, accounts, 3, callers, true)
			})
		}
	}
}

// benchRound is how long pgbench and the callers run in each round.
const benchRound = 2 * time.Second

// benchmarkLedger measures charges to accounts that all replicas charge, or of which each is kept at one replica.
func benchmarkLedger(b *testing.B, accounts, replicas, callers int, kept bool) {
	b.Helper()
	cfg := newSchema(b)
	direct := openDB(b, cfg)
	ids := make([]string, accounts)
	for i := range ids {
		ids[i] = fmt.Sprintf("acct_%06d", i)
		addAccount(b, direct, ids[i], 1_000_000_000)
	}
	if delay, err := time.ParseDuration(os.Getenv("SOCIALDATA_BENCH_DELAY")); err == nil {
		delayed, proxy := throughProxy(b, cfg)
		proxy.Delay(delay)
		cfg = delayed
	}
	var ledgers []*Ledger
	for range replicas {
		ledgers = append(ledgers, openDB(b, cfg).Ledger())
	}
	var rates []float64
	var took []time.Duration
	each := make([][]string, replicas)
	for i := range each {
		if each[i] = ids; kept {
			each[i] = ids[i*accounts/replicas : (i+1)*accounts/replicas]
		}
	}
	charges(b, ledgers, each, callers, benchRound/4) // prepares the statements
	used, own := serverCPU(b, direct), ownCPU()
	for b.Loop() {
		made := charges(b, ledgers, each, callers, benchRound)
		rates = append(rates, float64(len(made))/benchRound.Seconds())
		took = append(took, made...)
	}
	used, own = serverCPU(b, direct)-used, ownCPU()-own
	slices.Sort(rates)
	slices.Sort(took)
	b.ReportMetric(rates[len(rates)/2], "charges/s")
	b.ReportMetric(float64(used.Microseconds())/float64(len(took)), "server-µs/charge")
	b.ReportMetric(float64(own.Microseconds())/float64(len(took)), "own-µs/charge")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	if err := auditOf(b.Context(), direct); err != nil {
		b.Errorf("audit: %v", err)
	}
}

// charges makes one round, in which each ledger charges the accounts at its index, and returns how long each charge took.
func charges(
	b *testing.B, ledgers []*Ledger, each [][]string, callers int, round time.Duration,
) (took []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	until := time.Now().Add(round)
	for i, l := range ledgers {
		ids := each[i]
		for range callers {
			wg.Go(func() {
				var own []time.Duration
				for began := time.Now(); began.Before(until); {
					request := operation.NewRequestID()
					_, err := l.Charge(b.Context(), credits.Spender{Account: ids[rand.IntN(len(ids))], Key: "key_benchmark"},
						credits.Charge{Amount: 1, Operation: "profile", Platform: "github", RequestID: request, Cache: "HIT"})
					if err != nil {
						b.Error(err)
						return
					}
					end := time.Now()
					own, began = append(own, end.Sub(began)), end
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, own...)
			})
		}
	}
	wg.Wait()
	return took
}

var (
	tps       = regexp.MustCompile(`tps = ([0-9.]+)`)
	processed = regexp.MustCompile(`actually processed: ([0-9]+)`)
)

// benchmarkPgbench runs pgbench's own script "simple update", prepared, on its tables of 100,000 accounts.
func benchmarkPgbench(b *testing.B, callers int) {
	b.Helper()
	program, err := exec.LookPath("pgbench")
	if err != nil {
		b.Skip("pgbench is not installed")
	}
	db := openDB(b, newSchema(b))
	run := func(args ...string) []byte {
		c := exec.CommandContext(b.Context(), program, append(args, db.cfg.DSN)...)
		c.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+db.cfg.Schema)
		out, err := c.CombinedOutput()
		if err != nil {
			b.Fatalf("pgbench: %v\n%s", err, out)
		}
		return out
	}
	run("-i", "-q")
	var rates []float64
	made := 0
	used := serverCPU(b, db)
	for b.Loop() {
		out := run("-n", "-M", "prepared", "-T", strconv.Itoa(int(benchRound.Seconds())), "-j", "2",
			"-c", strconv.Itoa(callers), "-b", "simple-update")
		rate, count := tps.FindSubmatch(out), processed.FindSubmatch(out)
		if rate == nil || count == nil {
			b.Fatalf("pgbench: %s", out)
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

// ownCPU returns the processor time that this process has used.
func ownCPU() time.Duration {
	const tick = 10 * time.Millisecond
	return time.Duration(cpuTicks("self", 2)) * tick
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
