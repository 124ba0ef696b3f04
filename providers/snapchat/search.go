package snapchat

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const pageSize = "50" // of every list of the official API

// found is a list of the official API.
// https://developers.snap.com/api/marketing-api/Public-Profile-API/GetStarted
type found struct {
	outcome
	Rows   wire.Rows[hit]  `json:"public_profiles"`
	Paging json.RawMessage `json:"paging"` // may be missing on the last page
}

// next returns the cursor of the next page, "" on the last one.
func (a found) next(ctx context.Context) (string, error) {
	var paging struct {
		Next wire.Token `json:"next_page_id"`
	}
	if _, err := decode(ctx, a.Paging, &paging); err != nil {
		return "", err
	}
	return paging.Next.Next(ctx, "paging.next_page_id")
}

type hit struct {
	outcome
	Profile wire.Object[businessProfile] `json:"public_profile"`
}

// search reads a page of the public profiles whose username or name contains words.
func (c client) search(ctx context.Context, words, cursor string) (a found, err error) {
	r := upstream.Get("public/v1/public_profiles/search").Says("query", words).With("limit", pageSize).With("cursor", cursor)
	if _, err = c.http.Read(ctx, r, &a); err != nil {
		return a, err
	}
	if err = a.check(ctx); err != nil {
		return a, err
	}
	return a, a.Rows.Check(ctx, "public_profiles")
}

func (c client) find(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
	a, err := c.search(ctx, q.Query, cursor)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "public_profiles", a.Rows, func(h hit, _ json.RawMessage) (schema.SearchResult, bool) {
		p := schema.Profile{} // a row that cannot be read is left out and counted
		if h.isRead() {
			p = h.Profile.V.profile(h.Profile.Raw)
		}
		return schema.Result(&p), !h.isMissing()
	})
	if err != nil {
		return page, err
	}
	page.Next, err = a.next(ctx)
	return page, err
}
