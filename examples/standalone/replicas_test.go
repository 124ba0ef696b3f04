package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/socialdata/socialdata/examples/internal/shipped"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/schema"
)

const (
	granted   = 10_000_000
	oneSecond = time.Second
)

// TestReplicas runs replicas of the shipped binary behind nginx, with a PostgreSQL and a Redis of their own, all on
// ports of their own, and loads them from many clients. One replica is killed and restarted, then the cache server,
// then PostgreSQL. In the end no credit has been lost or created, and no call has failed except those in progress on
// what was killed. Monitors tell every change once and are charged for every poll once. Cursors and jobs work on every
// replica, and a revocation returns only when no replica accepts the key.
func TestReplicas(t *testing.T) {
	c := newCluster(t)
	monitors := c.watch(t)
	c.load(t)
	c.cursors(t)
	c.job(t)

	c.strike(t, "a replica is killed", true, func() {
		c.replicas[0].kill()
		c.answered(t, c.calls)
		c.jobOfTheDead(t)
		c.replicas[0].start(t)
		c.ready(t, 0)
	})
	c.strike(t, "the cache server is killed", true, func() {
		c.cache.kill()
		c.answered(t, c.calls)
		c.cache.start(t)
		c.awaits(t, func(i int) bool { return strings.Contains(c.health(t, i), `"cache":"ok"`) })
	})
	c.strike(t, "PostgreSQL is killed", false, func() {
		c.database.signal(t, syscall.SIGQUIT) // immediately, as in a crash
		c.database.wait()
		c.notReady(t)
		c.database.start(t)
		for i := range c.replicas {
			c.ready(t, i)
		}
	})
	c.cursors(t)
	c.revocations(t)
	c.settle(t)
	monitors.settle(t)
}

// cluster is everything that runs, and what its clients have sent and received.
type cluster struct {
	calls    int // answered between two failures
	searches int
	bin, dsn string
	upstream string // the replacement of the platforms
	balancer string // address of nginx
	direct   []string
	replicas []*daemon
	cache    *daemon
	database *daemon
	secret   string
	clients  sync.WaitGroup
	stop     context.CancelFunc

	mu      sync.Mutex
	keyed   map[string]string // id of the answer to each call, by idempotency key; "" for a replay
	plain   map[string]bool   // ids of answers to calls without a key
	failed  int               // calls without a key
	strange []string          // unexpected failures
	struck  time.Time         // when something was last killed
	excused bool              // failures are expected: the database is down
	given   atomic.Int64      // answers
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a cluster")
	}
	c := &cluster{calls: testsize.Of(200, 2000), keyed: map[string]string{}, plain: map[string]bool{}}
	dir, programs := c.startStores(t, "nginx", "redis-server", "initdb", "postgres")
	for range testsize.Of(2, 3) {
		c.addReplica(t)
	}
	c.startBalancer(t, programs["nginx"], dir)
	return c
}

// startStores starts what replicas share, and makes an account with a key. It returns a folder that every user can
// read, and the paths of programs, without which the test is skipped.
func (c *cluster) startStores(t *testing.T, needed ...string) (dir string, programs map[string]string) {
	t.Helper()
	programs = map[string]string{}
	for _, name := range needed {
		path, err := program(name)
		if err != nil {
			t.Skipf("there is no %s: apt-get install nginx-light redis-server postgresql", name)
		}
		programs[name] = path
	}
	dir, err := os.MkdirTemp("", "replicas") //nolint:usetesting // PostgreSQL runs as another user, who cannot see t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.bin = shipped.Program(t)
	c.startDatabase(t, dir, programs)
	c.startCache(t, programs["redis-server"], dir)
	c.startUpstream(t)
	c.command(t, "account", "create", "load", "--credits", strconv.Itoa(granted))
	c.secret = c.command(t, "key", "create", "--account", "load")
	return dir, programs
}

// program finds a program, also where Debian puts those of PostgreSQL.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, exec.ErrNotFound)
	}
	return found[len(found)-1], nil
}

