package socialdata_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func TestNewNamesTheInvalidOption(t *testing.T) {
	t.Parallel()
	one := func() schema.HealthState { return schema.Healthy }
	tests := []struct {
		name, want string // texts of the error, separated by |
		options    []socialdata.Option
	}{
		{"a nil option", "option 2 of New|leave it out", []socialdata.Option{socialdata.WithEnvironment("test"), nil}},
		{"a nil chain", "WithProviders: chain 2|pass what New", of(socialdata.WithProviders(mock.New(mock.Config{}), nil))},
		{"a provider of an unknown platform", `WithProviders|"githup"|did you mean github`, of(socialdata.WithProviders(
			providers.Chain{{Name: "a", Platform: "githup", Source: schema.Own}}))},
		{"a provider without a name", "WithProviders|set its Name", of(socialdata.WithProviders(
			providers.Chain{{Platform: platform.GitHub, Source: schema.Own}}))},
		{"two providers of one name", "WithProviders|pass each once", of(socialdata.WithProviders(
			mock.New(mock.Config{}), mock.New(mock.Config{})))},
		{"a nil ledger", "WithLedger|leave the option out", of(socialdata.WithLedger(nil))},
		{"a ledger that is a nil pointer", "WithLedger", of(socialdata.WithLedger((*credits.Memory)(nil)))},
		{"a nil cache", "WithCache", of(socialdata.WithCache((*cache.Memory)(nil)))},
		{"a nil store of keys", "WithKeys", of(socialdata.WithKeys(nil))},
		{"a nil limiter", "WithLimiter", of(socialdata.WithLimiter(nil))},
		{"a nil store of records", "WithRecords", of(socialdata.WithRecords(nil))},
		{"a nil enricher", "WithEnricher", of(socialdata.WithEnricher(nil))},
		{"a nil clock", "WithClock", of(socialdata.WithClock(nil))},
		{"a nil logger", "WithLogger", of(socialdata.WithLogger(nil))},
		{"a negative price", "WithPrices|github|-1|0 to", of(prices(platform.GitHub, -1))},
		{"a price that no account can pay", "WithPrices|github", of(prices(platform.GitHub, math.MaxInt64))},
		{"the price of an unknown platform", `WithPrices|"githup"|did you mean github`, of(prices("githup", 1))},
		{"no rate", "WithRate|at least 1", of(socialdata.WithRate(keys.Rate{}))},
		{"a rate that never refills", "WithRate", of(socialdata.WithRate(keys.Rate{Capacity: 1}))},
		{"a rate that is no number", "WithRate", of(socialdata.WithRate(keys.Rate{Capacity: 1, Refill: math.NaN()}))},
		{"a negative time-out", "WithTimeout|-1s|above 0", of(socialdata.WithTimeout(-time.Second))},
		{"no time-out", "WithTimeout|0s", of(socialdata.WithTimeout(0))},
		{"answers of a second", "WithAnswerLife|1s|24h", of(socialdata.WithAnswerLife(time.Second, 0))},
		{"jobs of two days", "WithAnswerLife|48h", of(socialdata.WithAnswerLife(0, 48*time.Hour))},
		{"no memory", "WithAnswerMemory|above 0", of(socialdata.WithAnswerMemory(0))},
		{"no cursor key", "WithCursorKeys|pass one", of(socialdata.WithCursorKeys())},
		{"a short cursor key", "WithCursorKeys|secret 2 has 5 bytes|at least 16", of(socialdata.WithCursorKeys(
			[]byte(enginetest.CursorKey), []byte("short")))},
		{"no environment", "WithEnvironment|leave the option out", of(socialdata.WithEnvironment(""))},
		{"a dependency without a name", "WithDependency|name", of(socialdata.WithDependency("", one))},
		{"a dependency without a state", `WithDependency|"cache"|pass a function`, of(socialdata.WithDependency("cache", nil))},
		{"a dependency given twice", `WithDependency|"cache"|another name`, []socialdata.Option{
			socialdata.WithDependency("cache", one), socialdata.WithDependency("cache", one),
		}},
		{"content of an unknown platform", `WithKeep|"githup"`, of(kept("githup", 48*time.Hour))},
		{"content that is kept for an hour", "WithKeep|reddit|1h0m0s only|24h", of(kept(platform.Reddit, time.Hour))},
		{"numbers that are kept for an hour", "WithKeep|numbers|24h", of(socialdata.WithKeep(privacy.Retention{Numbers: time.Hour}))},
		{"an unknown kind of redaction", `WithRedaction|"names"|emails and phones`, of(socialdata.WithRedaction(privacy.Emails, "names"))},
		{"two bad options", "WithTimeout|WithPrices", []socialdata.Option{
			socialdata.WithTimeout(-1), prices(platform.Mock, -1),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client, err := socialdata.New(tt.options...)
			if err == nil || client != nil {
				t.Fatalf("New returns %v and the error %v", client, err)
			}
			for part := range strings.SplitSeq(tt.want, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q: %q is not in it", err, part)
				}
			}
		})
	}
}

func of(o socialdata.Option) []socialdata.Option { return []socialdata.Option{o} }

func prices(id platform.ID, n int64) socialdata.Option {
	return socialdata.WithPrices(map[platform.ID]int64{id: n})
}

func kept(id platform.ID, d time.Duration) socialdata.Option {
	return socialdata.WithKeep(privacy.Retention{Content: map[platform.ID]time.Duration{id: d}})
}

func TestOptionsCopyTheirValues(t *testing.T) {
	t.Parallel()
	base := map[platform.ID]int64{platform.Mock: 7}
	secret := []byte(enginetest.CursorKey)
	chain := mock.New(mock.Config{})
	kinds := map[string][]string{"kind": {"post"}}
	chain[0].Filters = map[providers.Op]providers.Filters{providers.OpSearch: kinds}
	client, err := socialdata.New(socialdata.WithProviders(chain), socialdata.WithCursorKeys(secret),
		socialdata.WithPrices(base), socialdata.WithObserver(observe.Observer{}))
	if err != nil {
		t.Fatal(err)
	}
	req := socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee", Kind: schema.PostResult}
	first, err := client.Search(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	base[platform.Mock] = 1000
	clear(secret)
	clear(kinds)
	chain[0].Search = nil
	req.Fresh = true
	again, err := client.Search(t.Context(), req)
	if err != nil || again.Meta.CreditsUsed != 14 {
		t.Fatalf("the same search returns %+v, %v", again, err)
	}
	if first.Meta.NextCursor != "" {
		req.Cursor, req.Fresh = first.Meta.NextCursor, false
		if _, err := client.Search(t.Context(), req); err != nil {
			t.Errorf("the cursor: %v", err)
		}
	}
}
