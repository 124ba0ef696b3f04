package socialdata_test

import (
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestWithoutALedgerNothingIsCharged(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithEnricher(enginetest.Enricher()))
	if err != nil {
		t.Fatal(err)
	}
	req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"}
	req.Fresh, req.Enrich = true, socialdata.Arabic
	got, err := client.Profile(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got.Meta.CreditsUsed != 5 || got.Meta.CreditsRemaining != 0 {
		t.Errorf("used %d, %d remaining; want what it would have cost, and 0", got.Meta.CreditsUsed,
			got.Meta.CreditsRemaining)
	}
	_, err = client.Account().Me(t.Context(), accounts.MeRequest{})
	enginetest.WantProblem(t, err, problem.Unauthorized)
}

func TestALedgerNeedsAnAccount(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	_, err := e.Open.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"})
	enginetest.WantProblem(t, err, problem.Unauthorized)
}

func TestPricesCanBeSet(t *testing.T) {
	t.Parallel()
	for _, price := range []int64{0, 7} {
		e := enginetest.New(t, enginetest.Config{Options: of(prices(platform.Mock, price))})
		got, err := e.Client.Profile(t.Context(), salma())
		if err != nil || got.Meta.CreditsUsed != price {
			t.Errorf("got %v, %v; want it for %d credits", got, err, price)
		}
	}
}
