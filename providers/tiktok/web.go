package tiktok

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// web reads the pages of tiktok.com, and the lists behind them that need no signature.
type web struct {
	http    *upstream.Client
	webcast *upstream.Client
	client  *http.Client // for subtitle files, which are on many hosts
}

func newWeb(cfg Config) providers.Provider {
	w := &web{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.tiktok.com"), Header: asBrowser, Check: checkWeb,
			Quota: upstream.NewQuota(0, 0),
		}),
		webcast: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebcastURL, "https://webcast.tiktok.com"), Header: asBrowser,
			Quota: upstream.NewQuota(0, 0),
		}),
		client: cfg.HTTP,
	}
	return providers.Provider{
		Name: "tiktok_web", Platform: platform.TikTok, Source: schema.Own, Prompt: true,
		Profile:    w.profile,
		Posts:      w.posts,
		Reels:      w.posts, // every post is a video
		Post:       w.post,
		Transcript: w.transcript,
		Live:       w.live,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Filters: map[providers.Op]providers.Filters{providers.OpTranscript: {"lang": nil}},
		Notes: map[providers.Op]string{
			providers.OpProfile:    "exact counts are behind a bot check: they are read when the setting own is on",
			providers.OpPosts:      "all of them, with their counts, are behind a bot check: they are read when the setting own is on",
			providers.OpTranscript: "subtitles are behind a bot check: they are read when the setting own is on",
			providers.OpLive:       "behind a bot check: read when the setting own is on",
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page.
var asBrowser = browser.Page("Referer", site)

// rehydration is the data that a page holds for its own scripts.
type rehydration struct {
	Scope struct {
		User   wire.Object[userDetail]  `json:"webapp.user-detail"`
		Video  wire.Object[videoDetail] `json:"webapp.video-detail"`
		Reflow wire.Object[videoDetail] `json:"webapp.reflow.video.detail"` // of the mobile page
	} `json:"__DEFAULT_SCOPE__"`
}

const dataScript = "__UNIVERSAL_DATA_FOR_REHYDRATION__"

// open reads a page of the site. A bot check has status 200, and no data.
func (w *web) open(ctx context.Context, path ...string) (data rehydration, res *upstream.Response, err error) {
	if res, err = w.http.Do(ctx, upstream.Get(path...)); err != nil {
		return data, res, err
	}
	p := island.Read(res.Body)
	script := p.Script(dataScript)
	switch {
	case p.Title == securityCheck:
		return data, res, errSecurityCheck
	case script == nil && isBotCheck(p, res.Body):
		return data, res, providers.Unavailable(nil, "TikTok answers with a bot check instead of the page")
	}
	if err := wire.Need(ctx, "the script "+dataScript, script != nil); err != nil {
		return data, res, err
	}
	err = wire.Decode(ctx, script, &data)
	return data, res, err
}

// securityCheck is the title of a captcha page.
const securityCheck = "Security Check"

// isBotCheck recognizes a captcha page by the parts of the captcha.
func isBotCheck(p *island.Page, body []byte) bool {
	return p.Title == "Please wait..." || bytes.Contains(body, []byte(`id="wci"`)) && bytes.Contains(body, []byte(`id="cs"`))
}

// userDetail is a page's data about an account.
type userDetail struct {
	Status wire.Count    `json:"statusCode"`
	Info   accountDetail `json:"userInfo"`
}

// accountDetail is an account and its counts.
type accountDetail struct {
	User    member       `json:"user"`
	Stats   accountStats `json:"stats"` // may be rounded
	StatsV2 accountStats `json:"statsV2"`
}

// user reads the page of an account. A private account that shows its number of posts is returned.
func (w *web) user(ctx context.Context, handle string) (wire.Object[userDetail], error) {
	data, res, err := w.open(ctx, "@"+handle)
	if err != nil {
		return data.Scope.User, err
	}
	d := data.Scope.User
	u := d.V.Info.User
	if err := status(code(d.V.Status)); err != nil {
		videos := d.V.Info.videos()
		if code(d.V.Status) != privateAccount || u.UniqueID == "" || videos == nil || *videos == 0 {
			return d, err
		}
	}
	if err := wire.Need(ctx, "webapp.user-detail.userInfo.user", u.UniqueID != ""); err != nil {
		return d, err
	}
	if !res.Moved {
		if err := wire.SameFold(ctx, "account", handle, u.UniqueID); err != nil {
			return d, err
		}
	}
	return d, nil
}

// code returns a code of the site, or no code if n is not a number.
func code(n wire.Count) int64 {
	if n.V == nil {
		return fine
	}
	return *n.V
}

func (w *web) profile(ctx context.Context, handle string) (schema.Profile, error) {
	d, err := w.user(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return d.V.Info.profile(d.Raw), nil
}

// videos returns the account's number of posts, nil when it is unknown.
func (a accountDetail) videos() *int64 { return either(a.StatsV2.Videos, a.Stats.Videos) }

func (a accountDetail) profile(raw json.RawMessage) schema.Profile {
	u := a.User
	return schema.Profile{
		Common:      schema.Common{ID: string(u.ID), URL: profileURL(u.UniqueID), Raw: raw},
		Handle:      u.UniqueID,
		DisplayName: text.NonEmpty(u.Nickname),
		Bio:         text.NonEmpty(u.Signature),
		AvatarURL:   u.avatar(),
		Verified:    u.Verified,
		Followers:   either(a.StatsV2.Followers, a.Stats.Followers),
		Following:   either(a.StatsV2.Following, a.Stats.Following),
		PostsCount:  a.videos(),
		Lang:        &u.Language,
		Links:       bioLinks(u.BioLink.Link, u.Signature),
	}
}

// videoDetail is a page's data about a post, which occurs at several depths.
type videoDetail struct {
	Status wire.Count `json:"statusCode"`
	Info   itemInfo   `json:"itemInfo"`
	Detail struct {
		Info itemInfo `json:"itemInfo"`
	} `json:"videoDetail"`
	Item wire.Object[item] `json:"itemStruct"`
}

type itemInfo struct {
	Item wire.Object[item] `json:"itemStruct"`
}

func (d videoDetail) item() wire.Object[item] {
	for _, i := range []wire.Object[item]{d.Info.Item, d.Detail.Info.Item, d.Item} {
		if i.Raw != nil {
			return i
		}
	}
	return wire.Object[item]{}
}

// item reads the page of a post, for which TikTok does not need the account.
func (w *web) item(ctx context.Context, id string) (wire.Object[item], error) {
	var none wire.Object[item]
	data, _, err := w.open(ctx, "@_", "video", id)
	if err != nil {
		return none, err
	}
	d := data.Scope.Video.V
	if data.Scope.Video.Raw == nil {
		d = data.Scope.Reflow.V
	}
	if err := status(code(d.Status)); err != nil {
		return none, err
	}
	i := d.item()
	switch err := wire.Need(ctx, "webapp.video-detail.itemInfo.itemStruct", i.Raw != nil); {
	case err != nil:
		return none, err
	case i.V.Private.Is():
		return none, status(privateItem)
	case i.V.Classified.Is() && i.V.media() == nil:
		return none, providers.Unsupported("TikTok shows this post only to adults who have logged in")
	}
	return i, wire.Same(ctx, "post", id, string(i.V.ID))
}

func (w *web) post(ctx context.Context, id string) (schema.Post, error) {
	i, err := w.item(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return i.V.post(i.Raw), nil
}
