package amazon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// resources are the parts of an item that are requested.
var resources = []string{
	"itemInfo.title", "itemInfo.features", "itemInfo.byLineInfo", "images.primary.large", "images.primary.hiRes",
	"images.variants.large", "images.variants.hiRes", "offersV2.listings.price", "offersV2.listings.availability",
	"offersV2.listings.condition", "offersV2.listings.isBuyBoxWinner", "offersV2.listings.merchantInfo",
	"browseNodeInfo.browseNodes", "browseNodeInfo.browseNodes.ancestor", "parentASIN",
}

// ratings are the resources that Amazon withholds from most accounts.
var ratings = []string{"customerReviews.count", "customerReviews.starRating"}

// query is the request body of both operations.
type query struct {
	PartnerTag string   `json:"partnerTag"`
	Resources  []string `json:"resources"`
	ItemIDs    []string `json:"itemIds,omitempty"` // of getItems
	ItemIDType string   `json:"itemIdType,omitempty"`
	Condition  string   `json:"condition,omitempty"`
	Keywords   string   `json:"keywords,omitempty"` // of searchItems
	Index      string   `json:"searchIndex,omitempty"`
	Count      int      `json:"itemCount,omitempty"`
	Page       int      `json:"itemPage,omitempty"`
	SortBy     string   `json:"sortBy,omitempty"`
}

// call calls an operation in a marketplace. It retries once if the call was throttled, or if Amazon withholds ratings.
func (c *client) call(ctx context.Context, operation string, in market, q query, dst any) error {
	rated := !c.unrated.Load()
	err := c.send(ctx, operation, in, q, rated, dst)
	switch {
	case rated && errors.Is(err, errRatings):
		c.unrated.Store(true)
		return c.send(ctx, operation, in, q, false, dst)
	case errors.Is(err, errBusy):
		select {
		case <-ctx.Done():
			return err
		case <-time.After(again):
		}
		return c.send(ctx, operation, in, q, rated, dst)
	}
	return err
}

func (c *client) send(ctx context.Context, operation string, in market, q query, rated bool, dst any) error {
	q.PartnerTag, q.Resources = c.tag, resources
	if rated {
		q.Resources = slices.Concat(resources, ratings)
	}
	_, err := c.http.Read(ctx, upstream.Request{
		Method: http.MethodPost, Retry: true, Path: []string{operation}, JSON: q,
		Header: http.Header{"X-Marketplace": {in.host()}},
	}, dst)
	return err
}

func (c *client) product(ctx context.Context, q providers.ProductQuery) (schema.Product, error) {
	in, id := c.markets.find(q.ID)
	found, err := c.item(ctx, in, id)
	if err != nil {
		return schema.Product{}, err
	}
	if err := found.V.need(ctx); err != nil {
		return schema.Product{}, err
	}
	p, _ := found.V.product(c.markets, in, found.Raw)
	return p, nil
}

func (c *client) item(ctx context.Context, in market, id string) (none wire.Object[item], err error) {
	var answer struct {
		Result wire.Object[struct {
			Items wire.Rows[item] `json:"items"`
		}] `json:"itemsResult"` // absent when nothing is found
		Errors faults `json:"errors"`
	}
	q := query{ItemIDs: []string{id}, ItemIDType: "ASIN", Condition: "New"}
	if err := c.call(ctx, "getItems", in, q, &answer); err != nil {
		return none, err
	}
	if err := answer.Result.Optional(ctx, "itemsResult"); err != nil {
		return none, err
	}
	items := answer.Result.V.Items
	for _, i := range items.All() {
		if i.V.ASIN == id {
			return i, nil
		}
	}
	if answer.Errors.has("ItemNotFound", "InvalidParameterValue", "ItemNotAccessible") {
		return none, errUnknown
	}
	if err := items.Check(ctx, "itemsResult.items"); err != nil {
		return none, err
	}
	return none, wire.Same(ctx, "product", id, "")
}

// item is a product of the catalogue.
// https://affiliate-program.amazon.com/creatorsapi/docs/
type item struct {
	ASIN string `json:"asin"`
	Info struct {
		Title struct {
			Value string `json:"displayValue"`
		} `json:"title"`
		Features struct {
			Values []string `json:"displayValues"`
		} `json:"features"`
	} `json:"itemInfo"`
	Images struct {
		Primary  picture            `json:"primary"`
		Variants wire.Rows[picture] `json:"variants"`
	} `json:"images"`
	Offers wire.Object[struct {
		Listings wire.Rows[listing] `json:"listings"`
	}] `json:"offersV2"` // absent when no seller sells it as new, and for products that only come in variants
	Reviews struct {
		Count wire.Count `json:"count"`
		Stars struct {
			Value wire.Float `json:"value"`
		} `json:"starRating"`
	} `json:"customerReviews"`
	Nodes struct {
		List wire.Rows[node] `json:"browseNodes"`
	} `json:"browseNodeInfo"`
}

type picture struct {
	HiRes image `json:"hiRes"`
	Large image `json:"large"`
}

type image struct {
	URL string `json:"url"`
}

