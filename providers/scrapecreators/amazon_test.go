package scrapecreators_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/scrapecreators"
)

func TestAmazon(t *testing.T) {
	run(t, platform.Amazon, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.leaf"),
			providertest.Products("products", providers.ProductsQuery{Handle: "ann.leaf"}),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "ann.leaf"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown creator", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Products("by store", providers.ProductsQuery{Store: "A1"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{},
	})
}

func TestAmazonProductOfAnotherMarketplace(t *testing.T) {
	t.Parallel()
	shop, err := os.ReadFile("testdata/amazon/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	for country, want := range map[string]string{"": "B0TEAPOT01", "us": "B0TEAPOT01", "SA": "com:B0TEAPOT01"} {
		p := of(t, platform.Amazon, scrapecreators.Config{
			APIKey: "k", AmazonCountry: country,
			HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, string(shop) })},
		})
		page, err := p.Products(t.Context(), providers.ProductsQuery{Handle: "ann.leaf"}, "")
		if err != nil || page.Items[0].ID != want {
			t.Errorf("with %q the first of %v is not %s: %v", country, page.Items, want, err)
		}
	}
}

func TestAmazonListIDIsTheEndOfItsPath(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Amazon, `{"name": "Ann", "curations": [], "lists": [
		{"title": "Tea", "itemCount": 2, "url": "https://www.amazon.com/shop/ann/list/3QCP/?ref_=x/y"}]}`)
	page, err := p.Collections(t.Context(), providers.CollectionsQuery{Handle: "ann"}, "")
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != "3QCP" {
		t.Errorf("got %v (%v), want list 3QCP", page.Items, err)
	}
}
