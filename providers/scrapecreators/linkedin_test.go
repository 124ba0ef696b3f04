package scrapecreators_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestLinkedIn(t *testing.T) {
	august := time.Date(2025, 8, 1, 0, 0, 0, 0, time.UTC)
	run(t, platform.LinkedIn, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "in/ann-leaf"),
			providertest.Profile("company", "company/tea-house"),
			providertest.Profile("company-by-number", "company/784652"),
			providertest.Posts("posts", "company/tea-house"),
			providertest.Post("post", "7354600338621906944"),
			providertest.Post("post-by-share", "urn:li:share:735"),
			providertest.Post("article", "pulse/green-tea-ann-leaf"),
			providertest.Comments("comments", "pulse/green-tea-ann-leaf"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.List("search-since",
				func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
					return p.Search(ctx, providers.SearchQuery{Query: "tea", Since: time.Now().Add(-72 * time.Hour)}, cursor)
				}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "7354600338621906944"}),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "tea house", AdFilter: providers.AdFilter{
				Country: "SA", Since: august, Until: august.AddDate(0, 1, 0),
			}}),
			providertest.Ads("ads-by-number", providers.AdsQuery{AdvertiserID: "784652"}),
			providertest.List("ads-search", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Ad], error) {
				return p.AdsSearch(ctx, providers.AdsSearchQuery{Query: "tea"}, cursor)
			}),
			providertest.One("ad", func(ctx context.Context, p providers.Provider) (schema.Ad, error) { return p.Ad(ctx, "823975056") }),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown company", "company/nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of a person", "in/ann-leaf"), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("a cursor of another form", "company/tea-house").From("8"), Want: providers.ErrCursor},
			{Call: providertest.Transcript("nothing is said", providers.TranscriptQuery{PostID: "7307419830251307008"}), Want: providers.ErrNotFound},
			{Call: providertest.Ads("by domain", providers.AdsQuery{Domain: "tea.example"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{
			// The last page has no token.
			Absent: []string{"cursor", "paginationToken", "transcript"},
		},
	})
}

func TestLinkedInLandingURLsKeepTheirParameters(t *testing.T) {
	t.Parallel()
	ad, err := saying(t, platform.LinkedIn, `{"id": "66", "advertiser": "Tea", "destinationUrl": "https://tea.example/?z=1%20a&trk=ad_library&b=%D8%B4",
		"impressionsByCountry": [{"country": "Portugal"}, {"country": "Latvia"}, {"country": "Portugal"}]}`).Ad(t.Context(), "66")
	if err != nil || ad.LandingURL == nil || *ad.LandingURL != "https://tea.example/?z=1%20a&b=%D8%B4" {
		t.Errorf("landing URL %v (%v), want it without trk alone", ad.LandingURL, err)
	}
	if diff := cmp.Diff([]string{"LV", "PT"}, ad.Countries); diff != "" {
		t.Errorf("countries (-want +got):\n%s", diff)
	}
}
