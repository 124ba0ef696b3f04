package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// items returns the answer of each key of a batch: the id of the profile or the code of the problem, and the cache
// state.
func items(e *schema.Envelope[[]schema.BatchItem[schema.Profile]]) []string {
	var out []string
	for _, item := range e.Data {
		text := item.Key + " "
		switch {
		case item.Data != nil && item.Problem == nil:
			text += item.Data.Handle
		case item.Data == nil && item.Problem != nil:
			text += string(item.Problem.Code)
		}
		out = append(out, text+" "+string(item.Cache))
	}
	return out
}

// profileBatch is a batch of profiles.
type profileBatch struct {
	socialdata.ProfileRequest
	handles []string
}

func (b *profileBatch) read(
	ctx context.Context, c *socialdata.Client,
) (*schema.Envelope[[]schema.BatchItem[schema.Profile]], error) {
	return socialdata.Batch(ctx, c, b.ProfileRequest, b.handles...)
}

func profiles(on platform.ID, handles ...string) *profileBatch {
	return &profileBatch{socialdata.ProfileRequest{Platform: on}, handles}
}

func TestABatchAnswersEachKeyAndChargesWhatWasFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		req     *profileBatch
		want    []string
		cache   schema.CacheState
		charged []enginetest.Charge
	}{
		{
			"in the order of the request, each thing once", profiles(platform.Mock, "@salma", "not_found", "SALMA", " omar\u200f"),
			[]string{"@salma salma MISS", "not_found not_found MISS", "SALMA salma MISS", "omar omar MISS"},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(2, "profile/batch", "mock", "MISS")},
		},
		{
			"what is known is a hit", profiles(platform.Mock, "known", "omar", "not_found"),
			[]string{"known known HIT", "omar omar MISS", "not_found not_found MISS"},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(2, "profile/batch", "mock", "MISS")},
		},
		{
			"all of it is known", profiles(platform.Mock, "known", "@known"),
			[]string{"known known HIT", "@known known HIT"},
			schema.Hit,
			[]enginetest.Charge{enginetest.Charged(1, "profile/batch", "mock", "HIT")},
		},
		{
			"keys of the wrong form", profiles(platform.Mock, "salma", "a\x00b", "https://elsewhere.example/x", strings.Repeat("x", 600)),
			[]string{
				"salma salma MISS", "ab invalid_request MISS", "https://elsewhere.example/x invalid_request MISS",
				strings.Repeat("x", 600) + " invalid_request MISS",
			},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(1, "profile/batch", "mock", "MISS")},
		},
		{
			"some fail at the upstream", profiles(platform.Mock, "timeout", "salma", "rate_limited_upstream"),
			[]string{"timeout upstream_timeout MISS", "salma salma MISS", "rate_limited_upstream platform_unavailable MISS"},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(1, "profile/batch", "mock", "MISS")},
		},
		{
			"nothing is there", profiles(platform.Mock, "not_found"), []string{"not_found not_found MISS"}, schema.Miss, []enginetest.Charge{},
		},
		{
			"fresh is twice the base",
			&profileBatch{socialdata.ProfileRequest{
				Platform: platform.Mock, ReadOptions: socialdata.ReadOptions{Fresh: true},
			}, []string{"known", "omar", "not_found"}},
			[]string{"known known MISS", "omar omar MISS", "not_found not_found MISS"},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(4, "profile/batch", "mock", "MISS")},
		},
		{
			"an enrichment is paid once",
			&profileBatch{socialdata.ProfileRequest{
				Platform: platform.Mock, ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic},
			}, []string{"known", "omar"}},
			[]string{"known known HIT", "omar omar MISS"},
			schema.Miss,
			[]enginetest.Charge{enginetest.Charged(5, "profile/batch", "mock", "MISS")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{})
			if _, err := e.Client.Profile(t.Context(),
				socialdata.ProfileRequest{Platform: platform.Mock, Handle: "known"}); err != nil {
				t.Fatal(err)
			}
			got, err := tt.req.read(t.Context(), e.Client)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, items(got)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			charges := e.Charges(t)[1:]
			if diff := cmp.Diff(tt.charged, charges); diff != "" {
				t.Errorf("charges (-want +got):\n%s", diff)
			}
			charged := int64(0)
			for _, c := range charges {
				charged += c.Amount
			}
			if got.Meta.Cache != tt.cache || got.Meta.CreditsUsed != charged || got.Meta.CreditsRemaining != e.Balance(t) {
				t.Errorf("meta is %+v, want %s, %d credits used, %d left", got.Meta, tt.cache, charged, e.Balance(t))
			}
		})
	}
}

