package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/faultnet"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/store/sqlite"
)

const (
	// longestAnswer is more than the 15 s of a call on a slow machine, and less than callers have waited for a frozen
	// database.
	longestAnswer = 30 * time.Second
	// D100: what callers were told is what was charged a minute after the store's return. Machines may be slow.
	toldSettles = 3 * time.Minute
	stillFor    = 5 * time.Second // in which no entry comes any more
)

// TestFaults runs three replicas of the shipped binary, each over a network of its own to one PostgreSQL, under reads,
// reads with keys, searches and jobs, while the network delays messages, freezes, loses answers, refuses and resets
// connections, for all replicas and for one. No call is answered 500, or late. When it is over, callers have been told
// of exactly what was charged, and the books are in order. Each fault is played once, or for an hour:
//
//	SIZE=full go test -v -timeout 4h -run TestFaults ./examples/standalone
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a database and three servers")
	}
	programs := map[string]string{}
	for _, name := range []string{"initdb", "postgres"} {
		path, err := program(name)
		if err != nil {
			t.Skipf("there is no %s: apt-get install postgresql", name)
		}
		programs[name] = path
	}
	dir, err := os.MkdirTemp("", "faults") //nolint:usetesting // PostgreSQL runs as another user, who cannot see t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &cluster{bin: shipped.Program(t)}
	c.startDatabase(t, dir, programs)
	c.startUpstream(t)
	c.command(t, "account", "create", "load", "--credits", strconv.Itoa(granted))
	c.secret = c.command(t, "key", "create", "--account", "load")
	u := newTold(nil, c.secret)
	t.Cleanup(func() { u.explain(t, c.replicas) }) // after they have ended
	nets := make([]*faultnet.Proxy, 3)
	for i := range nets {
		if nets[i], err = faultnet.Listen(c.database.addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nets[i].Close() })
		addr := freeAddr(t)
		c.direct = append(c.direct, addr)
		c.replicas = append(c.replicas, launch(t, &daemon{addr: addr, args: []string{
			c.bin, "--postgres", "postgres://socialdata@" + nets[i].Addr() + "/postgres", "--replay-url", c.upstream, "serve", "--addr", addr,
			"--rate-capacity", "1000000", "--rate-refill", "1000000", "--log-level", "warn",
		}}))
	}
	long := testsize.Of(0, time.Hour)
	callers := 16
	if long > 0 {
		callers = 96
	}
	u.addrs = c.direct
	u.start(t, callers)
	u.awaitAnswers(t, 50)
	for end, round := time.Now().Add(long), 0; round == 0 || time.Now().Before(end); round++ {
		c.faults(t, u, nets, round, long > 0)
	}
	u.stop(t)
	db, err := postgres.Open(t.Context(), postgres.Config{DSN: c.dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	account, err := db.Keys().Account(t.Context(), "load")
	if err != nil {
		t.Fatal(err)
	}
	u.wantCharged(t, db.Ledger(), account.ID, granted)
	t.Log(c.command(t, "audit"))
}

// faults plays each fault once, and waits after each until all replicas are well.
func (c *cluster) faults(t *testing.T, u *told, nets []*faultnet.Proxy, round int, large bool) {
	t.Helper()
	hold := func(short, long time.Duration) time.Duration {
		if large {
			return long
		}
		return short
	}
	all := func(do func(*faultnet.Proxy)) {
		for _, n := range nets {
			do(n)
		}
	}
	delay := []time.Duration{100, 5, 50, 300}[round%4] * time.Millisecond
	one := nets[round%len(nets)]
	for _, f := range []struct {
		what  string
		begin func()
		wait  time.Duration
		end   func()
		down  bool // the database cannot be used
	}{
		{
			fmt.Sprintf("each message takes %v", delay), func() { all(func(n *faultnet.Proxy) { n.Delay(delay) }) },
			hold(2*time.Second, 30*time.Second), func() { all(func(n *faultnet.Proxy) { n.Delay(0) }) }, false,
		},
		{
			"answers are lost", func() { all(func(n *faultnet.Proxy) { n.LoseAnswers(true) }) }, hold(time.Second, 55*time.Second),
			func() { all(func(n *faultnet.Proxy) { n.LoseAnswers(false) }) }, true,
		},
		{
			"the database is frozen", func() { all(func(n *faultnet.Proxy) { n.Freeze(true) }) }, hold(time.Second, 60*time.Second),
			func() { all(func(n *faultnet.Proxy) { n.Freeze(false) }) }, true,
		},
		{
			"connections are reset", func() {
				for end := time.Now().Add(hold(500*time.Millisecond, 10*time.Second)); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
					all((*faultnet.Proxy).Cut)
				}
			}, 0, func() {}, false,
		},
		{
			"one replica's network is frozen", func() { one.Freeze(true) }, hold(time.Second, 60*time.Second), func() { one.Freeze(false) }, false,
		},
		{
			"the database is gone", func() { all(func(n *faultnet.Proxy) { n.Refuse(true); n.Cut() }) }, hold(time.Second, 20*time.Second),
			func() { all(func(n *faultnet.Proxy) { n.Refuse(false) }) }, true,
		},
	} {
		before := u.take()
		began := time.Now()
		f.begin()
		if f.down {
			c.awaits(t, func(i int) bool {
				return request(t.Context(), c.direct[i], "/readyz", "", "").status == http.StatusServiceUnavailable
			})
		}
		time.Sleep(f.wait) // callers go on meanwhile
		f.end()
		for i := range c.replicas {
			c.ready(t, i)
		}
		took := time.Since(began)
		u.awaitAnswers(t, 20)
		if large || testing.Verbose() {
			t.Logf("round %d, %s for %v: %s", round+1, f.what, took.Round(time.Millisecond), u.take().since(before))
		}
	}
}

