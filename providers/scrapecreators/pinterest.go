package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/pinterest"
	"github.com/socialdata/socialdata/schema"
)

// pinterestReads reads lists in the format of the website's API, and single pins in the format of their page.
type pinterestReads struct{ *client }

func (c *client) pinterest() providers.Provider {
	r := pinterestReads{c}
	return providers.Provider{
		Platform:        platform.Pinterest,
		Post:            r.post,
		Search:          r.search,
		Collections:     r.collections,
		CollectionPosts: r.collectionPosts,

		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:          {"kind": {"post"}},
			providers.OpCollections:     {"kind": {"board"}},
			providers.OpCollectionPosts: {"kind": {"board"}},
		},
		Notes: map[providers.Op]string{
			providers.OpCollections:     "the first boards, on one page",
			providers.OpCollectionPosts: "boards by URL; their pins often have no time",
			providers.OpSearch:          "pins",
		},
	}
}

const pinterestSite = "https://www.pinterest.com/"

// https://docs.scrapecreators.com/v1/pinterest/search
func (r pinterestReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	return asResults(r.pins(ctx, upstream.Get("v1/pinterest/search").Says("query", q.Query), cursor))
}

// collectionPosts reads the pins of a board, given by the path of its page.
// https://docs.scrapecreators.com/v1/pinterest/board
func (r pinterestReads) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	if links.Digits(q.ID) || strings.HasPrefix(q.ID, "pin.it/") {
		return page, providers.Unsupported("this source only finds a board by the URL of its page")
	}
	return r.pins(ctx, upstream.Get("v1/pinterest/board").Says("url", pinterestSite+q.ID+"/"), cursor)
}

// pins reads a list of pins. There is no flag: the last page has no cursor.
func (r pinterestReads) pins(ctx context.Context, ask upstream.Request, cursor string) (providers.Page[schema.Post], error) {
	return upstream.Page(ctx, r.http, ask.With("cursor", cursor), upstream.List{Rows: "pins", Next: "cursor"},
		func(_ struct{}, raw json.RawMessage) (schema.Post, bool) {
			p, belongs, err := pinterest.ParsePin(ctx, raw)
			return p, belongs || err != nil
		})
}

// collections reads the first page only: the answer has a cursor, but no parameter takes it.
// https://docs.scrapecreators.com/v1/pinterest/user/boards
func (r pinterestReads) collections(
	ctx context.Context, q providers.CollectionsQuery, _ string,
) (providers.Page[schema.Collection], error) {
	type board struct {
		Privacy string `json:"privacy"`
	}
	ask := upstream.Get("v1/pinterest/user/boards").Says("handle", q.Handle)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "boards"}, func(b board, raw json.RawMessage) (schema.Collection, bool) {
		if b.Privacy == "" {
			return schema.Collection{}, true // it is unknown whether it is public
		}
		c, belongs, err := pinterest.ParseBoard(ctx, raw)
		return c, belongs || err != nil
	})
}

// https://docs.scrapecreators.com/v1/pinterest/pin
func (r pinterestReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	if !links.Digits(id) {
		return p, providers.Unsupported("this source does not resolve short links")
	}
	pin, err := upstream.Object[pinterestPin](ctx, r.http, upstream.Get("v1/pinterest/pin").Says("url", pinterestSite+"pin/"+id+"/"), "")
	if err != nil {
		return p, err
	}
	if err := wire.Same(ctx, "pin", id, string(pin.V.ID)); err != nil {
		return p, err
	}
	if err := wire.Need(ctx, "pinner", pin.V.Pinner != nil || pin.V.Creator != nil); err != nil {
		return p, err
	}
	return pin.V.post(pin.Raw), nil
}

// pinterestPin is a pin in the format of its page.
type pinterestPin struct {
	ID          wire.Serial           `json:"entityId"` // id is something else
	Title       string                `json:"title"`
	GridTitle   string                `json:"gridTitle"`
	Description string                `json:"description"`
	Created     wire.Time             `json:"createdAt"`
	Pinner      *pinterestAccount     `json:"pinner"`
	Creator     *pinterestAccount     `json:"nativeCreator"`
	IsRepin     wire.Bool             `json:"isRepin"`
	IsPromoted  bool                  `json:"isPromoted"`
	Promoter    *pinterestAccount     `json:"promoter"`
	Videos      wire.Object[struct{}] `json:"videos"` // null for a picture
	Image       struct {
		URL string `json:"url"`
	} `json:"imageSpec_orig"`
	Reactions  wire.Count `json:"totalReactionCount"`
	Hashtags   []string   `json:"hashtags"` // with #, in addition to those in the text
	Aggregated struct {
		Comments wire.Count `json:"commentCount"`
		Stats    struct {
			Saves wire.Count `json:"saves"` // of all copies, as the site shows it
		} `json:"aggregatedStats"`
	} `json:"aggregatedPinData"`
}

type pinterestAccount struct {
	ID       wire.Serial `json:"entityId"`
	Username string      `json:"username"`
	FullName string      `json:"fullName"`
	Large    string      `json:"imageLargeUrl"`
	Medium   string      `json:"imageMediumUrl"`
}

func (a *pinterestAccount) actor() schema.Actor {
	if a == nil || a.Username == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(a.ID), Handle: a.Username, DisplayName: text.NonEmpty(a.FullName),
		AvatarURL: text.URL(cmp.Or(a.Large, a.Medium)),
	}
}

// post converts p. Its author is the account that saved the pin, or that made it when this is not a copy.
func (p pinterestPin) post(raw json.RawMessage) schema.Post {
	by := p.Pinner
	if by == nil || p.Creator != nil && p.IsRepin.V != nil && !*p.IsRepin.V {
		by = p.Creator
	}
	title, description := strings.TrimSpace(cmp.Or(p.Title, p.GridTitle)), strings.TrimSpace(p.Description)
	if title == description {
		description = ""
	}
	page := pinterestSite + "pin/" + string(p.ID) + "/"
	out := schema.Post{
		Common:    schema.Common{ID: string(p.ID), URL: page, Raw: raw},
		Author:    by.actor(),
		Text:      text.Join(title, description),
		CreatedAt: p.Created.V,
		Engagement: schema.Engagement{
			Likes: p.Reactions.V, Comments: p.Aggregated.Comments.V, Saves: p.Aggregated.Stats.Saves.V,
		},
		IsAd: p.IsPromoted || p.Promoter != nil && p.Promoter.Username != "",
	}
	out.Hashtags, out.Mentions = text.Hashtags(out.Text), text.Mentions(out.Text)
	for _, tag := range p.Hashtags {
		out.Hashtags = append(out.Hashtags, strings.TrimPrefix(strings.TrimSpace(tag), "#"))
	}
	out.Hashtags = text.Each(out.Hashtags)
	image := text.URL(p.Image.URL)
	switch {
	case p.Videos.Here(): // the page plays it
		out.Media = []schema.Media{{Type: schema.Video, URL: page, ThumbnailURL: image}}
	case image != nil:
		out.Media = []schema.Media{{Type: schema.Image, URL: *image}}
	}
	return out
}
