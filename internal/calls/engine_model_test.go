package calls_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/records/recordstest"
	"github.com/socialdata/socialdata/schema"
)

// schedule is what happens in two processes that share their stores: what is called, how the platforms answer, where the
// stores fail, and when a process dies and another takes its place.
type schedule struct {
	Processes [2][]enginetest.Process // of each replica, in order; the last never dies
	Restart   time.Duration           // how long after its death a process is replaced
	Actors    []actor
	Erasures  []time.Duration // when the records of all keys are erased
	Jumps     []jump          // of the clock that all share
	Credits   int64
	OneStep   bool // the ledger charges hits in one step
	Unhappy   bool // the enricher fails
	Most      int  // keys in a request for a batch; 1 if each is read alone
}

// jump is when a clock is set, and by how much.
type jump struct{ At, By time.Duration }

// kind is what an actor calls.
type kind string

const (
	profile kind = "profile"
	batch   kind = "profile/batch"
	search  kind = "search_across" // which is polled until nothing is pending
	stream  kind = "stream"        // the same as events
)

// actor is a caller.
type actor struct {
	Kind          kind
	Key           int      // of idempotency; 0 for none. Equal keys are the same call
	Handles       []string // of a profile or a batch: how each begins determines its result
	Parts         []part   // of a search
	Query         int      // of a search
	Fresh, Enrich bool
	Wait          int // seconds

	At, HangUp time.Duration // when it calls, and when it leaves its first call; HangUp 0 for never
	Tries      int           // under a key
	Elsewhere  bool          // repeats go to the other replica
	Polls      time.Duration // the pause between polls
}

// part is how a platform answers a search.
type part struct {
	After   time.Duration
	Fails   bool
	Results int
}

func draw(t *rapid.T) (s schedule) {
	s.Credits = rapid.SampledFrom([]int64{1000, 1000, 1000, 3}).Draw(t, "credits")
	s.OneStep, s.Unhappy = rapid.Bool().Draw(t, "one step"), rapid.IntRange(0, 4).Draw(t, "unhappy") == 0
	s.Most = rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "keys a request")
	s.Restart = tenths(t, "restart", 10)
	for r := range s.Processes {
		for n := range rapid.IntRange(1, 3).Draw(t, "lives") {
			p := enginetest.Process{Faults: drawFaults(t)}
			if n < 2 && rapid.IntRange(0, 2).Draw(t, "dies") == 0 {
				p.Ends, p.EndsAfter = rapid.IntRange(1, 30).Draw(t, "end"), rapid.Bool().Draw(t, "ends after")
			}
			s.Processes[r] = append(s.Processes[r], p)
		}
		s.Processes[r][len(s.Processes[r])-1].Ends = 0
	}
	for range max(0, rapid.IntRange(-4, 2).Draw(t, "erasures")) {
		s.Erasures = append(s.Erasures, tenths(t, "erased", 30))
	}
	for range max(0, rapid.IntRange(-4, 2).Draw(t, "jumps")) {
		by := time.Duration(rapid.IntRange(-600, 600).Draw(t, "by")) * time.Second
		s.Jumps = append(s.Jumps, jump{tenths(t, "set", 60), by})
	}
	crowd := rapid.Bool().Draw(t, "crowd") // all have the same key, and come at about the same time
	for range rapid.IntRange(1, 4).Draw(t, "actors") {
		s.Actors = append(s.Actors, s.drawActor(t, crowd))
	}
	return s
}

// tenths draws a duration of at most so many seconds.
func tenths(t *rapid.T, name string, most int) time.Duration {
	return time.Duration(rapid.IntRange(0, most*10).Draw(t, name)) * 100 * time.Millisecond
}

// drawFaults draws calls that fail: a few, also several consecutive ones, or a store that fails for a while.
func drawFaults(t *rapid.T) (faults []enginetest.Fault) {
	if rapid.Bool().Draw(t, "dense") {
		from, how := rapid.IntRange(1, 12).Draw(t, "from"), rapid.IntRange(0, 3).Draw(t, "how")
		for call := range rapid.IntRange(2, 30).Draw(t, "for") {
			f := enginetest.Fault{Call: from + call}
			switch how {
			case 0:
				f.After = true
			case 1:
				f.Lands = tenths(t, "lands", 20)
			case 2:
				f.After, f.Hangs = true, 3*time.Second
			}
			if rapid.IntRange(0, 4).Draw(t, "works") > 0 {
				faults = append(faults, f)
			}
		}
		return faults
	}
	at := 0
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		at += rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4, 6, 9, 12}).Draw(t, "later")
		f := enginetest.Fault{Call: at, After: rapid.Bool().Draw(t, "after")}
		if rapid.IntRange(0, 3).Draw(t, "hangs") == 0 {
			f.Hangs = tenths(t, "how long", 20)
		}
		faults = append(faults, f)
	}
	return faults
}

