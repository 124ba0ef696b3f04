package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
)

func TestRequestsListTheLastCalls(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	other, _ := e.Account(t, "other", 10)
	do := func(c *socialdata.Client, name, id string, call operation.Call) {
		call.RequestID = id
		_, _ = socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation(name), call)
	}
	do(e.Client, "posts", "req_1", on("mock", "handle", "hidden_name"))
	do(e.Client, "posts", "req_2", on("mock", "handle", "hidden_name"))
	do(e.Client, "profile", "req_3", on("mock", "handle", "not_found"))
	do(e.Client, "profile", "req_4", on("hidden_platform", "handle", "a"))
	do(e.Client, "platforms", "req_5", operation.Call{})
	do(e.Open.As(other), "profile", "req_6", on("mock", "handle", "ann"))
	do(e.Open, "health", "req_7", operation.Call{})

	got, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Data {
		got.Data[i].TookMS = 0
		for j := range got.Data[i].Providers {
			got.Data[i].Providers[j].TookMS = 0
		}
	}
	asked := []schema.RequestProvider{{Name: "mock", Calls: 1}}
	row := func(id, name string, change func(*schema.Request)) schema.Request {
		r := schema.Request{
			At: enginetest.Start, RequestID: id, AccountID: e.Key.Account, KeyID: e.Key.ID, Source: schema.FromGo, Operation: &name,
			Platform: new("mock"), Status: 200, Providers: []schema.RequestProvider{},
		}
		change(&r)
		return r
	}
	want := []schema.Request{
		row("req_4", "profile", func(r *schema.Request) {
			r.Platform, r.Status, r.Code = nil, 404, new("not_found")
			r.Detail = new(`there is no platform "…"; GET /v1/platforms lists them`)
		}),
		row("req_3", "profile",
			func(r *schema.Request) {
				r.Status, r.Code, r.Providers, r.Held = 404, new("not_found"), asked, 1
				r.Detail = new("there is no such thing in the sandbox")
			}),
		row("req_2", "posts", func(r *schema.Request) { r.Cache, r.Held, r.Credits = new(schema.Hit), 1, 1 }),
		row("req_1", "posts", func(r *schema.Request) {
			r.Cache, r.Held, r.Credits, r.Providers = new(schema.Miss), 1, 1, asked
		}),
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	all, err := e.Open.Operator().Requests(t.Context(), "", accounts.RequestsRequest{}, 100)
	if err != nil || strings.Contains(fmt.Sprintf("%+v", all), "hidden") {
		t.Error("what was asked is in the log")
	}
	for name, tt := range map[string]struct {
		req  accounts.RequestsRequest
		want int
	}{
		"status":    {accounts.RequestsRequest{Status: 404}, 2},
		"operation": {accounts.RequestsRequest{Operation: "posts"}, 2},
		"platform":  {accounts.RequestsRequest{Platform: platform.GitHub}, 0},
		"request":   {accounts.RequestsRequest{RequestID: "req_1"}, 1},
		"key":       {accounts.RequestsRequest{KeyID: other.ID}, 0},
		"another's": {accounts.RequestsRequest{RequestID: "req_6"}, 0},
	} {
		got, err := e.Client.Account().Requests(t.Context(), tt.req)
		if err != nil || len(got.Data) != tt.want {
			t.Errorf("%s: %d requests, %v; want %d", name, len(got.Data), err, tt.want)
		}
	}
	_, err = e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{Status: 7})
	enginetest.WantProblem(t, err, problem.InvalidRequest)
	own, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{Operation: "requests"})
	if err != nil || len(own.Data) != 1 || own.Data[0].Status != 400 {
		t.Errorf("of the calls that list the log, it has %+v, %v; want the refused one", own, err)
	}
	if got, err := e.Open.Operator().Requests(t.Context(), other.Account, accounts.RequestsRequest{}, 10); err != nil ||
		len(got) != 1 || got[0].ID != "req_6" {
		t.Errorf("the operator sees %+v, %v; want req_6", got, err)
	}
	_, err = e.Open.Account().Requests(t.Context(), accounts.RequestsRequest{})
	enginetest.WantProblem(t, err, problem.Unauthorized)
}

// TestTheOperatorSeesTheStatusOfTheUpstream fails two calls at an upstream that asks for a pause, and at another one.
func TestTheOperatorSeesTheStatusOfTheUpstream(t *testing.T) {
	t.Parallel()
	refusing := func(name string, status int, pause time.Duration) providers.Provider {
		return enginetest.Profiles(platform.GitHub, name, schema.Official,
			func(_ context.Context, handle string) (schema.Profile, error) {
				return schema.Profile{}, &providers.RequestError{Status: status, Err: &providers.Error{
					Kind: providers.ErrUnavailable, Detail: "the upstream refuses to read " + handle, RetryAfter: pause,
				}}
			})
	}
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{refusing("busy", 429, time.Hour), refusing("poor", 402, 0)},
	})
	for _, handle := range []string{"nadia", "omar"} {
		_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
		enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	}
	found, err := e.Open.Operator().Requests(t.Context(), e.Key.Account, accounts.RequestsRequest{Operation: "profile"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		for j := range found[i].Providers {
			asked := &found[i].Providers[j]
			if called := asked.Calls > 0; called != (asked.Took > 0) {
				t.Errorf("%d calls of %s took %v", asked.Calls, asked.Name, asked.Took)
			}
			asked.Took = 0
		}
	}
	poor := requests.Provider{Name: "poor", Calls: 1, Status: 402, Cause: "upstream unavailable: status 402"}
	want := [][]requests.Provider{
		{{Name: "busy", Cause: "not called until the pause that it asked for has passed"}, poor},
		{{Name: "busy", Calls: 1, Status: 429, Cause: "upstream unavailable: status 429"}, poor},
	}
	if len(found) != 2 {
		t.Fatalf("the log has %d calls, want 2", len(found))
	}
	if diff := cmp.Diff(want, [][]requests.Provider{found[0].Providers, found[1].Providers}); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	if first := found[1]; first.Source != "go" || first.Upstream == 0 || first.Held != 1 || first.Credits != 0 ||
		!strings.Contains(first.Detail, "refuses to read …") {
		t.Errorf("the first call is %+v, want a free one of Go that held 1 credit and was refused", first)
	}
	own, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{})
	if err != nil || len(own.Data) != 2 || len(own.Data[0].Providers) != 1 || own.Data[0].Providers[0].Name != "poor" {
		t.Errorf("the caller sees %+v, %v; want 2 calls, the last of poor", own, err)
	}
}

