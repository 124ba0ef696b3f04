package scrapecreators_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/schema"
)

func TestTikTok(t *testing.T) {
	const (
		ann   = "ann.example"
		cafe  = "cafe.riyadh"
		video = "7316329075033836842"
		shop  = "7495832567110863806"
	)
	run(t, platform.TikTok, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", cafe),
			providertest.Followers("followers", cafe),
			providertest.Following("following", cafe),
			providertest.One("audience", func(ctx context.Context, p providers.Provider) (schema.Audience, error) {
				return p.Audience(ctx, cafe)
			}),
			providertest.Live("live", cafe),
			providertest.Live("live-off", "bob"),
			providertest.Posts("posts", cafe),
			providertest.Post("post", video),
			providertest.Post("post-slides", "7540000301621841183"),
			providertest.Trending("trending", providers.TrendingQuery{Region: "SA"}),
			providertest.Trending("trending-us", providers.TrendingQuery{}),
			providertest.Search("search", providers.SearchQuery{Query: "coffee"}),
			providertest.Search("hashtag", providers.SearchQuery{Query: "#قهوة_عربية", Kind: schema.PostResult}),
			providertest.Search("people", providers.SearchQuery{Query: "ann", Kind: schema.ProfileResult}),
			providertest.Search("shop-search", providers.SearchQuery{Query: "cup", Kind: schema.ProductResult}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "coffee"}),
			providertest.Comments("comments", video),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "7316400000000000001", PostID: video}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: video, Lang: "ar"}),
			providertest.CollectionPosts("collection", providers.CollectionQuery{ID: "7665668414573546258"}),
			providertest.Track("track", "6717159721276540930"),
			providertest.Track("track-plain", "7439295283975702544"),
			providertest.List("track-posts", func(
				ctx context.Context, p providers.Provider, cursor string,
			) (providers.Page[schema.Post], error) {
				return p.TrackPosts(ctx, "7439295283975702544", cursor)
			}),
			providertest.Products("store", providers.ProductsQuery{Store: shop}),
			providertest.Products("showcase", providers.ProductsQuery{Handle: ann}),
			providertest.One("storefront", func(ctx context.Context, p providers.Provider) (providers.Storefront, error) {
				return p.Store(ctx, shop)
			}),
			providertest.Product("product", providers.ProductQuery{ID: "1730383241618035288", Region: "US"}),
			providertest.Product("product-sku", providers.ProductQuery{ID: "1730383241618035289"}),
			providertest.Product("product-hidden", providers.ProductQuery{ID: "1730213444857467838"}),
			providertest.Reviews("reviews", "1729412793274503379"),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "Cup Shop"}),
			providertest.AdsSearch("ads-search", providers.AdsSearchQuery{Query: "cup"}),
			providertest.Ad("ad", "7646829987799334920"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post inside a success", "7000000000000000404"), Want: providers.ErrNotFound},
			{
				Call: providertest.Replies("replies without their post", providers.RepliesQuery{CommentID: "1"}),
				Want: providers.ErrInvalid,
			},
			{
				Call: providertest.Transcript("no subtitles", providers.TranscriptQuery{PostID: "7316000000000000001"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("people by age", providers.SearchQuery{
					Query: "ann", Kind: schema.ProfileResult, Sort: "recent",
				}),
				Want: providers.ErrUnsupported,
			},
			{Call: providertest.Products("a shop by its name", providers.ProductsQuery{Store: "Cup Shop"}), Want: providers.ErrUnsupported},
			{
				Call: providertest.Product("product gone", providers.ProductQuery{ID: "1730383241618035404"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Product("a price that is hidden everywhere", providers.ProductQuery{ID: "1730383241618035290"}),
				Want: providers.ErrUnavailable,
			},
			{
				Call: providertest.Ads("an advertiser by number", providers.AdsQuery{AdvertiserID: "7078923208527618049"}),
				Want: providers.ErrUnsupported,
			},
			{Call: providertest.Ads("ads of a domain", providers.AdsQuery{Domain: "cups.example"}), Want: providers.ErrUnsupported},
			{
				Call: providertest.Search("no page", providers.SearchQuery{Query: "cup", Kind: schema.ProductResult}).From("first"),
				Want: providers.ErrCursor,
			},
		},
		Drift: &providertest.Drift{Absent: []string{
			"aweme_detail", "music_info", "product_info", "transcript", // what does not exist
			"cursor", // when no flag says that there is more
		}},
	})
}

// TikTok's app writes null for an empty list, and says beside it that it is empty.
func TestTikTokNullList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, beside string
		want         error
	}{
		{"no comments", `"comments": null, "has_more": 0, "total": 0, "status_code": 0`, nil},
		{"behind the last one", `"comments": null, "has_more": false, "status_code": 0`, nil},
		{"and yet more", `"comments": null, "has_more": 1, "cursor": 20, "status_code": 0`, providers.ErrUnavailable},
		{"and yet a count", `"comments": null, "has_more": 0, "total": 269, "status_code": 0`, providers.ErrUnavailable},
		{"no word whether there is more", `"comments": null, "status_code": 0`, providers.ErrUnavailable},
		{"no word that it went well", `"comments": null, "has_more": 0`, providers.ErrUnavailable},
		{"no list at all", `"has_more": 0, "status_code": 0`, providers.ErrUnavailable},
		{"refused", `"comments": [], "has_more": 0, "status_code": 2154`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := saying(t, platform.TikTok, `{"success": true, `+tt.beside+`}`).Comments(t.Context(), "7316329075033836842", "")
			if !errors.Is(err, tt.want) || len(page.Items) > 0 || page.Next != "" {
				t.Errorf("got %d comments, cursor %q and %v, want none and %v", len(page.Items), page.Next, err, tt.want)
			}
		})
	}
	p := saying(t, platform.TikTok, `{"aweme_list": null, "followers": null, "followings": null, "videos": null,
		"collection_id": "76", "has_more": false, "status_code": 0}`)
	_, posts := p.Posts(t.Context(), "ann.example", "")
	_, of := p.TrackPosts(t.Context(), "74", "")
	_, followers := p.Followers(t.Context(), "ann.example", "")
	_, following := p.Following(t.Context(), "ann.example", "")
	_, collected := p.CollectionPosts(t.Context(), providers.CollectionQuery{ID: "76"}, "")
	if err := errors.Join(posts, of, followers, following, collected); err != nil {
		t.Errorf("a list of nothing fails: %v", err)
	}
}

