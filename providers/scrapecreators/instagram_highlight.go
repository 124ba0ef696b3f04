package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// collections reads the highlights of an account, on one page.
// https://docs.scrapecreators.com/v1/instagram/user/highlights
func (r instagramReads) collections(
	ctx context.Context, q providers.CollectionsQuery, _ string,
) (providers.Page[schema.Collection], error) {
	ask := upstream.Get("v1/instagram/user/highlights").Says("handle", q.Handle)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "highlights"},
		func(h instagramHighlight, raw json.RawMessage) (schema.Collection, bool) {
			if h.Owner == nil || !strings.EqualFold(h.Owner.Username, q.Handle) {
				return schema.Collection{}, true // of another account
			}
			return h.collection(raw), true
		})
}

func (r instagramReads) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	h, err := r.highlight(ctx, q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	return h.V.collection(h.Raw), nil
}

// collectionPosts reads the first stories of a highlight; the others cannot be requested.
func (r instagramReads) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, _ string,
) (page providers.Page[schema.Post], err error) {
	h, err := r.highlight(ctx, q.ID)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "items", h.V.Items, parsing(ctx, instagram.ParsePost))
	return page, err
}

// https://docs.scrapecreators.com/v1/instagram/user/highlight/detail
func (r instagramReads) highlight(ctx context.Context, id string) (h wire.Object[instagramHighlight], err error) {
	if _, err := r.http.Read(ctx, upstream.Get("v1/instagram/user/highlight/detail").Says("id", id), &h); err != nil {
		return h, err
	}
	return h, wire.Same(ctx, "highlight", id, h.V.id())
}

// instagramHighlight is a row of stories that an account keeps; in a list it has neither stories nor counts.
type instagramHighlight struct {
	ID    string            `json:"id"` // a number; for a single highlight with "highlight:" before it
	Title string            `json:"title"`
	Owner *instagramAccount `json:"owner"`
	User  *instagramAccount `json:"user"` // the same, for a single highlight
	Thumb struct {
		URL string `json:"url"`
	} `json:"cover_media_cropped_thumbnail"`
	Cover struct {
		Cropped struct {
			URL string `json:"url"`
		} `json:"cropped_image_version"`
	} `json:"cover_media"`
	Created wire.Time           `json:"created_at"`
	Count   wire.Count          `json:"media_count"`
	Items   wire.Rows[struct{}] `json:"items"`
}

func (h instagramHighlight) id() string {
	id := strings.TrimPrefix(h.ID, "highlight:")
	if !links.Digits(id) {
		return ""
	}
	return id
}

func (h instagramHighlight) collection(raw json.RawMessage) schema.Collection {
	out := schema.Collection{
		Common:     schema.Common{ID: h.id(), URL: "https://www.instagram.com/stories/highlights/" + h.id() + "/", Raw: raw},
		Kind:       schema.Highlight,
		Title:      h.Title,
		ItemsCount: h.Count.V,
		CoverURL:   text.URL(cmp.Or(h.Thumb.URL, h.Cover.Cropped.URL)),
		CreatedAt:  h.Created.V,
	}
	if owner := cmp.Or(h.Owner, h.User); owner != nil {
		out.Owner = new(owner.actor())
	}
	return out
}
