package socialdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// people is an upstream with posts of salma and zoe.
type people struct {
	enginetest.Counter

	mu   sync.Mutex
	wait chan struct{} // reads wait until it is closed; nil for none
}

func actor(handle string) schema.Actor {
	return schema.Actor{Platform: platform.GitHub, ID: "id-" + handle, Handle: strings.ToUpper(handle[:1]) + handle[1:]}
}

// written returns a post, whose id determines its author.
func written(id string) schema.Post {
	p := enginetest.Post(id)
	p.Author = actor(strings.TrimRight(id, "0123456789"))
	return p
}

func (p *people) asked() {
	p.Add()
	p.mu.Lock()
	wait := p.wait
	p.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

// provider returns the upstream. The handle "nobody" does not exist.
func (p *people) provider() providers.Provider {
	posts := func(ids ...string) providers.Page[schema.Post] {
		page := providers.Page[schema.Post]{Raw: json.RawMessage(`{"first":"` + ids[0] + `"}`)}
		for _, id := range ids {
			page.Items = append(page.Items, written(id))
		}
		return page
	}
	return providers.Provider{
		Name: "people", Platform: platform.GitHub, Source: schema.Own,
		Normalize: func(_ providers.Subject, v string) (string, error) {
			v = strings.TrimPrefix(strings.TrimSpace(v), "https://github.com/")
			return strings.ToLower(strings.TrimPrefix(v, "@")), nil
		},
		Names: func(u *url.URL) (providers.Subject, string, bool) {
			return providers.Handle, strings.Trim(u.Path, "/"), u.Host == "github.com"
		},
		Profile: func(_ context.Context, handle string) (schema.Profile, error) {
			p.asked()
			if handle == "nobody" {
				return schema.Profile{}, providers.ErrNotFound
			}
			return enginetest.Profile(handle), nil
		},
		Posts: func(_ context.Context, handle, _ string) (providers.Page[schema.Post], error) {
			p.asked()
			return posts(handle+"1", handle+"2"), nil
		},
		Post: func(_ context.Context, id string) (schema.Post, error) {
			p.asked()
			return written(id), nil
		},
		Search: func(_ context.Context, q providers.SearchQuery, _ string) (providers.Page[schema.SearchResult], error) {
			p.asked()
			found := posts("salma1", "zoe1")
			page := providers.Page[schema.SearchResult]{Raw: found.Raw}
			for _, post := range found.Items {
				page.Items = append(page.Items, schema.SearchResult{Kind: schema.PostResult, Object: &post})
			}
			return page, nil
		},
		Routes: []providers.Route{{Pattern: "users/{name}", Platform: platform.GitHub, Query: []string{"q"}}},
		Forward: func(context.Context, string, url.Values) (json.RawMessage, error) {
			p.asked()
			return json.RawMessage(`{"login":"x"}`), nil
		},
	}
}

// replicas returns n engines with one upstream that share ledger, records and list.
func replicas(t *testing.T, p *people, list privacy.Blocklist, n int) []*enginetest.Engine {
	t.Helper()
	var all []*enginetest.Engine
	var kept records.Store
	for range n {
		e := enginetest.New(t, enginetest.Config{
			Providers: []providers.Provider{p.provider()}, Records: kept,
			Options: []socialdata.Option{socialdata.WithErasures(list)},
		})
		kept = e.Records
		all = append(all, e)
	}
	return all
}

// TestTypedAnswersLeaveOutBlockedPosts reads what is withheld with a method of the client, which needs no JSON.
func TestTypedAnswersLeaveOutBlockedPosts(t *testing.T) {
	t.Parallel()
	e := replicas(t, &people{}, privacy.NewMemory(privacy.MemoryConfig{}), 1)[0]
	if _, err := e.Open.Operator().Erase(t.Context(), schema.EraseRequest{Platform: platform.GitHub, ID: "salma1", Block: true}); err != nil {
		t.Fatal(err)
	}
	got, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "salma"})
	if err != nil || len(got.Data) == 0 {
		t.Fatalf("got %v, %v; want posts", got, err)
	}
	for _, p := range got.Data {
		if p.ID == "salma1" {
			t.Error("a blocked post is in the answer")
		}
	}
}