// TestClockJumps runs the server over a file, with a clock that is set forward and back 28 times, by up to half an
// hour, under reads, reads with keys and their repetitions, searches and jobs, for 4 seconds, or an hour with SIZE=full.
// Callers are told of exactly what is charged.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	testsize.NoRace(t)
	if testing.Short() {
		t.Skip("starts a server")
	}
	const jumps = 28
	long := testsize.Of(4*time.Second, time.Hour)
	dir := t.TempDir()
	file, addr := filepath.Join(dir, "jumps.db"), freeAddr(t)
	c := &clock{file: filepath.Join(dir, "clock")}
	upstream := &cluster{}
	upstream.startUpstream(t)
	s := startServer(t, os.Args[0], file, addr, clockVariable+"="+c.file, jumpsVariable+"=yes", "SOCIALDATA_REPLAY_URL="+upstream.upstream)
	u := newTold([]string{addr}, s.secret)
	u.start(t, 16)
	u.awaitAnswers(t, 50)
	ahead := time.Duration(0)
	for range jumps {
		to := time.Duration(mathrand.IntN(3600)-1800) * time.Second
		c.advance(t, to-ahead)
		ahead = to
		time.Sleep(long / jumps) // callers go on meanwhile
	}
	c.advance(t, -ahead)
	u.awaitAnswers(t, 50)
	u.stop(t)
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: file, Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	account, err := db.Keys().Account(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	u.wantCharged(t, db.Ledger(), account.ID, firstCredits*100)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.kill()
	if problems := auditOf(t, file); len(problems) > 0 {
		t.Errorf("audit: %v", problems)
	}
}

// told is what callers have been told.
type told struct {
	addrs  []string
	secret string
	halt   context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	tally   tally
	keys    []keyedCall // that have been answered
	strange []string
	ids     []string // of the requests in strange, and of those that they repeat
}

// keyedCall is a call under a key that has been answered.
type keyedCall struct{ key, path, id string }