func TestABatchFailsAsAWhole(t *testing.T) {
	t.Parallel()
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("user", i)
	}
	tests := []struct {
		name string
		req  *profileBatch
		code problem.Code
		says string
	}{
		{"an unknown platform", profiles("myspace", "salma"), problem.NotFound, "myspace"},
		{"no key", profiles(platform.Mock), problem.InvalidRequest, `"handles" is required`},
		{"empty keys", profiles(platform.Mock, "", " "), problem.InvalidRequest, "must not be empty"},
		{"too many keys", profiles(platform.Mock, many...), problem.InvalidRequest, "at most 100 keys"},
		{"a list that is too long", profiles(platform.Mock, strings.Repeat("x", 33<<10)), problem.InvalidRequest, "32768 bytes"},
		{"only keys of the wrong form", profiles(platform.Mock, "a\x00", "b\x00"), problem.InvalidRequest, "control"},
		{"a platform without profiles", profiles(platform.HackerNews, "a\x00", "b"), problem.PlatformUnavailable, "hackernews does not offer Profile"},
		{"all time out", profiles(platform.Mock, "timeout", "TIMEOUT"), problem.UpstreamTimeout, ""},
		{"all fail", profiles(platform.Mock, "timeout", "rate_limited_upstream"), problem.PlatformUnavailable, "rate limiting"},
		{
			"too dear for the caller",
			&profileBatch{socialdata.ProfileRequest{
				Platform: platform.Mock, ReadOptions: socialdata.ReadOptions{MaxCredits: 2},
			}, []string{"a", "b", "c"}},
			problem.InsufficientCredits, "3",
		},
		{"too dear for the account", profiles(platform.Mock, many[:11]...), problem.InsufficientCredits, "11"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{Credits: 10})
			_, err := tt.req.read(t.Context(), e.Client)
			enginetest.WantProblem(t, err, tt.code, tt.says)
			if e.Balance(t) != 10 || len(e.Charges(t)) != 0 {
				t.Errorf("the balance is %d after the charges %v, want 10 and none", e.Balance(t), e.Charges(t))
			}
		})
	}
}

func TestABatchAndASingleReadShareTheCache(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	ctx := t.Context()
	if _, err := profiles(platform.Mock, "salma", "not_found").read(ctx, e.Client); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(20 * time.Second)
	lone, err := e.Client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"})
	if err != nil || lone.Meta.Cache != schema.Hit {
		t.Errorf("got %+v, %v; want a hit", lone, err)
	}
	got, err := profiles(platform.Mock, "salma", "not_found").read(ctx, e.Client)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"salma salma HIT", "not_found not_found HIT"}, items(got)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if got.Meta.Cache != schema.Hit || got.Meta.DataAgeS != 20 || got.Data[1].DataAgeS != 20 || got.Meta.CreditsUsed != 1 {
		t.Errorf("meta is %+v, want a hit, 20 s old, for 1 credit", got.Meta)
	}
	if diff := cmp.Diff(lone.Data, *got.Data[0].Data); diff != "" {
		t.Errorf("the object (-lone +batch):\n%s", diff)
	}
}

func TestABatchTakesFewRequestsAndSingleReadsForTheRest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		source  *enginetest.Batched
		handles []string
		want    []string // the answer of each key
		asked   []string // the upstream requests, sorted
	}{
		{
			"one request", &enginetest.Batched{Most: 100},
			[]string{"ann", "nobody", "bea", "gone"},
			[]string{"ann", "not_found", "bea", "not_found"},
			[]string{"ann,bea,gone,nobody"},
		},
		{
			"as many as it takes", &enginetest.Batched{Most: 2},
			[]string{"a1", "a2", "a3", "a4", "a5"},
			[]string{"a1", "a2", "a3", "a4", "a5"},
			nil,
		},
		{
			"a source of limited sight", &enginetest.Batched{Most: 100, Limited: true},
			[]string{"ann", "hidden", "nobody"},
			[]string{"ann", "hidden", "not_found"},
			[]string{"ann,hidden,nobody", "hidden", "nobody"},
		},
		{
			"an odd object", &enginetest.Batched{Most: 100},
			[]string{"ann", "odd", "nobody"},
			[]string{"ann", "odd", "not_found"},
			[]string{"ann,nobody,odd", "odd"},
		},
		{
			"a row that cannot be read", &enginetest.Batched{Most: 100},
			[]string{"ann", "unreadable", "nobody"},
			[]string{"ann", "unreadable", "not_found"},
			[]string{"ann,nobody,unreadable", "nobody", "unreadable"},
		},
		{
			"a few that fail together", &enginetest.Batched{Most: 100},
			[]string{"ann", "bea", "down"},
			[]string{"ann", "bea", "platform_unavailable"},
			[]string{"ann", "ann,bea,down", "bea", "down"},
		},
		{
			"a key that is refused among many", &enginetest.Batched{Most: 100},
			[]string{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "refused"},
			[]string{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "refused"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Of(t, tt.source.Provider(platform.X, "x"))
			got, err := profiles(platform.X, tt.handles...).read(t.Context(), e.Client)
			if err != nil {
				t.Fatal(err)
			}
			var answered []string
			for _, item := range got.Data {
				if item.Data != nil {
					answered = append(answered, item.Data.Handle)
				} else {
					answered = append(answered, string(item.Problem.Code))
				}
			}
			if diff := cmp.Diff(tt.want, answered); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			var asked []string
			for _, keys := range tt.source.Requests() {
				if len(keys) > tt.source.Most {
					t.Errorf("a request for %d keys, want at most %d", len(keys), tt.source.Most)
				}
				asked = append(asked, strings.Join(slices.Sorted(slices.Values(keys)), ","))
			}
			slices.Sort(asked)
			if diff := cmp.Diff(tt.asked, asked); tt.asked != nil && diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheNextSourceReadsWhatABatchCannot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := &enginetest.Batched{Most: 100}, &enginetest.Batched{Most: 1}
		handles := []string{"down"}
		for i := range 9 {
			handles = append(handles, fmt.Sprint("user", i))
		}
		next := second.Provider(platform.X, "own")
		e := enginetest.Of(t, first.Provider(platform.X, "x"), next)
		got, err := profiles(platform.X, handles...).read(t.Context(), e.Client)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range got.Data {
			if (item.Data == nil) != (item.Key == "down") {
				t.Errorf("%s: got %v; want a problem of down alone", item.Key, item.Problem)
			}
		}
		if n, m := len(first.Requests()), len(second.Requests()); n != 1 || m != 10 {
			t.Errorf("%d requests to the first, %d to the second; want 1, 10", n, m)
		}
	})
}

