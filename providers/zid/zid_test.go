package zid_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/zid"
)

// id is the UUID of a product or a review in testdata.
func id(n string) string { return strings.Repeat("0", 8-len(n)) + n + "-1111-4222-8333-444455556666" }

func chain(c *http.Client) providers.Chain {
	return zid.New(zid.Config{Authorization: "long", AccessToken: "manager", HTTP: c})
}

func product(name, n string) providertest.Call {
	return providertest.Product(name, providers.ProductQuery{ID: id(n)})
}

// TestMerchant reads texts in their plain form: the suite considers a plain text malformed where two languages are
// expected, but Zid writes both forms. The two languages are tested in merchant_test.go.
func TestMerchant(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: chain, NoAddress: []providers.Subject{providers.ProductID},
		Calls: []providertest.Call{
			providertest.Store("store", "31"),
			providertest.Products("products", providers.ProductsQuery{Store: "31"}),
			product("product", "6"),
			providertest.Reviews("reviews", id("1")),
			providertest.Reviews("reviews-none", id("404")),
			providertest.Search("search", providers.SearchQuery{Query: "قهوة", Lang: "en"}),
			providertest.Search("search-arabic", providers.SearchQuery{Query: "سكر"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Store("another store", "32"), Want: providers.ErrNotHere},
			{Call: providertest.Products("products of another store", providers.ProductsQuery{Store: "nahl.zid.store"}), Want: providers.ErrNotHere},
			{Call: providertest.Products("products of an account", providers.ProductsQuery{Handle: "bayt"}), Want: providers.ErrUnsupported},
			{Call: providertest.Products("an invalid cursor", providers.ProductsQuery{Store: "31"}).From("x"), Want: providers.ErrCursor},
			{Call: product("no such user", "401"), Want: providers.ErrUnavailable},
			{Call: product("unknown", "404"), Want: providers.ErrNotFound},
			{Call: product("too many calls", "429"), Want: providers.ErrUnavailable},
			{Call: product("a draft", "3"), Want: providers.ErrNotFound},
			{Call: product("no price", "8"), Want: providers.ErrUnavailable},
			{Call: product("another product", "9"), Want: providers.ErrUnavailable},
			{Call: providertest.Product("no UUID", providers.ProductQuery{ID: "501"}), Want: providers.ErrInvalid},
			{Call: providertest.Reviews("reviews of no UUID", "501"), Want: providers.ErrInvalid},
		},
		Drift: &providertest.Drift{Absent: []string{
			"next", "pagination.next_page", // the last page has none
			"results[].sale_price", "sale_price", // there is no sale
			"results[].quantity", "quantity", // of a parent
			"results[].stocks", "stocks",
		}},
		Inputs: []providertest.Input{
			{Subject: providers.StoreID, In: "31", Want: "31"},
			{Subject: providers.StoreID, In: "Bayt", Want: "bayt.zid.store"},
			{Subject: providers.StoreID, In: "bayt.zid.store", Want: "bayt.zid.store"},
			{Subject: providers.StoreID, In: "https://bayt.zid.store/products/x", Want: "bayt.zid.store"},
			{Subject: providers.StoreID, In: "https://bayt.example/"},
			{Subject: providers.StoreID, In: "a.b.zid.store"},
			{Subject: providers.StoreID, In: "../x"},
			{Subject: providers.ProductID, In: strings.ToUpper(id("6")), Want: id("6")},
			{Subject: providers.ProductID, In: "501", Want: "501"},
			{Subject: providers.ProductID, In: "https://bayt.zid.store/products/x"},
			{Subject: providers.ProductID, In: "../managers/account/profile"},
		},
	})
}

func TestStorefront(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: chain, Upstream: "zid_own", Witness: true, NoAddress: []providers.Subject{providers.ProductID},
		Calls: []providertest.Call{
			providertest.Products("storefront", providers.ProductsQuery{Store: "nahl.zid.store"}),
			providertest.Products("storefront-that-repeats-itself", providers.ProductsQuery{Store: "again.zid.store"}),
		},
		Witnessed: []string{"shown-2.json data"}, // page 2 of 2
		Fails: []providertest.Fail{
			{Call: providertest.Products("a wall", providers.ProductsQuery{Store: "wall.zid.store"}), Want: providers.ErrUnavailable},
			{Call: providertest.Products("a number", providers.ProductsQuery{Store: "31"}), Want: providers.ErrUnsupported},
			{Call: providertest.Products("a cursor without a mark", providers.ProductsQuery{Store: "nahl.zid.store"}).From("2"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{Absent: []string{
			"pagination.next", "pagination", // the last page has none
			"data[].sale_price", "data[].effective_price",
		}},
	})
}

func TestAnEmptyStorefrontNeedsAWitness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, end, cursor string
		want              error
	}{
		{"none are counted", `"pagination":{"next":null,"results":0}`, "", nil},
		{"no pages are counted", `"pages_count":0`, "", nil},
		{"some are counted", `"pages_count":1,"pagination":{"next":null,"results":26}`, "", providers.ErrUnavailable},
		{"one page is counted", `"pages_count":1`, "", providers.ErrUnavailable},
		{"nothing is counted", `"pagination":{"next":null}`, "", providers.ErrUnavailable},
		{"the last page", `"pages_count":2,"pagination":{"next":null,"results":26}`, "2.mark", nil},
		{"a page in the middle", `"pages_count":3`, "2.mark", providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := chain(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `{"data":[],` + tt.end + `}`
			})})[1]
			if _, err := p.Products(t.Context(), providers.ProductsQuery{Store: "nahl.zid.store"}, tt.cursor); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestStorefrontProductIDsAreNumbersOrUUIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, product, id string // "" if the product is invalid, and so left out
		inStock           bool
	}{
		{"a number", `"id":81,"in_stock":true`, "81", true},
		{"a UUID", `"id":"` + id("6") + `","in_stock":true`, id("6"), true},
		{"another word", `"id":"honey","in_stock":true`, "", false},
		{"a count of 0", `"id":81,"quantity":0,"is_infinite":false`, "81", false},
		{"a count", `"id":81,"quantity":2`, "81", true},
		{"no count and not infinite", `"id":81,"quantity":null,"is_infinite":false`, "81", false},
		{"no word of its stock", `"id":81`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := chain(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
				return http.StatusOK, `{"data":[{"name":"x","price":5,"currency":"SAR",` + tt.product + `}],"pages_count":1}`
			})})[1]
			page, err := p.Products(t.Context(), providers.ProductsQuery{Store: "nahl.zid.store"}, "")
			if err != nil || len(page.Items) != 1 {
				t.Fatalf("%d products (%v)", len(page.Items), err)
			}
			if got := page.Items[0]; got.ID != tt.id || got.InStock != tt.inStock {
				t.Errorf("product %q in stock %t, want %q and %t", got.ID, got.InStock, tt.id, tt.inStock)
			}
		})
	}
}
