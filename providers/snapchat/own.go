package snapchat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads Snapchat's public pages. The page of an account is complete: its lists have no further pages.
type site struct{ http *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	s := site{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, siteURL), Header: asBrowser, Check: checkPage, Absent: ownPage, Quota: upstream.NewQuota(0, 0),
	})}
	return providers.Provider{
		Name: "snapchat_own", Platform: platform.Snapchat, Source: schema.Own, Prompt: true,
		Profile:     s.profile,
		Posts:       s.posts,
		Reels:       s.reels,
		Post:        s.post,
		Collections: s.collections,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open:    upstream.Opener(cfg.HTTP, short, "www.snapchat.com"),
		Filters: map[providers.Op]providers.Filters{providers.OpCollections: {"kind": {"highlight"}}},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "an account without a public profile has a name and a picture only",
			providers.OpPosts:       "the newest Spotlight videos and the story of the day; of public profiles",
			providers.OpReels:       "the newest Spotlight videos; of public profiles",
			providers.OpPost:        "Spotlight videos; a snap of a story has no page of its own",
			providers.OpCollections: "highlights; of public profiles",
			providers.OpSearch:      "only the official API can search",
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page.
var asBrowser = browser.Page()

// data is what a page holds for its own scripts.
type data struct {
	Props struct {
		Page props `json:"pageProps"`
	} `json:"props"`
}

// props is the subject of a page: an account, or a Spotlight video and others.
type props struct {
	Type       string                   `json:"pageType"`
	User       wire.Object[userProfile] `json:"userProfile"`
	Story      json.RawMessage          `json:"story"` // of the day; absent or null when there is none
	Spotlights wire.Rows[story]         `json:"spotlightHighlights"`
	Metadata   wire.Rows[metadata]      `json:"spotlightStoryMetadata"` // of the Spotlights, by position
	Older      wire.Rows[metadata]      `json:"spotlightHighlightsMetadata"`
	Highlights wire.Rows[story]         `json:"curatedHighlights"`
	Feed       struct {
		Stories wire.Rows[spotlight] `json:"spotlightStories"`
	} `json:"spotlightFeed"`

	believed bool // empty lists need no witness, since a third party vouches for them
}

const (
	dataScript = "__NEXT_DATA__"
	notFound   = "NOT_FOUND" // the type of an empty page, which has status 200
	shortest   = 2000        // bytes: a shorter answer without data is a captcha, not a page
)

// open reads a page of the site.
func (s site) open(ctx context.Context, path ...string) (p props, moved bool, err error) {
	res, err := s.http.Do(ctx, upstream.Get(path...))
	if err != nil {
		return p, false, err
	}
	script := island.Read(res.Body).Script(dataScript)
	if script == nil && len(res.Body) < shortest && bytes.Contains(res.Body, []byte("<")) {
		return p, false, providers.Walled("Snapchat answers with a captcha instead of the page")
	}
	var d data
	if err := wire.Need(ctx, "the script "+dataScript, script != nil); err != nil {
		return p, moved, err
	}
	if err := wire.Decode(ctx, script, &d); err != nil {
		return p, moved, err
	}
	if d.Props.Page.Type == notFound {
		return p, moved, errNoPage
	}
	return d.Props.Page, res.Moved, nil
}

// userProfile is an account: a public profile, or a person whose posts only friends can see.
type userProfile struct {
	Case   string        `json:"$case"`
	Public publicProfile `json:"publicProfileInfo"`
	User   userInfo      `json:"userInfo"`
}

const (
	isPublic   = "publicProfileInfo"
	isOrdinary = "userInfo"
)

type publicProfile struct {
	Username      string     `json:"username"`
	NewName       string     `json:"mutableName"` // the current username, if it was changed
	ID            wire.ID    `json:"businessProfileId"`
	Title         string     `json:"title"`
	Bio           string     `json:"bio"`
	Website       string     `json:"websiteUrl"`
	Picture       string     `json:"profilePictureUrl"`
	Badge         wire.Count `json:"badge"`
	Subscribers   wire.Count `json:"subscriberCount"` // 0 when hidden
	HasSpotlights wire.Bool  `json:"hasSpotlightHighlights"`
	HasHighlights wire.Bool  `json:"hasCuratedHighlights"`
	HasStory      wire.Bool  `json:"hasStory"`
}

type userInfo struct {
	Username    string `json:"username"`
	DisplayName string `json:"displayName"`
	Bitmoji     struct {
		Avatar struct {
			URL string `json:"url"`
		} `json:"avatarImage"`
	} `json:"bitmoji3d"`
}

// account reads the page of an account, and checks that it is about that account.
func (s site) account(ctx context.Context, handle string) (props, error) {
	p, moved, err := s.open(ctx, "@"+handle)
	if err != nil {
		return p, err
	}
	u := p.User
	if err := wire.Need(ctx, "props.pageProps.userProfile", u.Raw != nil); err != nil {
		return p, err
	}
	if err := wire.Marker(ctx, "userProfile.$case", u.V.Case, isPublic, isOrdinary); err != nil {
		return p, err
	}
	name := u.V.User.Username
	if u.V.Case == isPublic {
		name = u.V.Public.Username
	}
	if err := wire.Need(ctx, "userProfile."+u.V.Case+".username", name != ""); err != nil {
		return p, err
	}
	if moved || u.V.Case == isPublic && strings.EqualFold(u.V.Public.NewName, handle) {
		return p, nil
	}
	return p, wire.SameFold(ctx, "account", handle, name)
}

// public is account for data that only public profiles show.
func (s site) public(ctx context.Context, handle, cursor string) (props, error) {
	if cursor != "" {
		return props{}, providers.ErrCursor // there is only one page
	}
	p, err := s.account(ctx, handle)
	if err != nil {
		return p, err
	}
	if p.User.V.Case != isPublic {
		return p, providers.NotFound("the account has no public profile")
	}
	return p, nil
}

func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := s.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	if u := p.User; u.V.Case == isOrdinary {
		return u.V.User.profile(u.Raw), nil
	}
	return p.User.V.Public.profile(p.User.Raw), nil
}

