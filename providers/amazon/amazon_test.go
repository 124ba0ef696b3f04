package amazon_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/amazon"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

var settings = amazon.Config{ClientID: "id", ClientSecret: "secret", PartnerTag: "example-20", Own: providers.OwnOn}

func open(c *http.Client) providers.Chain {
	cfg := settings
	cfg.HTTP = c
	return amazon.New(cfg)
}

// answering issues tokens, and answers every other request with what f returns.
func answering(f func(r *http.Request) (status int, body string)) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.Contains(r.URL.Path, "/token") {
			return http.StatusOK, `{"access_token":"a-token","expires_in":3600}`
		}
		return f(r)
	})}
}

func product(name, id string) providertest.Call {
	return providertest.Product(name, providers.ProductQuery{ID: id})
}

func search(name, query string) providertest.Call {
	return providertest.Search(name, providers.SearchQuery{Query: query})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open,
		Calls: []providertest.Call{
			product("product", "B0TEAPOT01"),
			product("product-elsewhere", "sa:B0TEAPOT02"),
			product("product-without-a-winner", "B0TEAPOT03"),
			providertest.Search("search", providers.SearchQuery{Query: "teapot", Kind: schema.ProductResult, Sort: "recent", Region: "SA"}),
			search("search-none", "nothing"),
		},
		Fails: []providertest.Fail{
			{Call: product("unknown", "B000000000"), Want: providers.ErrNotFound},
			{Call: product("unknown by status", "B000000404"), Want: providers.ErrNotFound},
			{Call: product("nobody offers it", "B0NOOFFER1"), Want: providers.ErrNotFound},
			{Call: product("without a name", "B0NOTITLE1"), Want: providers.ErrUnavailable},
			{Call: product("another product than was asked for", "B0ANOTHER1"), Want: providers.ErrUnavailable},
			{Call: product("a fault of Amazon's", "B0FAULT001"), Want: providers.ErrUnavailable},
			{Call: product("refused token", "B000000401"), Want: providers.ErrUnavailable},
			{Call: product("account without sales", "B000000403"), Want: providers.ErrUnavailable},
			{Call: product("account without access", "B000001403"), Want: providers.ErrUnavailable},
			{Call: product("wrong partner tag", "B000000400"), Want: providers.ErrUnavailable},
			{Call: search("words that Amazon refuses", "bad"), Want: providers.ErrInvalid},
			{Call: search("request that Amazon refuses", "ours"), Want: providers.ErrUnavailable},
			{Call: search("no page", "teapot").From("x"), Want: providers.ErrCursor},
			{Call: search("page behind the last", "teapot").From("11"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{Absent: []string{
			"itemsResult.items[].offersV2", "searchResult.items[].offersV2", // no seller offers it
		}},
		Inputs: []providertest.Input{
			{Subject: providers.ProductID, In: "b0teapot01", Want: "B0TEAPOT01"},
			{Subject: providers.ProductID, In: "SA:B0TEAPOT01", Want: "sa:B0TEAPOT01"},
			{Subject: providers.ProductID, In: "com:B0TEAPOT01", Want: "B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.com/Some-Teapot/dp/B0TEAPOT01/ref=sr_1_1?th=1", Want: "B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.co.uk/gp/product/B0TEAPOT01", Want: "co.uk:B0TEAPOT01"},
			{Subject: providers.ProductID, In: "amazon.sa/-/en/dp/B0TEAPOT01", Want: "sa:B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.com/gp/aw/d/B0TEAPOT01", Want: "B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.de/gp/offer-listing/B0TEAPOT01/", Want: "de:B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.com/gp/customer-reviews/R1ANN?ie=UTF8&ASIN=B0TEAPOT01", Want: "B0TEAPOT01"},
			{Subject: providers.ProductID, In: "https://www.amazon.com/shop/ann"},
			{Subject: providers.ProductID, In: "https://amazon.example/dp/B0TEAPOT01"},
			{Subject: providers.ProductID, In: "xx:B0TEAPOT01"},
			{Subject: providers.ProductID, In: "../B0TEAPOT1"},
			{Subject: providers.ProductID, In: "teapot"},
			{Subject: providers.Handle, In: "@ann.leaf", Want: "ann.leaf"},
			{Subject: providers.Handle, In: "https://www.amazon.com/shop/ann.leaf?ref=x", Want: "ann.leaf"},
			{Subject: providers.Handle, In: "https://www.amazon.com/dp/B0TEAPOT01"},
			{Subject: providers.CollectionID, In: "https://www.amazon.com/shop/ann.leaf/list/3QCPC18WETJFQ?ref_=x", Want: "3QCPC18WETJFQ"},
			{Subject: providers.CollectionID, In: "https://www.amazon.com/shop/ann.leaf/curation/c7bb2f3d-07a2-42f5-85f8-02adbb937961", Want: "c7bb2f3d-07a2-42f5-85f8-02adbb937961"},
			{Subject: providers.CollectionID, In: "https://www.amazon.com/shop/ann.leaf"},
			{Subject: providers.CollectionID, In: "../3QCP"},
			{Subject: providers.StoreID, In: "https://www.amazon.com/stores/Leaf", Want: "https://www.amazon.com/stores/Leaf"}, // no owner
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "amazon_own", Witness: true,
		Calls: []providertest.Call{
			product("own-product", "B0TEAPOT01"),
			product("own-product-arabic", "sa:B0TEAPOT02"),
			providertest.Reviews("own-reviews", "B0TEAPOT01"),
			providertest.Reviews("own-reviews-none", "sa:B0TEAPOT02"),
		},
		Fails: []providertest.Fail{
			{Call: product("no such page", "B000000000"), Want: providers.ErrNotFound},
			{Call: product("no such page, by its title", "B0NOTITLE0"), Want: providers.ErrNotFound},
			{Call: product("a check for robots", "B0ROBOT001"), Want: providers.ErrUnavailable},
			{Call: providertest.Reviews("reviews behind a check for robots", "B0ROBOT001"), Want: providers.ErrUnavailable},
			{Call: product("another product than was asked for", "B0ANOTHER1"), Want: providers.ErrUnavailable},
			{Call: product("no longer sold", "B0GONE0001"), Want: providers.ErrNotFound},
			{Call: product("dogs", "B0DOGS0001"), Want: providers.ErrUnavailable},
			{Call: providertest.Reviews("cursor that was never given", "B0TEAPOT01").From("2"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{},
	})
}

func TestSettingsSwitchTheSourcesOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  amazon.Config
		want []string
	}{
		{"nothing", amazon.Config{}, []string{"client_id", "client_secret", "partner_tag"}},
		{"a version that there is not", amazon.Config{
			ClientID: "id", ClientSecret: "s", PartnerTag: "t", CredentialVersion: "9",
		}, []string{"credential_version"}},
		{"a country without a marketplace", amazon.Config{ClientID: "id", ClientSecret: "s", PartnerTag: "t", Country: "AQ"}, []string{"country"}},
		{"everything", settings, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, amazon.New(tt.cfg)[0].Missing[providers.OpProduct]); diff != "" {
			t.Errorf("%s: product misses (-want +got):\n%s", tt.name, diff)
		}
	}
	providertest.Off(t, amazon.New(amazon.Config{})[1]) // the pages are off unless they are switched on
}

func TestEachVersionOfACredentialHasItsOwnForm(t *testing.T) {
	t.Parallel()
	tests := []struct{ version, host, body, header string }{
		{"", "api.amazon.com", `"scope":"creatorsapi::default"`, "Bearer a-token"},
		{"3.2", "api.amazon.co.uk", `"scope":"creatorsapi::default"`, "Bearer a-token"},
		{"2.1", "creatorsapi.auth.us-east-1.amazoncognito.com", "scope=creatorsapi%2Fdefault", "Bearer a-token, Version 2.1"},
	}
	for _, tt := range tests {
		asked := 0
		cfg := settings
		cfg.CredentialVersion = tt.version
		cfg.HTTP = &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			asked++
			if strings.Contains(r.URL.Path, "/token") {
				b, err := io.ReadAll(r.Body)
				if err != nil || r.URL.Host != tt.host || !strings.Contains(string(b), tt.body) {
					t.Errorf("version %q: %s was asked %s (%v)", tt.version, r.URL, b, err)
				}
				return http.StatusOK, `{"access_token":"a-token","expires_in":3600}`
			}
			if got := r.Header.Get("Authorization"); got != tt.header {
				t.Errorf("version %q: got the header %q, want %q", tt.version, got, tt.header)
			}
			return http.StatusOK, `{"errors":[{"code":"NoResults"}]}`
		})}
		p := amazon.New(cfg)[0]
		for range 2 {
			if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, ""); err != nil {
				t.Error(err)
			}
		}
		if asked != 3 {
			t.Errorf("version %q: %d requests, want one token and two reads", tt.version, asked)
		}
	}
}

