package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const facebookSite = "https://www.facebook.com/"

// facebookReads caches what leads to the replies to a comment, by its id.
type facebookReads struct {
	*client
	replies *lru.Cache[string, facebookThread]
	search  int64 // how many pages of comments are searched for one
}

// Pages of these lists have no flag: the last one has no cursor.
var (
	facebookFeed  = upstream.List{Rows: "posts", Next: "cursor"}
	facebookFound = upstream.List{Rows: "events", Next: "cursor"}
)

func (c *client) facebook() providers.Provider {
	remembered, _ := lru.New[string, facebookThread](facebookRemembers) // only fails for a size below 1
	r := facebookReads{c, remembered, min(3, c.max-1)}
	ads := providers.Filters{"country": nil, "status": {"active", "inactive", "all"}, "since": nil, "until": nil}
	return providers.Provider{
		Platform:       platform.Facebook,
		PageSizes:      providers.PagesOf("3", providers.OpPosts, providers.OpCommunityPosts), // as the vendor decides
		Profile:        r.profile,
		Posts:          list(c, byURL("v1/facebook/profile/posts", facebookAccount), facebookFeed, rows(facebookStory.post), nil),
		Post:           r.post,
		Comments:       r.comments,
		Replies:        r.repliesTo,
		Transcript:     r.transcript,
		Reels:          r.reels,
		Community:      r.community,
		CommunityPosts: list(c, facebookGroupPosts, facebookFeed, rows(facebookStory.post), nil),
		Ads:            r.adsOf,
		AdsSearch:      r.searchAds,
		Ad:             one(c, by("v1/facebook/adLibrary/ad", "id"), "", wire.As(facebookAdAlone.ad), sameAd),
		Advertisers:    list(c, facebookCompanies, upstream.List{Rows: "searchResults"}, rows(facebookCompany.advertiser), nil),
		Event:          one(c, facebookEventByID, "", alone(facebookEvent.event), sameEvent),
		Events:         r.events,
		EventsSearch:   list(c, by("v1/facebook/events/search", "query"), facebookFound, rows(facebookEvent.event), nil),

		Filters: map[providers.Op]providers.Filters{
			providers.OpCommunityPosts: {"sort": {"top", "recent", "activity"}},
			providers.OpAds:            ads,
			providers.OpAdsSearch:      ads,
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:          "three a page, a pinned post first; likes are all reactions",
			providers.OpPost:           "by {page}_{post}, or the number of a post or a video; likes are all reactions",
			providers.OpReplies:        "of comments on a page that was read before, or on the first pages of their post",
			providers.OpTranscript:     "text without times",
			providers.OpCommunity:      "groups, by number, name or URL",
			providers.OpCommunityPosts: "three a page",
			providers.OpAds:            "by the number of a Page or the name of a company; active ones unless status is given",
			providers.OpAdsSearch:      "active ones unless status is given",
			providers.OpEvents:         "of a Page by handle, or by place: the URL of a page of facebook.com/events/explore",
		},
		Charges: map[providers.Op]int64{providers.OpReplies: r.search + 1},
	}
}

// facebookAccount returns the address of an account's page, by its name or number.
func facebookAccount(handle string) string {
	if links.Digits(handle) {
		return facebookSite + "profile.php?id=" + handle
	}
	return facebookSite + handle
}

// facebookPost returns the address of a post by its full id: {page}_{post}, or the number of a post or a video.
func facebookPost(id string) string {
	if at := strings.LastIndexByte(id, '_'); at >= 0 {
		return facebookSite + id[:at] + "/posts/" + id[at+1:]
	}
	return facebookSite + id
}

// facebookName returns the name in the address of an account's page, or the number if there is none.
func facebookName(address, number string) string {
	link, err := links.Parse(address, "facebook.com", ".facebook.com")
	if err != nil || link == nil || len(link.Segments) != 1 || link.Segment(0) == "profile.php" {
		return number
	}
	return link.Segment(0)
}

// facebookMaker is the account within what it posted.
type facebookMaker struct {
	ID      wire.ID `json:"id"` // a number, or the placeholder for a private person's
	Name    string  `json:"name"`
	URL     string  `json:"url"`
	Image   string  `json:"image"`
	Picture string  `json:"profile_picture"`
	Larger  string  `json:"profile_picture_url"`
}

func (m facebookMaker) actor() schema.Actor {
	if m.ID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(m.ID), Handle: facebookName(m.URL, string(m.ID)), DisplayName: text.NonEmpty(m.Name),
		AvatarURL: text.URL(cmp.Or(m.Image, m.Picture, m.Larger)),
	}
}