// call makes a call and returns its answer and problem.
func call(t *testing.T, c *socialdata.Client, name string, params ...string) (*operation.Answer, error) {
	t.Helper()
	in := operation.Call{Platform: "github", Params: url.Values{}}
	for i := 0; i < len(params); i += 2 {
		switch params[i] {
		case "key":
			in.IdempotencyKey = params[i+1]
		case "platform":
			in.Platform = params[i+1]
		case "path":
			in.Path = params[i+1]
		default:
			in.Params.Set(params[i], params[i+1])
		}
	}
	return socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation(name), in)
}

// must is call for calls that have to succeed.
func must(t *testing.T, c *socialdata.Client, name string, params ...string) *operation.Answer {
	t.Helper()
	a, err := call(t, c, name, params...)
	if err != nil {
		t.Fatalf("%s %v: %v", name, params, err)
	}
	return a
}

func herself() schema.EraseRequest {
	return schema.EraseRequest{
		Platform: platform.GitHub, Handle: " https://github.com/Salma ", Reason: "a letter of the 5th",
	}
}

func TestErasedDataIsReadAgainOnEveryReplica(t *testing.T) {
	t.Parallel()
	p := &people{}
	all := replicas(t, p, privacy.NewMemory(privacy.MemoryConfig{}), 2)
	reads := [][]string{
		{"profile", "handle", "salma"},
		{"posts", "handle", "salma"},
		{"post", "id", "salma1"},
		{"search", "query", "anything"},
		{"raw", "platform", "people", "path", "users/x"},
	}
	stay := [][]string{{"profile", "handle", "zoe"}, {"posts", "handle", "zoe"}, {"post", "id", "zoe1"}}
	for _, e := range all {
		for _, in := range slices.Concat(reads, stay) {
			must(t, e.Client, in[0], in[1:]...)
		}
	}
	must(t, all[0].Client, "post", "id", "salma2", "key", "idempotency-salma2")
	must(t, all[0].Client, "post", "id", "zoe2", "key", "idempotency-zoe2-2")
	dry := herself()
	dry.DryRun = true
	counted, err := all[0].Open.Operator().Erase(t.Context(), dry)
	if err != nil || counted.No != 0 || counted.Removed["cache entries"] < 5 ||
		counted.Removed["idempotent answers"] != 1 {
		t.Errorf("a dry run says %+v, %v; want 5 cache entries or more and one idempotent answer", counted, err)
	}
	if a := must(t, all[0].Client, "profile", "handle", "salma"); a.Meta.Cache != schema.Hit {
		t.Error("a dry run has removed something")
	}
	receipt, err := all[0].Open.Operator().Erase(t.Context(), herself())
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Kind != privacy.Done || receipt.Attempts != 1 || receipt.Block ||
		receipt.Removed["idempotent answers"] != 1 {
		t.Errorf("receipt %+v; want it done at once, unblocked, with one idempotent answer", receipt)
	}
	for i, e := range all {
		for _, in := range stay {
			if a := must(t, e.Client, in[0], in[1:]...); a.Meta.Cache != schema.Hit {
				t.Errorf("replica %d: %v is a %s; want a hit", i, in, a.Meta.Cache)
			}
		}
		for _, in := range reads {
			if a := must(t, e.Client, in[0], in[1:]...); a.Meta.Cache != schema.Miss {
				t.Errorf("replica %d: %v is a %s; want a miss", i, in, a.Meta.Cache)
			}
		}
	}
	before := all[0].Balance(t)
	if a := must(t, all[0].Client, "post", "id", "salma2", "key", "idempotency-salma2"); all[0].Balance(t) != before {
		t.Errorf("the repeated call is charged again: %+v", a.Meta)
	}
	if a := must(t, all[0].Client, "post", "id", "zoe2", "key", "idempotency-zoe2-2"); !a.Replayed {
		t.Errorf("another's idempotent answer: %+v; want it replayed", a.Meta)
	}
	if n, err := all[1].Open.Operator().VerifyErasures(t.Context()); n != 2 || err != nil {
		t.Errorf("%d receipts, %v; want begun and erased", n, err)
	}
	receipts, err := all[1].Open.Operator().Erasures(t.Context(), 0, 0)
	b, _ := json.Marshal(receipts)
	if err != nil || strings.Contains(strings.ToLower(string(b)), "salma") {
		t.Errorf("receipts %s, %v; want them without the handle", b, err)
	}
}

