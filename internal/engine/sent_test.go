package engine_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
)

// vendor is a provider that sends two requests for a profile and is charged for one of them.
func vendor() providers.Provider {
	return providers.Provider{
		Name: "vendor", Platform: platform.X, Source: schema.Own,
		Profile: func(ctx context.Context, handle string) (schema.Profile, error) {
			trace := callctx.Of(ctx).Trace
			trace.Upstream(callctx.UpstreamCall{Host: "vendor.example", Status: 503})
			trace.Upstream(callctx.UpstreamCall{Host: "vendor.example", Status: 200})
			trace.Paid(15)
			url := "https://x.com/" + handle
			return schema.Profile{Common: schema.Common{ID: handle, URL: url}, Handle: handle}, nil
		},
	}
}

func TestRollupsHaveWhatUpstreamsWereSentAndCharged(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "sent.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for name, store := range map[string]requests.Store{
		"memory": requests.NewMemory(requests.Bounds{}), "sqlite": db.Requests(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{
				Providers: []providers.Provider{vendor()},
				Options:   []socialdata.Option{socialdata.WithRequests(store, requests.Bounds{})},
			})
			for _, handle := range []string{"ann", "bob", "ann"} { // the last one from the cache
				req := socialdata.ProfileRequest{Platform: platform.X, Handle: handle}
				if _, err := e.Client.Profile(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			days, err := e.Open.Operator().Rollups(t.Context(), requests.SumQuery{By: []requests.Dimension{requests.ByDay}})
			if err != nil || len(days) != 1 {
				t.Fatalf("%d days, %v; want 1", len(days), err)
			}
			want := map[string]requests.Upstream{"vendor": {Requests: 4, Credits: 30}}
			if diff := cmp.Diff(want, days[0].Upstreams); diff != "" || days[0].Credits != 3 {
				t.Errorf("beside %d credits (-want +got):\n%s", days[0].Credits, diff)
			}
			own, err := e.Client.Account().UsageBy(t.Context(), accounts.UsageByRequest{Group: accounts.UsageByPlatform})
			if err != nil || len(own.Data) != 1 || own.Data[0].Calls != 3 {
				t.Errorf("the account's own usage: %+v, %v; want 3 calls", own.Data, err)
			}
		})
	}
}

func TestUsageWithoutALogCountsPaidCalls(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{
		socialdata.WithRequests(requests.NewMemory(requests.Bounds{}), requests.Bounds{Most: -1}),
	}})
	for _, handle := range []string{"ann", "not_found", "bob"} {
		_, _ = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: handle})
	}
	if got, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{}); err != nil || len(got.Data) != 0 {
		t.Errorf("%d calls are in the log, %v; want 0", len(got.Data), err)
	}
	got, err := e.Client.Account().UsageBy(t.Context(), accounts.UsageByRequest{Group: accounts.UsageByPlatform})
	if err != nil || len(got.Data) != 1 || got.Data[0].Paid != 2 || got.Data[0].Credits != 2 || got.Data[0].Failed != 0 {
		t.Errorf("usage %+v, %v; want the two paid calls", got.Data, err)
	}
}
