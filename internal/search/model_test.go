package search_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/records/recordstest"
)

// schedules is how many schedules are tried if SCHEDULES is not set. For a long run:
//
//	SCHEDULES=100000 go test -race -timeout 2h -run TestChargesAreReported ./internal/search
const schedules = 2000

// schedule is one search with everything that happens to it: how its platforms answer, where the stores fail, when
// processes die, and how the caller collects.
type schedule struct {
	Upstreams []upstream
	Enrich    bool
	Unhappy   bool // the enricher fails
	Keyed     bool
	Wait      int             // wait_s of the search
	HangUp    time.Duration   // when the caller leaves the first call; 0 for never
	Processes []process       // in order, each replacing one that has died; the last never dies
	Polls     []time.Duration // pauses of the caller between polls
	Replicas  bool            // polls go to another process than the search
	Replays   int             // how often the search is repeated with its key afterwards
	Restart   time.Duration   // how long after its death a process is replaced
	Jumps     []jump          // of the clock that all share
}

// jump is when a clock is set, and by how much.
type jump struct {
	At, By time.Duration
}

// upstream is how one platform answers.
type upstream struct {
	After   time.Duration
	Fails   bool
	Results int
}

// process is the calls of one process in which the stores fail, by their number.
type process struct {
	Faults []fault
	Ends   int // the call before which the process dies; 0 for never
}

type fault struct {
	Call  int
	After bool          // the call is made, and fails nevertheless
	Hangs time.Duration // how long the call takes; within the caller's time it does not fail
}

func drawSchedule(t *rapid.T) schedule {
	seconds := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most*10).Draw(t, name)) * 100 * time.Millisecond
	}
	s := schedule{
		Enrich: rapid.Bool().Draw(t, "enrich"), Unhappy: rapid.IntRange(0, 4).Draw(t, "unhappy") == 0,
		Keyed: rapid.Bool().Draw(t, "keyed"), Wait: rapid.IntRange(1, 6).Draw(t, "wait"),
		Replicas: rapid.Bool().Draw(t, "replicas"), Replays: rapid.IntRange(0, 2).Draw(t, "replays"),
		Restart: seconds("restart", 100),
	}
	if rapid.IntRange(0, 4).Draw(t, "leaves") == 0 {
		s.HangUp = 50*time.Millisecond + seconds("hang up", 8)
	}
	for range rapid.IntRange(1, 4).Draw(t, "platforms") {
		s.Upstreams = append(s.Upstreams, upstream{
			After: seconds("after", 17), Fails: rapid.IntRange(0, 4).Draw(t, "fails") == 0,
			Results: rapid.IntRange(0, 3).Draw(t, "results"),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "ends") {
		p := process{Faults: drawFaults(t), Ends: rapid.IntRange(1, 25).Draw(t, "end")}
		p.findOut()
		s.Processes = append(s.Processes, p)
	}
	s.Processes = append(s.Processes, process{Faults: drawFaults(t)})
	for range max(0, rapid.IntRange(-3, 3).Draw(t, "jumps")) {
		at := seconds("set", 60)
		s.Jumps = append(s.Jumps, jump{at, time.Duration(rapid.IntRange(-1800, 1800).Draw(t, "by")) * time.Second})
	}
	for range rapid.IntRange(1, 4).Draw(t, "polls") {
		s.Polls = append(s.Polls, seconds("poll", 6))
	}
	return s
}

// findOut removes the faults just before the death of the process: a process that dies before it knows the result of a
// write may have answered, or charged, something that its caller does not learn. A death between a write and its result
// is the same.
func (p *process) findOut() {
	for end := p.Ends - 1; len(p.Faults) > 0; end-- {
		at := slices.IndexFunc(p.Faults, func(f fault) bool { return f.Call == end })
		if at < 0 {
			return
		}
		p.Faults = slices.Delete(p.Faults, at, at+1)
	}
}

// drawFaults lets calls fail, also several consecutive ones.
func drawFaults(t *rapid.T) []fault {
	var out []fault
	at := 0
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		at += rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4, 6, 8, 10, 12}).Draw(t, "calls later")
		f := fault{Call: at - 1, After: rapid.Bool().Draw(t, "done")}
		if rapid.IntRange(0, 3).Draw(t, "hangs") == 0 { // possibly longer than the time of a call
			f.Hangs = time.Duration(rapid.IntRange(1, 200).Draw(t, "how long")) * 100 * time.Millisecond
		}
		out = append(out, f)
	}
	return out
}