func TestTikTokSearchesTheNarrowestWindow(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]string{0: "yesterday", 3: "this-week", 20: "this-month", 60: "last-3-months", 900: ""} {
		since := time.Now().AddDate(0, 0, -days).Add(-time.Hour)
		var asked url.Values
		client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			asked = r.URL.Query()
			return http.StatusOK, fmt.Sprintf(`{"success": true, "cursor": null, "search_item_list": [
				{"aweme_info": {"aweme_id": "2", "create_time": %d}}, {"aweme_info": {"aweme_id": "1", "create_time": %d}}]}`,
				since.Unix()+1, since.Unix()-1)
		})}
		p := of(t, platform.TikTok, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 26})
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "#coffee", Since: since, Sort: "recent"}, "")
		if err != nil || len(page.Items) != 1 {
			t.Errorf("posts of %d days: got %d (%v), want 1", days, len(page.Items), err)
		}
		got := asked.Get("date_posted")
		if got != want || asked.Get("query") != "#coffee" || asked.Get("sort_by") != "date-posted" {
			t.Errorf("posts of %d days: asked for %v, want date_posted %q", days, asked, want)
		}
	}
}

func TestTikTokPrices(t *testing.T) {
	t.Parallel()
	const detail = `{"error_code": 0, "product_info": {"product_id": "17", "seller": {"seller_id": "74", "name": "Ann"},
		"product_base": {"title": "", "price": {"min_sku_price": %s, "real_price": %s, "currency": "USD"}},
		"skus": [{"stock": 1, "price": {"real_price": {"price_val": %s, "currency": "USD"}}}]}}`
	tests := []struct {
		name, lowest, real, sku string
		want                    float64 // 0 when it is hidden, -1 when no one sells it
	}{
		{"plain", `"19.99"`, `"$19.99"`, `"19.99"`, 19.99},
		{"with separators", `"1,299.50"`, `"$1,299.50"`, `"1,299.50"`, 1299.5},
		{"with a sign only", `null`, `"$ 1,299"`, `"12?9"`, 1299},
		{"of the one kind", `"2?"`, `"$2?"`, `"29.90"`, 29.9},
		{"a number", `29.5`, `null`, `null`, 29.5},
		{"hidden", `"2?"`, `"$2?"`, `"2?"`, 0},
		{"hidden by stars", `"2*.99"`, `"$**"`, `"*"`, 0},
		{"hidden in the one kind only", `""`, `null`, `"2?"`, 0},
		{"none", `""`, `null`, `""`, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := saying(t, platform.TikTok, fmt.Sprintf(detail, tt.lowest, tt.real, tt.sku))
			got, err := p.Product(t.Context(), providers.ProductQuery{ID: "17"})
			wrong := map[float64]error{0: providers.ErrUnavailable, -1: providers.ErrNotFound}[tt.want]
			if !errors.Is(err, wrong) || wrong == nil && got.Price.Amount != tt.want {
				t.Errorf("got %v (%v), want %v", got.Price, err, tt.want)
			}
		})
	}
}

