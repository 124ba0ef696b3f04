package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const audienceCredits = 26

type tiktokReads struct{ *client }

func (c *client) tiktok() providers.Provider {
	r := tiktokReads{c}
	posts := tiktokList(c, tiktokNewest, upstream.List{Rows: "aweme_list", Next: "max_cursor", More: "has_more"}, tiktokPost.post, wrote)
	twice := int64(2) // for optional data from a second call
	if c.tooExpensive(twice) {
		twice = 1
	}
	return providers.Provider{
		Platform: platform.TikTok,
		Profile:  r.profile,
		Followers: tiktokList(c, by("v1/tiktok/user/followers", "handle"),
			upstream.List{Rows: "followers", Next: "min_time", More: "has_more"}, tiktokUser.profile, nil),
		Following: tiktokList(c, by("v1/tiktok/user/following", "handle"),
			upstream.List{Rows: "followings", Next: "min_time", More: "has_more"}, tiktokUser.profile, nil),
		Audience:        r.audience,
		Live:            r.live,
		Posts:           posts,
		Reels:           posts, // every post is a video
		Post:            one(c, byPost("v2/tiktok/video", tiktokVideo), "aweme_detail", alone(tiktokPost.post), samePost),
		Trending:        tiktokList(c, tiktokTrending, upstream.List{Rows: "aweme_list"}, tiktokPost.post, nil),
		Search:          r.search,
		Searches:        r.searchable,
		Suggestions:     list(c, tiktokSuggest, upstream.List{Rows: "suggestions"}, rows(tiktokSuggestion.suggestion), nil),
		Comments:        r.comments,
		Replies:         r.replies,
		Transcript:      r.transcript,
		CollectionPosts: r.collectionPosts,
		Track:           one(c, by("v1/tiktok/song", "clipId"), "music_info", wire.As(tiktokSound.track), sameTrack),
		TrackPosts:      tiktokList(c, by("v1/tiktok/song/videos", "clipId"), tiktokPositions, tiktokPost.post, nil),
		Products:        r.products,
		Product:         r.product,
		Reviews:         r.reviews,
		Store:           r.store,
		Ads:             r.adsOf,
		AdsSearch:       r.searchAds,
		Ad:              one(c, by("v1/tiktok/ad-library/ad", "ad_id"), "", wire.As(tiktokTopAd.ad), sameAd),

		Filters: map[providers.Op]providers.Filters{
			providers.OpTrending: {"region": nil},
			providers.OpSearch: {
				"kind": {"post", "profile", "product"}, "sort": {"relevance", "recent", "likes"}, "since": nil,
			},
			providers.OpSuggestions: {"region": nil},
			providers.OpTranscript:  {"lang": nil},
			providers.OpProduct:     {"region": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpTrending: "of the United States unless a region is given",
			providers.OpSearch:   "posts unless a kind is given; sort and since only apply to posts; products of the United States",
			providers.OpReplies:  "post_id is needed",
			providers.OpProducts: "a store by its number or URL; products shown by a creator have no name of their shop",
			providers.OpProduct:  "if the page of a product hides the price, as most do, a search for it is made too",
			providers.OpAds:      "by the name of the advertiser",
			providers.OpAd:       "by the number of an ad in TikTok's Creative Center, which is not that of the ad library",
		},
		Charges: map[providers.Op]int64{
			providers.OpProfile:  twice, // a second call has the country
			providers.OpAudience: audienceCredits,
			providers.OpLive:     2,     // a second call has the likes
			providers.OpProduct:  twice, // a second call has the price, if the first hides it
		},
	}
}

// tiktokSuggest asks for suggestions, which are only words, sorted by position.
// https://docs.scrapecreators.com/v1/tiktok/search/suggestions
func tiktokSuggest(_ context.Context, q providers.SuggestionsQuery) (upstream.Request, error) {
	return upstream.Get("v1/tiktok/search/suggestions").Says("query", q.Query).With("region", q.Region), nil
}

// audience reads the countries of a sample of the followers.
// https://docs.scrapecreators.com/v1/tiktok/user/audience
func (r tiktokReads) audience(ctx context.Context, handle string) (a schema.Audience, err error) {
	answer, err := upstream.Object[struct {
		Locations wire.Rows[tiktokLocation] `json:"audienceLocations"`
	}](ctx, r.http, upstream.Get("v1/tiktok/user/audience").Says("handle", handle), "")
	if err != nil {
		return a, err
	}
	a = schema.Audience{Common: schema.Common{ID: handle, URL: tiktokProfile(handle), Raw: answer.Raw}, Handle: handle}
	if a.Countries, err = wire.Items(ctx, "audienceLocations", answer.V.Locations, tiktokLocation.country); err != nil {
		return a, err
	}
	return a, wire.Understood("audienceLocations", len(a.Countries), answer.V.Locations.Len())
}

type tiktokLocation struct {
	Country string     `json:"country"`
	Code    string     `json:"countryCode"`
	Count   wire.Count `json:"count"`      // of the sample
	Percent string     `json:"percentage"` // "15.96%"
}

func (l tiktokLocation) country(json.RawMessage) (schema.AudienceCountry, bool) {
	share, err := strconv.ParseFloat(strings.TrimSuffix(l.Percent, "%")+"e-2", 64)
	if err != nil || l.Country == "" {
		return schema.AudienceCountry{}, false
	}
	return schema.AudienceCountry{
		Name: l.Country, Country: text.NonEmpty(l.Code), Share: min(max(share, 0), 1), Count: l.Count.V,
	}, true
}

func tiktokProfile(handle string) string { return "https://www.tiktok.com/@" + handle }

// live reads the room of an account and, while it is live, its likes with a second call. The likes are optional.
// https://docs.scrapecreators.com/v1/tiktok/user/live
func (r tiktokReads) live(ctx context.Context, handle string) (l schema.LiveStream, err error) {
	answer, err := upstream.Object[tiktokLive](ctx, r.http, upstream.Get("v1/tiktok/user/live").Says("handle", handle), "")
	if err != nil {
		return l, err
	}
	room := answer.V
	if err := wire.Need(ctx, "is_live", room.IsLive.V != nil); err != nil {
		return l, err
	}
	if err := wire.SameFold(ctx, "account", handle, room.Host.UniqueID); err != nil {
		return l, err
	}
	l = room.stream(answer.Raw)
	if l.IsLive {
		l.Likes = r.likes(ctx, room.Host.RoomID, room.Host.ID)
	}
	return l, nil
}

// likes reads the likes of a broadcast; nil when that fails.
// https://docs.scrapecreators.com/v1/tiktok/live
func (r tiktokReads) likes(ctx context.Context, room, host wire.Serial) *int64 {
	var answer struct {
		Room  wire.Serial `json:"room_id"`
		Likes wire.Count  `json:"like_count"`
	}
	q := upstream.Get("v1/tiktok/live").With("room_id", string(room)).With("user_id", string(host))
	if _, err := r.http.Read(ctx, q, &answer); err != nil || answer.Room != room {
		callctx.Of(ctx).Trace.Unknown("likes")
		return nil
	}
	return answer.Likes.V
}

type tiktokLive struct {
	IsLive wire.Bool `json:"is_live"`
	Host   struct {
		ID       wire.Serial `json:"id"`
		RoomID   wire.Serial `json:"roomId"`
		UniqueID string      `json:"uniqueId"`
		Nickname string      `json:"nickname"`
		Avatar   string      `json:"avatarLarger"`
	} `json:"liveRoomUserInfo"`
	Room struct {
		Title   string    `json:"title"`
		Started wire.Time `json:"startTime"`
		Cover   string    `json:"coverUrl"`
		Square  string    `json:"squareCoverImg"`
		Stats   struct {
			Now wire.Count `json:"userCount"` // enterCount counts everyone who has been there
		} `json:"liveRoomStats"`
	} `json:"liveRoom"` // absent or of the last broadcast when there is none
}

func (t tiktokLive) stream(raw json.RawMessage) schema.LiveStream {
	l := schema.LiveStream{
		Common: schema.Common{ID: string(t.Host.ID), URL: tiktokProfile(t.Host.UniqueID) + "/live", Raw: raw},
		Host: schema.Actor{
			ID: string(t.Host.ID), Handle: t.Host.UniqueID,
			DisplayName: text.NonEmpty(t.Host.Nickname), AvatarURL: text.URL(t.Host.Avatar),
		},
		IsLive: t.IsLive.Is(),
	}
	if l.IsLive {
		l.ID = cmp.Or(string(t.Host.RoomID), l.ID)
		l.Title = text.NonEmpty(t.Room.Title)
		l.StartedAt = t.Room.Started.V
		l.Viewers = t.Room.Stats.Now.V
		l.ThumbnailURL = text.URL(cmp.Or(t.Room.Cover, t.Room.Square))
	}
	return l
}

type tiktokSuggestion struct {
	Text     string     `json:"text"`
	Position wire.Count `json:"position"`
}

func (s tiktokSuggestion) suggestion(raw json.RawMessage) (schema.Suggestion, bool) {
	u := "https://www.tiktok.com/search?" + url.Values{"q": {s.Text}}.Encode()
	return schema.Suggestion{
		Common: schema.Common{ID: ids.Of(u), URL: u, Raw: raw},
		Text:   s.Text, Kind: schema.SuggestQuery, Position: s.Position.V,
	}, true
}