// found is what a platform finds.
type found = providers.Page[schema.SearchResult]

// machine is a process that may fail and die: all its store calls go through it.
type machine struct {
	process

	client *socialdata.Client
	mu     sync.Mutex
	calls  int
	faulty int           // calls that went wrong
	ended  chan struct{} // closed when it dies
	at     time.Time     // when it died
	failed time.Time     // when a call failed that no later one has compensated
}

var errFault = errors.New("the disk is full")

// call makes a store call, or fails, or dies before it: calls of a dead process never return.
func (m *machine) call(ctx context.Context, do func() error) error {
	m.mu.Lock()
	m.calls++
	n := m.calls
	if n == m.Ends {
		m.at = time.Now()
		close(m.ended)
	}
	dead := m.Ends > 0 && n >= m.Ends
	m.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	for _, f := range m.Faults {
		if f.Call == n {
			m.mu.Lock()
			m.faulty++
			m.mu.Unlock()
			return f.happen(ctx, do)
		}
	}
	return do()
}

// happen makes a call with a fault.
func (f fault) happen(ctx context.Context, do func() error) error {
	if f.After {
		_ = do()
	}
	if f.Hangs == 0 {
		return errFault
	}
	select {
	case <-time.After(f.Hangs):
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.After {
		return errFault
	}
	return do()
}

// books is the ledger of a machine.
type books struct {
	credits.Ledger
	credits.Granter
	*machine
}

func (b books) Give(ctx context.Context, g credits.Gift) (balance int64, err error) {
	err = b.call(ctx, func() (err error) { balance, err = b.Granter.Give(ctx, g); return err })
	return balance, err
}

func (b books) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) (holds []credits.Hold, err error) {
	err = b.call(ctx, func() (err error) { holds, err = b.Ledger.Reserve(ctx, who, ttl, amounts...); return err })
	if err != nil {
		return nil, err
	}
	return holds, nil
}

func (b books) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (r credits.Receipt, err error) {
	err = b.call(ctx, func() (err error) { r, err = b.Ledger.Settle(ctx, h, c); return err })
	if err != nil {
		return credits.Receipt{}, err
	}
	return r, nil
}

func (b books) Balance(ctx context.Context, account string) (n int64, err error) {
	err = b.call(ctx, func() (err error) { n, err = b.Ledger.Balance(ctx, account); return err })
	return n, err
}

// notes is the records store of a machine.
type notes struct {
	records.Store
	*machine
}

func (n notes) Get(ctx context.Context, key string) (r records.Record, err error) {
	err = n.call(ctx, func() (err error) { r, err = n.Store.Get(ctx, key); return err })
	return r, err
}

func (n notes) Put(ctx context.Context, r records.Record, ttl time.Duration) (version int64, err error) {
	err = n.call(ctx, func() (err error) { version, err = n.Store.Put(ctx, r, ttl); return err })
	return version, err
}

func (n notes) Add(
	ctx context.Context, r records.Record, ttl time.Duration,
) (stands records.Record, added bool, err error) {
	if n.client == nil { // the secret of cursors, before the machine has a client
		return n.Store.Add(ctx, r, ttl)
	}
	err = n.call(ctx, func() (err error) { stands, added, err = n.Store.Add(ctx, r, ttl); return err })
	return stands, added, err
}

func (n notes) Delete(ctx context.Context, key string, version int64) error {
	return n.call(ctx, func() error { return n.Store.Delete(ctx, key, version) })
}

