package search_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
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
const schedules = 500

// schedule is one search with everything that happens to it: how its platforms answer, where the stores fail, when
// processes die, and how the caller collects.
type schedule struct {
	Upstreams []upstream
	Enrich    bool
	Unhappy   bool // the enricher fails
	Keyed     bool
	Wait      int                  // wait_s of the search
	HangUp    time.Duration        // when the caller leaves the first call; 0 for never
	Processes []enginetest.Process // in order, each replacing one that has died; the last never dies
	Polls     []time.Duration      // pauses of the caller between polls
	Replicas  bool                 // polls go to another process than the search
	Replays   int                  // how often the search is repeated with its key afterwards
	Restart   time.Duration        // how long after its death a process is replaced
	Jumps     []jump               // of the clock that all share
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

// longestHang is how long a store hangs at most: longer than the time of a call.
const longestHang = 20 * time.Second

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
		s.Processes = append(s.Processes, enginetest.DrawProcess(t, longestHang, true))
	}
	s.Processes = append(s.Processes, enginetest.DrawProcess(t, longestHang, false))
	for range max(0, rapid.IntRange(-3, 3).Draw(t, "jumps")) {
		at := seconds("set", 60)
		s.Jumps = append(s.Jumps, jump{at, time.Duration(rapid.IntRange(-1800, 1800).Draw(t, "by")) * time.Second})
	}
	for range rapid.IntRange(1, 4).Draw(t, "polls") {
		s.Polls = append(s.Polls, seconds("poll", 6))
	}
	return s
}

// found is what a platform finds.
type found = providers.Page[schema.SearchResult]