func (u userInfo) profile(raw json.RawMessage) schema.Profile {
	handle := strings.ToLower(u.Username)
	return schema.Profile{
		Common:      schema.Common{ID: handle, URL: profileURL(handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(u.DisplayName),
		AvatarURL:   text.URL(u.Bitmoji.Avatar.URL),
	}
}

func (u publicProfile) profile(raw json.RawMessage) schema.Profile {
	by := u.actor()
	p := schema.Profile{
		Common:      schema.Common{ID: by.ID, URL: profileURL(by.Handle), Raw: raw},
		Handle:      by.Handle,
		DisplayName: by.DisplayName,
		Bio:         text.NonEmpty(u.Bio),
		AvatarURL:   by.AvatarURL,
		Verified:    u.Badge.V != nil && *u.Badge.V != 0,
		Followers:   u.Subscribers.V,
		Links:       text.URLs(u.Website),
	}
	if p.Followers != nil && *p.Followers == 0 {
		p.Followers = nil
	}
	return p
}

// actor converts the account to the author of what its page shows.
func (u publicProfile) actor() schema.Actor {
	handle := strings.ToLower(u.Username)
	return schema.Actor{
		ID: cmp.Or(string(u.ID), handle), Handle: handle, DisplayName: text.NonEmpty(u.Title), AvatarURL: text.URL(u.Picture),
	}
}

func (s site) posts(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	var videos, snaps []schema.Post
	p, err := s.public(ctx, handle, cursor)
	if err != nil {
		return out, err
	}
	videos, err = p.spotlights(ctx)
	if err != nil {
		return out, err
	}
	snaps, err = p.snaps(ctx, len(videos))
	if err != nil {
		return out, err
	}
	out.Items = dates.NewestFirst(madeAt, videos, snaps)
	return out, nil
}

func (s site) reels(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	var videos []schema.Post
	p, err := s.public(ctx, handle, cursor)
	if err != nil {
		return out, err
	}
	videos, err = p.spotlights(ctx)
	if err != nil {
		return out, err
	}
	out.Items = videos
	return out, nil
}

func madeAt(p schema.Post) *time.Time { return p.CreatedAt }

// listed returns an error unless a list on an account's page has rows, or the account says that it has none.
func listed[T any](ctx context.Context, p props, name string, rows wire.Rows[T], has wire.Bool) error {
	none := has.V != nil && !*has.V
	if !rows.Here() && none {
		return nil
	}
	if err := rows.Check(ctx, name); err != nil || p.believed {
		return err
	}
	return wire.Witness{Rows: rows.Len(), Words: none}.Check(ctx, name)
}