// world is what all machines of a schedule share, and what the caller has received.
type world struct {
	schedule

	ledger  *credits.Memory
	records *records.Memory
	made    []*machine
	now     *machine // the one that receives calls
	replica *machine

	told     int64
	answered bool // whether the search was answered
	expected schema.EstimateCredits
	cut      bool // a process died during a first call without a key
	lost     bool // a process died before it knew what one of its polls had recorded
	again    bool // it was made twice with its key
	began    time.Time
	base     time.Time // what the clock showed at the start; unlike times of a bubble, with a monotonic reading
}

// modelPlatforms are the platforms of a schedule, in order.
var modelPlatforms = [...]platform.ID{platform.TikTok, platform.X, platform.YouTube, platform.LinkedIn}

// clock returns the time with all jumps.
func (w *world) clock() time.Time {
	passed, ahead := time.Since(w.began), time.Duration(0)
	for _, j := range w.Jumps {
		if passed >= j.At {
			ahead += j.By
		}
	}
	return recordstest.Ahead(w.base.Add(passed), ahead)
}

func (w *world) machine(p process) *machine {
	m := &machine{process: p, ended: make(chan struct{})}
	var upstreams []providers.Provider
	for i, u := range w.Upstreams {
		id := modelPlatforms[i]
		upstreams = append(upstreams, providers.Provider{
			Name: "fake", Platform: id, Source: schema.Own,
			Search: func(ctx context.Context, _ providers.SearchQuery, _ string) (page found, err error) {
				select {
				case <-time.After(u.After):
				case <-ctx.Done():
					return page, ctx.Err()
				}
				if u.Fails {
					return page, providers.Unavailable(nil, "down")
				}
				for n := range u.Results {
					p := schema.Post{
						Common: schema.Common{ID: fmt.Sprint(id, n), URL: fmt.Sprint("https://example.com/", id, n)},
						Author: schema.Actor{Platform: id, ID: fmt.Sprint(n), Handle: fmt.Sprint(n)}, Text: "tea & <coffee>",
					}
					page.Items = append(page.Items, schema.Result(&p))
				}
				return page, nil
			},
		})
	}
	client, err := socialdata.New(socialdata.WithProviders(upstreams), socialdata.WithLedger(books{w.ledger, w.ledger, m}),
		socialdata.WithRecords(notes{w.records, m}), socialdata.WithClock(w.clock),
		socialdata.WithEnricher(enrich.Func(w.enrich)))
	if err != nil {
		panic(err)
	}
	m.client = client.As(keys.Key{ID: "key", Account: "account"})
	w.made = append(w.made, m)
	return m
}

func (w *world) enrich(context.Context, string) (schema.Enrichment, error) {
	if w.Unhappy {
		return schema.Enrichment{}, errFault
	}
	return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
}

// do makes a call on a machine. It returns nil when the machine dies before it has answered.
func (w *world) do(ctx context.Context, m *machine, name string, call operation.Call) (*operation.Answer, error, bool) {
	type result struct {
		a   *operation.Answer
		err error
	}
	done := make(chan result, 1)
	go func() {
		a, err := m.client.Do(ctx, socialdata.Operation(name), call)
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		return r.a, r.err, true
	case <-m.ended:
	}
	synctest.Wait() // calls that needed no further store call are answered
	select {
	case r := <-done:
		return r.a, nil, r.err == nil
	default:
		return nil, nil, false
	}
}

// alive returns the machine that receives calls, a new one if the last has died.
func (w *world) alive() *machine {
	select {
	case <-w.now.ended:
		time.Sleep(w.Restart)
		w.Processes = w.Processes[1:]
		w.now = w.machine(w.Processes[0])
	default:
	}
	return w.now
}

// collector returns the machine that answers a poll.
func (w *world) collector(n int) *machine {
	if w.Replicas && n%2 == 0 {
		return w.replica
	}
	return w.alive()
}