// daemon is a process that can be killed and started again.
type daemon struct {
	args []string
	env  []string
	addr string // where it listens
	as   *syscall.Credential
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// start starts the process and returns when it listens.
func (d *daemon) start(t *testing.T) {
	t.Helper()
	d.cmd = exec.CommandContext(context.Background(), d.args[0], d.args[1:]...)
	d.cmd.Env = append(os.Environ(), d.env...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.as}
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	d.cmd.WaitDelay = 5 * oneSecond // children of nginx and PostgreSQL hold the same log open
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "it to listen: "+strings.Join(d.args, " "), func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", d.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func (d *daemon) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (d *daemon) wait() { _ = d.cmd.Wait() }

func (d *daemon) kill() {
	if d.cmd != nil && d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill()
		d.wait()
	}
}

// launch starts a process that ends with the test, and shows its output if the test fails.
func launch(t *testing.T, d *daemon) *daemon {
	t.Helper()
	d.start(t)
	t.Cleanup(func() {
		d.kill()
		if said := d.log.String(); t.Failed() {
			t.Logf("%s said:\n%s", d.args[0], said[max(0, len(said)-4000):])
		}
	})
	return d
}

func (c *cluster) startDatabase(t *testing.T, dir string, programs map[string]string) {
	t.Helper()
	data := filepath.Join(dir, "postgres")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	var as *syscall.Credential
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user postgres")
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(data, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	initdb := exec.CommandContext(t.Context(), programs["initdb"], "-D", data, "-U", "socialdata", "--auth=trust", "--no-sync", "-E", "UTF8")
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	initdb.Dir = dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	c.database = launch(t, &daemon{addr: addr, as: as, args: []string{
		programs["postgres"], "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + data,
	}})
	c.dsn = "postgres://socialdata@" + addr + "/postgres"
	await.Until(t, "PostgreSQL", func() bool { return c.try("account", "list") == nil })
}

func (c *cluster) startCache(t *testing.T, redis, dir string) {
	t.Helper()
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	c.cache = launch(t, &daemon{addr: addr, args: []string{
		redis, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir,
	}})
}

// startUpstream replaces GitHub's search, which answers immediately while the sandbox is slow.
func (c *cluster) startUpstream(t *testing.T) {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "search-users.json"
		if strings.HasSuffix(r.URL.Path, "/repositories") {
			name = "search-repos.json"
		}
		http.ServeFile(w, r, "../../providers/github/testdata/"+name)
	}))
	t.Cleanup(web.Close)
	c.upstream = web.URL
}

func (c *cluster) addReplica(t *testing.T, env ...string) {
	t.Helper()
	addr := freeAddr(t)
	c.direct = append(c.direct, addr)
	c.replicas = append(c.replicas, launch(t, &daemon{addr: addr, env: env, args: []string{
		c.bin, "--postgres", c.dsn, "--replay-url", c.upstream, "serve", "--addr", addr, "--valkey", c.cache.addr,
		"--rate-capacity", "1000000", "--rate-refill", "1000000", "--log-level", "warn",
	}}))
}

// startBalancer runs nginx with the site of examples/deploy, on the ports of this test.
func (c *cluster) startBalancer(t *testing.T, nginx, dir string) {
	t.Helper()
	b, err := os.ReadFile("../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	c.balancer = freeAddr(t)
	site, servers := strings.Replace(string(b), "listen 127.0.0.1:8080", "listen "+c.balancer, 1), ""
	for _, addr := range c.direct {
		servers += "server " + addr + " max_fails=1 fail_timeout=1s;\n"
	}
	begin, end := strings.Index(site, "server 127.0.0.1:8081"), strings.Index(site, "keepalive 64")
	if begin < 0 || end < begin {
		t.Fatal("nginx.conf does not have its two servers where they were")
	}
	// One process, which is gone when it is killed.
	conf := "daemon off;\nmaster_process off;\npid " + dir + "/nginx.pid;\nerror_log stderr warn;\nevents { worker_connections 1024; }\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		conf += kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf+site[:begin]+servers+site[end:]+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	launch(t, &daemon{addr: c.balancer, args: []string{nginx, "-p", dir, "-c", path}})
}

// try runs a command of the binary on the database.
func (c *cluster) try(args ...string) error {
	out, err := exec.CommandContext(context.Background(), c.bin, append([]string{"--postgres", c.dsn}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return nil
}

// command runs a command of the binary and returns its standard output.
func (c *cluster) command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.bin, append([]string{"--postgres", c.dsn}, args...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, log.String())
	}
	return strings.TrimSpace(string(out))
}

// heard is the result of a request.
type heard struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (r heard) String() string { return fmt.Sprintf("%d %.300s %v", r.status, r.body, r.err) }

// request makes a request on a connection of its own, so that it does not wait for others.
func request(ctx context.Context, addr, path, secret, idempotencyKey string) heard {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return heard{err: err}
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+secret)
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		return heard{err: err}
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	body, err := io.ReadAll(res.Body)
	return heard{res.StatusCode, res.Header, body, err}
}

