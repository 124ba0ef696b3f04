package socialdata_test

import (
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestWithoutALedgerNothingIsCharged(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithEnricher(enginetest.Enricher()))
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
		t.Errorf("used %d, %d remaining; want what it would have cost, and 0", got.Meta.CreditsUsed, got.Meta.CreditsRemaining)
	}
	_, err = client.Me(t.Context(), socialdata.MeRequest{})
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
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 7})}})
	got, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"})
	if err != nil || got.Meta.CreditsUsed != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]socialdata.Option{
		"a provider of no platform":      socialdata.WithProviders(providers.Chain{{Name: "a", Platform: "nowhere"}}),
		"a provider without a name":      socialdata.WithProviders(providers.Chain{{Platform: platform.GitHub}}),
		"two providers of one name":      socialdata.WithProviders(mock.New(mock.Config{}), mock.New(mock.Config{})),
		"a cursor key that is too short": socialdata.WithCursorKeys([]byte("short")),
	} {
		if _, err := socialdata.New(o, socialdata.WithEnricher(enginetest.Enricher())); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