// run plays the schedule.
func (w *world) run(ctx context.Context) {
	w.now, w.replica = w.machine(w.Processes[0]), w.machine(process{})
	params := url.Values{"query": {"tea"}, "wait_s": {strconv.Itoa(w.Wait)}, "platforms": {w.named()}}
	if w.Enrich {
		params.Set("enrich", "arabic")
	}
	call := operation.Call{Params: params}
	if w.Keyed {
		call.IdempotencyKey = "0123456789abcdef"
	}
	estimate, err := w.replica.client.Estimate(ctx, socialdata.EstimateRequest{Of: "/v1/search?" + params.Encode()})
	if err != nil {
		panic(err)
	}
	w.expected = estimate.Data.Credits
	if a := w.search(ctx, call); a != nil {
		w.answered = true
		w.told += a.Meta.CreditsUsed
		w.collect(ctx, a)
		w.replays(ctx, call)
	}
	time.Sleep(5 * time.Minute) // all holds have expired
}

func (w *world) named() string {
	var out []string
	for i := range w.Upstreams {
		out = append(out, string(modelPlatforms[i]))
	}
	return strings.Join(out, ",")
}

// search calls until there is an answer, or once without a key.
func (w *world) search(ctx context.Context, call operation.Call) *operation.Answer {
	for try := range 20 {
		first, leave := ctx, func() {}
		if w.HangUp > 0 && try == 0 {
			first, leave = context.WithTimeout(ctx, w.HangUp)
		}
		m := w.alive()
		a, err, answered := w.do(first, m, "search_across", call)
		leave()
		switch {
		case answered && err == nil:
			return a
		case !w.Keyed:
			if w.cut = !answered; answered {
				m.failed = time.Now()
			}
			return nil
		}
		time.Sleep(time.Second)
	}
	return nil
}

// collect polls a job until it is complete.
func (w *world) collect(ctx context.Context, a *operation.Answer) {
	for n := 0; a.Meta.JobID != "" && n < 180; n++ {
		time.Sleep(w.Polls[n%len(w.Polls)])
		if n > 60 { // after the clock was set back, the deadline of a dead process's job may be far away
			time.Sleep(time.Minute)
		}
		call := operation.Call{Params: url.Values{"id": {a.Meta.JobID}, "wait_s": {strconv.Itoa(n % 4)}}}
		m := w.collector(n)
		faulty := m.wrong()
		got, err, answered := w.do(ctx, m, "job", call)
		switch {
		case !answered:
			w.lost = w.lost || m.wrong() > faulty
		case err != nil:
			m.failed = time.Now()
		default:
			m.failed = time.Time{}
		}
		if p := (*problem.Error)(nil); errors.As(err, &p) && p.Code == problem.NotFound {
			panic("the job is gone")
		}
		if answered && err == nil {
			w.told += got.Meta.CreditsUsed
			a = got
		} else {
			time.Sleep(2 * time.Second)
		}
	}
	if a.Meta.JobID != "" {
		panic("the job does not end")
	}
}

// wrong returns how many store calls have gone wrong.
func (m *machine) wrong() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.faulty
}

// forgetful reports whether the machine died soon after a call had failed, before it could resolve that.
func (m *machine) forgetful() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.at.IsZero() && !m.failed.IsZero() && m.at.Sub(m.failed) < 30*time.Second
}

// replays repeats the search with its key. Its answer is ignored. If the stores failed so often that the answer could
// not be stored, the search is made once more: what was charged before is reported again, and not charged again.
func (w *world) replays(ctx context.Context, call operation.Call) {
	for range w.Replays {
		if !w.Keyed {
			return
		}
		time.Sleep(10 * time.Second)
		a, err, answered := w.do(ctx, w.alive(), "search_across", call)
		switch {
		case !answered || err != nil || a.Replayed:
		case !w.faulty():
			panic("a repeated call is no replay")
		default:
			w.again = true
			w.collect(ctx, a)
			return
		}
	}
}