func TestAReadThatIsThrottledIsSentOnceMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		throttled, sent int
		want            error
	}{{1, 2, nil}, {5, 2, providers.ErrUnavailable}} {
		synctest.Test(t, func(t *testing.T) {
			sent, began := 0, time.Now()
			p := open(answering(func(*http.Request) (int, string) {
				if sent++; sent <= tt.throttled {
					return http.StatusTooManyRequests, `{"type":"ThrottleException","quotaCode":"TPS"}`
				}
				return http.StatusOK, `{"errors":[{"code":"NoResults"}]}`
			}))[0]
			_, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, "")
			if !errors.Is(err, tt.want) || sent != tt.sent || time.Since(began) < time.Second {
				t.Errorf("%d requests in %v with error %v, want %d in a second with %v", sent, time.Since(began), err, tt.sent, tt.want)
			}
		})
	}
}

func TestRatingsAreNotAskedForWhereTheyAreWithheld(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		`{"reason":"FieldValidationFailed","fieldList":[{"name":"resources[16]","message":"not allowed"}]}`,
		`{"reason":"FieldValidationFailed","fieldList":[{"name":"customerReviews.count","message":"not allowed"}]}`,
		`{"reason":"Other","message":"The resource customerReviews.starRating is not allowed"}`,
	} {
		var asked []bool
		p := open(answering(func(r *http.Request) (int, string) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			asked = append(asked, strings.Contains(string(b), "customerReviews"))
			if asked[len(asked)-1] {
				return http.StatusBadRequest, refusal
			}
			return http.StatusOK, `{"errors":[{"code":"NoResults"}]}`
		}))[0]
		for range 2 {
			if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, ""); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([]bool{true, false, false}, asked); diff != "" {
			t.Errorf("%s: asked for ratings (-want +got):\n%s", refusal, diff)
		}
	}
}