// profile reads an account. If it is not public, the number or the name may be missing.
// https://docs.scrapecreators.com/v1/facebook/profile
func (r facebookReads) profile(ctx context.Context, handle string) (none schema.Profile, err error) {
	p, err := upstream.Object[facebookPage](ctx, r.http, upstream.Get("v1/facebook/profile").Says("url", facebookAccount(handle)), "")
	if err != nil {
		return none, err
	}
	if gated := p.V.Status != "" || p.V.Private.Is(); gated && (p.V.ID == "" || p.V.Name == "") {
		return none, absent(p.V.Message)
	}
	if err := wire.Need(ctx, "id", p.V.ID != ""); err != nil {
		return none, err
	}
	if handle != string(p.V.ID) && !strings.EqualFold(handle, p.V.Alias) {
		if err := wire.SameFold(ctx, "account", handle, p.V.handle()); err != nil {
			return none, err
		}
	}
	return p.V.profile(p.Raw), nil
}

type facebookPage struct {
	ID           wire.Serial `json:"id"`
	Name         string      `json:"name"`
	URL          string      `json:"url"`
	Alias        string      `json:"pageAlias"`
	Intro        string      `json:"pageIntro"`
	Large        string      `json:"profilePicLarge"`
	Medium       string      `json:"profilePicMedium"`
	Small        string      `json:"profilePicSmall"`
	Verification string      `json:"verification"`
	Followers    wire.Count  `json:"followerCount"`
	Website      string      `json:"website"`
	Links        []string    `json:"links"`
	Status       string      `json:"account_status"` // "private" or "age-restricted"
	Private      wire.Bool   `json:"isPrivate"`
	Message      string      `json:"message"`
}

func (p facebookPage) handle() string { return facebookName(p.URL, cmp.Or(p.Alias, string(p.ID))) }

func (p facebookPage) profile(raw json.RawMessage) schema.Profile {
	out := schema.Profile{
		Common:      schema.Common{ID: string(p.ID), URL: text.URLOr(p.URL, facebookAccount(string(p.ID))), Raw: raw},
		Handle:      p.handle(),
		DisplayName: text.NonEmpty(p.Name),
		Bio:         text.NonEmpty(p.Intro),
		AvatarURL:   text.URL(cmp.Or(p.Large, p.Medium, p.Small)),
		Verified:    p.Verification == "BLUE_VERIFIED" || p.Verification == "GRAY_VERIFIED",
		Followers:   p.Followers.V,
	}
	for _, l := range append([]string{p.Website}, p.Links...) {
		out.Links = append(out.Links, meta.Unwrap(l))
	}
	out.Links = text.URLs(out.Links...)
	return out
}

// facebookStory is a post in a list.
type facebookStory struct {
	ID        wire.Serial   `json:"id"`
	Text      string        `json:"text"`
	URL       string        `json:"url"`
	Author    facebookMaker `json:"author"`
	Reactions wire.Count    `json:"reactionCount"`
	Comments  wire.Count    `json:"commentCount"`
	Views     wire.Count    `json:"videoViewCount"`
	Published wire.Time     `json:"publishTime"`
	Video     struct {
		HD        string `json:"hdUrl"`
		SD        string `json:"sdUrl"`
		Thumbnail string `json:"thumbnailUrl"`
	} `json:"videoDetails"`
}

// post converts s. It always reports true.
func (s facebookStory) post(raw json.RawMessage) (schema.Post, bool) {
	return schema.Post{
		Common:     schema.Common{ID: string(s.ID), URL: text.URLOr(s.URL, facebookPost(string(s.ID))), Raw: raw},
		Author:     s.Author.actor(),
		Text:       s.Text,
		CreatedAt:  s.Published.V,
		Media:      facebookVideo(s.Video.Thumbnail, nil, s.Video.HD, s.Video.SD),
		Engagement: schema.Engagement{Likes: s.Reactions.V, Comments: s.Comments.V, Views: s.Views.V},
		Hashtags:   text.Hashtags(s.Text),
	}, true
}

// facebookVideo returns the video at the first of files that is not empty.
func facebookVideo(thumbnail string, seconds *float64, files ...string) []schema.Media {
	at := text.URLs(files...)
	if at == nil {
		return nil
	}
	return []schema.Media{{Type: schema.Video, URL: at[0], ThumbnailURL: text.URL(thumbnail), DurationS: seconds}}
}

// post reads a post, which may be given by the number of its video.
// https://docs.scrapecreators.com/v1/facebook/post
func (r facebookReads) post(ctx context.Context, id string) (none schema.Post, err error) {
	ask := upstream.Get("v1/facebook/post").Says("url", providers.AddressOf(ctx, providers.PostID, facebookPost(id)))
	p, err := upstream.Object[facebookDetail](ctx, r.http, ask, "")
	if err != nil {
		return none, err
	}
	if err := wire.Need(ctx, "post_id", p.V.ID != ""); err != nil {
		return none, err
	}
	if number := id[strings.LastIndexByte(id, '_')+1:]; !p.V.is(number) {
		if err := wire.Same(ctx, "post", number, string(p.V.ID)); err != nil {
			return none, err
		}
	}
	return p.V.post(p.Raw), nil
}

