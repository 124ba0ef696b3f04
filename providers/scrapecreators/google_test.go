package scrapecreators_test

import (
	"context"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestGoogle(t *testing.T) {
	const tea = "AR01614014350098432001"
	august := time.Date(2025, 8, 1, 0, 0, 0, 0, time.UTC)
	run(t, platform.Google, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.List("search-since",
				func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
					return p.Search(ctx, providers.SearchQuery{Query: "tea", Region: "SA", Since: time.Now().Add(-72 * time.Hour)}, cursor)
				}),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: tea, AdFilter: providers.AdFilter{
				Country: "SA", Since: august, Until: august.AddDate(0, 1, 0),
			}}),
			providertest.Ads("ads-by-domain", providers.AdsQuery{Domain: "tea.example"}),
			providertest.Ad("ad", tea+"/CR00000000000000000001"),
			providertest.List("advertisers",
				func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Advertiser], error) {
					return p.Advertisers(ctx, providers.AdvertisersQuery{Query: "tea", Country: "SA"}, cursor)
				}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Search("too far", providers.SearchQuery{Query: "tea"}).From("12"), Want: providers.ErrCursor},
			{Call: providertest.Ad("unknown ad", tea+"/CR00000000000000000009"), Want: providers.ErrNotFound},
		},
		// The last page has no cursor.
		Drift: &providertest.Drift{Absent: []string{"cursor"}},
	})
}
