// Package kwai reads public Kwai videos and accounts: the international Kwai of kwai.com, not Kuaishou.
//
// There is no public API for reading. The site answers its own scripts with JSON, and its pages have metadata for
// search engines. Which videos it shows depends on the country of the reader's address. Source: https://www.kwai.com
package kwai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Kwai.
type Config struct {
	Own providers.Own // on by default; the site is the only source

	WebURL   string       // of the site; "" means https://www.kwai.com
	ShareURL string       // of the pages that the app shares; "" means https://m.kwai.com
	HTTP     *http.Client // nil means a client of its own
}

// site reads the public site.
type site struct{ http, share *upstream.Client }

// New returns the provider for Kwai.
func New(cfg Config) providers.Chain {
	client := func(base string) *upstream.Client {
		return upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Header: asBrowser, Check: check, Absent: absent, Quota: upstream.NewQuota(0, 0)})
	}
	s := site{client(cmp.Or(cfg.WebURL, "https://www.kwai.com")), client(cmp.Or(cfg.ShareURL, "https://m.kwai.com"))}
	p := providers.Provider{
		Name: "kwai", Platform: platform.Kwai, Source: schema.Own, Prompt: true,
		PageSizes:  providers.PagesOf(strconv.Itoa(pageSize), providers.OpPosts, providers.OpReels),
		Profile:    s.profile,
		Posts:      s.posts,
		Reels:      s.posts, // every post is a video
		Post:       s.post,
		Transcript: s.transcript,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open:  upstream.Opener(cfg.HTTP, "k.kwai.com", "s.kw.ai", "kwai-video.com"),
		Notes: notes,
	}
	return providers.Chain{p.IfOwn(cfg.Own, true)}
}

// asBrowser are the headers that a browser sends. The site shows most to Brazil.
var asBrowser = browser.Page("Accept", "application/json, text/plain, */*", "Accept-Language", "pt-BR,pt;q=0.9,en;q=0.8")

// notes are what a user should know about Kwai, and why it offers no more.
var notes = map[providers.Op]string{
	providers.OpPosts:       "the results depend on the country of our server",
	providers.OpReels:       "every post is a short video: the same as posts",
	providers.OpPost:        "by URL: Kwai only finds few videos by their number",
	providers.OpTranscript:  "by URL; the text without times",
	providers.OpSearch:      "Kwai only answers searches for logged-in users",
	providers.OpSuggestions: "Kwai only answers searches for logged-in users",
	providers.OpTrending:    "Kwai's discover pages are not lists of popular videos",
	providers.OpComments:    "only Kwai's own signed app lists comments",
	providers.OpReplies:     "only Kwai's own signed app lists comments",
	providers.OpFollowers:   "Kwai shows the number of followers, but no list of them",
	providers.OpFollowing:   "Kwai does not show which accounts an account follows",
	providers.OpCollections: "Kwai has no public collections",
	providers.OpTrack:       "Kwai shows the name of a video's sound, but no id",
	providers.OpTracks:      "Kwai shows the name of a video's sound, but no id",
	providers.OpTrackPosts:  "Kwai shows the name of a video's sound, but no id",
	providers.OpLive:        "Kwai only shows broadcasts in its own app",
	providers.OpAudience:    "Kwai only shows it to the account's owner",
	providers.OpCommunity:   "Kwai has no communities",
	providers.OpEvents:      "Kwai lists no events",
}

const gone = 1016001002 // the result for a video that is gone

// check handles the refusals of the site, of which some have the status 200.
func check(res *upstream.Response) error {
	if res.Status == http.StatusNotFound {
		return providers.NotFound("Kwai has no such page")
	}
	var a struct {
		Result wire.Count `json:"result"`
	}
	if json.Unmarshal(res.Body, &a) == nil && a.Result.V != nil && *a.Result.V == gone {
		return providers.NotFound("the video has been deleted")
	}
	return nil
}

// absent reports whether a 404 is a page of the site. In the API of its pages the status says nothing about the
// requested thing.
func absent(res *upstream.Response) bool {
	return !strings.Contains(res.URL.Path, "/rest/") && ownPage(res)
}

var ownPage = upstream.Framed("kwai.com", "kwai.net", "kwimgs.com")