type facebookDetail struct {
	ID       wire.Serial   `json:"post_id"`
	Text     string        `json:"description"`
	Created  wire.Time     `json:"creation_time"`
	URL      string        `json:"url"`
	Author   facebookMaker `json:"author"`
	Likes    wire.Count    `json:"like_count"`
	Comments wire.Count    `json:"comment_count"`
	Shares   wire.Count    `json:"share_count"`
	Views    wire.Count    `json:"view_count"`
	Image    string        `json:"image_url"`
	Video    struct {
		ID        wire.Serial `json:"id"`
		HD        string      `json:"hd_url"`
		SD        string      `json:"sd_url"`
		Thumbnail string      `json:"thumbnail"`
		Length    wire.Float  `json:"length_in_second"`
	} `json:"video"`
}

// is reports whether a post has a number, either that of its video or the one in its address. The replacement of the
// number in newer addresses, which begins with pfbid, is accepted unchecked.
func (d facebookDetail) is(number string) bool {
	return number == string(d.Video.ID) || strings.HasPrefix(number, "pfbid") ||
		slices.Contains(strings.FieldsFunc(d.URL, func(r rune) bool { return strings.ContainsRune("/?&=", r) }), number)
}

func (d facebookDetail) post(raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: string(d.ID), URL: text.URLOr(d.URL, facebookPost(string(d.ID))), Raw: raw},
		Author:    d.Author.actor(),
		Text:      d.Text,
		CreatedAt: d.Created.V,
		Engagement: schema.Engagement{
			Likes: d.Likes.V, Comments: d.Comments.V, Shares: d.Shares.V, Views: d.Views.V,
		},
		Hashtags: text.Hashtags(d.Text),
	}
	length := d.Video.Length.V
	if length != nil && *length <= 0 {
		length = nil
	}
	p.Media = facebookVideo(d.Video.Thumbnail, length, d.Video.HD, d.Video.SD)
	if u := text.URL(d.Image); p.Media == nil && u != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *u}}
	}
	return p
}

// reels reads reels. The next page needs two tokens.
// https://docs.scrapecreators.com/v1/facebook/profile/reels
func (r facebookReads) reels(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	at, pageID, _ := strings.Cut(cursor, " ")
	ask := upstream.Get("v1/facebook/profile/reels").Says("url", facebookAccount(handle)).With("cursor", at).
		With("next_page_id", pageID)
	var answer json.RawMessage
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	if page.Items, err = upstream.Items(ctx, answer, "reels", facebookReel.post); err != nil {
		return page, err
	}
	next, err := upstream.List{Next: "cursor"}.Token(ctx, answer)
	if err != nil || next == "" {
		return page, err
	}
	pageID, err = upstream.List{Next: "next_page_id"}.Token(ctx, answer)
	page.Next = next + " " + pageID
	return page, err
}

type facebookReel struct {
	ID        wire.Serial   `json:"post_id"`
	VideoID   wire.Serial   `json:"video_id"`
	Text      string        `json:"description"`
	Created   wire.Time     `json:"creation_time"`
	URL       string        `json:"url"`
	Author    facebookMaker `json:"author"`
	Views     wire.Count    `json:"view_count"`
	File      string        `json:"video_url"`
	Thumbnail string        `json:"thumbnail"`
	Length    wire.Float    `json:"play_time_in_ms"`
}

// post converts v. It always reports true.
func (v facebookReel) post(raw json.RawMessage) (schema.Post, bool) {
	return schema.Post{
		Common:     schema.Common{ID: string(v.ID), URL: text.URLOr(v.URL, facebookPost(string(v.ID))), Raw: raw},
		Author:     v.Author.actor(),
		Text:       v.Text,
		CreatedAt:  v.Created.V,
		Media:      facebookVideo(v.Thumbnail, v.Length.Seconds(), v.File),
		Engagement: schema.Engagement{Views: v.Views.V},
		Hashtags:   text.Hashtags(v.Text),
	}, true
}

// transcript reads a transcript. The answer does not name the post.
// https://docs.scrapecreators.com/v1/facebook/post/transcript
func (r facebookReads) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	address := providers.AddressOf(ctx, providers.PostID, facebookPost(q.PostID))
	return r.words(ctx, upstream.Get("v1/facebook/post/transcript").Says("url", address), q.PostID, address)
}
