package tiktok

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	shopFields   = "shop_name,shop_rating,shop_review_count,item_sold_count,shop_id,shop_performance_value"
	reviewFields = "product_name,review_text,review_like_count,create_time,review_rating"
	shopPage     = 10 // the largest page of all lists of shops
)

// shop is a row of tts/shop, which has shops in Europe.
// https://developers.tiktok.com/doc/research-api-specs-query-tiktok-shop-info
type shop struct {
	ID   wire.Serial `json:"shop_id"`
	Name string      `json:"shop_name"`
}

// store finds a shop by its name.
func (c *client) store(ctx context.Context, name string) (providers.Storefront, error) {
	var answer struct {
		Data struct {
			Shops wire.Rows[shop] `json:"shop_data"`
		} `json:"data"`
	}
	r := ask("tts/shop/", shopFields, map[string]any{"shop_name": name, "limit": shopPage})
	r.Input = true
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return providers.Storefront{}, err
	}
	if err := answer.Data.Shops.Check(ctx, "data.shop_data"); err != nil {
		return providers.Storefront{}, err
	}
	nameless := answer.Data.Shops.Lost()
	for _, s := range answer.Data.Shops.All() {
		switch {
		case s.V.Name == "":
			nameless++
		case strings.EqualFold(s.V.Name, name):
			return s.V.storefront(s.Raw), nil
		}
	}
	if err := wire.Need(ctx, "shop_data[].shop_name", nameless == 0); err != nil {
		return providers.Storefront{}, err
	}
	return providers.Storefront{}, providers.NotHere("TikTok has no shop in Europe with this name")
}

func (s shop) storefront(raw json.RawMessage) providers.Storefront {
	id := string(s.ID)
	return providers.Storefront{
		StoreSummary: schema.StoreSummary{ID: id, Name: s.Name, URL: page("shop/store/_/" + id)}, Raw: raw,
	}
}

// reviews reads the reviews of a product. The cursor is the number of a page.
// https://developers.tiktok.com/doc/research-api-specs-query-tiktok-shop-reviews
func (c *client) reviews(ctx context.Context, productID, cursor string) (page providers.Page[schema.Review], err error) {
	number, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return page, err
	}
	var answer struct {
		Data struct {
			Reviews wire.Rows[review] `json:"review_data"`
		} `json:"data"`
	}
	_, err = c.http.Read(ctx, ask("tts/review/", reviewFields, struct {
		ProductID json.Number `json:"product_id"`
		PageStart int         `json:"page_start"`
		PageSize  int         `json:"page_size"`
	}{json.Number(productID), number, shopPage}), &answer)
	if err := blameCursor(err, cursor); err != nil {
		return page, err
	}
	convert := func(r review, raw json.RawMessage) (schema.Review, bool) { return r.review(productID, raw), true }
	page.Items, err = wire.Items(ctx, "data.review_data", answer.Data.Reviews, convert)
	if err != nil {
		return page, err
	}
	if answer.Data.Reviews.Len()+answer.Data.Reviews.Lost() >= shopPage {
		page.Next = strconv.Itoa(number + 1)
	}
	return page, nil
}

// review is a row of tts/review, which has neither an id nor an author.
type review struct {
	Rating     string    `json:"review_rating"` // a word
	Text       string    `json:"review_text"`
	CreateTime wire.Time `json:"create_time"` // milliseconds
}

// stars maps the words of a rating to numbers.
var stars = map[string]float64{"ONE": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5}

func (r review) review(productID string, raw json.RawMessage) schema.Review {
	rating, known := stars[strings.ToUpper(r.Rating)]
	if !known {
		return schema.Review{}
	}
	address := productURL(productID)
	return schema.Review{
		Common:    schema.Common{ID: digest(address, r.CreateTime.V, r.Text), URL: address, Raw: raw},
		ProductID: productID,
		Author:    schema.UnknownActor(),
		Rating:    rating,
		Text:      strings.TrimSpace(r.Text),
		CreatedAt: r.CreateTime.V,
	}
}

func productURL(id string) string { return page("shop/pdp/" + id) }

// digest returns an id for a review without one, made from its page, its time and its text.
func digest(address string, at *time.Time, words string) string {
	when := ""
	if at != nil {
		when = at.Format(time.RFC3339Nano)
	}
	return ids.Of(address, when, unknown, words)
}

// collection reads a playlist. TikTok only gives the numbers of its posts.
// https://developers.tiktok.com/doc/research-api-specs-query-playlist-info
func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	var answer struct {
		Data wire.Object[playlist] `json:"data"`
	}
	if !links.Digits(q.ID) {
		return schema.Collection{}, providers.Invalid("a playlist is a number")
	}
	body := map[string]any{"playlist_id": json.Number(q.ID), "max_count": pageSize}
	if _, err := c.http.Read(ctx, ask("playlist/info/", "", body), &answer); err != nil {
		return schema.Collection{}, err
	}
	if err := wire.Same(ctx, "playlist", q.ID, string(answer.Data.V.ID)); err != nil {
		return schema.Collection{}, err
	}
	return answer.Data.V.collection(answer.Data.Raw), nil
}

// playlist is the answer of playlist/info.
type playlist struct {
	ID    wire.Serial `json:"playlist_id"`
	Name  string      `json:"playlist_name"`
	Total wire.Count  `json:"playlist_item_total"`
}

func (p playlist) collection(raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common:     schema.Common{ID: string(p.ID), URL: page("@_/playlist/_-" + string(p.ID)), Raw: raw},
		Kind:       schema.Playlist,
		Title:      p.Name,
		ItemsCount: p.Total.V,
	}
}