var handles = rapid.SampledFrom([]string{
	"ann", "Ann", "bob", "carl", "eve", "nobody", "gone", "odd", "hidden", "refused", "down", "late", "slow", "a b",
})

func (s *schedule) drawActor(t *rapid.T, crowd bool) actor {
	a := actor{
		Kind: rapid.SampledFrom([]kind{profile, profile, batch, search, search, stream}).Draw(t, "kind"),
		Key:  rapid.IntRange(0, 2).Draw(t, "key"), At: tenths(t, "at", 30), Tries: rapid.IntRange(1, 40).Draw(t, "tries"),
		Elsewhere: rapid.Bool().Draw(t, "elsewhere"), Polls: tenths(t, "polls", 6), Query: len(s.Actors),
		Wait: rapid.IntRange(0, 6).Draw(t, "wait"), Fresh: rapid.IntRange(0, 3).Draw(t, "fresh") == 0,
		Enrich: rapid.IntRange(0, 2).Draw(t, "enrich") == 0,
	}
	if crowd {
		a.Key, a.At, a.Tries = 1, a.At/8, 1+a.Tries/4
	}
	if rapid.IntRange(0, 4).Draw(t, "leaves") == 0 {
		a.HangUp = 50*time.Millisecond + tenths(t, "hang up", 14)
	}
	switch a.Kind {
	case profile:
		a.Handles = []string{handles.Draw(t, "handle")}
	case batch:
		a.Handles = rapid.SliceOfN(handles, 1, 6).Draw(t, "handles")
	case search, stream:
		for range rapid.IntRange(1, 4).Draw(t, "platforms") {
			a.Parts = append(a.Parts, part{
				After: tenths(t, "after", rapid.SampledFrom([]int{0, 3, 17}).Draw(t, "at most")),
				Fails: rapid.IntRange(0, 4).Draw(t, "fails") == 0, Results: rapid.IntRange(0, 3).Draw(t, "results"),
			})
		}
	}
	if a.Kind == stream {
		a.Key = 0
	}
	for _, b := range s.Actors {
		if a.Key > 0 && b.Key == a.Key { // an equal key is an equal call
			b.At, b.HangUp, b.Tries, b.Elsewhere, b.Polls = a.At, a.HangUp, a.Tries, a.Elsewhere, a.Polls
			return b
		}
	}
	return a
}

// platforms are those of searches, in order. Profiles are of the second.
var platforms = [...]platform.ID{platform.TikTok, platform.X, platform.YouTube, platform.LinkedIn}

// call is the call of an actor.
func (a actor) call(id string) operation.Call {
	call := operation.Call{Params: url.Values{}, RequestID: id}
	switch a.Kind {
	case profile:
		call.Platform = "x"
		call.Params.Set("handle", a.Handles[0])
	case batch:
		call.Platform = "x"
		call.Params.Set("handles", strings.Join(a.Handles, ","))
	default:
		var on []string
		for i := range a.Parts {
			on = append(on, string(platforms[i]))
		}
		call.Params.Set("platforms", strings.Join(on, ","))
		call.Params.Set("query", fmt.Sprint("tea ", a.Query))
		if a.Kind == search {
			call.Params.Set("wait_s", strconv.Itoa(a.Wait))
		}
	}
	if a.Fresh {
		call.Params.Set("fresh", "true")
	}
	if a.Enrich {
		call.Params.Set("enrich", "arabic")
	}
	if a.Key > 0 {
		call.IdempotencyKey = keyOf(a.Key)
	}
	return call
}

func keyOf(n int) string { return fmt.Sprintf("key-of-the-model-%d", n) }

// machine is a process with the calls that it has left to the background.
type machine struct {
	*enginetest.Machine
	slog.Handler // that no log is written

	mu      sync.Mutex
	pending map[string]bool
}

func (m *machine) Enabled(context.Context, slog.Level) bool { return true }

