package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/store/sqlite"
)

const firstCredits = 10_000 // of the account that the first start makes

// TestNoCreditIsLostOrMintedWhenTheServerIsKilled loads the server from many clients, kills it again and again, and
// lets every client repeat unanswered calls with the same Idempotency-Key. In the end each call has been charged
// exactly once, each answer matches an entry, and the audit finds no problem. It is killed 4 times, or 100 with SIZE=full.
func TestNoCreditIsLostOrMintedWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin, db := shipped.Program(t), filepath.Join(dir, "crash.db")
	addr := freeAddr(t)
	s := startServer(t, bin, db, addr)
	load := &load{t: t, base: "http://" + addr, secret: s.secret, answered: map[string]string{}}
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() { load.run(ctx) })
	}
	for round := range testsize.Of(4, 100) {
		load.waitFor(int64(50 + round + mathrand.IntN(200)))
		s.kill()
		s = startServer(t, bin, db, addr)
		if problems := auditOf(t, db); len(problems) > 0 {
			t.Fatalf("round %d: audit: %v", round+1, problems)
		}
	}
	load.waitFor(100)
	stop()
	clients.Wait()
	s.kill()
	load.check(db)
}

// load is what the clients have sent and received.
type load struct {
	t            *testing.T
	base, secret string
	calls        atomic.Int64 // logical calls that have been answered
	mu           sync.Mutex
	answered     map[string]string // request id of each first answer, by idempotency key; "" for a replay
	took         []time.Duration   // latencies since the last call of p99
}

// waitFor waits until n more calls have been answered.
func (l *load) waitFor(n int64) {
	l.t.Helper()
	until := l.calls.Load() + n
	await.Until(l.t, fmt.Sprintf("%d answers", n), func() bool { return l.calls.Load() >= until })
}

// run makes calls, each until it is answered, until ctx ends.
func (l *load) run(ctx context.Context) {
	for ctx.Err() == nil {
		key := "crash-test-" + rand.Text()
		for {
			asked := time.Now()
			id, replayed, err := l.call(key)
			if err == nil {
				if replayed {
					id = ""
				}
				l.mu.Lock()
				l.answered[key], l.took = id, append(l.took, time.Since(asked))
				l.mu.Unlock()
				l.calls.Add(1)
				break
			}
			if errors.Is(err, errOurs) {
				l.t.Errorf("a call failed: %v", err)
				return
			}
			if l.t.Context().Err() != nil {
				return
			}
		}
	}
}

var (
	errStatus = errors.New("unexpected status")
	errOurs   = errors.New("status 500")
)

func (l *load) call(key string) (requestID string, replayed bool, err error) {
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.base+"/v1/mock/profile?handle=ann", nil)
	if err != nil {
		return "", false, err
	}
	req.Header.Set("Authorization", "Bearer "+l.secret)
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		return "", false, err
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return "", false, err
	}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusInternalServerError:
		return "", false, errOurs
	default:
		return "", false, fmt.Errorf("%w %d", errStatus, res.StatusCode)
	}
	return res.Header.Get("X-Request-Id"), res.Header.Get("X-Idempotent-Replay") != "", nil
}

// check compares what was answered with the books.
func (l *load) check(file string) {
	l.t.Helper()
	if problems := auditOf(l.t, file); len(problems) > 0 {
		l.t.Errorf("audit: %v", problems)
	}
	db, err := sqlite.Open(l.t.Context(), sqlite.Config{Path: file, Admin: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	account, err := db.Keys().Account(l.t.Context(), "default")
	if err != nil {
		l.t.Fatal(err)
	}
	charges := map[string]int64{}
	for q := (credits.Query{Account: account.ID, Limit: 1000}); ; {
		entries, err := db.Ledger().Entries(l.t.Context(), q)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if e.Kind == credits.Charged {
				charges[e.RequestID] += -e.Amount
			}
		}
		q.Before = entries[len(entries)-1].Seq
	}
	total := int64(0)
	for id, n := range charges {
		if n != 1 {
			l.t.Errorf("call %s was charged %d credits", id, n)
		}
		total += n
	}
	for key, id := range l.answered {
		if id != "" && charges[id] == 0 {
			// The charge may have the id of an earlier attempt that was charged but died before it answered.
			l.t.Logf("call %s was answered as %s and charged under an earlier attempt's id", key, id)
		}
	}
	if total != int64(len(l.answered)) {
		l.t.Errorf("%d calls were answered and %d credits charged", len(l.answered), total)
	}
	balance, err := db.Ledger().Balance(l.t.Context(), account.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	if balance != firstCredits*100-total {
		l.t.Errorf("balance %d after %d charges", balance, total)
	}
	l.t.Logf("%d calls answered, each charged once", len(l.answered))
}

func auditOf(t *testing.T, file string) []string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: file, Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	report, err := db.Audit(t.Context())
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return report.Problems
}

type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	secret string
	log    strings.Builder // its standard error; to be read after it has ended
}

var secretLine = regexp.MustCompile(`^\s+(sk_live_\S+)$`)

// startServer starts the binary, with additional settings in its environment, and waits until it says where it serves.
func startServer(t *testing.T, bin, db, addr string, env ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), bin, "--db", db, "serve", "--addr", addr)}
	p.cmd.Env = append(append(os.Environ(), "SOCIALDATA_RATE_CAPACITY=1000000", "SOCIALDATA_RATE_REFILL=1000000"), env...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := secretLine.FindStringSubmatch(lines.Text()); m != nil {
			p.secret = m[1]
		}
		if strings.HasPrefix(lines.Text(), "socialdata serves") {
			if p.secret != "" {
				grantMore(t, db)
			}
			return p
		}
	}
	t.Fatalf("the server did not start: %v\n%s", p.cmd.Wait(), p.log.String())
	return nil
}

// grantMore gives the account enough for any number of rounds, as an operator would while the server runs.
func grantMore(t *testing.T, file string) {
	t.Helper()
	var out, log strings.Builder
	args := []string{"--db", file, "account", "grant", "default", strconv.Itoa(firstCredits * 99)}
	if status := cli.Run(t.Context(), config(), args, cli.Streams{Out: &out, Log: &log}, func(string) string { return "" }); status != 0 {
		t.Fatalf("grant: %s", log.String())
	}
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number is wanted
	return l.Addr().String()
}
