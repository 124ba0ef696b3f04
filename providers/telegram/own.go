package telegram

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// web reads the public pages.
type web struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	w := web{upstream.New(upstream.Config{
		HTTP: upstream.Still(cfg.HTTP), // a redirect counts as an answer
		Base: cmp.Or(cfg.WebURL, "https://t.me"), Header: asBrowser, Check: checkWeb,
		Quota: upstream.NewQuota(0, 0), // the limit is not documented; when t.me reports it, reads pause
	})}
	const (
		noAnswers = "the public preview shows no comments"
		noPeople  = "Telegram does not show the subscribers of a channel"
		noMusic   = "Telegram has no catalog of sounds"
		noLists   = "channels have no collections"
		noSales   = "Telegram has no shops"
		noAds     = "Telegram has no public library of ads; sponsored messages are not on the public preview"
		noEvents  = "Telegram has no public events"
		noGroups  = "groups have a profile, but no public list of their messages"
	)
	return providers.Provider{
		Name: "telegram_own", Platform: platform.Telegram, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf("20", providers.OpPosts), // as Telegram decides
		Profile:   w.profile,
		Posts:     w.posts,
		Post:      w.post,
		Search:    w.search,

		Normalize: webAddresses.Normalize, Names: webAddresses.Names, Also: webAddresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"post"}, "handle": nil},
		},
		Required: map[providers.Op][]string{providers.OpSearch: {"handle"}},
		Notes: map[providers.Op]string{
			providers.OpProfile:          "channels and groups; counts are rounded as on the page",
			providers.OpPosts:            "of channels with a public preview, 20 a page; service messages are left out",
			providers.OpPost:             "of channels and public groups, as channel/number",
			providers.OpSearch:           "within one channel, given by handle; Telegram stops after about 20 results",
			providers.OpComments:         noAnswers,
			providers.OpReplies:          noAnswers,
			providers.OpTranscript:       "the public preview shows no transcripts",
			providers.OpReels:            "channels have no reels apart from their posts",
			providers.OpTrending:         "Telegram has no list of popular posts",
			providers.OpSuggestions:      "Telegram has no public suggestions",
			providers.OpFollowers:        noPeople,
			providers.OpFollowing:        noPeople,
			providers.OpAudience:         noPeople,
			providers.OpLive:             "the public preview does not show broadcasts",
			providers.OpCommunity:        noGroups,
			providers.OpCommunityPosts:   noGroups,
			providers.OpCollections:      noLists,
			providers.OpCollection:       noLists,
			providers.OpCollectionPosts:  noLists,
			providers.OpCollectionTracks: noLists,
			providers.OpTrack:            noMusic,
			providers.OpTracks:           noMusic,
			providers.OpTrackPosts:       noMusic,
			providers.OpProducts:         noSales,
			providers.OpProduct:          noSales,
			providers.OpStore:            noSales,
			providers.OpReviews:          noSales,
			providers.OpAds:              noAds,
			providers.OpAdsSearch:        noAds,
			providers.OpAd:               noAds,
			providers.OpAdvertisers:      noAds,
			providers.OpEvent:            noEvents,
			providers.OpEvents:           noEvents,
			providers.OpEventsSearch:     noEvents,
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page. The texts beside counts come in the
// requested language.
var asBrowser = browser.Page("Accept-Language", "en")

// page reads a page of t.me. It returns errElsewhere when t.me redirects.
func (w web) page(ctx context.Context, r upstream.Request) (*html.Node, error) {
	res, err := w.http.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return dom.Parse(res.Body)
}

// preview reads the page that previews the channel handle. When t.me has no preview it shows the account's card, which
// is returned instead: then preview is nil.
func (w web) preview(ctx context.Context, handle string, r upstream.Request) (preview *html.Node, c *card, err error) {
	page, err := w.page(ctx, r)
	if errors.Is(err, errElsewhere) {
		page, err = w.page(ctx, upstream.Get(handle))
	}
	if err != nil {
		return nil, nil, err
	}
	if !isCard(page) {
		return page, nil, nil
	}
	c, err = readCard(ctx, page, handle)
	return nil, c, err
}
