package zid_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/zid"
	"github.com/socialdata/socialdata/schema"
)

const bilingual = `{"id":"00000001-1111-4222-8333-444455556666","name":{"ar":"قهوة","en":"Coffee"},"slug":"بن","price":40,"sale_price":60,
	"currency":"SAR","cost":11.5,"is_draft":false,"is_published":true,"is_infinite":false,"quantity":1,"sold_products_count":90,
	"stocks":[{"available_quantity":1,"is_infinite":false,"location":{"name":"Secret warehouse"}}],
	"description":{"ar":"<b>بن</b>","en":""},"categories":[{"name":{"ar":null,"en":"Drinks"}},{"name":{"ar":"هدايا"}}]}`

// merchant returns the provider for one store and one page of its products.
func merchant(lang string, seen *http.Header) providers.Provider {
	return zid.New(zid.Config{Authorization: "long", AccessToken: "manager", Lang: lang, HTTP: &http.Client{
		Transport: providertest.Answers(func(r *http.Request) (int, string) {
			*seen = r.Header
			switch {
			case strings.HasSuffix(r.URL.Path, "/profile"):
				return http.StatusOK, `{"user":{"email":"layla@example.com","store":{"id":31,"phone":"+966500000001",
					"title":{"ar":"بيت","en":"House"},"domain":"bayt.example"}},"message":{"type":"object"}}`
			case strings.HasSuffix(r.URL.Path, "/products/"):
				return http.StatusOK, `{"results":[` + bilingual + `],"next":null}`
			}
			return http.StatusOK, bilingual
		}),
	}})[0]
}

func TestTextsAreInTheConfiguredLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lang, title, store string
		categories         []string
	}{
		{"", "قهوة", "بيت", []string{"Drinks", "هدايا"}},
		{"ar", "قهوة", "بيت", []string{"Drinks", "هدايا"}},
		{"en", "Coffee", "House", []string{"Drinks", "هدايا"}},
	} {
		var seen http.Header
		p, err := merchant(tt.lang, &seen).Product(t.Context(), providers.ProductQuery{ID: id("1")})
		if err != nil {
			t.Fatal(err)
		}
		if p.Title != tt.title || p.Store.Name != tt.store || *p.Description != "بن" {
			t.Errorf("in %q: %q of %q: %q", tt.lang, p.Title, p.Store.Name, *p.Description)
		}
		if diff := cmp.Diff(tt.categories, p.Categories); diff != "" {
			t.Errorf("in %q: categories (-want +got):\n%s", tt.lang, diff)
		}
		if want := "https://bayt.example/products/" + url.PathEscape("بن"); p.URL != want {
			t.Errorf("address %s, want %s", p.URL, want)
		}
		if p.Price.Amount != 40 {
			t.Errorf("price %v, want 40: a higher sale price is ignored", p.Price.Amount)
		}
		if seen.Get("Store-Id") != "31" || seen.Get("Authorization") != "Bearer long" ||
			seen.Get("X-Manager-Token") != "manager" || seen.Get("Access-Token") != "manager" {
			t.Errorf("headers %v lack a credential", seen)
		}
	}
}

func TestPrivateFieldsAreRemoved(t *testing.T) {
	t.Parallel()
	var seen http.Header
	m := merchant("", &seen)
	p, err := m.Product(t.Context(), providers.ProductQuery{ID: id("1")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Store(t.Context(), "31")
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"cost", "sold_products_count", "warehouse", "phone", "+966", "email"} {
		if strings.Contains(string(p.Raw)+string(s.Raw), private) {
			t.Errorf("raw contains %q", private)
		}
	}
}

func TestSearchReadsNamesInBothLanguages(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{"coffee": 1, "قهوة": 1, "COFFEE قهوة": 1, "tea": 0, "coffee tea": 0} {
		var seen http.Header
		page, err := merchant("", &seen).Search(t.Context(), providers.SearchQuery{Query: query}, "")
		if err != nil || len(page.Items) != want {
			t.Errorf("%q: %d products with error %v, want %d", query, len(page.Items), err, want)
		}
	}
}

// serving returns the merchant API of one store that answers everything else with the same response.
func serving(status int, body string) providers.Provider {
	return zid.New(zid.Config{Authorization: "long", AccessToken: "manager", HTTP: &http.Client{
		Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if strings.HasSuffix(r.URL.Path, "/profile") {
				return http.StatusOK, `{"store":{"id":31,"username":"bayt"}}`
			}
			return status, body
		}),
	}})[0]
}

