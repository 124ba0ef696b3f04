package tiktok

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// own reads TikTok's embed pages for other sites, and its other public data.
type own struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	o := &own{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.tiktok.com"), Header: asBrowser, Check: checkOwn, Absent: absentOwn,
		Quota: upstream.NewQuota(0, 0),
	})}
	return providers.Provider{
		Name: "tiktok_own", Platform: platform.TikTok, Source: schema.Own, Prompt: true,
		PageSizes:       providers.PagesOf(strconv.Itoa(collectionPage), providers.OpCollectionPosts),
		Profile:         o.profile,
		Posts:           o.posts,
		Reels:           o.posts, // every post is a video
		Post:            o.post,
		Search:          o.search,
		CollectionPosts: o.collectionPosts,
		Track:           o.track,
		TrackPosts:      o.trackPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post"}},
		},
		Searches: searchable,
		Notes: map[providers.Op]string{
			providers.OpPosts:           "ten a page, with views as the only count; a repeated page ends the list",
			providers.OpSearch:          "#word only: the newest few posts of the hashtag",
			providers.OpCollectionPosts: "by id or URL",
			providers.OpTrack:           "sounds, by id or URL",
			providers.OpComments:        "without a signature only the official API lists them",
			providers.OpReplies:         "without a signature only the official API lists them",
			providers.OpFollowers:       "without a signature only the official API lists them",
			providers.OpFollowing:       "without a signature only the official API lists them",
		},
		Routes:  providers.Routes(platform.TikTok, "oembed{?url}"),
		Forward: o.http.Forward,
	}
}

// final returns err, or a definite absence when a source says that there is no such item: no other source knows better
// than the embed pages.
func final(err error) error {
	if errors.Is(err, errNoItem) {
		return providers.NotFound("TikTok has no such post")
	}
	return err
}

// route is the data of an embed page.
type route struct {
	IsError wire.Bool      `json:"isError"`
	Code    wire.Count     `json:"errorCode"` // in an error
	Status  wire.Count     `json:"code"`      // 200, or why there is no data
	Video   embeddedVideo  `json:"videoData"`
	User    embeddedUser   `json:"userInfo"`
	List    embeddedList   `json:"embedInfo"` // for a sound or a hashtag
	Videos  wire.Rows[row] `json:"videoList"`
}

// routeOf finds the data of a page, which is under the page's own path.
func routeOf(res *upstream.Response, page *island.Page) (o wire.Object[route], found bool) {
	island.Find(page.Script("__FRONTITY_CONNECT_STATE__"), func(name string, value island.Value) bool {
		switch {
		case found:
			return false
		case value.Is('{') && samePath(name, res.URL.Path):
			found = json.Unmarshal(value.Bytes(), &o) == nil && o.Raw != nil
			return false
		}
		return name == "source" || name == "data"
	})
	return o, found
}

// samePath compares the name of a part with the path of the page: the name may be escaped, and end with a slash or a
// query.
func samePath(name, path string) bool {
	name, _, _ = strings.Cut(name, "?")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	path = path[max(0, strings.Index(path, "/embed/")):] // without the path of the base address
	return strings.HasPrefix(name, "/") && strings.EqualFold(strings.TrimSuffix(name, "/"), path)
}

// open reads an embed page.
func (o *own) open(ctx context.Context, r upstream.Request) (wire.Object[route], error) {
	res, err := o.http.Do(ctx, r)
	if err != nil {
		return wire.Object[route]{}, err
	}
	body := island.Read(res.Body)
	page, found := routeOf(res, body)
	if !found && body.Title == securityCheck {
		return page, errSecurityCheck
	}
	if err := wire.Need(ctx, "source.data of the script __FRONTITY_CONNECT_STATE__", found); err != nil {
		return page, err
	}
	if c := code(page.V.Status); c >= noUser {
		return page, final(status(c))
	}
	if !page.V.IsError.Is() {
		return page, nil
	}
	if err := final(status(code(page.V.Code))); err != nil {
		return page, err
	}
	return page, providers.Unavailable(nil, "TikTok answers with an error")
}

// embeddedUser is an account on its embed page. Its counts are rounded.
type embeddedUser struct {
	ID        wire.Serial `json:"id"`
	UniqueID  string      `json:"uniqueId"`
	Nickname  string      `json:"nickname"`
	Signature string      `json:"signature"`
	Avatar    string      `json:"avatarThumbUrl"`
	Verified  bool        `json:"verified"`
	Private   wire.Bool   `json:"privateAccount"`
	Followers wire.Count  `json:"followerCount"`
	Following wire.Count  `json:"followingCount"`
	Code      wire.Count  `json:"code"` // why there is no account
}

