package requests_test

import (
	"errors"
	"fmt"
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
	one := rapid.Custom(func(t *rapid.T) requests.Request {
		r := requests.Request{
			At: time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "at")).UTC(), ID: text.Draw(t, "id"),
			Account: text.Draw(t, "account"),
			Key:     text.Draw(t, "key"), Operation: text.Draw(t, "operation"), Platform: text.Draw(t, "platform"),
			Code:  text.Draw(t, "code"),
			Cache: text.Draw(t, "cache"), Status: rapid.IntRange(0, 599).Draw(t, "status"),
			Credits: rapid.Int64().Draw(t, "credits"),
			Took:    time.Duration(rapid.Int64().Draw(t, "took")),
		}
		if n := rapid.IntRange(0, 3).Draw(t, "providers"); n > 0 {
			r.Providers = rapid.SliceOfN(text, n, n).Draw(t, "names")
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

func TestQuantilesAreWithinATenth(t *testing.T) {
	t.Parallel()
	counted := requests.Tallies{}
	for ms := 1; ms <= 1000; ms++ {
		counted.Count(&requests.Request{Operation: "profile", Status: 200, Took: time.Duration(ms) * time.Millisecond})
	}
	got := requests.Rollups(counted.List())[0]
	for what, tt := range map[string]struct{ got, want time.Duration }{
		"p50": {got.P50, 500 * time.Millisecond}, "p95": {got.P95, 950 * time.Millisecond},
	} {
		if off := float64(tt.got)/float64(tt.want) - 1; off > 0.1 || off < -0.1 {
			t.Errorf("%s is %v; want %v within a tenth", what, tt.got, tt.want)
		}
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