// TestABatchHasTypedDataATagAndOneCharge checks that a batch has the JSON of the Go type, a tag that differs for
// different results, and one charge for each idempotency key.
func TestABatchHasTypedDataATagAndOneCharge(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	do := func(key string, params ...string) *operation.Answer {
		t.Helper()
		call := enginetest.Call(params...)
		call.Platform, call.IdempotencyKey = "mock", key
		a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile/batch"), call)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := do("order-4711-of-salma", "handles", "salma,not_found,timeout")
	again := do("order-4711-of-salma", "handles", "salma,not_found,timeout")
	if !again.Replayed || len(e.Charges(t)) != 1 || !bytes.Equal(first.Data, again.Data) || again.Meta.CreditsUsed != 1 {
		t.Errorf("replayed %t, charges %v; want a replay and one charge", again.Replayed, e.Charges(t))
	}
	var typed []schema.BatchItem[schema.Profile]
	if err := json.Unmarshal(first.Data, &typed); err != nil {
		t.Fatal(err)
	}
	if b, err := schema.Marshal(typed); err != nil || !bytes.Equal(b, first.Data) {
		t.Errorf("as a Go value:\n%s\nas it was answered:\n%s\n%v", b, first.Data, err)
	}
	if typed[1].Problem.RequestID != first.Meta.RequestID {
		t.Errorf("the problem is %+v, want the id %s", typed[1].Problem, first.Meta.RequestID)
	}
	if raw := do("", "handles", "salma,omar", "include_raw", "true"); bytes.Count(raw.Data, []byte(`"raw":{`)) != 2 {
		t.Errorf("with raw: got %s; want 2 raw objects", raw.Data)
	}
	tags := map[string]string{}
	for _, list := range []string{
		"salma", "salma,omar", "omar,salma", "salma,not_found", "salma,timeout", "salma,https://a.example/",
	} {
		a := do("", "handles", list)
		if a.Tag == "" || tags[a.Tag] != "" {
			t.Errorf("%s has the tag %q of %q", list, a.Tag, tags[a.Tag])
		}
		tags[a.Tag] = list
		if b := do("", "handles", list); b.Tag != a.Tag {
			t.Errorf("%s has the tags %s and %s", list, a.Tag, b.Tag)
		}
		if strings.Contains(list, "timeout") && a.TTL > 0 {
			t.Errorf("%s may be kept for %v", list, a.TTL)
		}
	}
}

func TestABatchTakesATokenForTenKeys(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for keys, want := range map[int]int{1: 0, 10: 0, 11: 1, 100: 9} {
		handles := make([]string, keys)
		for i := range handles {
			handles[i] = fmt.Sprint("user", i)
		}
		taken := 0
		call := enginetest.Call("handles", strings.Join(handles, ","))
		call.Platform = "mock"
		call.More = func(_ context.Context, n int) error {
			taken += n
			return nil
		}
		if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile/batch"), call); err != nil || taken != want {
			t.Errorf("%d keys take %d tokens more, %v; want %d", keys, taken, err, want)
		}
		call.More = func(context.Context, int) error { return problem.New(problem.RateLimited, "slowly") }
		if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile/batch"), call); want > 0 {
			enginetest.WantProblem(t, err, problem.RateLimited)
		}
	}
}

func TestUnpaidKeysOfABatchAreCounted(t *testing.T) {
	t.Parallel()
	e, calls := unpaidEngine(t, 1000)
	ctx := t.Context()
	for i := range 10 {
		handles := make([]string, 100)
		for j := range handles {
			handles[j] = fmt.Sprint("no", i*100+j)
		}
		if _, err := profiles(platform.GitHub, handles...).read(ctx, e.Client); err != nil {
			t.Fatal(err)
		}
	}
	_, err := e.Client.Profile(ctx, profileOf("no1000"))
	enginetest.WantProblem(t, err, problem.RateLimited)
	if calls.Count() != 1000 {
		t.Errorf("%d reads, want 1000", calls.Count())
	}
}
