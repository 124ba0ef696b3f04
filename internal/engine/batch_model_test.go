package engine_test

import (
	"context"
	"encoding/json"
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
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// batchSchedules is how many schedules are tried if BATCH_SCHEDULES is not set. For a long run:
//
//	BATCH_SCHEDULES=100000 go test -timeout 4h -run TestBatchesChargeWhatTheyReport ./internal/engine
const batchSchedules = 500

// batchSchedule is a few batches of one caller with everything that happens to them.
type batchSchedule struct {
	Batches   []batchCall
	Most      int // keys in a request to the platform; 1 if each is read alone
	OneStep   bool
	Unhappy   bool // the enricher fails
	Processes []enginetest.Process
	Restart   time.Duration // how long after its death a process is replaced
}

// batchCall is one batch.
type batchCall struct {
	Handles       []string // how each begins determines its result: see [modelSource]
	Fresh, Enrich bool
	Key           int           // the number of the idempotency key; 0 for none. An equal number is the same call
	HangUp        time.Duration // when the caller leaves; 0 for never
	Pause         time.Duration // after it
}

// longestHang is how long a store hangs at most. All hangs of a process together are shorter than the time of a call.
const longestHang = 2500 * time.Millisecond

func drawBatches(t *rapid.T) batchSchedule {
	s := batchSchedule{
		Most: rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(t, "keys a request"), OneStep: rapid.Bool().Draw(t, "one step"),
		Unhappy: rapid.IntRange(0, 4).Draw(t, "unhappy") == 0,
		Restart: time.Duration(rapid.IntRange(0, 100).Draw(t, "restart")) * 100 * time.Millisecond,
	}
	word := rapid.SampledFrom([]string{
		"ann", "Ann", "bob", "carl", "dora", "eve", "none", "nobody", "gone", "odd", "hidden", "refused", "down", "late1", "late2", "a b",
	})
	for n := range rapid.IntRange(1, 4).Draw(t, "batches") {
		c := batchCall{
			Handles: rapid.SliceOfN(word, 1, 8).Draw(t, "handles"), Fresh: rapid.IntRange(0, 3).Draw(t, "fresh") == 0,
			Enrich: rapid.IntRange(0, 3).Draw(t, "enrich") == 0,
			Pause:  time.Duration(rapid.IntRange(0, 90).Draw(t, "pause")) * time.Second,
		}
		if rapid.Bool().Draw(t, "under a key") {
			c.Key = n + 1
		}
		if rapid.IntRange(0, 5).Draw(t, "leaves") == 0 {
			c.HangUp = time.Duration(rapid.IntRange(1, 30).Draw(t, "hang up")) * 100 * time.Millisecond
		}
		s.Batches = append(s.Batches, c)
		if c.Key > 0 && rapid.Bool().Draw(t, "repeated") {
			c.HangUp = 0
			s.Batches = append(s.Batches, c)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "ends") {
		s.Processes = append(s.Processes, enginetest.DrawProcess(t, longestHang, true))
	}
	s.Processes = append(s.Processes, enginetest.DrawProcess(t, longestHang, false))
	return s
}

// modelSource is [enginetest.Batched] with more handles: some answer too late, and some have only one form.
func modelSource(most int) providers.Provider {
	source := &enginetest.Batched{Most: most, Answers: time.Second}
	p := source.Provider(platform.X, "x")
	one, many := p.Profile, p.Batches.Profile.Read
	late := func(ctx context.Context, handles ...string) {
		if slices.ContainsFunc(handles, func(h string) bool { return strings.HasPrefix(h, "late") }) {
			select {
			case <-time.After(12 * time.Second): // within the call, but sometimes not together with another one
			case <-ctx.Done():
			}
		}
	}
	bio := func(p *schema.Profile) { // some have a text
		if p.Handle > "b" && p.Handle < "d" {
			p.Bio = new("tea & <coffee>")
		}
	}
	p.Profile = func(ctx context.Context, handle string) (schema.Profile, error) {
		late(ctx, handle)
		got, err := one(ctx, handle)
		bio(&got)
		return got, err
	}
	p.Batches.Profile.Read = func(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
		late(ctx, handles...)
		found, err := many(ctx, handles)
		for handle, got := range found {
			bio(&got)
			found[handle] = got
		}
		return found, err
	}
	if most < 2 {
		p.Batches.Profile = providers.Batch[schema.Profile]{}
	}
	p.Normalize = func(_ providers.Subject, value string) (string, error) {
		if strings.Contains(value, " ") {
			return "", providers.Invalid("a handle holds no space")
		}
		return strings.ToLower(value), nil
	}
	return p
}

// batchWorld is what all processes of a schedule share, and what the caller has received.
type batchWorld struct {
	batchSchedule

	ledger  *credits.Memory
	records *records.Memory
	cache   *cache.Memory
	made    []*enginetest.Machine
	now     *enginetest.Machine // the one that receives calls

	reported int64
	known    map[int]int64 // by key, the charge that all of its answers have reported
	cut      bool          // a process died during a call that was not repeated: its price is unknown
}

func (w *batchWorld) machine(p enginetest.Process) *enginetest.Machine {
	m := enginetest.NewMachine(p)
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{modelSource(w.Most)}),
		socialdata.WithLedger(m.Ledger(w.ledger, w.OneStep)),
		socialdata.WithRecords(m.Records(w.records)), socialdata.WithCache(m.Cache(w.cache)), socialdata.WithClock(time.Now),
		socialdata.WithEnricher(enrich.Func(func(context.Context, string) (schema.Enrichment, error) {
			if w.Unhappy {
				return schema.Enrichment{}, enginetest.ErrFault
			}
			return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
		})))
	if err != nil {
		panic(err)
	}
	m.Client = client.As(keys.Key{ID: "key", Account: "account"})
	w.made = append(w.made, m)
	return m
}

