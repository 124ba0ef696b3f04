package requests_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/requests/requeststest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	requeststest.Run(t, func(*testing.T) requests.Store { return requests.NewMemory(requests.Bounds{}) })
}

func TestMemoryKeepsTheLast(t *testing.T) {
	t.Parallel()
	m := requests.NewMemory(requests.Bounds{Most: 3, Days: 2})
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for n := range 5 {
		m.Note(requests.Request{At: at.AddDate(0, 0, n), ID: fmt.Sprint(n), Status: 404, Code: "not_found"})
	}
	got, err := m.List(t.Context(), requests.Query{})
	if err != nil || len(got) != 3 || got[0].ID != "4" || got[2].ID != "2" {
		t.Errorf("List = %+v, %v; want the last three", got, err)
	}
	sums, err := m.Sums(t.Context(), requests.SumQuery{By: []requests.Dimension{requests.ByDay}})
	if rollups := requests.Rollups(sums); err != nil || len(rollups) != 2 {
		t.Errorf("the usage of %d days is kept; want 2", len(rollups))
	}
}

func TestUnpackInvertsPack(t *testing.T) {
	t.Parallel()
	text := rapid.String()
	provider := rapid.Custom(func(t *rapid.T) requests.Provider {
		return requests.Provider{
			Name: text.Draw(t, "name"), Calls: rapid.Int().Draw(t, "calls"), Took: time.Duration(rapid.Int64().Draw(t, "took")),
			Status: rapid.IntRange(0, 599).Draw(t, "status"), Cause: text.Draw(t, "cause"),
		}
	})
	one := rapid.Custom(func(t *rapid.T) requests.Request {
		r := requests.Request{
			At: time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "at")).UTC(), ID: text.Draw(t, "id"),
			Account: text.Draw(t, "account"),
			Key:     text.Draw(t, "key"), Operation: text.Draw(t, "operation"), Platform: text.Draw(t, "platform"),
			Code: text.Draw(t, "code"), Source: text.Draw(t, "source"), Detail: text.Draw(t, "detail"),
			Upstream: rapid.IntRange(0, 599).Draw(t, "upstream"),
			Cache:    text.Draw(t, "cache"), Status: rapid.IntRange(0, 599).Draw(t, "status"),
			Credits: rapid.Int64().Draw(t, "credits"),
			Took:    time.Duration(rapid.Int64().Draw(t, "took")), Held: rapid.Int64().Draw(t, "held"),
		}
		if n := rapid.IntRange(0, 3).Draw(t, "providers"); n > 0 {
			r.Providers = rapid.SliceOfN(provider, n, n).Draw(t, "asked")
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfN(one, 1, 20).Draw(t, "batch")
		packed := requests.Pack(batch)
		got, err := requests.Unpack(7, packed, requests.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var want []requests.Request
		for i := len(batch) - 1; i >= 0; i-- {
			batch[i].Seq = requests.SeqOf(7, i)
			want = append(want, batch[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("unpacked (-want +got):\n%s", diff)
		}
		if len(packed) > 2 {
			cut := packed[:rapid.IntRange(0, len(packed)-1).Draw(t, "cut")]
			if got, err := requests.Unpack(7, cut, requests.Query{}); err == nil && len(got) >= len(want) {
				t.Fatalf("a batch that is cut off is read whole: %d", len(got))
			} else if err != nil && !errors.Is(err, requests.ErrPacked) {
				t.Fatal(err)
			}
		}
	})
}

// TestUnpackReadsTheVersionBefore reads a batch of version 2 with one request.
func TestUnpackReadsTheVersionBefore(t *testing.T) {
	t.Parallel()
	packed := []byte{2}
	packed = binary.AppendVarint(packed, 1_793_000_000_000_000)
	for _, s := range []string{"req_1", "acct_a", "key_1", "api", "profile", "github", "", "", "MISS"} {
		packed = append(append(packed, byte(len(s))), s...)
	}
	for _, n := range []int64{200, 0, 1, int64(time.Second), 2} {
		packed = binary.AppendVarint(packed, n)
	}
	packed = append(packed, "\x06github\x03own"...)
	got, err := requests.Unpack(7, packed, requests.Query{})
	want := []requests.Request{{
		Seq: requests.SeqOf(7, 0), At: time.UnixMicro(1_793_000_000_000_000).UTC(), ID: "req_1", Account: "acct_a", Key: "key_1",
		Source: "api", Operation: "profile", Platform: "github", Cache: "MISS", Status: 200, Credits: 1, Took: time.Second,
		Providers: []requests.Provider{{Name: "github", Calls: 1}, {Name: "own", Calls: 1}},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Unpack: %v (-want +got):\n%s", err, diff)
	}
}

func TestQuantilesAreWithinATenth(t *testing.T) {
	t.Parallel()
	counted := requests.Tallies{}
	for ms := 1; ms <= 1000; ms++ {
		counted.Count(&requests.Request{Operation: "profile", Status: 200, Took: time.Duration(ms) * time.Millisecond})
	}
	sums := requests.Rollups(counted.List())
	got := sums[slices.IndexFunc(sums, func(r requests.Rollup) bool { return r.Operation != "" })]
	for what, tt := range map[string]struct{ got, want time.Duration }{
		"p50": {got.P50, 500 * time.Millisecond}, "p95": {got.P95, 950 * time.Millisecond},
	} {
		if off := float64(tt.got)/float64(tt.want) - 1; off > 0.1 || off < -0.1 {
			t.Errorf("%s is %v; want %v within a tenth", what, tt.got, tt.want)
		}
	}
}

// TestHours counts the calls of an hour, those that failed through no fault of the caller's, and how long they took,
// without streams.
func TestHours(t *testing.T) {
	t.Parallel()
	counted, noon := requests.Tallies{}, time.Date(2026, 11, 20, 12, 59, 59, 0, time.UTC)
	for i, r := range []requests.Request{
		{Operation: "profile", Platform: "x", Status: 200, Credits: 1, Took: time.Second},
		{Operation: "profile", Platform: "x", Status: 404, Code: "not_found", Took: time.Second},
		{Operation: "posts", Platform: "x", Status: 503, Code: "platform_unavailable", Held: 1, Took: time.Second},
		{Operation: "changes", Status: 200},
		{Operation: "posts", Platform: "github", Status: 200, Took: time.Second},
	} {
		r.Account, r.At = "acct_1", noon.Add(time.Duration(i/4)*time.Second) // the last is of the next hour
		counted.Count(&r)
	}
	m := requests.NewMemory(requests.Bounds{})
	if err := m.Add(t.Context(), nil, counted.List()); err != nil {
		t.Fatal(err)
	}
	sums := func(by ...requests.Dimension) []requests.Rollup {
		got, err := m.Sums(t.Context(), requests.SumQuery{By: by})
		if err != nil {
			t.Fatal(err)
		}
		return requests.Rollups(got)
	}
	days := sums(requests.ByDay)
	if len(days) != 1 {
		t.Fatalf("%d days", len(days))
	}
	day := days[0].Hours
	if day[12].Calls != 4 || day[12].Failed != 1 || day[13].Calls != 1 || day[13].Failed != 0 || day[11].Calls != 0 {
		t.Errorf("hours 11 to 13 are %+v", day[11:14])
	}
	if off := day[12].P95.Seconds() - 1; off > 0.1 || off < -0.1 {
		t.Errorf("p95 is %v; want 1s within a tenth", day[12].P95)
	}
	for _, r := range sums(requests.ByDay, requests.ByPlatform) {
		if r.Platform == "x" && (r.Hours[12].Calls != 3 || r.Hours[12].Failed != 1) {
			t.Errorf("x had %+v", r.Hours[12])
		}
	}
	if own, err := m.Sums(t.Context(), requests.SumQuery{Account: "acct_1"}); err != nil ||
		requests.Rollups(own)[0].Hours != ([24]requests.Hour{}) {
		t.Errorf("an account has hours: %v", err)
	}
}

func BenchmarkNote(b *testing.B) {
	m, r := requests.NewMemory(requests.Bounds{}),
		requests.Request{ID: "req_1", Account: "acct_1", Operation: "profile", At: time.Now()}
	b.ReportAllocs()
	for b.Loop() {
		m.Note(r)
	}
}

func BenchmarkPack(b *testing.B) {
	batch := make([]requests.Request, requests.AtOnce)
	for i := range batch {
		batch[i] = requests.Request{
			At: time.Now(), ID: "req_0123456789abcdef", Account: "acct_0123456789", Key: "key_0123456789", Operation: "profile",
			Platform: "mock", Cache: "HIT", Status: 200, Credits: 1, Took: time.Millisecond,
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		requests.Pack(batch)
	}
}

func TestWhatUpstreamsWereSentBelongsToNoAccount(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	counted := requests.Tallies{}
	counted.Count(&requests.Request{At: at, Account: "acct_a", Platform: "tiktok", Operation: "posts", Status: 200})
	counted.Send(at, "tiktok", "posts", "own", requests.Upstream{Requests: 1})
	for range 2 {
		counted.Send(at, "tiktok", "posts", "vendor", requests.Upstream{Requests: 1})
		counted.Send(at, "tiktok", "posts", "vendor", requests.Upstream{Credits: 15})
	}
	counted.Send(at.AddDate(0, 0, 1), "x", "search", "vendor", requests.Upstream{Requests: 1, Credits: 1})
	m := requests.NewMemory(requests.Bounds{})
	if err := m.Add(t.Context(), nil, counted.List()); err != nil {
		t.Fatal(err)
	}
	sums := func(q requests.SumQuery) []requests.Rollup {
		sums, err := m.Sums(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return requests.Rollups(sums)
	}
	days := sums(requests.SumQuery{By: []requests.Dimension{requests.ByDay}})
	if len(days) != 2 || days[0].Calls != 1 || days[0].Idle() || days[1].Calls != 0 || !days[1].Idle() {
		t.Fatalf("by day: %+v", days)
	}
	want := []map[string]requests.Upstream{
		{"own": {Requests: 1}, "vendor": {Requests: 2, Credits: 30}}, {"vendor": {Requests: 1, Credits: 1}},
	}
	if diff := cmp.Diff(want, []map[string]requests.Upstream{days[0].Upstreams, days[1].Upstreams}); diff != "" {
		t.Errorf("upstreams by day (-want +got):\n%s", diff)
	}
	if own := sums(requests.SumQuery{Account: "acct_a"}); len(own) != 1 || own[0].Upstreams != nil {
		t.Errorf("an account sees what upstreams were sent: %+v", own)
	}
}
