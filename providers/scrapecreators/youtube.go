package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/countries"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// youtubeReads reads the vendor's data from the pages of the site.
type youtubeReads struct {
	*client
	threads *lru.Cache[string, youtubeThread] // by the id of the comment at their top
}

func (c *client) youtube() providers.Provider {
	threads, _ := lru.New[string, youtubeThread](youtubeRemembers) // only fails for a size below 1
	r := youtubeReads{c, threads}
	return providers.Provider{
		Platform:        platform.YouTube,
		Profile:         r.profile,
		Live:            r.live,
		Posts:           r.posts,
		Post:            one(c, byURL("v1/youtube/video", youtubeWatch), "", alone(youtubeVideo.row), samePost),
		Trending:        list(c, fixed[providers.TrendingQuery]("v1/youtube/shorts/trending"), upstream.List{Rows: "shorts"}, rows(youtubeVideo.row), nil),
		Search:          r.search,
		Searches:        r.searchable,
		Suggestions:     r.suggestions,
		Comments:        r.comments,
		Replies:         r.replies,
		Transcript:      r.transcript,
		Reels:           r.reels,
		Collections:     r.collections,
		Collection:      r.collection,
		CollectionPosts: r.collectionPosts,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:      {"kind": {"post", "profile", "collection"}, "sort": {"relevance", "views"}, "since": nil},
			providers.OpTranscript:  {"lang": nil},
			providers.OpCollections: {"kind": {string(schema.Playlist)}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:           "the reseller has videos, without Shorts and broadcasts; their times are approximate",
			providers.OpTrending:        "the reseller only has Shorts",
			providers.OpReplies:         "the reseller requires post_id, and finds the newest comments, and those that were read recently",
			providers.OpCollectionPosts: "the reseller has the first page of a playlist",
			providers.OpLive:            "the reseller returns the last broadcast if none is live",
		},
		Charges: map[providers.Op]int64{providers.OpReplies: 1 + youtubeLooks},
	}
}

const youtubeSite = "https://www.youtube.com/"

func youtubeWatch(id string) string { return youtubeSite + "watch?v=" + id }

// youtubeID reports whether a handle is the id of a channel.
func youtubeID(handle string) bool { return len(handle) == 24 && strings.HasPrefix(handle, "UC") }

// youtubeHome returns the address of an account's page.
func youtubeHome(handle string) string {
	if youtubeID(handle) {
		return youtubeSite + "channel/" + handle
	}
	return text.URLOr(youtubeSite+"@"+handle, youtubeSite)
}

// youtubeHandle returns the handle in the address of a channel, in which other than Latin letters are escaped; "" when
// there is none.
func youtubeHandle(address string) string {
	_, handle, _ := strings.Cut(address, "/@")
	plain, err := url.PathUnescape(handle)
	if err != nil {
		return handle
	}
	return plain
}

// youtubeOf adds the requested channel to r.
func youtubeOf(r upstream.Request, handle string) (upstream.Request, error) {
	switch {
	case strings.HasPrefix(handle, "user/"):
		return r, providers.Unsupported("ScrapeCreators finds channels by their handle or id, not by a former user name")
	case youtubeID(handle):
		return r.Says("channelId", handle), nil
	}
	return r.Says("handle", handle), nil
}

// youtubeHolder returns the requested account, as far as it is known from its handle.
func youtubeHolder(handle string) schema.Actor { return schema.Actor{ID: handle, Handle: handle} }

// youtubeList reads a page of a list. The vendor's last page may repeat its own token.
func youtubeList[T, O any](
	ctx context.Context, c *client, r upstream.Request, token, rows string, convert func(T, json.RawMessage) (O, bool),
) (providers.Page[O], error) {
	at := upstream.List{Rows: rows, Next: "continuationToken"}
	page, err := upstream.Page(ctx, c.http, r.With("continuationToken", token), at, convert)
	if page.Next == token {
		page.Next = ""
	}
	return page, err
}