// world is what all machines of a schedule share, and what the caller has received.
type world struct {
	schedule

	ledger  *credits.Memory
	records *records.Memory
	made    []*enginetest.Machine
	now     *enginetest.Machine // the one that receives calls
	replica *enginetest.Machine

	reported int64
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

func (w *world) machine(p enginetest.Process) *enginetest.Machine {
	m := enginetest.NewMachine(p)
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
	client, err := socialdata.New(socialdata.WithProviders(upstreams), socialdata.WithLedger(m.Ledger(w.ledger, false)),
		socialdata.WithRecords(m.Records(w.records)), socialdata.WithClock(w.clock),
		socialdata.WithEnricher(enrich.Func(w.enrich)))
	if err != nil {
		panic(err)
	}
	m.Client = client.As(keys.Key{ID: "key", Account: "account"})
	w.made = append(w.made, m)
	return m
}

func (w *world) enrich(context.Context, string) (schema.Enrichment, error) {
	if w.Unhappy {
		return schema.Enrichment{}, enginetest.ErrFault
	}
	return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
}

// alive returns the machine that receives calls, a new one if the last has died.
func (w *world) alive() *enginetest.Machine {
	select {
	case <-w.now.Ended:
		time.Sleep(w.Restart)
		w.Processes = w.Processes[1:]
		w.now = w.machine(w.Processes[0])
	default:
	}
	return w.now
}

// collector returns the machine that answers a poll.
func (w *world) collector(n int) *enginetest.Machine {
	if w.Replicas && n%2 == 0 {
		return w.replica
	}
	return w.alive()
}

// run plays the schedule.
func (w *world) run(ctx context.Context) {
	w.now, w.replica = w.machine(w.Processes[0]), w.machine(enginetest.Process{})
	params := url.Values{"query": {"tea"}, "wait_s": {strconv.Itoa(w.Wait)}, "platforms": {w.named()}}
	if w.Enrich {
		params.Set("enrich", "arabic")
	}
	call := operation.Call{Params: params}
	if w.Keyed {
		call.IdempotencyKey = "0123456789abcdef"
	}
	estimate, err := w.replica.Client.Estimate(ctx, socialdata.EstimateRequest{Of: "/v1/search?" + params.Encode()})
	if err != nil {
		panic(err)
	}
	w.expected = estimate.Data.Credits
	if a := w.search(ctx, call); a != nil {
		w.answered = true
		w.reported += a.Meta.CreditsUsed
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
		faulty := m.Wrong()
		a, err, answered := m.Do(first, "search_across", call)
		leave()
		switch {
		case answered && err == nil:
			if m.Wrong() > faulty { // it may have reported a platform as failed without knowing its charge
				m.Failed()
			}
			return a
		case !w.Keyed:
			if w.cut = !answered; answered {
				m.Failed()
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
		faulty := m.Wrong()
		got, err, answered := m.Do(ctx, "job", call)
		switch {
		case !answered:
			w.lost = w.lost || m.Wrong() > faulty
		case err != nil:
			m.Failed()
		case got.Meta.CreditsUsed > 0: // otherwise what a failed poll would have reported is refunded
			m.Compensated()
		}
		if p := (*problem.Error)(nil); errors.As(err, &p) && p.Code == problem.NotFound {
			panic("the job is gone")
		}
		if answered && err == nil {
			w.reported += got.Meta.CreditsUsed
			a = got
		} else {
			time.Sleep(2 * time.Second)
		}
	}
	if a.Meta.JobID != "" {
		panic("the job does not end")
	}
}

// replays repeats the search with its key. Its answer is ignored. If the stores failed so often that the answer could
// not be stored, the search is made once more: what was charged before is reported again, and not charged again.
func (w *world) replays(ctx context.Context, call operation.Call) {
	for range w.Replays {
		if !w.Keyed {
			return
		}
		time.Sleep(10 * time.Second)
		a, err, answered := w.alive().Do(ctx, "search_across", call)
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
	return slices.ContainsFunc(w.made, func(m *enginetest.Machine) bool { return m.Faulty() })
}

// end closes all machines.
func (w *world) end() {
	for _, m := range w.made {
		if err := m.Close(); err != nil {
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
		if u.Fails || u.After > 13*time.Second {
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
	case charged > w.reported && (w.lost || slices.ContainsFunc(w.made, (*enginetest.Machine).Forgetful)):
	case charged != w.reported && !w.cut && !w.again:
		return fmt.Sprintf("%d credits were charged and %d reported:%s", charged, w.reported, lines)
	}
	return ""
}

// TestWhatIsReportedAsFailedIsRefunded plays schedules in which a refund was missing.
func TestWhatIsReportedAsFailedIsRefunded(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, s := range map[string]schedule{
		"of two parts of a failed poll, when the first refund of one fails": {
			Upstreams: []upstream{{After: 10100 * ms, Fails: true}, {Results: 1}, {After: 8400 * ms, Results: 1}, {After: 8700 * ms}},
			Unhappy:   true, Keyed: true, Wait: 2, Replicas: true, Polls: []time.Duration{0},
			Processes: []enginetest.Process{{Faults: []enginetest.Fault{
				{Call: 1}, {Call: 11}, {Call: 19, After: true, Hangs: 18300 * ms}, {Call: 31},
			}}},
		},
		"when the note that a part is answered is written too late": {
			Upstreams: []upstream{{After: 5100 * ms, Results: 2}, {}, {After: 1700 * ms, Results: 2}},
			Unhappy:   true, Keyed: true, Wait: 2, Polls: []time.Duration{100 * ms},
			Processes: []enginetest.Process{{Faults: []enginetest.Fault{
				{Call: 7, After: true}, {Call: 9, After: true, Hangs: 13900 * ms}, {Call: 11}, {Call: 12, After: true},
			}}},
		},
		"when a part is withdrawn while the end of another stores it": {
			Upstreams: []upstream{{After: 700 * ms, Fails: true}, {After: 6900 * ms, Results: 3}, {After: 3100 * ms}, {After: 8900 * ms, Fails: true}},
			Enrich:    true, Keyed: true, Wait: 5, Replicas: true, Polls: []time.Duration{300 * ms, 2900 * ms},
			Processes: []enginetest.Process{{Faults: []enginetest.Fault{
				{Call: 11, Hangs: 1900 * ms}, {Call: 14, Hangs: 11200 * ms}, {Call: 16}, {Call: 24},
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 { // the order of goroutines differs: a withdrawn part was charged in one play of twenty
				if wrong := play(t, s); wrong != "" {
					t.Fatal(wrong)
				}
			}
		})
	}
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