func TestStockIsReadFromTheQuantity(t *testing.T) {
	t.Parallel()
	for stock, want := range map[string]bool{
		`"quantity":0`:                                 false,
		`"quantity":"3"`:                               true,
		`"quantity":null,"is_infinite":false`:          false,
		`"quantity":null,"is_infinite":true`:           true,
		`"stocks":[{"available_quantity":2}]`:          true,
		`"quantity":0,"stocks":[{"is_infinite":true}]`: true,
	} {
		p, err := serving(http.StatusOK, `{"id":"`+id("1")+`","name":"n","price":40,"currency":"SAR",`+stock+`}`).
			Product(t.Context(), providers.ProductQuery{ID: id("1")})
		if err != nil || p.InStock != want {
			t.Errorf("%s: in stock is %v (%v), want %v", stock, p.InStock, err, want)
		}
	}
}

func TestPicturesAreInTheOrderOfTheShop(t *testing.T) {
	t.Parallel()
	p, err := serving(http.StatusOK, `{"id":"`+id("1")+`","name":"n","price":40,"currency":"SAR","quantity":1,"images":[`+
		`{"url":"https://a.example/2","display_order":2},{"origin":"https://a.example/last"},`+
		`{"image":{"large":"https://a.example/1"},"display_order":"1"},{"images":{"full_size":"https://a.example/3"},"display_order":3}]}`).
		Product(t.Context(), providers.ProductQuery{ID: id("1")})
	want := []string{"https://a.example/1", "https://a.example/2", "https://a.example/3", "https://a.example/last"}
	if diff := cmp.Diff(want, p.Images); err != nil || diff != "" {
		t.Errorf("pictures (-want +got) (%v):\n%s", err, diff)
	}
}

func TestRefusedProductIDIsNotFound(t *testing.T) {
	t.Parallel()
	_, err := serving(http.StatusBadRequest, `{"detail":"Invalid UUID."}`).Product(t.Context(), providers.ProductQuery{ID: id("1")})
	if !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
}

func TestBuyerWithoutANameIsUnknown(t *testing.T) {
	t.Parallel()
	page, err := serving(http.StatusOK, `{"reviews":[{"id":"`+id("2")+`","product":{"id":"`+id("1")+`"},"status":"approved",`+
		`"is_anonymous":false,"rating":"4","comment":null,"customer":null}],"pagination":{"next_page":null}}`).
		Reviews(t.Context(), id("1"), "")
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page.Items, err)
	}
	if diff := cmp.Diff(schema.UnknownActor(), page.Items[0].Author); diff != "" {
		t.Errorf("author (-want +got):\n%s", diff)
	}
}

func TestStorefrontHasTwoWaysToEndAList(t *testing.T) {
	t.Parallel()
	const data = `"data":[{"id":501,"name":"n","price":115,"currency":"SAR","in_stock":true}]`
	for _, tt := range []struct {
		name, body string
		more       bool
	}{
		{"more pages", `{` + data + `,"pages_count":2}`, true},
		{"no more pages", `{` + data + `,"pages_count":1}`, false},
		{"a next page", `{` + data + `,"pagination":{"next":"https://bayt.zid.store/api/v1/products?page=2"}}`, true},
		{"no next page", `{` + data + `,"pages_count":2,"pagination":{"next":null}}`, false},
	} {
		p := zid.New(zid.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if r.URL.Query().Get("page") != "1" {
				return http.StatusNotFound, `{"detail":"Invalid page."}`
			}
			return http.StatusOK, tt.body
		})}})[1]
		q := providers.ProductsQuery{Store: "bayt.zid.store"}
		page, err := p.Products(t.Context(), q, "")
		if err != nil || len(page.Items) != 1 || (page.Next != "") != tt.more {
			t.Errorf("%s: %d products and %q (%v), want more: %v", tt.name, len(page.Items), page.Next, err, tt.more)
		}
		if !tt.more {
			continue
		}
		if page, err = p.Products(t.Context(), q, page.Next); err != nil || len(page.Items) != 0 || page.Next != "" {
			t.Errorf("%s: behind the last page %d products and %q (%v)", tt.name, len(page.Items), page.Next, err)
		}
	}
}