func TestBlockedSubjectsAreNotFound(t *testing.T) {
	t.Parallel()
	p := &people{}
	all := replicas(t, p, privacy.NewMemory(privacy.MemoryConfig{}), 2)
	must(t, all[1].Client, "search", "query", "anything") // so that her id is known
	req := herself()
	req.Block = true
	if _, err := all[0].Open.Operator().Erase(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		before := e.Balance(t)
		asked := p.Count()
		for _, in := range [][]string{
			{"profile", "handle", "salma"},
			{"profile", "handle", "@Salma"},
			{"posts", "handle", "https://github.com/salma"},
			{"raw", "platform", "people", "path", "users/salma"},
			{"raw", "platform", "people", "path", "users/x", "q", "user:Salma sort:new"},
		} {
			_, err := call(t, e.Client, in[0], in[1:]...)
			enginetest.WantProblem(t, err, problem.NotFound, "withheld at the request of its owner")
		}
		if got := p.Count(); got != asked {
			t.Errorf("replica %d requests a blocked account %d times", i, got-asked)
		}
		for range 2 { // read, and cached
			_, err := call(t, e.Client, "post", "id", "salma1")
			enginetest.WantProblem(t, err, problem.NotFound, "withheld at the request of its owner")
		}
		if got := e.Balance(t); got != before {
			t.Errorf("replica %d: withheld answers cost %d credits; want none", i, before-got)
		}
		a := must(t, e.Client, "search", "query", "anything", "include_raw", "true")
		if text := string(a.Data); strings.Contains(strings.ToLower(text), "salma") || !strings.Contains(text, "zoe1") {
			t.Errorf("replica %d: the search answers %s; want zoe1 without salma", i, text)
		}
		if raw, _ := json.Marshal(a.Meta.Raw); string(raw) != `{"left_out":1}` {
			t.Errorf("replica %d: meta.raw is %s; want one left out", i, raw)
		}
		across := must(t, e.Client, "search_across", "platform", "", "query", "anything", "platforms", "github")
		if text := string(across.Data); strings.Contains(strings.ToLower(text), "salma") || !strings.Contains(text, "zoe1") {
			t.Errorf("replica %d: the search of several platforms answers %s; want zoe1 without salma", i, text)
		}
		must(t, e.Client, "raw", "platform", "people", "path", "users/zoe")
		if h := enginetest.Health(t, e.Open); h.Platforms[platform.GitHub] == schema.Degraded ||
			h.Platforms[platform.GitHub] == schema.Down {
			t.Errorf("replica %d: the platform is %s; want it neither degraded nor down", i, h.Platforms[platform.GitHub])
		}
	}
	if _, err := all[1].Open.Operator().Unblock(t.Context(), herself()); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		for _, in := range [][]string{
			{"profile", "handle", "salma"}, {"posts", "handle", "salma"}, {"post", "id", "salma1"}, {"search", "query", "anything"},
		} {
			if a := must(t, e.Client, in[0], in[1:]...); !strings.Contains(strings.ToLower(string(a.Data)), "salma") {
				t.Errorf("replica %d: unblocked, %v answers %s; want salma", i, in, a.Data)
			}
		}
	}
	if n, err := all[1].Open.Operator().VerifyErasures(t.Context()); n != 3 || err != nil {
		t.Errorf("%d receipts, %v; want begun, erased and unblocked", n, err)
	}
}