// alive returns the process that receives calls, a new one if the last has died.
func (w *batchWorld) alive() *enginetest.Machine {
	select {
	case <-w.now.Ended:
		time.Sleep(w.Restart)
		w.Processes = w.Processes[1:]
		w.now = w.machine(w.Processes[0])
	default:
	}
	return w.now
}

// call makes a batch: until there is an answer, or once without a key.
func (w *batchWorld) call(ctx context.Context, c batchCall) {
	call := operation.Call{Platform: "x", Params: url.Values{"handles": {strings.Join(c.Handles, ",")}}}
	if c.Fresh {
		call.Params.Set("fresh", "true")
	}
	if c.Enrich {
		call.Params.Set("enrich", "arabic")
	}
	if c.Key > 0 {
		call.IdempotencyKey = fmt.Sprintf("batch-of-the-model-%d", c.Key)
	}
	for try := range 20 {
		first, leave := ctx, func() {}
		if c.HangUp > 0 && try == 0 {
			first, leave = context.WithTimeout(ctx, c.HangUp)
		}
		m := w.alive()
		a, err, answered := m.Do(first, "profile/batch", call)
		leave()
		if answered && err != nil && c.Key == 0 { // with a key it is repeated, and then reported
			m.Failed()
		}
		switch {
		case answered && err == nil:
			w.answer(c, a)
			return
		case c.Key == 0:
			w.cut = w.cut || !answered
			return
		}
		time.Sleep(time.Second)
	}
	w.cut = true
}

// answer compares an answer with its price.
func (w *batchWorld) answer(c batchCall, a *operation.Answer) {
	used := a.Meta.CreditsUsed
	if before, ok := w.known[c.Key]; ok {
		w.reported -= before
		used = max(used, before)
	}
	if w.reported += used; c.Key > 0 {
		w.known[c.Key] = used
	}
	price := priceOf(c, a.Data)
	if used := a.Meta.CreditsUsed; used != price && !a.Replayed && (used > 0 || c.Key == 0 || !w.refunded()) {
		panic(fmt.Sprintf("%+v cost %d, want %d: %s", c, used, price, a.Data))
	}
}

// refunded reports whether a charge was refunded after its call had been reported as failed: a repetition with its key
// is then free.
func (w *batchWorld) refunded() bool {
	entries, err := w.ledger.Entries(context.Background(), credits.Query{Account: "account", Limit: 1000})
	if err != nil {
		panic(err)
	}
	return slices.ContainsFunc(entries, func(e credits.Entry) bool { return e.Kind == credits.Refunded })
}

// priceOf returns the price of a batch by its answer.
func priceOf(c batchCall, data []byte) int64 {
	var items []schema.BatchItem[schema.Profile]
	if err := json.Unmarshal(data, &items); err != nil {
		panic(err)
	}
	if len(items) != len(c.Handles) {
		panic(fmt.Sprintf("%d items for %d keys", len(items), len(c.Handles)))
	}
	found, enriched, failed := map[string]bool{}, false, false
	for i, item := range items {
		if item.Key != c.Handles[i] || (item.Data == nil) == (item.Problem == nil) {
			panic(fmt.Sprintf("key %q is answered with %+v", c.Handles[i], item))
		}
		if item.Data == nil {
			continue
		}
		if !strings.EqualFold(item.Data.Handle, item.Key) {
			panic(fmt.Sprintf("%q is answered with %q", item.Key, item.Data.Handle))
		}
		found[item.Data.Handle] = true
		enriched = enriched || item.Data.Enrichment.Value != nil
		failed = failed || c.Enrich && item.Data.Bio != nil && item.Data.Enrichment.Value == nil
	}
	price := int64(len(found))
	if c.Fresh {
		price *= 2
	}
	if enriched && !failed {
		price += 3
	}
	return price
}

