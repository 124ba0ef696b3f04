package salla_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/salla"
	"github.com/socialdata/socialdata/schema"
)

func official(c *http.Client) providers.Provider {
	return salla.New(salla.Config{Token: "token", HTTP: c})[0]
}

func own(c *http.Client) providers.Provider {
	return salla.New(salla.Config{StoreID: "77", StoreURL: "https://dar.example", HTTP: c})[1]
}

func products(name, store string) providertest.Call {
	return providertest.Products(name, providers.ProductsQuery{Store: store})
}

func product(name, id string) providertest.Call {
	return providertest.Product(name, providers.ProductQuery{ID: id})
}

func search(name, query string) providertest.Call {
	return providertest.Search(name, providers.SearchQuery{Query: query, Kind: schema.ProductResult})
}

func stale(name, cursor string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Product], error) {
		return p.Products(ctx, providers.ProductsQuery{Store: "77"}, cursor)
	})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{official(c)} },
		Calls: []providertest.Call{
			providertest.Store("store", "77"),
			providertest.Store("store-by-address", "salla.sa/dar-example"),
			products("products", "77"),
			product("product", "501"),
			product("product-variants", "502"),
			search("search", "قهوة"),
			search("search-none", "nothing"),
			providertest.Reviews("reviews", "501"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Store("another store", "78"), Want: providers.ErrUnsupported},
			{Call: products("products of another store", "other.example"), Want: providers.ErrUnsupported},
			{Call: product("unknown", "404"), Want: providers.ErrNotFound},
			{Call: product("hidden", "503"), Want: providers.ErrNotFound},
			{Call: product("not found inside a success", "200"), Want: providers.ErrNotFound},
			{Call: product("another product than was asked for", "505"), Want: providers.ErrUnavailable},
			{Call: product("refused token", "401"), Want: providers.ErrUnavailable},
			{Call: product("bot check", "403"), Want: providers.ErrUnavailable},
			{Call: product("rate limit", "429"), Want: providers.ErrUnavailable},
			{Call: providertest.Reviews("missing scope", "401"), Want: providers.ErrUnavailable},
			{Call: search("keyword that Salla refuses", "%"), Want: providers.ErrInvalid},
			{Call: stale("an invalid cursor", "x"), Want: providers.ErrCursor},
		},
		Drift: officialDrift(),
		Inputs: []providertest.Input{
			{Subject: providers.StoreID, In: "0077", Want: "77"},
			{Subject: providers.StoreID, In: "Dar-Example", Want: "salla.sa/dar-example"},
			{Subject: providers.StoreID, In: "https://salla.sa/dar-example/قهوة/p501?x=1", Want: "salla.sa/dar-example"},
			{Subject: providers.StoreID, In: "https://www.Dar.example/ar/", Want: "dar.example"},
			{Subject: providers.StoreID, In: "https://salla.sa/"},
			{Subject: providers.StoreID, In: "https://salla.sa/dar%00example"},
			{Subject: providers.StoreID, In: "dar%0Aexample"},
			{Subject: providers.StoreID, In: "me@dar.example"},
			{Subject: providers.StoreID, In: "https://dar.example:8080/"},
			{Subject: providers.ProductID, In: "501", Want: "501"},
			{Subject: providers.ProductID, In: "p501", Want: "501"},
			{Subject: providers.ProductID, In: "https://salla.sa/dar-example/قهوة/p501?utm=1", Want: "501"},
			{Subject: providers.ProductID, In: "https://salla.sa/dar-example/c501"},
			{Subject: providers.ProductID, In: "coffee"},
			{Subject: providers.ProductID, In: "٥٠١"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{own(c)} }, Witness: true,
		Calls: []providertest.Call{
			products("own-products", "dar.example"),
			product("own-product", "701"),
			search("own-search", "عطر"),
			providertest.Reviews("own-reviews", "701"),
		},
		Fails: []providertest.Fail{
			{Call: products("products of another store", "other.example"), Want: providers.ErrUnsupported},
			{Call: product("unknown", "404"), Want: providers.ErrNotFound},
			{Call: product("bot check", "403"), Want: providers.ErrUnavailable},
			{Call: stale("an invalid cursor", "%zz"), Want: providers.ErrCursor},
		},
		Drift: ownDrift(),
	})
}