func TestOneObjectIsErased(t *testing.T) {
	t.Parallel()
	p := &people{}
	e := replicas(t, p, privacy.NewMemory(privacy.MemoryConfig{}), 1)[0]
	must(t, e.Client, "post", "id", "salma1")
	must(t, e.Client, "post", "id", "salma2")
	receipt, err := e.Open.Operator().Erase(t.Context(),
		schema.EraseRequest{Platform: platform.GitHub, ID: "salma1", Block: true})
	if diff := cmp.Diff(map[string]int{"cache entries": 1}, receipt.Removed); diff != "" || err != nil {
		t.Errorf("removed (-want +got), %v:\n%s", err, diff)
	}
	_, err = call(t, e.Client, "post", "id", "salma1")
	enginetest.WantProblem(t, err, problem.NotFound, "withheld")
	if a := must(t, e.Client, "post", "id", "salma2"); a.Meta.Cache != schema.Hit {
		t.Errorf("a post that was not erased: got %s, want a hit", a.Meta.Cache)
	}
	if a := must(t, e.Client, "posts", "handle", "salma"); strings.Contains(string(a.Data), `"salma1"`) ||
		!strings.Contains(string(a.Data), `"salma2"`) {
		t.Errorf("posts: got %s, want salma2 and not salma1", a.Data)
	}
}

func TestInvalidErasures(t *testing.T) {
	t.Parallel()
	e := replicas(t, &people{}, privacy.NewMemory(privacy.MemoryConfig{}), 1)[0]
	for name, tt := range map[string]struct {
		req   schema.EraseRequest
		words string
	}{
		"nobody":              {schema.EraseRequest{Platform: platform.GitHub}, "one of"},
		"two":                 {schema.EraseRequest{Platform: platform.GitHub, Handle: "a", ID: "b"}, "one of"},
		"no platform":         {schema.EraseRequest{Handle: "a"}, "platform"},
		"an unknown platform": {schema.EraseRequest{Platform: "gihub", Handle: "a"}, "github"},
		"a telling reason":    {schema.EraseRequest{Platform: platform.GitHub, Handle: "salma", Reason: "SALMA wrote"}, "reason"},
		"a long reason":       {schema.EraseRequest{Platform: platform.GitHub, Handle: "salma", Reason: strings.Repeat("x", 513)}, "reason"},
		"control characters":  {schema.EraseRequest{Platform: platform.GitHub, Handle: "a\x00b"}, "handle"},
		"a foreign address":   {schema.EraseRequest{Platform: platform.X, URL: "https://github.com/salma"}, "github"},
	} {
		_, err := e.Open.Operator().Erase(t.Context(), tt.req)
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Code != problem.InvalidRequest || !strings.Contains(p.Detail, tt.words) {
			t.Errorf("%s: %v, want an invalid_request that says %q", name, err, tt.words)
		}
	}
	if receipts, err := e.Open.Operator().Erasures(t.Context(), 0, 0); len(receipts) > 0 || err != nil {
		t.Errorf("receipts of refused erasures: %+v, %v; want none", receipts, err)
	}
}

// failing fails at its first call, like a process that is killed.
type failing struct{ failed bool }

func (f *failing) Erase(context.Context, privacy.Subject) (map[string]int, error) {
	if !f.failed {
		f.failed = true
		return nil, errors.New("killed")
	}
	return map[string]int{"things": 1}, nil
}

func TestAnInterruptedErasureIsRepeated(t *testing.T) {
	t.Parallel()
	p := &people{}
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{p.provider()},
		Options:   []socialdata.Option{socialdata.WithErasures(privacy.NewMemory(privacy.MemoryConfig{}), &failing{})},
	})
	must(t, e.Client, "profile", "handle", "salma")
	if _, err := e.Open.Operator().Erase(t.Context(), herself()); err == nil || !strings.Contains(err.Error(), "again") {
		t.Fatalf("the first attempt: %v, want an error that says to erase again", err)
	}
	receipt, err := e.Open.Operator().Erase(t.Context(), herself())
	if err != nil || receipt.Attempts != 2 || receipt.Removed["things"] == 0 {
		t.Errorf("receipt %+v, %v; want one of two attempts", receipt, err)
	}
	if a := must(t, e.Client, "profile", "handle", "salma"); a.Meta.Cache != schema.Miss {
		t.Errorf("the erased profile is a %s; want a miss", a.Meta.Cache)
	}
}