func (r heard) ok() bool { return r.err == nil && r.status == http.StatusOK }

// load lets clients call through nginx until settle.
func (c *cluster) load(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	t.Cleanup(func() {
		stop()
		c.clients.Wait()
	})
	for range 8 {
		c.clients.Go(func() {
			for ctx.Err() == nil {
				c.callKeyed(t.Context())
			}
		})
	}
	for range 2 {
		c.clients.Go(func() {
			for ctx.Err() == nil {
				c.callPlain(t.Context())
			}
		})
	}
	c.answered(t, c.calls)
}

// somebody returns the path of a read that is sometimes in the cache.
func somebody() string { return fmt.Sprintf("/v1/mock/profile?handle=user_%d", mathrand.IntN(500)) }

// callTime is the time of a call. A call that fails after it has met a machine that is too slow, not a fault.
const callTime = 15 * time.Second

// callKeyed makes one call and repeats it until it is answered.
func (c *cluster) callKeyed(ctx context.Context) {
	key, path, begun := "replicas-"+rand.Text(), somebody(), time.Now()
	for ctx.Err() == nil {
		sent := time.Now()
		r := request(ctx, c.balancer, path, c.secret, key)
		c.mu.Lock()
		if r.ok() {
			c.keyed[key] = r.header.Get("X-Request-Id")
			if r.header.Get("X-Idempotent-Replay") != "" {
				c.keyed[key] = ""
			}
			c.given.Add(1)
		} else if !c.excused && begun.After(c.struck) && time.Since(sent) < callTime && ctx.Err() == nil {
			c.strange = append(c.strange, r.String())
		}
		c.mu.Unlock()
		if r.ok() {
			return
		}
	}
}

// callPlain makes one call that must not be repeated: when it fails it may have been charged.
func (c *cluster) callPlain(ctx context.Context) {
	r := request(ctx, c.balancer, somebody(), c.secret, "")
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.ok() {
		c.plain[r.header.Get("X-Request-Id")] = true
		c.given.Add(1)
		return
	}
	c.failed++
}

// answered waits until n more calls have been answered.
func (c *cluster) answered(t *testing.T, n int) {
	t.Helper()
	until := c.given.Load() + int64(n)
	await.Until(t, fmt.Sprintf("%d answers", n), func() bool { return c.given.Load() >= until })
}

// strike causes a failure under load. Calls in progress then may fail; later ones only while the database is down.
func (c *cluster) strike(t *testing.T, what string, unnoticed bool, blow func()) {
	t.Helper()
	began, before := time.Now(), c.given.Load()
	c.excuse(!unnoticed)
	blow()
	c.excuse(false)
	c.answered(t, c.calls)
	t.Logf("%s: %d calls answered in %v", what, c.given.Load()-before, time.Since(began).Round(time.Millisecond))
}

// health returns a replica's health, "" for no answer.
func (c *cluster) health(t *testing.T, i int) string {
	t.Helper()
	return string(request(t.Context(), c.direct[i], "/health", "", "").body)
}

// awaits waits until a condition holds for every replica.
func (c *cluster) awaits(t *testing.T, holds func(i int) bool) {
	t.Helper()
	for i := range c.replicas {
		await.Until(t, fmt.Sprintf("replica %d", i), func() bool { return holds(i) })
	}
}

func (c *cluster) ready(t *testing.T, i int) {
	t.Helper()
	await.Until(t, fmt.Sprintf("replica %d to be ready", i), func() bool { return request(t.Context(), c.direct[i], "/readyz", "", "").ok() })
}

// notReady checks that every replica says that it cannot serve without the database, but is alive.
func (c *cluster) notReady(t *testing.T) {
	t.Helper()
	c.awaits(t, func(i int) bool {
		return request(t.Context(), c.direct[i], "/readyz", "", "").status == http.StatusServiceUnavailable
	})
	c.awaits(t, func(i int) bool { return request(t.Context(), c.direct[i], "/livez", "", "").ok() })
}