// listing is one seller's offer.
type listing struct {
	Winner    wire.Bool `json:"isBuyBoxWinner"` // the offer that the page of the product shows
	Condition struct {
		Value string `json:"value"`
	} `json:"condition"`
	Availability struct {
		Type string `json:"type"`
	} `json:"availability"`
	Merchant struct {
		ID   string `json:"id"` // may be missing
		Name string `json:"name"`
	} `json:"merchantInfo"`
	Price struct {
		Money struct {
			Amount   wire.Float `json:"amount"` // in units of the currency, also of the yen
			Currency string     `json:"currency"`
		} `json:"money"`
	} `json:"price"`
}

// node is a category, inside another one.
type node struct {
	Name     string `json:"displayName"`
	Ancestor *node  `json:"ancestor"`
}

// unsold reports whether no seller offers the product. It is false if there is an offer that cannot be read.
func (i item) unsold() bool {
	listings := i.Offers.V.Listings
	return !i.Offers.Here() && !i.Offers.Odd() || listings.Here() && listings.Len()+listings.Lost() == 0
}

// offer returns the listing that the page of the product shows, else the first new one, else the first. It is nil when
// it is unknown which one that is.
func (i item) offer() *listing {
	var first, fresh *listing
	list := i.Offers.V.Listings
	sure, told := list.Lost() == 0, 0 // sure is how many state their condition
	for _, row := range list.All() {
		l := &row.V
		if l.Winner.Is() {
			return l
		}
		sure = sure && l.Winner.Not()
		if l.Condition.Value != "" {
			told++
		}
		if first == nil {
			first = l
		}
		if fresh == nil && l.Condition.Value == "New" {
			fresh = l
		}
	}
	if sure = sure && (told == 0 || told == list.Len()); !sure && list.Len()+list.Lost() > 1 {
		return nil
	}
	return cmp.Or(fresh, first)
}

// inStock is nil when it is unknown.
func (l listing) inStock() *bool {
	switch l.Availability.Type {
	case "IN_STOCK", "IN_STOCK_SCARCE", "LEADTIME", "PREORDER", "AVAILABLE_DATE":
		return new(true)
	case "OUT_OF_STOCK", "UNAVAILABLE", "UNKNOWN":
		return new(false)
	}
	return nil
}

// need returns an error that names what is missing in an item read alone.
func (i item) need(ctx context.Context) error {
	if i.unsold() {
		return providers.NotFound("no seller currently offers this product at a price")
	}
	const name = "itemsResult.items[].offersV2.listings"
	offer := i.offer()
	err := wire.Need(ctx, name, offer != nil)
	if err != nil {
		return err
	}
	err = wire.Need(ctx, name+"[].price.money", offer.Price.Money.Amount.V != nil && offer.Price.Money.Currency != "")
	if err != nil {
		return err
	}
	if err := wire.Need(ctx, name+"[].availability.type", offer.inStock() != nil); err != nil {
		return err
	}
	return wire.Need(ctx, "itemsResult.items[].itemInfo.title", i.Info.Title.Value != "")
}

// product reports false when no seller offers the item. It returns the zero product, which breaks the schema, when the
// name, price or stock is unknown.
func (i item) product(ms markets, in market, raw json.RawMessage) (schema.Product, bool) {
	offer := i.offer()
	if offer == nil || i.Info.Title.Value == "" {
		return schema.Product{}, !i.unsold()
	}
	amount, inStock := offer.Price.Money.Amount.V, offer.inStock()
	if amount == nil || inStock == nil {
		return schema.Product{}, true
	}
	out := schema.Product{
		Common: schema.Common{ID: ms.id(in, i.ASIN), URL: in.product(i.ASIN), Raw: raw},
		Store: schema.StoreSummary{
			ID:   cmp.Or(offer.Merchant.ID, in.host()),
			Name: cmp.Or(offer.Merchant.Name, "Amazon"), URL: in.seller(offer.Merchant.ID),
		},
		Title:        strings.TrimSpace(i.Info.Title.Value),
		Description:  text.NonEmpty(strings.Join(text.Each(i.Info.Features.Values), "\n")),
		Price:        schema.Price{Amount: *amount, Currency: offer.Price.Money.Currency},
		Images:       i.pictures(),
		InStock:      *inStock,
		ReviewsCount: i.Reviews.Count.V,
		Categories:   i.categories(),
	}
	if stars := i.Reviews.Stars.Value.V; stars != nil && *stars > 0 && *stars <= 5 {
		out.Rating = stars
	}
	return out, true
}

func (i item) pictures() []string {
	urls := []string{cmp.Or(i.Images.Primary.HiRes.URL, i.Images.Primary.Large.URL)}
	for _, p := range i.Images.Variants.All() {
		urls = append(urls, cmp.Or(p.V.HiRes.URL, p.V.Large.URL))
	}
	return text.URLs(urls...)
}

// shelves are categories without meaning: every product is in them.
var shelves = []string{"Categories", "Products", "Departments"}

// categories lists the categories of the product, each as a path from the widest to the narrowest.
func (i item) categories() []string {
	var out []string
	for _, n := range i.Nodes.List.All() {
		var path []string
		for at := &n.V; at != nil; at = at.Ancestor {
			if !slices.Contains(shelves, at.Name) {
				path = append(path, at.Name)
			}
		}
		slices.Reverse(path)
		out = append(out, path...)
	}
	return text.Each(out)
}