// TestReadsDuringAnErasureAreNotStored makes two reads of someone who is erased meanwhile. The first is answered. The
// second has an idempotency key: its answer cannot be recorded, so it is refused and nothing is charged.
func TestReadsDuringAnErasureAreNotStored(t *testing.T) {
	t.Parallel()
	p := &people{}
	e := replicas(t, p, privacy.NewMemory(privacy.MemoryConfig{}), 1)[0]
	p.mu.Lock()
	p.wait = make(chan struct{})
	p.mu.Unlock()
	before := e.Balance(t)
	plain, keyed := make(chan error, 1), make(chan error, 1)
	for _, in := range []struct {
		answer chan error
		params []string
	}{
		{plain, []string{"id", "salma1"}},
		{keyed, []string{"id", "salma2", "key", "idempotency-salma2"}},
	} {
		go func() {
			_, err := call(t, e.Client, "post", in.params...)
			in.answer <- err
		}()
	}
	await.Until(t, "both calls to reach the platform", func() bool { return p.Count() >= 2 })
	if _, err := e.Open.Operator().Erase(t.Context(), herself()); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	close(p.wait)
	p.wait = nil
	p.mu.Unlock()
	if err := <-plain; err != nil {
		t.Errorf("a call in progress: %v; want its answer", err)
	}
	if err := <-keyed; !errors.Is(err, problem.PlatformUnavailable) {
		t.Errorf("a call in progress with an idempotency key: %v, want %v", err, problem.PlatformUnavailable)
	}
	if charged := before - e.Balance(t); charged != 1 {
		t.Errorf("%d credits were charged, want 1", charged)
	}
	counted, err := e.Open.Operator().Erase(t.Context(),
		schema.EraseRequest{Platform: platform.GitHub, Handle: "salma", DryRun: true})
	if len(counted.Removed) > 0 || err != nil {
		t.Errorf("stored of her: %v, %v; want nothing", counted.Removed, err)
	}
}

func TestAnErasureWaitsForAllLiveProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := privacy.NewMemory(privacy.MemoryConfig{})
		e := replicas(t, &people{}, list, 1)[0]
		if _, err := list.Renew(t.Context(), "dies", 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := e.Open.Operator().Erase(t.Context(), herself()); err != nil || time.Since(began) < privacy.Dead {
			t.Errorf("%v after %v; want no error, when the process counts as dead", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		defer func() {
			cancel()
			<-ended
		}()
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				_, _ = list.Renew(ctx, "silent", 0)
				time.Sleep(privacy.RenewEvery)
			}
		}()
		synctest.Wait()
		began = time.Now()
		_, err := e.Open.Operator().Erase(t.Context(), herself())
		if p, ok := errors.AsType[*problem.Error](err); !ok || !strings.Contains(p.Detail, "silent") ||
			time.Since(began) > 6*time.Second {
			t.Errorf("%v after %v, want one that names the silent process", err, time.Since(began))
		}
	})
}

// away is a list that is unavailable for a while.
type away struct {
	*privacy.Memory

	mu   sync.Mutex
	gone bool
}

func (a *away) set(gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = gone
}

func (a *away) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone {
		return errors.New("away")
	}
	return nil
}

func (a *away) Epoch(ctx context.Context) (int64, error) {
	if err := a.err(); err != nil {
		return 0, err
	}
	return a.Memory.Epoch(ctx)
}

func (a *away) Renew(ctx context.Context, process string, at int64) (int64, error) {
	if err := a.err(); err != nil {
		return 0, err
	}
	return a.Memory.Renew(ctx, process, at)
}

func TestNothingIsShownWhileErasuresAreUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := &away{Memory: privacy.NewMemory(privacy.MemoryConfig{})}
		e := replicas(t, &people{}, list, 1)[0]
		must(t, e.Client, "profile", "handle", "salma")
		list.set(true)
		time.Sleep(privacy.RenewEvery)
		must(t, e.Client, "profile", "handle", "salma")
		time.Sleep(2 * time.Second)
		_, err := call(t, e.Client, "profile", "handle", "salma")
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "try again")
		must(t, e.Client, "me")
		list.set(false)
		must(t, e.Client, "profile", "handle", "salma")
	})
}

// spy is a cache that lists its keys.
type spy struct {
	*cache.Memory

	mu   sync.Mutex
	keys map[string]bool
}

func (s *spy) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	s.mu.Lock()
	s.keys[key] = true
	s.mu.Unlock()
	return s.Memory.Set(ctx, key, e, ttl)
}