// tally counts answers.
type tally struct {
	credits int64
	status  map[int]int
	took    []time.Duration // of those with status 200
	longest time.Duration
}

func newTold(addrs []string, secret string) *told {
	return &told{addrs: addrs, secret: secret, tally: tally{status: map[int]int{}}}
}

// take returns what has been counted so far.
func (u *told) take() tally {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.tally
	n.status, n.took = maps.Clone(n.status), slices.Clone(n.took)
	return n
}

// since says what has come since before.
func (n tally) since(before tally) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(n.status)) {
		if k := n.status[status] - before.status[status]; k > 0 {
			parts = append(parts, fmt.Sprintf("%d × %d", k, status))
		}
	}
	took := slices.Sorted(slices.Values(n.took[len(before.took):]))
	if len(took) > 0 {
		parts = append(parts, fmt.Sprintf("p50 %v, p99 %v", took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond)))
	}
	return strings.Join(parts, ", ")
}

// ask makes a call and counts what it tells. It returns nil when there is no answer with status 200.
func (u *told) ask(t *testing.T, path, idempotencyKey string) *answered {
	t.Helper()
	begun := time.Now()
	r := request(t.Context(), u.addrs[mathrand.IntN(len(u.addrs))], path, u.secret, idempotencyKey)
	took := time.Since(begun)
	var a answered
	if r.ok() {
		r.err = json.Unmarshal(r.body, &a)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	a.id = r.header.Get("X-Request-Id")
	u.tally.status[r.status]++
	if u.tally.longest = max(u.tally.longest, took); took > longestAnswer {
		u.note(fmt.Sprintf("%s after %v: %s", path, took, r), a.id)
	}
	switch {
	case r.err != nil, r.status == http.StatusInternalServerError:
		u.note(path+": "+r.String(), a.id)
		return nil
	case r.status == http.StatusServiceUnavailable && r.header.Get("Retry-After") == "":
		u.note(path+" has no Retry-After: "+r.String(), a.id)
	}
	if !r.ok() {
		return nil
	}
	u.tally.took = append(u.tally.took, took)
	a.replay = r.header.Get("X-Idempotent-Replay") != ""
	return &a
}

// note notes what must not happen, and the requests that it has happened to. u.mu is locked.
func (u *told) note(what string, ids ...string) {
	u.strange = append(u.strange, fmt.Sprintf("at %s, %v: %s", time.Now().UTC().Format(time.TimeOnly), ids, what))
	u.ids = append(u.ids, ids...)
}

// explain logs what replicas, which have ended, have said of the requests that something strange has happened to.
func (u *told) explain(t *testing.T, replicas []*daemon) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, d := range replicas {
		for line := range strings.Lines(d.log.String()) {
			if slices.ContainsFunc(u.ids, func(id string) bool { return id != "" && strings.Contains(line, id) }) {
				t.Logf("replica %d: %s", i, line)
			}
		}
	}
}

// answered is what matters of an answer.
type answered struct {
	Meta struct {
		Credits int64  `json:"credits_used"`
		Job     string `json:"job_id"`
	} `json:"meta"`
	replay bool
	id     string // of the request
}

// add counts the credits of an answer, and remembers its call if that has a key.
func (u *told) add(credits int64, of keyedCall) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tally.credits += credits
	if of.key != "" {
		u.keys = append(u.keys, of)
	}
}

// start lets that many callers call until stop.
func (u *told) start(t *testing.T, callers int) {
	t.Helper()
	ctx, halt := context.WithCancel(t.Context())
	u.halt = halt
	t.Cleanup(func() {
		halt()
		u.work.Wait()
	})
	for i := range callers {
		u.work.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				switch n % 8 {
				case 0, 1:
					u.keyed(t, somebody())
				case 2:
					u.again(t)
				case 3:
					u.search(t, "")
				case 4:
					u.search(t, "faults-"+rand.Text())
				default:
					if a := u.ask(t, somebody(), ""); a != nil {
						u.add(a.Meta.Credits, keyedCall{})
					}
				}
			}
		})
	}
}