func (m *machine) Handle(_ context.Context, r slog.Record) error {
	left := false
	switch r.Message {
	case "a call has failed and may have been charged; if it was, the charge is refunded",
		"a part of a call that is not answered is released":
		left = true
	case "nothing of a call is left to release or to refund":
	default:
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "request_id" {
			m.pending[a.Value.String()] = left
		}
		return true
	})
	return nil
}

func (m *machine) dead() bool {
	select {
	case <-m.Ended:
		return true
	default:
		return false
	}
}

// world is what all machines of a schedule share, and what the callers were told.
type world struct {
	schedule

	began   time.Time
	base    time.Time // what the clock showed at the start; unlike times of a bubble, with a monotonic reading
	ledger  *credits.Memory
	records *records.Memory
	cache   *cache.Memory

	mu     sync.Mutex
	now    [2]*machine
	made   []*machine
	reads  int                          // of platforms: no two answers are equal
	told   map[string]int64             // by call, of which all with one key are one: a search by its last answer
	bodies map[string][]byte            // the answers of reads and batches with a key
	cut    map[string]bool              // a process died in a call that was not answered afterwards
	failed map[string]map[*machine]bool // where attempts at a call failed
	wrong  string
	erased bool
}

// fail notes what is wrong.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

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

func (w *world) boot(r int) *machine {
	m := &machine{
		Machine: enginetest.NewMachine(w.Processes[r][0]), Handler: slog.DiscardHandler, pending: map[string]bool{},
	}
	client, err := socialdata.New(socialdata.WithProviders(w.providers()), socialdata.WithLogger(slog.New(m)),
		socialdata.WithLedger(m.Ledger(w.ledger, w.OneStep)), socialdata.WithRecords(m.Records(w.records)),
		socialdata.WithCache(m.Cache(w.cache)),
		socialdata.WithClock(w.clock), socialdata.WithEnricher(enrich.Func(w.enrich)))
	if err != nil {
		panic(err)
	}
	m.Client = client.As(keys.Key{ID: "key", Account: "account"})
	w.made = append(w.made, m)
	w.now[r] = m
	return m
}

// alive returns the process of a replica, a new one if the last has died.
func (w *world) alive(r int) *machine {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.now[r].dead() {
		return w.now[r]
	}
	w.mu.Unlock()
	time.Sleep(w.Restart)
	w.mu.Lock()
	if w.now[r].dead() {
		w.Processes[r] = w.Processes[r][1:]
		w.boot(r)
	}
	return w.now[r]
}

func (w *world) enrich(context.Context, string) (schema.Enrichment, error) {
	if w.Unhappy {
		return schema.Enrichment{}, enginetest.ErrFault
	}
	return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
}

// after waits for an answer of a platform.
func after(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// providers are the platforms of a schedule: [enginetest.Batched] for profiles, of which some answer late, some have a
// text, and some have only one form.
func (w *world) providers() []providers.Provider {
	source := &enginetest.Batched{Most: w.Most, Answers: 200 * time.Millisecond}
	x := source.Provider(platform.X, "x")
	one, many := x.Profile, x.Batches.Profile.Read
	late := func(ctx context.Context, asked ...string) error {
		switch {
		case slices.Contains(asked, "late"): // within the call, but not together with another one
			return after(ctx, 12*time.Second)
		case slices.Contains(asked, "slow"):
			return after(ctx, 2*time.Second)
		}
		return nil
	}
	mark := func(p *schema.Profile) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reads++
		p.DisplayName = new(fmt.Sprint("read ", w.reads))
		if p.Handle > "b" && p.Handle < "d" {
			p.Bio = new("tea & <coffee>")
		}
	}
	x.Profile = func(ctx context.Context, handle string) (p schema.Profile, err error) {
		if err := late(ctx, handle); err != nil {
			return p, err
		}
		p, err = one(ctx, handle)
		mark(&p)
		return p, err
	}
	x.Batches.Profile.Read = func(ctx context.Context, asked []string) (map[string]schema.Profile, error) {
		if err := late(ctx, asked...); err != nil {
			return nil, err
		}
		found, err := many(ctx, asked)
		for handle, p := range found {
			if p.Handle != "" {
				mark(&p)
			}
			found[handle] = p
		}
		return found, err
	}
	if w.Most < 2 {
		x.Batches.Profile = providers.Batch[schema.Profile]{}
	}
	x.Normalize = func(_ providers.Subject, value string) (string, error) {
		if strings.Contains(value, " ") {
			return "", providers.Invalid("a handle holds no space")
		}
		return strings.ToLower(value), nil
	}
	all := []providers.Provider{{}, x, {}, {}}
	for i, id := range platforms {
		if id != platform.X {
			all[i] = providers.Provider{Name: "fake", Platform: id, Source: schema.Own}
		}
		all[i].Search = func(ctx context.Context, q providers.SearchQuery, _ string) (
			page providers.Page[schema.SearchResult], err error,
		) {
			n, _ := strconv.Atoi(strings.TrimPrefix(q.Query, "tea "))
			answers := w.Actors[slices.IndexFunc(w.Actors, func(a actor) bool { return a.Query == n })].Parts[i]
			if err := after(ctx, answers.After); err != nil {
				return page, err
			}
			if answers.Fails {
				return page, providers.Unavailable(nil, "down")
			}
			for r := range answers.Results {
				page.Items = append(page.Items, enginetest.By(fmt.Sprint("author ", r), fmt.Sprint(id, r), r))
			}
			return page, nil
		}
	}
	return all
}