// Products that cannot be bought now, and those with a hidden price, do not belong in a list, and a page of only such
// products is empty.
func TestTikTokPageWithoutPrices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, prices string
		want         error
	}{
		{"no price", `{"currency_name": "USD", "sale_price_decimal": "", "single_product_price_decimal": null}`, nil},
		{"no word of one", `{}`, nil},
		{"hidden", `{"currency_name": "USD", "sale_price_decimal": "2?"}`, nil},
		{"hidden by stars", `{"sale_price_decimal": "*.**", "single_product_price_decimal": "*.**"}`, nil},
		{"no price that can be read", `{"sale_price_decimal": "twenty"}`, providers.ErrUnavailable},
		{"no place for a price", `null`, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := saying(t, platform.TikTok, `{"shopInfo": {"seller_id": "74", "shop_name": "Ann"}, "has_more": true, "cursor": "next",
				"products": [{"product_id": "17", "title": "Cup", "product_price_info": `+tt.prices+`, "seller_info": {"seller_id": "74"}}]}`)
			sold, err := p.Products(t.Context(), providers.ProductsQuery{Store: "74"}, "")
			if err == nil && len(sold.Items) > 0 && sold.Items[0].ID == "" {
				err = providers.ErrUnavailable // as the engine does with a page without any valid row
			}
			if !errors.Is(err, tt.want) || tt.want == nil && (len(sold.Items) > 0 || sold.Next != "next") {
				t.Errorf("shop: got %d products, cursor %q and %v, want none and %v", len(sold.Items), sold.Next, err, tt.want)
			}
			found, err := p.Search(t.Context(), providers.SearchQuery{Query: "cup", Kind: schema.ProductResult}, "")
			if err != nil || found.Next != "2" {
				t.Errorf("search: cursor %q (%v), want 2", found.Next, err)
			}
		})
	}
}

func TestTikTokProductGone(t *testing.T) {
	t.Parallel()
	_, err := saying(t, platform.TikTok, `{"success": true, "error_code": 0, "error_message": ""}`).
		Product(t.Context(), providers.ProductQuery{ID: "17"})
	if !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("got %v, want %v", err, providers.ErrNotFound)
	}
}

func TestTikTokListedCurrency(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.TikTok, `{"products": [
		{"product_id": "17", "title": "Cup", "product_price_info": {"sale_price_decimal": "4.5", "currency_name": ""}, "seller_info": {"seller_id": "74"}},
		{"product_id": "18", "title": "Pot", "product_price_info": {"sale_price_decimal": "9", "currency_name": "GBP"}, "seller_info": {"seller_id": "74"}}]}`)
	page, err := p.Search(t.Context(), providers.SearchQuery{Query: "cup", Kind: schema.ProductResult}, "")
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("got %d products (%v), want 2", len(page.Items), err)
	}
	for i, want := range []string{"USD", "GBP"} {
		if got := page.Items[i].Object.(*schema.Product).Price.Currency; got != want {
			t.Errorf("product %d is sold for %q, want %q", i, got, want)
		}
	}
}

func TestTikTokUnreadableAudienceIsAnError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"audienceLocations": []}`: nil,
		`{"audienceLocations": [{"country": "Oman", "countryCode": "OM", "percentage": "9.5%"}, {"country": "Iraq", "percentage": "?"}]}`: nil,
		`{"audienceLocations": [{"country": "Oman", "countryCode": "OM", "share": "9.5%"}, {"country": "Iraq"}]}`:                         providers.ErrUnavailable,
	} {
		if _, err := saying(t, platform.TikTok, body).Audience(t.Context(), "ann.example"); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", body, err, want)
		}
	}
}

func TestTikTokTopAdCountries(t *testing.T) {
	t.Parallel()
	ad, err := saying(t, platform.TikTok, `{"id": "76", "ad_title": "Cups", "country_code": ["US", "DE", "US"]}`).Ad(t.Context(), "76")
	if diff := cmp.Diff([]string{"DE", "US"}, ad.Countries); err != nil || diff != "" {
		t.Errorf("countries (%v) (-want +got):\n%s", err, diff)
	}
}

func TestTikTokCountryOfAHandleInAnotherCase(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/region") {
			return http.StatusOK, `{"handle": "Ann.Example", "region": "SA"}`
		}
		return http.StatusOK, `{"user": {"id": "6", "uniqueId": "Ann.Example", "nickname": "Ann"}, "stats": {"followerCount": 1}}`
	})}
	p, err := of(t, platform.TikTok, scrapecreators.Config{HTTP: client, APIKey: "k", MaxCredits: 26}).Profile(t.Context(), "ann.example")
	if err != nil || p.Country == nil || *p.Country != "SA" {
		t.Errorf("country %v (%v), want SA", p.Country, err)
	}
}