// https://docs.scrapecreators.com/v1/youtube/channel
func (r youtubeReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	ask := upstream.Get("v1/youtube/channel")
	if strings.HasPrefix(handle, "user/") {
		ask = ask.Says("url", youtubeSite+handle)
	} else if ask, err = youtubeOf(ask, handle); err != nil {
		return p, err
	}
	c, err := upstream.Object[youtubePage](ctx, r.http, ask, "")
	if err != nil {
		return p, err
	}
	p = c.V.profile(c.Raw)
	switch {
	case youtubeID(handle):
		return p, wire.Same(ctx, "channel", handle, p.ID)
	case !strings.Contains(handle, "/") && p.Handle != p.ID:
		return p, wire.SameFold(ctx, "channel", handle, p.Handle)
	}
	return p, nil
}

type youtubePage struct {
	ID          string `json:"channelId"`
	URL         string `json:"channel"` // ends in @ and the handle
	Name        string `json:"name"`
	Description string `json:"description"`
	Avatar      struct {
		Image struct {
			Sources []struct {
				URL string `json:"url"`
			} `json:"sources"` // the largest last
		} `json:"image"`
	} `json:"avatar"`
	Subscribers wire.Count `json:"subscriberCount"` // rounded
	Videos      string     `json:"videoCountText"`  // "9,221 videos"
	Links       []string   `json:"links"`
	Country     string     `json:"country"` // its English name
}

func (y youtubePage) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: y.ID, URL: youtubeHome(y.ID), Raw: raw},
		Handle:      y.ID,
		DisplayName: text.NonEmpty(y.Name),
		Bio:         text.NonEmpty(y.Description),
		Followers:   y.Subscribers.V,
		PostsCount:  text.Count(y.Videos),
		Country:     countries.Code(y.Country),
		Links:       text.URLs(append(y.Links, text.Addresses(y.Description)...)...),
	}
	if handle := youtubeHandle(y.URL); handle != "" {
		p.Handle, p.URL = handle, youtubeHome(handle)
	}
	if pictures := y.Avatar.Image.Sources; len(pictures) > 0 {
		p.AvatarURL = text.URL(pictures[len(pictures)-1].URL)
	}
	return p
}

// posts reads videos, newest first.
// https://docs.scrapecreators.com/v1/youtube/channel-videos
func (r youtubeReads) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return r.videos(ctx, "channel-videos", handle, "latest", cursor, "videos")
}

// reels reads Shorts, newest first.
// https://docs.scrapecreators.com/v1/youtube/channel/shorts
func (r youtubeReads) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return r.videos(ctx, "channel/shorts", handle, "newest", cursor, "shorts")
}

// videos reads a list of a channel, whose rows do not name the channel.
func (r youtubeReads) videos(
	ctx context.Context, route, handle, sort, cursor, rows string,
) (page providers.Page[schema.Post], err error) {
	ask, err := youtubeOf(upstream.Get("v1/youtube/"+route).With("sort", sort), handle)
	if err != nil {
		return page, err
	}
	return youtubeList(ctx, r.client, ask, cursor, rows, func(v youtubeVideo, raw json.RawMessage) (schema.Post, bool) {
		return v.post(youtubeHolder(handle), raw), true
	})
}

// youtubeChannel is the channel within what it has published. A channel's own lists leave it empty.
type youtubeChannel struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Title     string `json:"title"`
	Handle    string `json:"handle"` // with or without @, or "channel/" and the id if it has none
	URL       string `json:"url"`
	Thumbnail string `json:"thumbnail"`
	Picture   string `json:"thumbnailUrl"`
}

// actor returns the channel, or holder if it is not named. If only its handle is known, that is also its id.
func (c youtubeChannel) actor(holder schema.Actor) schema.Actor {
	handle := strings.TrimPrefix(c.Handle, "@")
	if handle == "" {
		handle = youtubeHandle(c.URL)
	}
	if strings.Contains(handle, "/") {
		handle = ""
	}
	id := cmp.Or(c.ID, handle)
	if id == "" {
		return holder
	}
	return schema.Actor{
		ID: id, Handle: cmp.Or(handle, id), DisplayName: text.NonEmpty(cmp.Or(c.Title, c.Name)),
		AvatarURL: text.URL(cmp.Or(c.Thumbnail, c.Picture)),
	}
}
