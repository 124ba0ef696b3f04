package amazon

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize = 10 // Amazon's maximum
	lastPage = 10
)

// sorts maps our orders to Amazon's.
var sorts = map[string]string{"relevance": "Relevance", "recent": "NewestArrivals", "rating": "AvgCustomerReviews"}

// search reads a page of products. The cursor is the page number.
func (c *client) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	number, err := pages.Number(cursor, lastPage)
	if err != nil {
		return page, err
	}
	return c.found(ctx, q, number)
}

func (c *client) found(
	ctx context.Context, q providers.SearchQuery, number int,
) (page providers.Page[schema.SearchResult], err error) {
	var answer struct {
		Result wire.Object[struct {
			Total wire.Count      `json:"totalResultCount"` // of which Amazon shows 100
			Items wire.Rows[item] `json:"items"`
		}] `json:"searchResult"` // absent when nothing is found
		Errors faults `json:"errors"`
	}
	in := c.markets.in(q.Region)
	err = c.call(ctx, "searchItems", in, query{
		Keywords: q.Query, Index: "All", Count: pageSize, Page: number, SortBy: sorts[q.Sort],
	}, &answer)
	if errors.Is(err, errNothing) {
		return page, nil
	}
	if err != nil {
		return page, err
	}
	err = answer.Result.Optional(ctx, "searchResult")
	if err != nil || answer.Result.V.Items.Len() == 0 && answer.Errors.has(noResults) {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "searchResult.items", answer.Result.V.Items,
		func(i item, raw json.RawMessage) (schema.SearchResult, bool) {
			p, belongs := i.product(c.markets, in, raw)
			return schema.Result(&p), belongs
		})
	if err != nil {
		return page, err
	}
	total := answer.Result.V.Total.V
	if err := wire.Need(ctx, "searchResult.totalResultCount", total != nil); err != nil {
		return page, err
	}
	if int64(number*pageSize) < *total && number < lastPage {
		page.Next = strconv.Itoa(number + 1)
	}
	return page, nil
}