// keyed makes a call under a key and repeats it until it is answered, so that it is counted once.
func (u *told) keyed(t *testing.T, path string) {
	t.Helper()
	key := "faults-" + rand.Text()
	for t.Context().Err() == nil {
		if a := u.ask(t, path, key); a != nil {
			u.add(a.Meta.Credits, keyedCall{key, path, a.id})
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// again repeats a call under a key that has been answered: what it tells has been told.
func (u *told) again(t *testing.T) {
	t.Helper()
	u.mu.Lock()
	var first keyedCall
	if n := len(u.keys); n > 0 {
		first = u.keys[mathrand.IntN(n)]
	}
	u.mu.Unlock()
	if first.key == "" {
		return
	}
	if a := u.ask(t, first.path, first.key); a != nil && !a.replay {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.note("a repeated call is no replay: "+first.path, first.id, a.id)
	}
}

// search makes a search that leaves a job, and collects it. Under a key it is repeated until it is answered.
func (u *told) search(t *testing.T, key string) {
	t.Helper()
	query := url.Values{
		"query": {fmt.Sprintf("slow_%dms", 1000+mathrand.IntN(2000))}, "platforms": {"mock,github"}, "wait_s": {"1"}, "fresh": {"true"},
	}
	path := "/v1/search?" + query.Encode()
	a := u.ask(t, path, key)
	for a == nil && key != "" && t.Context().Err() == nil {
		time.Sleep(50 * time.Millisecond)
		a = u.ask(t, path, key)
	}
	if a == nil {
		return
	}
	for job := a.Meta.Job; job != "" && t.Context().Err() == nil; job = a.Meta.Job {
		if next := u.ask(t, "/v1/job?wait_s=2&id="+job, ""); next != nil {
			a = next
		} else {
			time.Sleep(50 * time.Millisecond)
		}
	}
	u.add(a.Meta.Credits, keyedCall{}) // the last answer has what the whole search was charged
}

// awaitAnswers waits for n more answers.
func (u *told) awaitAnswers(t *testing.T, n int) {
	t.Helper()
	answers := func() int {
		u.mu.Lock()
		defer u.mu.Unlock()
		return len(u.tally.took)
	}
	until := answers() + n
	await.Until(t, fmt.Sprintf("%d answers", n), func() bool { return answers() >= until })
}

// stop waits until every caller has its last answer.
func (u *told) stop(t *testing.T) {
	t.Helper()
	u.halt()
	u.work.Wait()
}

// wantCharged waits until an account that had credits has been charged what callers were told, and then for a moment
// more.
func (u *told) wantCharged(t *testing.T, l credits.Ledger, account string, had int64) {
	t.Helper()
	n := u.take()
	charged := func() int64 {
		entries, err := l.Entries(t.Context(), credits.Query{Account: account, Limit: 1})
		if err != nil || len(entries) == 0 {
			t.Fatalf("there are no entries: %v", err)
		}
		return had - entries[0].Balance
	}
	began := time.Now()
	for until := began.Add(toldSettles); charged() != n.credits && time.Now().Before(until); {
		time.Sleep(100 * time.Millisecond)
	}
	equal := time.Since(began)
	for until := time.Now().Add(stillFor); charged() == n.credits && time.Now().Before(until); {
		time.Sleep(100 * time.Millisecond)
	}
	if got := charged(); got != n.credits {
		t.Errorf("charged %d credits, want the %d that were reported", got, n.credits)
	}
	for _, s := range u.strange[:min(len(u.strange), 20)] {
		t.Error(s)
	}
	t.Logf("%d credits told and charged, equal after %v; %s, longest %v",
		n.credits, equal.Round(time.Millisecond), n.since(tally{}), n.longest.Round(time.Millisecond))
}