func TestLogUsageAndLedgerAgree(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]func(t *testing.T) []socialdata.Option{
		"memory": func(*testing.T) []socialdata.Option { return nil },
		"file": func(t *testing.T) []socialdata.Option {
			t.Helper()
			db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "data.db")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			return []socialdata.Option{socialdata.WithRequests(db.Requests(), requests.Bounds{})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testEqual(t, options(t))
		})
	}
}

// testEqual makes 10,000 calls with 50 keys concurrently, and compares the reported charges with the log, the usage
// and the ledger.
func testEqual(t *testing.T, options []socialdata.Option) {
	t.Helper()
	const calls, users = 10_000, 50
	e := enginetest.New(t, enginetest.Config{Credits: 1_000_000, Options: options})
	var wg sync.WaitGroup
	charged, answered := make([]int64, users), make([]int64, users)
	all := make([]keys.Key, users)
	for u := range users {
		_, key, err := e.Keys.CreateKey(t.Context(),
			keys.NewKey{Account: e.Key.Account, Name: strconv.Itoa(u), Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		all[u] = key
		wg.Go(func() {
			client := e.Open.As(key)
			for n := range calls / users {
				req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann" + strconv.Itoa(n%7), ReadOptions: socialdata.ReadOptions{Fresh: n%3 == 0}}
				if n%5 == 0 {
					req.Handle = "not_found"
				}
				if got, err := client.Posts(t.Context(), req); err == nil {
					charged[u] += got.Meta.CreditsUsed
					answered[u]++
				}
			}
		})
	}
	wg.Wait()
	usage, err := e.Client.Account().UsageBy(t.Context(), accounts.UsageByRequest{Group: accounts.UsageByKey})
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]schema.Rollup{}
	for _, r := range usage.Data {
		if r.Group != nil {
			used[*r.Group] = r
		}
	}
	booked := map[string]int64{}
	entries, err := e.Ledger.Entries(t.Context(), credits.Query{Account: e.Key.Account, Limit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Kind == credits.Charged {
			booked[entry.Key] -= entry.Amount
		}
	}
	logged, counted := map[string]int64{}, 0
	next := ""
	for {
		page, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{Operation: "posts", Page: socialdata.Page{Cursor: next}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			logged[r.KeyID] += r.Credits
			counted++
		}
		if next = page.Meta.NextCursor; next == "" {
			break
		}
	}
	if counted != calls {
		t.Errorf("%d calls are in the log, want %d", counted, calls)
	}
	for u, key := range all {
		if logged[key.ID] != charged[u] || booked[key.ID] != charged[u] {
			t.Errorf("key %d was answered with %d credits, %d are in the log and %d in the ledger", u, charged[u], logged[key.ID],
				booked[key.ID])
		}
		r := used[key.ID]
		if r.Credits != charged[u] || r.Paid != answered[u] || r.Failed != calls/users-answered[u] ||
			r.Calls != calls/users || r.Dropped != 0 {
			t.Errorf("key %d was answered %d of %d calls for %d credits; its usage is %+v", u, answered[u], calls/users,
				charged[u], r)
		}
	}
}

// away is a store of requests that is unavailable until it is back.
type away struct {
	requests.Store
	back atomic.Bool
}

func (a *away) Add(ctx context.Context, added []requests.Request, tallies []requests.Tally) error {
	if !a.back.Load() {
		return errors.New("the store is away")
	}
	return a.Store.Add(ctx, added, tallies)
}

func TestLostLogLinesAreCountedAndNoCallWaits(t *testing.T) {
	t.Parallel()
	store := &away{Store: requests.NewMemory(requests.Bounds{})}
	e := enginetest.New(t,
		enginetest.Config{Options: []socialdata.Option{socialdata.WithRequests(store, requests.Bounds{})}})
	const calls = 7
	for range calls {
		if _, err := e.Client.Profile(t.Context(),
			socialdata.ProfileRequest{Platform: platform.Mock, Handle: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{}); err != nil || len(got.Data) != 0 {
		t.Errorf("an unavailable log lists %d requests, %v", len(got.Data), err)
	}
	store.back.Store(true)
	var counted schema.Rollup
	await.Until(t, "the lost calls to be counted", func() bool {
		got, err := e.Client.Account().UsageBy(t.Context(), accounts.UsageByRequest{Group: accounts.UsageByOperation})
		if err != nil {
			t.Fatal(err)
		}
		profile := slices.IndexFunc(got.Data, func(r schema.Rollup) bool { return r.Group != nil && *r.Group == "profile" })
		if profile >= 0 {
			counted = got.Data[profile]
		}
		return counted.Dropped == calls
	})
	if counted.Paid != calls || counted.Credits != calls {
		t.Errorf("what was paid is lost too: %+v", counted)
	}
}