// dump returns everything in the cache as text.
func (s *spy) dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for key := range s.keys {
		if e := s.Peek(key); e != nil {
			text, _ := json.Marshal(e)
			b.WriteString(key + " " + string(text) + "\n")
		}
	}
	return b.String()
}

// TestBlockedSubjectsNeverReappear makes calls of every kind concurrently while she is blocked.
func TestBlockedSubjectsNeverReappear(t *testing.T) {
	t.Parallel()
	p := &people{}
	s := &spy{Memory: cache.NewMemory(cache.MemoryConfig{}), keys: map[string]bool{}}
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{p.provider()}, Cache: s, Credits: 1_000_000,
		Options: []socialdata.Option{socialdata.WithErasures(privacy.NewMemory(privacy.MemoryConfig{}))},
	})
	kinds := [][]string{
		{"profile", "handle", "salma"},
		{"posts", "handle", "salma"},
		{"posts", "handle", "zoe"},
		{"post", "id", "salma1"},
		{"post", "id", "salma2", "fresh", "true"},
		{"search", "query", "anything", "include_raw", "true"},
		{"search", "query", "anything", "fresh", "true", "enrich", "arabic"},
		{"search_across", "platform", "", "query", "anything", "platforms", "github"},
		{"raw", "platform", "people", "path", "users/salma"},
		{"profile", "handle", "salma", "stale_if_error_s", "3600", "max_age_s", "0"},
	}
	var wg sync.WaitGroup
	run := func(check bool) {
		for worker := range 4 {
			wg.Go(func() {
				for i := range 100 {
					in := kinds[(worker*7+i*3)%len(kinds)]
					if i%4 == 0 && in[0] != "raw" {
						in = append(slices.Clone(in), "key", "idempotency-key-"+strconv.Itoa(i)+strconv.FormatBool(check)+
							strconv.Itoa(worker))
					}
					a, err := call(t, e.Client, in[0], in[1:]...)
					if check && err == nil && strings.Contains(strings.ToLower(string(a.Data)), "salma") {
						t.Errorf("%v answers %s; want it without salma", in, a.Data)
					}
				}
			})
		}
	}
	run(false)
	req := herself()
	req.Block = true
	if _, err := e.Open.Operator().Erase(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	run(true)
	wg.Wait()
	for line := range strings.Lines(s.dump()) {
		if strings.Contains(strings.ToLower(line), "salma") && !strings.Contains(line, "withheld") {
			t.Errorf("the cache has %s; want it without salma", line)
		}
	}
	keys, err := e.Records.Keys(t.Context(), "")
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d records, %v; want some", len(keys), err)
	}
	plain := records.Compress(e.Records)
	for _, key := range keys {
		if r, err := plain.Get(t.Context(), key); err == nil && strings.Contains(strings.ToLower(string(r.Value)), "salma") &&
			!strings.Contains(string(r.Value), "withheld") {
			t.Errorf("the record %s has %s; want it without salma", key, r.Value)
		}
	}
}

// TestAnIdempotentAnswerThatNamesNoAccountIsErased makes calls whose records name someone in words that are not an
// account's: a batch quotes the key that it has not found, a raw read is in the platform's words, and what is answered
// for a handle need not repeat it.
func TestAnIdempotentAnswerThatNamesNoAccountIsErased(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]string{
		"a batch":      {"profile/batch", "handles", "nobody,zoe"},
		"a raw read":   {"raw", "platform", "people", "path", "users/x"},
		"another's":    {"posts", "handle", "https://github.com/Nobody"},
		"the question": {"profile", "handle", "zoe"}, // is not hers, and stays
	} {
		e := replicas(t, &people{}, privacy.NewMemory(privacy.MemoryConfig{}), 1)[0]
		must(t, e.Client, in[0], append(in[1:], "key", "idempotency-of-a-call")...)
		receipt, err := e.Open.Operator().Erase(t.Context(), schema.EraseRequest{Platform: platform.GitHub, Handle: "nobody"})
		want := 1
		if name == "the question" {
			want = 0
		}
		if got := receipt.Removed["idempotent answers"]; err != nil || got != want {
			t.Errorf("%s: %d idempotent answers are removed, %v; want %d", name, got, err, want)
		}
	}
}