func TestSettingsSwitchTheSourcesOn(t *testing.T) {
	t.Parallel()
	bare := salla.New(salla.Config{})
	want := [][]string{{"token"}, {"store_id", "store_url"}}
	got := [][]string{bare[0].Missing[providers.OpProduct], bare[1].Missing[providers.OpProduct]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
	providertest.Off(t, salla.New(salla.Config{StoreID: "1", StoreURL: "https://a.example", Own: providers.OwnOff})[1])
}

func TestPrivateFieldsAreRemoved(t *testing.T) {
	t.Parallel()
	p := official(answering(map[string]string{
		"/admin/v2/store/info": `{"data":{"id":7,"name":"n","domain":"https://a.example","email":"PRIVATE"}}`,
		"/admin/v2/products/1": `{"data":{"id":1,"name":"<b>","status":"sale","is_available":true,"price":{"amount":1,"currency":"SAR"},"cost_price":"PRIVATE","urls":{"admin":"PRIVATE","customer":"https://a.example/p1"},"skus":[{"cost_price":{"amount":"PRIVATE"}}],"big":12345678901234567890.10,"none":{},"list":[]}}`,
		"/admin/v2/reviews":    `{"data":[{"id":1,"type":"rating","rating":5,"order_id":"PRIVATE","customer":{"id":2,"mobile":"PRIVATE","email":["PRIVATE"],"city":"PRIVATE"},"order":{"id":"PRIVATE"}}],"pagination":{"totalPages":1}}`,
	}))
	s, err := p.Store(t.Context(), "7")
	if err != nil || len(s.Raw) == 0 || strings.Contains(string(s.Raw), "PRIVATE") {
		t.Errorf("store: %s (%v)", s.Raw, err)
	}
	item, err := p.Product(t.Context(), providers.ProductQuery{ID: "1"})
	const want = `{"id":1,"name":"<b>","status":"sale","is_available":true,"price":{"amount":1,"currency":"SAR"},` +
		`"urls":{"customer":"https://a.example/p1"},"skus":[{}],"big":12345678901234567890.10,"none":{},"list":[]}`
	if err != nil || string(item.Raw) != want {
		t.Errorf("product: got %s (%v), want %s", item.Raw, err, want)
	}
	reviews, err := p.Reviews(t.Context(), "1", "")
	if err != nil || len(reviews.Items) != 1 || strings.Contains(string(reviews.Items[0].Raw), "PRIVATE") {
		t.Errorf("reviews: %v (%v)", reviews.Items, err)
	}
}

func TestSearchSendsItsLanguage(t *testing.T) {
	t.Parallel()
	var asked []string
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.HasSuffix(r.URL.Path, "/info") {
			return http.StatusOK, `{"data":{"id":7,"domain":"https://a.example"}}`
		}
		asked = append(asked, r.Header.Get("Accept-Language"))
		return http.StatusOK, `{"data":[],"pagination":{"totalPages":1,"links":[]}}`
	})})
	for _, lang := range []string{"", "en"} {
		if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "q", Lang: lang}, ""); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(asked, " ") != "ar en" {
		t.Errorf("asked in %q", asked)
	}
}

func TestSettingsNameTheStoreWhenSallaDoesNot(t *testing.T) {
	t.Parallel()
	web := answering(map[string]string{
		"/admin/v2/products/1": `{"data":{"id":1,"name":"n","status":"out","price":{"amount":"19.99","currency":"SAR"}}}`,
	})
	q := providers.ProductQuery{ID: "1"}
	if _, err := official(web).Product(t.Context(), q); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	p := salla.New(salla.Config{Token: "t", StoreID: "77", StoreURL: "https://dar.example", HTTP: web})[0]
	got, err := p.Product(t.Context(), q)
	want := schema.StoreSummary{ID: "77", URL: "https://dar.example"}
	if diff := cmp.Diff(want, got.Store); err != nil || diff != "" {
		t.Errorf("store (-want +got) (%v):\n%s", err, diff)
	}
	if got.Price.Amount != 19.99 || got.URL != "https://dar.example/p1" {
		t.Errorf("got %v at %s", got.Price, got.URL)
	}
}

func TestAnEmptyListOfAStorefrontNeedsAWitness(t *testing.T) {
	t.Parallel()
	const last, unknown = `"next":null`, ""
	tests := []struct {
		name, cursor  string
		next          string // in products
		count, total  string // in products, in reviews
		behind, first error
	}{
		{"none are counted", "page=2", last, `,"count":0`, `"total":0,`, nil, nil},
		{"some are counted", "page=2", last, `,"count":2`, `"total":2,`, nil, providers.ErrUnavailable},
		{"nothing is counted", "page=2", last, unknown, unknown, nil, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := own(answering(map[string]string{
				"/store/v1/products": `{"data":[],"cursor":{` + tt.next + tt.count + `}}`,
				"/store/v1/comments": `{"data":[],"pagination":{` + tt.total + `"totalPages":1,"links":{"next":null}}}`,
			}))
			for cursors, want := range map[[2]string]error{{"", ""}: tt.first, {tt.cursor, "2"}: tt.behind} {
				if _, err := p.Products(t.Context(), providers.ProductsQuery{Store: "77"}, cursors[0]); !errors.Is(err, want) {
					t.Errorf("products at %q: got error %v, want %v", cursors[0], err, want)
				}
				if _, err := p.Reviews(t.Context(), "701", cursors[1]); !errors.Is(err, want) {
					t.Errorf("reviews at %q: got error %v, want %v", cursors[1], err, want)
				}
			}
		})
	}
}