// name returns the name of the call of an actor: its number, or its key.
func (w *world) name(n int) string {
	if a := w.Actors[n]; a.Key > 0 {
		return keyOf(a.Key)
	}
	return fmt.Sprint("call ", n)
}

// act makes the calls of one actor.
func (w *world) act(n int, a actor) {
	time.Sleep(a.At)
	name := w.name(n)
	for try := 0; try < a.Tries && (try == 0 || a.Key > 0); try++ {
		m := w.alive((n + map[bool]int{true: try}[a.Elsewhere]) % 2)
		ctx, leave := context.Background(), func() {}
		if a.HangUp > 0 && try == 0 {
			ctx, leave = context.WithTimeout(ctx, a.HangUp)
		}
		call := a.call(fmt.Sprintf("call-%d-%d", n, try))
		if a.Kind == stream {
			w.stream(ctx, m, name, a, call)
			leave()
			return
		}
		began := time.Now()
		answer, err, answered := m.Do(ctx, string(a.Kind), call)
		leave()
		if took := time.Since(began); answered && took > longestAnswer {
			w.fail("%s is answered after %v: %v", call.RequestID, took, err)
		}
		if answered && err == nil {
			w.tell(name, a, answer)
			if a.Kind == search {
				w.poll(n, name, a, answer)
			}
			return
		}
		if errors.Is(err, records.ErrConflict) && !errors.As(err, new(*account.UnavailableError)) {
			w.fail("%s fails with %v", call.RequestID, err)
		}
		w.mu.Lock()
		if w.failed[name] == nil {
			w.failed[name] = map[*machine]bool{}
		}
		if p, ok := errors.AsType[*problem.Error](err); !ok || !slices.Contains(unpaid, p.Code) {
			w.failed[name][m] = true
		}
		// Excused are a call that a process died in, if it is not repeated, and one that was told as failed by two
		// processes, the second of which had taken it over, and that is not repeated.
		last := try == a.Tries-1 || a.Key == 0
		w.cut[name] = w.cut[name] || last && (!answered || a.Key > 0 && len(w.failed[name]) > 1)
		w.mu.Unlock()
		time.Sleep(time.Second)
	}
}

// unpaid are the codes of calls for which nothing was due.
var unpaid = []problem.Code{problem.NotFound, problem.InvalidRequest, problem.InsufficientCredits}

// longestAnswer is the maximum time of a call, including its store calls.
const longestAnswer = 15*time.Second + 50*time.Millisecond

// stream follows a search: each part is charged just before it is told.
func (w *world) stream(ctx context.Context, m *machine, name string, a actor, call operation.Call) {
	if !m.Run(func() {
		_ = socialdata.FrontEnd(m.Client).Stream(ctx, socialdata.Operation(string(search)), call, func(e operation.Event) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			if e.State == schema.OK {
				w.told[name] += a.base(e.Platform)
			}
			if e.Meta != nil {
				if fee := e.Meta.CreditsUsed - w.told[name]; fee != 0 && (fee != enrichPrice || !a.Enrich || w.Unhappy) {
					w.wrong = fmt.Sprintf("%s reports %d credits, and told of %d", name, e.Meta.CreditsUsed, w.told[name])
				}
				w.told[name] = e.Meta.CreditsUsed
			}
			return ctx.Err() == nil
		})
	}) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cut[name] = true
	}
}