// fetch makes a read on one replica that must succeed.
func fetch[T any](t *testing.T, c *cluster, i int, path string) schema.Envelope[T] {
	t.Helper()
	r := request(t.Context(), c.direct[i%len(c.direct)], path, c.secret, "")
	var e schema.Envelope[T]
	if err := errors.Join(r.err, json.Unmarshal(r.body, &e)); err != nil || r.status != http.StatusOK {
		t.Fatalf("%s on replica %d: %s: %v", path, i, r, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Meta.CreditsUsed > 0 && !strings.HasPrefix(path, "/v1/job") && !strings.HasPrefix(path, "/v1/search") {
		c.plain[e.Meta.RequestID] = true
	}
	return e
}

// cursors walks the same list twice: on one replica, and with each page on another one.
func (c *cluster) cursors(t *testing.T) {
	t.Helper()
	walk := func(step int) (ids []string) {
		cursor := ""
		for page := 0; page == 0 || cursor != ""; page++ {
			e := fetch[[]schema.Post](t, c, page*step, after("/v1/mock/posts?handle=walker", cursor))
			for _, p := range e.Data {
				ids = append(ids, p.ID)
			}
			cursor = e.Meta.NextCursor
		}
		return ids
	}
	alone, together := walk(0), walk(1)
	if !slices.Equal(alone, together) || len(alone) < 20 {
		t.Errorf("on one replica a walk finds %v, on all of them %v", alone, together)
	}
}

// after returns the path of the next page.
func after(path, cursor string) string {
	if cursor == "" {
		return path
	}
	return path + "&cursor=" + url.QueryEscape(cursor)
}

// job begins a search on one replica and collects the late results on the others.
func (c *cluster) job(t *testing.T) {
	t.Helper()
	if c.collect(t, c.late(t, 0), 1, len(c.replicas)) == 0 {
		t.Error("a job of another replica: got no results")
	}
}

// jobOfTheDead collects a search while the first replica is dead. If there are replicas left, the one that began it is
// killed as well: the results that it was waiting for are lost, and the others say so and stop waiting.
func (c *cluster) jobOfTheDead(t *testing.T) {
	t.Helper()
	last := len(c.replicas) - 1
	id := c.late(t, last)
	if last < 2 {
		if c.collect(t, id, last, last+1) == 0 {
			t.Error("a job: got no results")
		}
		return
	}
	c.replicas[last].kill()
	c.collect(t, id, 1, last)
	c.replicas[last].start(t)
	c.ready(t, last)
}

// late begins a search that is unfinished when it is answered, and returns its job.
func (c *cluster) late(t *testing.T, i int) string {
	t.Helper()
	c.searches++ // a different query each time, because results are cached
	path := fmt.Sprintf("/v1/search?query=slow_%dms&platforms=mock,github&wait_s=1", 3000+c.searches)
	e := fetch[[]schema.SearchResult](t, c, i, path)
	if e.Meta.JobID == "" {
		t.Fatalf("a search that is pending has no job: %+v", e.Meta)
	}
	return e.Meta.JobID
}

// collect polls a job, on one replica after the other from first to the one before last, until it is done, and returns
// how many results have come.
func (c *cluster) collect(t *testing.T, id string, first, last int) (n int) {
	t.Helper()
	i := first
	await.Until(t, "a job", func() bool {
		e := fetch[[]schema.SearchResult](t, c, i, "/v1/job?wait_s=5&id="+id)
		n = len(e.Data)
		if i++; i >= last {
			i = first
		}
		return !slices.Contains(slices.Collect(maps.Values(e.Meta.Platforms)), schema.Pending)
	})
	return n
}

// revocations revokes keys while every replica is called with them. Once the revocation has returned, no replica
// accepts the key, not even one that was suspended in the meantime.
func (c *cluster) revocations(t *testing.T) {
	t.Helper()
	for round := range 4 {
		secret := c.command(t, "key", "create", "--account", "load", "--name", fmt.Sprint("round ", round))
		id := c.keyID(t, secret)
		var returned atomic.Int64 // when the revocation returned, in nanoseconds; 0 before
		var accepted, refused, late atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		var askers sync.WaitGroup
		for _, addr := range c.direct {
			for range 3 {
				askers.Go(func() {
					for ctx.Err() == nil {
						begun := time.Now().UnixNano()
						r := request(ctx, addr, "/v1/me", secret, "")
						over := returned.Load() != 0 && begun > returned.Load()
						switch {
						case r.ok() && over:
							late.Add(1)
						case r.ok():
							accepted.Add(1)
						case r.status == http.StatusUnauthorized && over:
							refused.Add(1)
						case r.status != http.StatusUnauthorized && ctx.Err() == nil:
							t.Errorf("with a key that is revoked: %s", r)
						}
					}
				})
			}
		}
		await.Until(t, "a key to be accepted", func() bool { return accepted.Load() > 50 })
		still := c.replicas[len(c.replicas)-1]
		if round%2 == 1 {
			c.excuse(true) // when it goes on, it takes the time that it has missed for that of a store that hangs
			still.signal(t, syscall.SIGSTOP)
		}
		began := time.Now()
		c.command(t, "key", "revoke", id)
		returned.Store(time.Now().UnixNano())
		took := time.Since(began)
		if round%2 == 1 {
			still.signal(t, syscall.SIGCONT)
		}
		await.Until(t, "a key to be refused", func() bool { return refused.Load() > int64(100*len(c.direct)) })
		c.excuse(false)
		stop()
		askers.Wait()
		if late.Load() > 0 {
			t.Errorf("round %d: %d requests that began after the revocation were accepted", round, late.Load())
		}
		t.Logf("revocation %d: %v; %d calls accepted before, %d refused after", round, took.Round(time.Millisecond), accepted.Load(), refused.Load())
	}
}

// excuse notes whether failures are expected from now on. Calls in progress may fail in any case.
func (c *cluster) excuse(expected bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.struck, c.excused = time.Now(), expected
}

func (c *cluster) keyID(t *testing.T, secret string) string {
	t.Helper()
	var e schema.Envelope[schema.Me]
	r := request(t.Context(), c.direct[0], "/v1/me", secret, "")
	if err := json.Unmarshal(r.body, &e); err != nil || r.status != http.StatusOK {
		t.Fatalf("me: %s: %v", r, err)
	}
	return e.Data.Key.ID
}

// settle ends the load and compares the answers with the entries.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	c.stop()
	c.clients.Wait()
	for _, s := range c.strange {
		t.Errorf("a call failed although nothing that it used was killed: %s", s)
	}
	charges, searches := map[string]int64{}, int64(0)
	for cursor := ""; ; {
		e := fetch[[]schema.Usage](t, c, len(charges), after("/v1/usage?", cursor))
		for _, u := range e.Data {
			if u.Kind != "charge" {
				continue
			}
			if *u.Operation == "search_across" || *u.Operation == "search" {
				searches += -u.Amount
				continue
			}
			charges[*u.RequestID] += -u.Amount
		}
		if cursor = e.Meta.NextCursor; cursor == "" {
			break
		}
	}
	total := int64(0)
	for id, n := range charges {
		if n != 1 {
			t.Errorf("call %s was charged %d credits", id, n)
		}
		total += n
	}
	for id := range c.plain {
		if charges[id] == 0 {
			t.Errorf("call %s was answered and not charged", id)
		}
	}
	// A repeated call is charged once; a call that failed and was not repeated may have been charged.
	atLeast := int64(len(c.keyed) + len(c.plain))
	if total < atLeast || total > atLeast+int64(c.failed) {
		t.Errorf("%d credits charged for %d calls that were answered, and %d that failed and were not repeated", total, atLeast, c.failed)
	}
	// The holds of killed replicas are released when they expire: after the 15 s of a call and a minute more.
	c.awaits(t, func(i int) bool {
		balance := fetch[schema.Me](t, c, i, "/v1/me").Data.Credits.Balance
		if most := granted - total - searches; balance > most {
			t.Fatalf("replica %d says that the balance is %d, more than the %d that are left", i, balance, most)
		}
		return balance == granted-total-searches
	})
	t.Logf("%d calls answered, %d failed, %d credits charged, %d more for searches", atLeast, c.failed, total, searches)
	t.Log(c.command(t, "audit"))
}