func TestListEndsWithItsLinks(t *testing.T) {
	t.Parallel()
	for pagination, want := range map[string]string{
		`{"links":{"next":null}}`: "",
		`{"links":{"next":"https://api.salla.dev/store/v1/comments?page=2"}}`:                "2",
		`{"totalPages":3,"links":{"next":null}}`:                                             "2",
		`{"totalPages":1,"links":[]}`:                                                        "",
		`{"totalPages":1,"links":{"next":"https://api.salla.dev/store/v1/comments?page=2"}}`: "",
	} {
		p := own(answering(map[string]string{"/store/v1/comments": `{"data":[{"id":1,"stars":5}],"pagination":` + pagination + `}`}))
		page, err := p.Reviews(t.Context(), "701", "")
		if err != nil || page.Next != want {
			t.Errorf("%s: next is %q (%v), want %q", pagination, page.Next, err, want)
		}
	}
	for _, pagination := range []string{`{}`, `{"links":[]}`, `{"links":{}}`, `null`} {
		p := own(answering(map[string]string{"/store/v1/comments": `{"data":[],"pagination":` + pagination + `}`}))
		if _, err := p.Reviews(t.Context(), "701", ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got error %v, want ErrUnavailable", pagination, err)
		}
	}
}

func TestStockIsReadFromTheQuantity(t *testing.T) {
	t.Parallel()
	for stock, want := range map[string]bool{
		`"quantity":0`:   false,
		`"quantity":"0"`: false,
		`"quantity":"7"`: true,
		`"quantity":null,"unlimited_quantity":true`:  true,
		`"quantity":null,"unlimited_quantity":false`: false,
		`"quantity":0,"unlimited_quantity":true`:     true,
		`"quantity":7,"is_available":false`:          false,
	} {
		p := official(answering(map[string]string{
			"/admin/v2/store/info": `{"data":{"id":77,"name":"Dar","domain":"https://dar.example"}}`,
			"/admin/v2/products/1": `{"data":{"id":1,"name":"n","status":"sale","price":{"amount":5,"currency":"SAR"},` + stock + `}}`,
		}))
		got, err := p.Product(t.Context(), providers.ProductQuery{ID: "1"})
		if err != nil || got.InStock != want {
			t.Errorf("%s: in stock is %v (%v), want %v", stock, got.InStock, err, want)
		}
	}
}

// answering returns a client that answers paths with bodies.
func answering(bodies map[string]string) *http.Client {
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if body, ok := bodies[r.URL.Path]; ok {
			return http.StatusOK, body
		}
		return http.StatusInternalServerError, `{}`
	})}
}

// A tax that a shop adds at the checkout is not part of the price that it states.
func TestPriceIsTheOneThatTheStoreShows(t *testing.T) {
	t.Parallel()
	for taxes, want := range map[string]float64{
		`"price":{"amount":299,"currency":"SAR"},"tax":{"amount":44.85},"taxed_price":{"amount":343.85}`:                               299,
		`"price":{"amount":51.75,"currency":"SAR"},"tax":{"amount":6.75},"pre_tax_price":{"amount":45},"taxed_price":{"amount":51.75}`: 51.75,
	} {
		p := salla.New(salla.Config{Token: "t", StoreID: "7", StoreURL: "https://salla.sa/tea", HTTP: &http.Client{
			Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if strings.Contains(r.URL.Path, "store/info") {
					return http.StatusOK, `{"status":200,"success":true,"data":{"id":7,"name":"Tea","domain":"https://salla.sa/tea"}}`
				}
				return http.StatusOK, `{"status":200,"success":true,"data":{"id":5,"name":"Tea","status":"sale","is_available":true,` + taxes + `}}`
			}),
		}})[0]
		got, err := p.Product(t.Context(), providers.ProductQuery{ID: "5"})
		if err != nil || got.Price.Amount != want {
			t.Errorf("%s: price %v (%v), want %v", taxes, got.Price.Amount, err, want)
		}
	}
}