// playBatches runs a schedule and returns what is wrong, or "".
func playBatches(t *testing.T, s batchSchedule) (wrong string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &batchWorld{batchSchedule: s, known: map[int]int64{}}
		w.ledger = credits.NewMemory(credits.MemoryConfig{})
		w.records = records.NewMemory(records.MemoryConfig{})
		w.cache = cache.NewMemory(cache.MemoryConfig{})
		if _, err := w.ledger.Grant(t.Context(), "account", 1000, "for a test"); err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, m := range w.made {
				if err := m.Close(); err != nil && wrong == "" {
					wrong = err.Error()
				}
			}
		}()
		defer func() {
			if v := recover(); v != nil {
				wrong = fmt.Sprint(v)
			}
		}()
		w.now = w.machine(w.Processes[0])
		for _, c := range s.Batches {
			w.call(t.Context(), c)
			time.Sleep(c.Pause)
		}
		w.alive()                   // the next process finds what one has left
		time.Sleep(5 * time.Minute) // all holds have expired
		wrong = w.compare(t.Context())
	})
	return wrong
}

// compare compares what was charged with what was reported.
func (w *batchWorld) compare(ctx context.Context) string {
	entries, err := w.ledger.Entries(ctx, credits.Query{Account: "account", Limit: 1000})
	if err != nil {
		return err.Error()
	}
	free, err := w.ledger.Balance(ctx, "account")
	charged, lines := 1000-entries[0].Balance, ""
	for _, e := range entries {
		lines += fmt.Sprintf("\n\t%d %s %s at %v", e.Amount, e.Kind, e.Operation, e.At.Sub(entries[len(entries)-1].At))
		if e.Kind == credits.Charged && e.Operation != "profile/batch" {
			return "another operation was charged:" + lines
		}
	}
	switch {
	case err != nil:
		return err.Error()
	case free != entries[0].Balance:
		return fmt.Sprintf("%d credits can be spent of %d: something is held for ever", free, entries[0].Balance)
	case charged > w.reported && slices.ContainsFunc(w.made, (*enginetest.Machine).Forgetful):
	case charged != w.reported && !w.cut:
		return fmt.Sprintf("%d credits were charged and %d reported:%s", charged, w.reported, lines)
	case charged < w.reported && !w.refunded():
		return fmt.Sprintf("%d credits were charged and more reported, %d:%s", charged, w.reported, lines)
	}
	return ""
}

// TestBatchesChargeWhatTheyReport plays batches of keys that are found, absent, refused, late and failing, plain, fresh
// and enriched, some of them repeated with an idempotency key. Callers leave, processes die, and any call of the
// ledger, the records and the cache may fail or hang. The reported price must be that of the keys that were found, and
// must be charged.
func TestBatchesChargeWhatTheyReport(t *testing.T) {
	n := batchSchedules
	if s := os.Getenv("BATCH_SCHEDULES"); s != "" {
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
		s := drawBatches(rt)
		if wrong := playBatches(t, s); wrong != "" {
			rt.Fatalf("%s\nin %+v", wrong, s)
		}
	})
}

// TestARepeatedBatchReportsTheChargeOfADeadProcess checks this even if the first write of the record fails: such a
// schedule once reported 0 credits for 1.
func TestARepeatedBatchReportsTheChargeOfADeadProcess(t *testing.T) {
	t.Parallel()
	const moment = 100 * time.Millisecond
	for _, oneStep := range []bool{false, true} {
		for faulty := range 30 { // the call that fails in the last process: one of them writes the record
			s := batchSchedule{
				Batches: []batchCall{{Handles: []string{"a b"}}, {Handles: []string{"ann"}, Key: 1}}, Most: 1, OneStep: oneStep,
				Processes: []enginetest.Process{
					{Faults: []enginetest.Fault{{Call: 3, After: true, Hangs: moment}}, Ends: 13},
					{Faults: []enginetest.Fault{{Call: faulty}}},
				},
			}
			if wrong := playBatches(t, s); wrong != "" {
				t.Errorf("%s\nin %+v", wrong, s)
			}
		}
	}
}