func TestNothingFoundIsToldInMoreThanOneWay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
	}{
		{http.StatusNotFound, `{"errors":[{"code":"NoResults"}]}`},
		{http.StatusOK, `{"errors":[{"code":"NoResults"}]}`},
		{http.StatusOK, `{"errors":[{"code":"NoResults"}],"searchResult":{"searchURL":"https://www.amazon.com/s?k=q"}}`},
		{http.StatusOK, `{"searchResult":{"items":[],"totalResultCount":0}}`},
	} {
		p := open(answering(func(*http.Request) (int, string) { return tt.status, tt.body }))[0]
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, "")
		if err != nil || len(page.Items) != 0 || page.Next != "" {
			t.Errorf("%d %s: got %v and %q (%v), want an empty page", tt.status, tt.body, page.Items, page.Next, err)
		}
	}
}

func TestAMissingProductIsToldBesideWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, result := range []string{`null`, `{}`, `{"items":null}`, `{"items":[]}`, `{"items":[{"asin":"B0TEAPOT09"}]}`} {
		p := open(answering(func(*http.Request) (int, string) {
			return http.StatusOK, `{"errors":[{"code":"ItemNotAccessible"}],"itemsResult":` + result + `}`
		}))[0]
		if _, err := p.Product(t.Context(), providers.ProductQuery{ID: "B0TEAPOT01"}); !errors.Is(err, providers.ErrNotFound) {
			t.Errorf("%s: got error %v, want ErrNotFound", result, err)
		}
	}
}

