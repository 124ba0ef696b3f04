package zid_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/zid"
)

const bilingual = `{"id":"00000001-1111-4222-8333-444455556666","name":{"ar":"قهوة","en":"Coffee"},"slug":"بن","price":40,"sale_price":60,
	"currency":"SAR","cost":11.5,"is_draft":false,"is_published":true,"is_infinite":false,"quantity":1,"sold_products_count":90,
	"stocks":[{"available_quantity":1,"is_infinite":false,"location":{"name":"Secret warehouse"}}],
	"description":{"ar":"<b>بن</b>","en":""},"categories":[{"name":{"ar":null,"en":"Drinks"}},{"name":{"ar":"هدايا"}}]}`

// merchant answers with one store and one page of its products.
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

func TestTextsComeInTheLanguageThatIsSet(t *testing.T) {
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
			t.Errorf("price %v, want 40: a sale that costs more is none", p.Price.Amount)
		}
		if seen.Get("Store-Id") != "31" || seen.Get("Authorization") != "Bearer long" ||
			seen.Get("X-Manager-Token") != "manager" || seen.Get("Access-Token") != "manager" {
			t.Errorf("headers %v lack a credential", seen)
		}
	}
}

func TestWhatTheMerchantAloneMaySeeIsNotInRaw(t *testing.T) {
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
			t.Errorf("raw tells %q", private)
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