// enrichPrice is the price of the enrichment of an answer.
const enrichPrice = 3

// base is the price of a platform in the actor's call.
func (a actor) base(id platform.ID) int64 {
	info, _ := platform.Lookup(id)
	if a.Fresh {
		return 2 * info.BaseCredits
	}
	return info.BaseCredits
}

// tell notes what an actor is told, and checks it.
func (w *world) tell(name string, a actor, answer *operation.Answer) {
	used, price, enriched := answer.Meta.CreditsUsed, int64(0), false
	if a.Kind == search {
		price, enriched = w.priceOfSearch(a, answer)
	} else {
		price, enriched = priceOf(a, answer.Data)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if used != price && (!enriched || used != price+enrichPrice) && !w.erased {
		w.wrong = fmt.Sprintf("%s costs %d credits, want %d (enriched: %t): %s", name, used, price, enriched, answer.Data)
	}
	if a.Key > 0 && a.Kind != search {
		if first := w.bodies[name]; first != nil && !w.erased && !bytes.Equal(first, answer.Data) {
			w.wrong = fmt.Sprintf("%s is answered with %s, and before with %s", name, answer.Data, first)
		}
		w.bodies[name] = answer.Data
	}
	w.told[name] = max(w.told[name], used)
}

// priceOfSearch returns the price of what an answer has, without the enrichment, and whether that may be charged.
func (w *world) priceOfSearch(a actor, answer *operation.Answer) (price int64, enriched bool) {
	for i, p := range a.Parts {
		if answer.Meta.Platforms[platforms[i]] == schema.OK {
			price += a.base(platforms[i])
			enriched = enriched || p.Results > 0
		}
	}
	return price, enriched && a.Enrich && !w.Unhappy && answer.Meta.JobID == ""
}

// priceOf returns the price of the profiles in an answer, without their enrichment, and whether that may be charged.
func priceOf(a actor, data []byte) (price int64, enriched bool) {
	items := []schema.BatchItem[schema.Profile]{{Key: a.Handles[0], Data: &schema.Profile{}}}
	var err error
	if a.Kind == batch {
		err = json.Unmarshal(data, &items)
	} else {
		err = json.Unmarshal(data, items[0].Data)
	}
	if err != nil || len(items) != len(a.Handles) {
		panic(fmt.Sprintf("%d items for %d keys, %v", len(items), len(a.Handles), err))
	}
	found, failed := map[string]bool{}, false
	for i, item := range items {
		if item.Key != a.Handles[i] || (item.Data == nil) == (item.Problem == nil) ||
			item.Data != nil && !strings.EqualFold(item.Data.Handle, item.Key) {
			panic(fmt.Sprintf("key %q is answered with %+v", a.Handles[i], item))
		}
		if item.Data == nil {
			continue
		}
		found[item.Data.Handle] = true
		enriched = enriched || item.Data.Enrichment.Value != nil
		failed = failed || a.Enrich && item.Data.Bio != nil && item.Data.Enrichment.Value == nil
	}
	return int64(len(found)) * a.base(platform.X), enriched && !failed
}

// poll polls a search until nothing of it is pending.
func (w *world) poll(n int, name string, a actor, answer *operation.Answer) {
	for polls := 0; answer.Meta.JobID != ""; polls++ {
		if answer.Meta.NextCursor != "" {
			w.fail("%s is pending, and has a cursor", name)
		}
		time.Sleep(a.Polls)
		if polls > 60 { // after the clock was set back, the deadline of a dead process's job may be far away
			time.Sleep(time.Minute)
		}
		if polls > 180 {
			w.fail("the job of %s does not end", name)
			return
		}
		wait := polls % 4
		call := operation.Call{Params: url.Values{"id": {answer.Meta.JobID}, "wait_s": {strconv.Itoa(wait)}}}
		began := time.Now()
		got, err, answered := w.alive((n+polls)%2).Do(context.Background(), "job", call)
		if took := time.Since(began); answered && took > longestAnswer+time.Duration(wait)*time.Second {
			w.fail("a poll of %s is answered after %v: %v", name, took, err)
		}
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.NotFound {
			if w.mu.Lock(); !w.erased {
				w.wrong = "the job is gone"
			}
			w.mu.Unlock()
			return
		}
		if !answered || err != nil {
			time.Sleep(2 * time.Second)
			continue
		}
		if got.Meta.CreditsUsed < answer.Meta.CreditsUsed {
			w.fail("%s reports %d credits, and before %d", name, got.Meta.CreditsUsed, answer.Meta.CreditsUsed)
		}
		for id, before := range answer.Meta.Platforms {
			if now := got.Meta.Platforms[id]; before != schema.Pending && now != before {
				w.fail("%s of %s is %s, and before %s", id, name, now, before)
			}
		}
		answer = got
		w.tell(name, a, answer)
	}
}

// play plays a schedule, and returns what is wrong, or "", and how many of its calls would excuse a difference.
func play(t *testing.T, s schedule) (wrong string, excused int) {
	t.Helper()
	base := time.Now()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			schedule: s, began: time.Now(), base: base, told: map[string]int64{}, cut: map[string]bool{},
			failed: map[string]map[*machine]bool{}, bodies: map[string][]byte{},
		}
		for r := range s.Processes {
			w.Processes[r] = slices.Clone(s.Processes[r])
		}
		w.ledger = credits.NewMemory(credits.MemoryConfig{Now: w.clock})
		w.records = records.NewMemory(records.MemoryConfig{Now: w.clock})
		w.cache = cache.NewMemory(cache.MemoryConfig{})
		if _, err := w.ledger.Grant(t.Context(), "account", s.Credits, "for a test"); err != nil {
			t.Fatal(err)
		}
		w.boot(0)
		w.boot(1)
		var wg sync.WaitGroup
		for _, at := range w.Erasures {
			wg.Go(func() { w.erase(at) })
		}
		for n, a := range w.Actors {
			wg.Go(func() { w.act(n, a) })
		}
		wg.Wait()
		time.Sleep(40 * time.Minute) // the clock may have been set back by twenty
		wrong, excused = w.compare(t.Context())
		for _, m := range w.made {
			if err := m.Close(); err != nil && wrong == "" {
				wrong = err.Error()
			}
		}
	})
	return wrong, excused
}