// member converts u to the account type of the site's own pages.
func (u embeddedUser) member() member {
	return member{ID: u.ID, UniqueID: u.UniqueID, Nickname: u.Nickname, AvatarThumb: u.Avatar}
}

// user reads the embed page of an account. The number counts from 1.
func (o *own) user(ctx context.Context, handle string, number int) (wire.Object[route], error) {
	page, err := o.open(ctx, onPage(upstream.Get("embed", "@"+handle), number))
	if err != nil {
		return page, err
	}
	u := page.V.User
	if u.UniqueID == "" {
		if err := status(code(u.Code)); errors.Is(err, providers.ErrNotFound) {
			return page, err
		}
	}
	if err := wire.Need(ctx, "userInfo", u.UniqueID != ""); err != nil {
		return page, err
	}
	return page, wire.SameFold(ctx, "account", handle, u.UniqueID)
}

// onPage adds the number of a page to a request for a list.
func onPage(r upstream.Request, number int) upstream.Request {
	if number > 1 {
		return r.With("page", strconv.Itoa(number))
	}
	return r
}

func (o *own) profile(ctx context.Context, handle string) (schema.Profile, error) {
	page, err := o.user(ctx, handle, 1)
	if err != nil {
		return schema.Profile{}, err
	}
	u := page.V.User
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: profileURL(u.UniqueID), Raw: page.Raw},
		Handle:      u.UniqueID,
		DisplayName: text.NonEmpty(u.Nickname),
		Bio:         text.NonEmpty(u.Signature),
		AvatarURL:   text.URL(u.Avatar),
		Verified:    u.Verified,
		Followers:   u.Followers.V,
		Following:   u.Following.V,
		Links:       bioLinks("", u.Signature),
	}, nil
}

func (o *own) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return o.videos(ctx, cursor, func(number int) (wire.Object[route], error) {
		page, err := o.user(ctx, handle, number)
		if err != nil {
			return page, err
		}
		if page.V.User.Private.Is() {
			return page, status(privateAccount)
		}
		return page, nil
	})
}

// videos reads a page of a list. The cursor is the number of the page and the first post of the previous one: after the
// end TikTok may repeat the last page.
func (o *own) videos(
	ctx context.Context, cursor string, open func(number int) (wire.Object[route], error),
) (out providers.Page[schema.Post], err error) {
	number, before := 1, ""
	if cursor != "" {
		n, id, _ := strings.Cut(cursor, ".")
		if number, err = strconv.Atoi(n); err != nil || number < 2 {
			return out, providers.ErrCursor
		}
		before = id
	}
	page, err := open(number)
	if err != nil {
		return out, err
	}
	out.Items, err = wire.Items(ctx, "videoList", page.V.Videos, func(r row, raw json.RawMessage) (schema.Post, bool) {
		return r.post(page.V.User, raw), r.Private.Not()
	})
	if err != nil {
		return out, err
	}
	begins := ""
	for _, r := range page.V.Videos.All() {
		begins = string(r.V.ID)
		break
	}
	if cursor != "" && begins != "" && begins == before {
		return providers.Page[schema.Post]{}, nil
	}
	seen := wire.Witness{Rows: page.V.Videos.Len(), Count: page.V.List.Videos.V, Cursor: cursor}
	if err := seen.Check(ctx, "videoList"); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if page.V.Videos.Len() > 0 {
		out.Next = strconv.Itoa(number+1) + "." + begins
	}
	return out, nil
}

// row is a post in the list of an embed page.
type row struct {
	ID          wire.Serial `json:"id"`
	Desc        string      `json:"desc"`
	CreateTime  wire.Time   `json:"createTime"` // often missing
	Views       wire.Count  `json:"playCount"`
	Cover       string      `json:"coverUrl"`
	OriginCover string      `json:"originCoverUrl"`
	PlayAddr    string      `json:"playAddr"`
	Handle      string      `json:"authorUniqueId"`
	Private     wire.Bool   `json:"privateItem"`
}

// post converts r. by is the owner of the list; that of a sound has none.
func (r row) post(by embeddedUser, raw json.RawMessage) schema.Post {
	i := item{ID: r.ID, Desc: r.Desc, CreateTime: r.CreateTime, Author: by.member()}
	if r.Handle != "" && !strings.EqualFold(r.Handle, by.UniqueID) {
		i.Author = member{UniqueID: r.Handle}
	}
	i.Stats.Views = r.Views
	i.Video = itemVideo{PlayAddr: r.PlayAddr, Cover: r.Cover, OriginCover: r.OriginCover}
	return i.post(raw)
}