func TestOneOfTheOffersCounts(t *testing.T) {
	t.Parallel()
	offer := func(price int, more string) string {
		return fmt.Sprintf(`{"price":{"money":{"amount":%d,"currency":"USD"}},"availability":{"type":"IN_STOCK"}%s}`, price, more)
	}
	const isNew, isUsed, wins = `,"condition":{"value":"New"}`, `,"condition":{"value":"Used"}`, `,"isBuyBoxWinner":true`
	tests := []struct {
		name   string
		offers []string
		want   float64 // 0 for none
	}{
		{"the one of the page", []string{offer(1, isNew), offer(2, isUsed+wins)}, 2},
		{"else a new one", []string{offer(1, isUsed), offer(2, isNew), offer(3, isNew)}, 2},
		{"else the first", []string{offer(1, isUsed), offer(2, isUsed)}, 1},
		{"the first if none has a condition", []string{offer(1, ""), offer(2, "")}, 1},
		{"none where one may be new", []string{offer(1, ""), offer(2, isUsed)}, 0},
	}
	for _, tt := range tests {
		p := open(answering(func(*http.Request) (int, string) {
			return http.StatusOK, `{"itemsResult":{"items":[{"asin":"B0TEAPOT01","itemInfo":{"title":{"displayValue":"A teapot"}},` +
				`"offersV2":{"listings":[` + strings.Join(tt.offers, ",") + `]}}]}}`
		}))[0]
		got, err := p.Product(t.Context(), providers.ProductQuery{ID: "B0TEAPOT01"})
		if got.Price.Amount != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%s: %v (%v), want %v", tt.name, got.Price.Amount, err, tt.want)
		}
	}
}

func TestAPriceIsReadInOneWayOrNotAtAll(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id, price string
		want      float64 // 0 for none
	}{
		{"B0TEAPOT01", "$1,399.00", 1399},
		{"B0TEAPOT01", "$12.50", 12.5},
		{"B0TEAPOT01", "US$7", 7},
		{"B0TEAPOT01", "CAD 12.50", 0},
		{"B0TEAPOT01", "€12.50", 0},
		{"B0TEAPOT01", "$1.399,00", 0},
		{"B0TEAPOT01", "$12.5", 0},
		{"B0TEAPOT01", "$2?", 0},
		{"B0TEAPOT01", "12.50", 0},
		{"de:B0TEAPOT01", "1.399,00 €", 1399},
		{"de:B0TEAPOT01", "12,50\u00a0€", 12.5},
		{"de:B0TEAPOT01", "€1,399.00", 1399},
		{"de:B0TEAPOT01", "€12.50", 12.5},
		{"de:B0TEAPOT01", "€1,399", 0},
		{"de:B0TEAPOT01", "1.399.00 €", 0},
		{"fr:B0TEAPOT01", "1\u202f399,00 €", 1399},
		{"sa:B0TEAPOT01", "SAR 1,999.00", 1999},
		{"sa:B0TEAPOT01", "\u200f١٬٩٩٩٫٥٠ ر.س.", 1999.5},
		{"co.jp:B0TEAPOT01", "￥1,280", 1280},
		{"in:B0TEAPOT01", "₹1,39,999.00", 139999},
		{"com.br:B0TEAPOT01", "R$ 1.399,90", 1399.9},
	}
	for _, tt := range tests {
		p := open(answering(func(*http.Request) (int, string) {
			return http.StatusOK, `<title>x</title><input id="ASIN" value="B0TEAPOT01"><span id="productTitle">t</span>` +
				`<div id="availability">In Stock</div><span class="priceToPay"><span class="a-offscreen">` + tt.price + `</span></span>`
		}))[1]
		got, err := p.Product(t.Context(), providers.ProductQuery{ID: tt.id})
		if tt.want == 0 && !errors.Is(err, providers.ErrUnavailable) || tt.want != 0 && (err != nil || got.Price.Amount != tt.want) {
			t.Errorf("%s of %s is %v (%v), want %v", tt.price, tt.id, got.Price, err, tt.want)
		}
	}
}