func (w *world) erase(at time.Duration) {
	time.Sleep(at)
	w.mu.Lock()
	w.erased = true
	w.mu.Unlock()
	for key := range 3 {
		_ = w.records.Delete(context.Background(), calls.RecordKey(calls.KeyedID("account", keyOf(key))), 0)
	}
}

// compare compares what was charged for each call with what its caller was told.
func (w *world) compare(ctx context.Context) (wrong string, excused int) {
	if w.wrong != "" {
		return w.wrong, 0
	}
	entries, _ := w.ledger.Entries(ctx, credits.Query{Account: "account", Limit: 1000})
	if free, _ := w.ledger.Balance(ctx, "account"); free != entries[0].Balance {
		return fmt.Sprintf("%d credits can be spent of %d: something is held for ever", free, entries[0].Balance), 0
	}
	names := map[string]string{} // of calls, by request
	for n, a := range w.Actors {
		for try := range a.Tries {
			names[fmt.Sprintf("call-%d-%d", n, try)] = w.name(n)
		}
	}
	lines, charged := "", map[string]int64{}
	for _, e := range entries {
		lines += fmt.Sprintf("\n\t%d %s %s %s %s", e.Amount, e.Kind, e.RequestID, e.IdempotencyKey, e.Hold)
		charged[names[e.RequestID]] -= e.Amount
	}
	for _, m := range w.made {
		for id, pending := range m.pending {
			if pending && m.dead() {
				w.cut[names[id]] = true
			}
		}
	}
	for n, a := range w.Actors {
		name := w.name(n)
		told, excuse := w.told[name], w.cut[name]
		if w.erased && a.Key > 0 { // of a repeat after an erasure only this is said: it is not charged again
			told = min(told, charged[name])
		}
		if excuse {
			excused++
		}
		excuse = excuse || w.erased && a.Key > 0
		if charged[name] < told || charged[name] > told && !excuse {
			return fmt.Sprintf("%d charged, %d told for %s:%s", charged[name], told, name, lines), 0
		}
	}
	return "", excused
}

