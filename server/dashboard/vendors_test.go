package dashboard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestTheOverviewShowsWhatVendorsCharge(t *testing.T) {
	t.Parallel()
	s := open(t, providers.Provider{
		Name: "reseller", Platform: platform.X, Source: schema.Own,
		Profile: func(ctx context.Context, handle string) (schema.Profile, error) {
			trace := callctx.Of(ctx).Trace
			trace.Upstream(callctx.UpstreamCall{Host: "reseller.example", Status: 200})
			trace.Paid(1015)
			url := "https://x.com/" + handle
			return schema.Profile{Common: schema.Common{ID: handle, URL: url}, Handle: handle}, nil
		},
	})
	shop, secret, key := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	for _, handle := range []string{"ann", "bob"} {
		req := socialdata.ProfileRequest{Platform: platform.X, Handle: handle}
		if _, err := s.client.As(key).Profile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	s.signInAs(t, s.secret)
	_, page := s.get(t, "/dashboard")
	day := s.now.UTC().Format("2006-01-02")
	want := day + "|2|2|0|reseller 2|reseller 2,030|"
	if !strings.Contains(texts(page), want) {
		t.Errorf("the overview lacks %q:\n%s", want, page)
	}
	s.signInAs(t, secret)
	if _, page := s.get(t, "/dashboard/accounts/"+shop.ID); strings.Contains(page, "2,030") {
		t.Errorf("an account sees what vendors charge:\n%s", page)
	}
}