// faulty reports whether consecutive store calls fail, including those during one that hangs.
func (w *world) faulty() bool {
	for _, m := range w.made {
		for i, f := range m.Faults {
			if f.Hangs > 0 || i > 0 && f.Call == m.Faults[i-1].Call+1 {
				return true
			}
		}
	}
	return false
}

// end closes all machines. One that has died, or dies while it is closed, closes nothing more.
func (w *world) end() {
	for _, m := range w.made {
		closed := make(chan error, 1)
		go func() {
			defer close(closed)
			closed <- m.client.Close(context.Background())
		}()
		if err := <-closed; err != nil {
			panic(err)
		}
	}
}

// play runs a schedule and returns what is wrong, or "".
func play(t *testing.T, s schedule) (wrong string) {
	t.Helper()
	base := time.Now()
	synctest.Test(t, func(t *testing.T) {
		w := &world{schedule: s, began: time.Now(), base: base}
		w.ledger = credits.NewMemory(credits.MemoryConfig{Now: w.clock})
		w.records = records.NewMemory(records.MemoryConfig{Now: w.clock})
		if _, err := w.ledger.Grant(t.Context(), "account", 1000, "for a test"); err != nil {
			t.Fatal(err)
		}
		defer w.end()
		defer func() {
			if v := recover(); v != nil {
				wrong = fmt.Sprint(v)
			}
		}()
		w.run(t.Context())
		wrong = w.compare(t.Context())
	})
	return wrong
}

// happy reports whether nothing in a schedule fails, neither platforms nor processes, and the caller waits.
func (w *world) happy() bool {
	texts := 0
	for _, u := range w.Upstreams {
		texts += u.Results
		if u.Fails || u.After > 14*time.Second {
			return false
		}
	}
	steady := len(w.Jumps) == 0 && len(w.made) == 2 && len(w.made[0].Faults) == 0 && w.made[0].Ends == 0 && w.HangUp == 0
	return steady && (!w.Enrich || !w.Unhappy && texts > 0)
}

// compare compares what was charged with what was reported.
func (w *world) compare(ctx context.Context) string {
	entries, err := w.ledger.Entries(ctx, credits.Query{Account: "account"})
	if err != nil {
		return err.Error()
	}
	charged, lines := 1000-entries[0].Balance, ""
	for _, e := range entries {
		lines += fmt.Sprintf("\n\t%d %s %s at %v", e.Amount, e.Operation, e.Platform, e.At.Sub(entries[len(entries)-1].At))
	}
	refunded := slices.ContainsFunc(entries, func(e credits.Entry) bool { return e.Kind == credits.Refunded })
	free, err := w.ledger.Balance(ctx, "account")
	switch {
	case err != nil:
		return err.Error()
	case free != entries[0].Balance:
		return fmt.Sprintf("%d credits can be spent of %d: something is held for ever", free, entries[0].Balance)
	case charged > w.expected.Most || w.answered && charged < w.expected.Least && !refunded: // repeats are free
		return fmt.Sprintf("%d credits were charged, and the estimate was %+v:%s", charged, w.expected, lines)
	case w.answered && charged != w.expected.Most && w.happy():
		return fmt.Sprintf("nothing failed, %d credits were charged, and the estimate was %+v:%s", charged, w.expected, lines)
	case charged > w.told && (w.lost || slices.ContainsFunc(w.made, (*machine).forgetful)):
	case charged != w.told && !w.cut && !w.again:
		return fmt.Sprintf("%d credits were charged and %d told:%s", charged, w.told, lines)
	}
	return ""
}

func TestChargesAreReported(t *testing.T) {
	n := schedules
	if s := os.Getenv("SCHEDULES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	defer func() { _ = checks.Value.Set(before) }()
	if err := checks.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSchedule(rt)
		if wrong := play(t, s); wrong != "" {
			rt.Fatalf("%s\nin %+v", wrong, s)
		}
	})
}
