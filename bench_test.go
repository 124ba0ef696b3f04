package socialdata_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// The results of these benchmarks are in BENCHMARKS.md, with the commands that made them.

// size returns the number in an environment variable, or n.
func size(b *testing.B, variable string, n int) int {
	b.Helper()
	if s := os.Getenv(variable); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// compare alternates between measured and reference, so that other load of the machine affects both alike, and reports
// the median of each and their ratio.
func compare(b *testing.B, calls int, measured, reference func()) {
	b.Helper()
	var ours, theirs []float64
	each := func(do func()) float64 {
		began := time.Now()
		for range calls {
			do()
		}
		return float64(time.Since(began).Nanoseconds()) / float64(calls)
	}
	for b.Loop() {
		ours, theirs = append(ours, each(measured)), append(theirs, each(reference))
	}
	mine, other := median(ours), median(theirs)
	b.ReportMetric(0, "ns/op") // of a round, which would mean nothing
	b.ReportMetric(mine, "ns/call")
	b.ReportMetric(other, "ns/reference")
	b.ReportMetric(other/mine, "×faster")
	b.ReportMetric(mine-other, "ns/more")
}

func median(s []float64) float64 {
	slices.Sort(s)
	return s[len(s)/2]
}

// BenchmarkCachedProfile measures a call in the process that the cache answers and a ledger in memory charges.
func BenchmarkCachedProfile(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Credits: 1 << 50})
	req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Client.Profile(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMaxAge is [BenchmarkCachedProfile] with a bound of age, against one without.
func BenchmarkMaxAge(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Credits: 1 << 50})
	plain := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"}
	within := plain
	within.MaxAge = time.Hour
	read := func(req socialdata.ProfileRequest) func() {
		return func() {
			if _, err := e.Client.Profile(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	}
	read(plain)()
	compare(b, 1000, read(within), read(plain))
}

// BenchmarkBatchUncached is a batch of 100 keys that no cache has, of an upstream that takes 100 a request and 50 ms
// for it.
func BenchmarkBatchUncached(b *testing.B) {
	source := &enginetest.Batched{Most: 100, Answers: 50 * time.Millisecond}
	e := enginetest.New(b,
		enginetest.Config{Credits: 1 << 50, Providers: []providers.Provider{source.Provider(platform.X, "x")}})
	var took []float64
	for b.Loop() {
		handles := make([]string, 100)
		for i := range handles {
			handles[i] = fmt.Sprintf("user%d_%d", len(took), i)
		}
		began := time.Now()
		got, err := socialdata.Batch(b.Context(), e.Client, socialdata.ProfileRequest{Platform: platform.X}, handles...)
		if err != nil || got.Meta.CreditsUsed != 100 {
			b.Fatal(got, err)
		}
		took = append(took, time.Since(began).Seconds()*1000)
	}
	b.ReportMetric(float64(len(source.Requests()))/float64(len(took)), "requests/batch")
	b.ReportMetric(median(took), "ms/batch")
	b.ReportMetric(took[0], "ms/fastest") // they are sorted
}

// uncached returns a function that reads a profile of p that no cache has.
func uncached(b *testing.B, p providers.Provider) func() {
	b.Helper()
	reads := 0
	e := enginetest.New(b, enginetest.Config{
		Credits: 1 << 50, Providers: []providers.Provider{p}, Cache: cache.NewMemory(cache.MemoryConfig{Bytes: 4 << 20}),
	})
	return func() {
		reads++
		req := socialdata.ProfileRequest{Platform: platform.X, Handle: "user" + strconv.Itoa(reads)}
		if _, err := e.Client.Profile(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// profileOf is a read of a profile that takes no time.
func profileOf(_ context.Context, handle string) (schema.Profile, error) {
	return enginetest.Profile(handle), nil
}

// BenchmarkLoneRead is a read that no cache has, on an idle server: of a platform that takes several keys a request,
// against one that takes one.
func BenchmarkLoneRead(b *testing.B) {
	read := func(most int) func() {
		p := (&enginetest.Batched{Most: most}).Provider(platform.X, "x")
		p.Profile = profileOf
		return uncached(b, p)
	}
	compare(b, 500, read(100), read(1))
}

// BenchmarkPromptRead is a read that no cache has, of a provider that promises to end with its context, against one
// that does not: the reference is called on a goroutine of its own.
func BenchmarkPromptRead(b *testing.B) {
	read := func(prompt bool) func() {
		p := enginetest.Profiles(platform.X, "x", schema.Own, profileOf)
		p.Prompt = prompt
		return uncached(b, p)
	}
	compare(b, 500, read(true), read(false))
}

// fifty returns a provider of one page of 50 posts like those of the sandbox.
func fifty(tb testing.TB) providers.Provider {
	tb.Helper()
	e := enginetest.New(tb, enginetest.Config{})
	var posts []schema.Post
	for p, err := range socialdata.Walk(tb.Context(), e.Client.Posts,
		socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma_haddad"}) {
		if err != nil {
			tb.Fatal(err)
		}
		posts = append(posts, p)
	}
	for i := 0; len(posts) < 50; i++ {
		posts = append(posts, posts[i])
	}
	posts = posts[:50]
	for i := range posts {
		posts[i].ID = strconv.Itoa(i)
	}
	return enginetest.Posts(platform.X, "fifty",
		func(context.Context, string, string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{Items: slices.Clone(posts)}, nil
		})
}

// BenchmarkCachedPage compares a page of 50 posts in the process with encoding/json decoding the same page.
func BenchmarkCachedPage(b *testing.B) {
	e := enginetest.New(b, enginetest.Config{Providers: []providers.Provider{fifty(b)}, Credits: 1 << 50})
	a, err := socialdata.FrontEnd(e.Client).Do(b.Context(), socialdata.Operation("posts"), operation.Call{
		Platform: "x", Params: url.Values{"handle": {"ann"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(a.Data)))
	compare(b, 20, func() {
		got, err := e.Client.Posts(b.Context(), socialdata.PostsRequest{Platform: platform.X, Handle: "ann"})
		if err != nil || len(got.Data) != 50 {
			b.Fatal(len(got.Data), err)
		}
	}, func() {
		var posts []schema.Post
		if err := json.Unmarshal(a.Data, &posts); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkColdKey makes many concurrent calls for what is not in the cache: one call reaches the upstream. The result
// is how long after its end the last caller has its answer.
func BenchmarkColdKey(b *testing.B) {
	callers := size(b, "SOCIALDATA_BENCH_CALLERS", 1000)
	var mu sync.Mutex
	asked, ended := 0, time.Time{}
	release := make(chan struct{})
	upstream := enginetest.Profiles(platform.X, "slow", schema.Own,
		func(_ context.Context, handle string) (schema.Profile, error) {
			<-release
			mu.Lock()
			defer mu.Unlock()
			asked++
			ended = time.Now()
			return enginetest.Profile(handle), nil
		})
	e := enginetest.New(b, enginetest.Config{Providers: []providers.Provider{upstream}, Credits: 1 << 50})
	clients := make([]*socialdata.Client, 1+callers/500) // calls under way of one account are a thousand at most (D97)
	for i := range clients {
		key, _ := e.Account(b, "account "+strconv.Itoa(i), 1<<50)
		clients[i] = e.Open.As(key)
	}
	var all []float64
	round := 0
	for b.Loop() {
		round++
		release, asked = make(chan struct{}), 0
		req := socialdata.ProfileRequest{Platform: platform.X, Handle: "ann" + strconv.Itoa(round)}
		var waiting, done sync.WaitGroup
		last := make([]time.Time, callers)
		for i := range callers {
			waiting.Add(1)
			done.Go(func() {
				waiting.Done()
				if _, err := clients[i%len(clients)].Profile(b.Context(), req); err != nil {
					b.Error(err)
				}
				last[i] = time.Now()
			})
		}
		waiting.Wait()
		// All calls have begun, and most are waiting for the read. Later ones are answered from the cache, and count as
		// well.
		time.Sleep(100 * time.Millisecond)
		close(release)
		done.Wait()
		if asked != 1 {
			b.Fatalf("%d calls reached the upstream", asked)
		}
		all = append(all, float64(slices.MaxFunc(last, time.Time.Compare).Sub(ended).Microseconds())/1000)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(all), "ms-behind-the-upstream")
}

// upstreamTime is how long the upstreams of a fan-out take.
const upstreamTime = 50 * time.Millisecond

// wide returns an engine with 20 platforms whose upstreams take [upstreamTime], and the platforms.
func wide(b *testing.B) (e *enginetest.Engine, on []platform.ID) {
	b.Helper()
	var chain []providers.Provider
	for _, info := range platform.All() {
		if len(on) == 20 || info.ID == platform.Mock {
			continue
		}
		on = append(on, info.ID)
		p := mock.NewFor(info.ID, mock.Config{})
		search := p.Search
		p.Search = func(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
			began := time.Now()
			page, err := search(ctx, q, cursor)
			time.Sleep(upstreamTime - time.Since(began))
			return page, err
		}
		chain = append(chain, p)
	}
	return enginetest.New(b, enginetest.Config{Providers: chain, Credits: 1 << 50}), on
}

// across searches all of them for a text, and returns how long that took in addition to the upstreams, in milliseconds.
func across(b *testing.B, e *enginetest.Engine, on []platform.ID, query string) float64 {
	b.Helper()
	began := time.Now()
	got, err := e.Client.SearchAcross(b.Context(), socialdata.SearchAcrossRequest{
		Query: query, Platforms: on, Wait: 10 * time.Second,
	})
	if err != nil || len(got.Meta.Platforms) != len(on) || got.Meta.JobID != "" {
		b.Error(err, got)
	}
	return float64((time.Since(began) - upstreamTime).Microseconds()) / 1000
}

// BenchmarkFanOut searches 20 platforms whose upstreams take 50 ms. The result is the additional time of the search.
func BenchmarkFanOut(b *testing.B) {
	e, on := wide(b)
	var all []float64
	for b.Loop() {
		all = append(all, across(b, e, on, "coffee"+strconv.Itoa(len(all))))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(all), "ms-beyond-the-upstreams")
}

// BenchmarkFanOuts makes 64 searches like that of [BenchmarkFanOut] at once, by turns with one alone. The results are
// the median time of one alone and the 99th percentile of the others, in addition to that of the upstreams, and the
// ratio of the whole times.
func BenchmarkFanOuts(b *testing.B) {
	const atOnce = 64
	e, on := wide(b)
	var alone, all []float64
	for b.Loop() {
		alone = append(alone, across(b, e, on, "tea"+strconv.Itoa(len(alone))))
		took := make([]float64, atOnce)
		var searches sync.WaitGroup
		for i := range took {
			searches.Go(func() { took[i] = across(b, e, on, fmt.Sprintf("coffee%d_%d", len(alone), i)) })
		}
		searches.Wait()
		all = append(all, took...)
	}
	slices.Sort(all)
	one, late := median(alone), all[len(all)*99/100]
	whole := upstreamTime.Seconds() * 1000
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(one, "ms-of-one")
	b.ReportMetric(late, "ms-p99")
	b.ReportMetric((whole+late)/(whole+one), "×one")
}

// BenchmarkCacheSize fills a cache with entries of 2 KB. The results are their size on the heap, relative to their
// bytes, and the pauses of the garbage collector.
func BenchmarkCacheSize(b *testing.B) {
	n := size(b, "SOCIALDATA_BENCH_CACHED", 20_000)
	const bytes = 2 << 10
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		store := cache.NewMemory(cache.MemoryConfig{Bytes: n * 2 * bytes})
		for i := range n {
			data := fmt.Sprintf("%08d", i) + strings.Repeat("x", bytes-8)
			entry := &cache.Entry{
				Data: data, Tag: fmt.Sprintf("%024x", i), Provider: "mock", FetchedAt: time.Now(), TTL: time.Hour,
			}
			if err := store.Set(b.Context(), fmt.Sprintf("profile|mock|handle=%q", strconv.Itoa(i)), entry,
				time.Hour); err != nil {
				b.Fatal(err)
			}
		}
		if store.Len() != n {
			b.Fatalf("%d of %d entries are there", store.Len(), n)
		}
		paused := pauses()
		for range 10 {
			runtime.GC()
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n*bytes), "×bytes")
		b.ReportMetric(p99(paused, pauses()), "ms-pause-p99")
		runtime.KeepAlive(store)
	}
}

// pauses returns the pauses of the garbage collector.
func pauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

// p99 returns the 99th percentile of the pauses between two readings, in milliseconds.
func p99(from, to *metrics.Float64Histogram) float64 {
	total, sum := uint64(0), uint64(0)
	for i := range to.Counts {
		total += to.Counts[i] - from.Counts[i]
	}
	for i := range to.Counts {
		if sum += to.Counts[i] - from.Counts[i]; sum*100 >= total*99 {
			return to.Buckets[i+1] * 1000
		}
	}
	return 0
}