// TestStoresThatHangDoNotDelayAnAnswer makes every store call, from each one of a call on, take almost as long as it
// may, or hang. The answer comes in time, and what is reported is what is charged.
func TestStoresThatHangDoNotDelayAnAnswer(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]actor{
		"a profile": {Kind: profile, Handles: []string{"late"}},
		"a batch":   {Kind: batch, Handles: []string{"late", "ann", "bob"}},
		"a search":  {Kind: search, Parts: []part{{Results: 2}, {After: 14500 * time.Millisecond, Results: 2}}, Wait: 25},
	} {
		for _, hangs := range []time.Duration{1900 * time.Millisecond, time.Hour} {
			for key := range 2 {
				t.Run(fmt.Sprint(name, hangs, key), func(t *testing.T) {
					t.Parallel()
					own := a
					own.Key, own.Tries = key, 200
					for from := range 16 {
						p := enginetest.Process{}
						for n := range 30 {
							p.Faults = append(p.Faults, enginetest.Fault{Call: from + n + 1, Hangs: hangs})
						}
						s := schedule{Credits: 1000, Most: 100, Actors: []actor{own}}
						s.Processes = [2][]enginetest.Process{{p}, {{}}}
						if wrong, excused := play(t, s); wrong != "" || excused > 0 {
							t.Errorf("from call %d on: %s (%d excused)", from+1, wrong, excused)
						}
					}
				})
			}
		}
	}
}

// TestACallThatHasWaitedIsAnsweredInTime repeats a call whose record another process has, until its own time is almost
// over, and then finds stores that hang.
func TestACallThatHasWaitedIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	hang := enginetest.Process{}
	for _, call := range []int{2, 6, 8, 10, 11, 12, 15, 16, 17, 18, 20, 22} {
		hang.Faults = append(hang.Faults, enginetest.Fault{Call: call, After: true, Hangs: 3 * time.Second})
	}
	fail := enginetest.Process{}
	for call := 8; call <= 16; call++ {
		fail.Faults = append(fail.Faults, enginetest.Fault{Call: call, After: true})
	}
	leaves := actor{
		Kind: profile, Key: 1, Handles: []string{"slow"}, Enrich: true, HangUp: 850 * time.Millisecond, Tries: 3, Elsewhere: true,
	}
	waits := leaves
	waits.HangUp, waits.Tries, waits.Elsewhere = 0, 9, false
	later := waits
	waits.At, later.At = 3400*time.Millisecond, 2762500*time.Microsecond
	s := schedule{
		Credits: 3, Unhappy: true, Most: 1, Actors: []actor{leaves, waits, later},
		Processes: [2][]enginetest.Process{{hang, {}}, {{Ends: 1}, fail}},
	}
	for range 10 { // the goroutines of a process take turns as they like
		if wrong, _ := play(t, s); wrong != "" {
			t.Fatal(wrong)
		}
	}
}

// TestASearchThatIsPaidDoesNotFail makes every store call, from each one of a search with a key on, hang in a process that
// gives up the enrichment after it has stored that the parts are paid. Another process repeats that answer meanwhile.
func TestASearchThatIsPaidDoesNotFail(t *testing.T) {
	t.Parallel()
	search := actor{Kind: search, Key: 1, Parts: []part{{Results: 3}}, Enrich: true, Wait: 2, Tries: 1}
	repeats := search
	repeats.At = 500 * time.Millisecond
	for from := range 16 {
		hangs := enginetest.Process{}
		for n := range 10 {
			hangs.Faults = append(hangs.Faults, enginetest.Fault{Call: from + n + 1, After: true, Hangs: 3 * time.Second})
		}
		s := schedule{
			Credits: 1000, Unhappy: true, Most: 1, Actors: []actor{search, repeats},
			Processes: [2][]enginetest.Process{{hangs}, {{}}},
		}
		if wrong, _ := play(t, s); wrong != "" {
			t.Errorf("from call %d on: %s", from+1, wrong)
		}
	}
}

// TestChargesAreReported plays random schedules: what callers were told is what was charged.
//
//	SIZE=full go test -timeout 2h -run TestChargesAreReported ./internal/calls
func TestChargesAreReported(t *testing.T) {
	testsize.Checks(t, 1000, 100_000)
	calls, excused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := draw(rt)
		wrong, excuses := play(t, s)
		if wrong != "" {
			rt.Fatalf("%s\nin %+v", wrong, s)
		}
		calls, excused = calls+len(s.Actors), excused+excuses
	})
	if t.Logf("%d calls, of which %d excuse a difference", calls, excused); calls > 2000 && excused*2 > calls {
		t.Errorf("%d of %d calls say little", excused, calls)
	}
}