func TestASubscribersPriceIsNotThePrice(t *testing.T) {
	t.Parallel()
	price := func(amount string) string {
		return `<span class="a-price priceToPay"><span class="a-offscreen">` + amount + `</span></span>`
	}
	sns := `<div id="snsAccordionRowMiddle">` + price("$9") + `</div>`
	tests := []struct {
		name, page string
		want       float64 // 0 for none
	}{
		{"a subscriber's first", sns + price("$12"), 12},
		{"a subscriber's chosen at the top", price("$9") + sns + `<div id="newAccordionRow_0">` + price("$12") + `</div>`, 12},
		{"by the name of its feature", `<div data-feature-name="snsBuyingOption">` + price("$9") + `</div>` + price("$12"), 12},
		{"in the box to buy", `<div id="subscribeAndSave_box"><span id="price_inside_buybox">$9</span></div><span id="price_inside_buybox">$12</span>`, 12},
		{"a subscriber's alone", sns, 0},
	}
	for _, tt := range tests {
		p := open(answering(func(*http.Request) (int, string) {
			return http.StatusOK, `<title>x</title><input id="ASIN" value="B0TEAPOT01"><span id="productTitle">t</span>` +
				`<div id="availability">In Stock</div>` + tt.page
		}))[1]
		got, err := p.Product(t.Context(), providers.ProductQuery{ID: "B0TEAPOT01"})
		if got.Price.Amount != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%s: %v (%v), want %v", tt.name, got.Price.Amount, err, tt.want)
		}
	}
}

func TestAPageWhosePartsHaveNewNamesIsNoProduct(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, old, now   string
		product, reviews error
	}{
		{"as it is", "", "", nil, nil},
		{"its number, but for its address", `id="ASIN"`, `id="asin"`, nil, nil},
		{"its number", "B0TEAPOT01", "", providers.ErrUnavailable, providers.ErrUnavailable},
		{"another number", "B0TEAPOT01", "B0TEAPOT02", providers.ErrUnavailable, providers.ErrUnavailable},
		{"its title", "productTitle", "title", providers.ErrUnavailable, nil},
		{"its price", "a-offscreen", "offscreen", providers.ErrUnavailable, nil},
		{"its stock", `id="availability"`, `id="stock"`, providers.ErrUnavailable, nil},
		{"words for its stock", "left in stock", "auf Lager", providers.ErrUnavailable, nil},
		{"the list of reviews", "cm-cr-dp-review-list", "cm-cr-global-review-list", nil, nil},
		{"reviews", `data-hook="review"`, `data-hook="opinion"`, nil, providers.ErrUnavailable},
		{"the stars of reviews", "review-star-rating", "stars", nil, providers.ErrUnavailable},
		{"the ids of reviews", `id="R`, `id="X`, nil, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page := string(whole)
			if tt.old != "" {
				page = strings.ReplaceAll(page, tt.old, tt.now)
			}
			p := open(answering(func(*http.Request) (int, string) { return http.StatusOK, page }))[1]
			if _, err := p.Product(t.Context(), providers.ProductQuery{ID: "B0TEAPOT01"}); !errors.Is(err, tt.product) {
				t.Errorf("product: got error %v, want %v", err, tt.product)
			}
			got, err := p.Reviews(t.Context(), "B0TEAPOT01", "")
			if !errors.Is(err, tt.reviews) || err == nil && len(got.Items) != 3 {
				t.Errorf("reviews: got %d with error %v, want error %v", len(got.Items), err, tt.reviews)
			}
		})
	}
}
