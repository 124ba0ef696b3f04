package tiktok

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

const site = "https://www.tiktok.com/"

var handle = regexp.MustCompile(`^[a-z0-9._]{1,24}$`)

// addresses describes how addresses and identifiers of TikTok are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{
		"tiktok.com", "library.tiktok.com", "ads.tiktok.com", "shop.tiktok.com", "vm.tiktok.com", "vt.tiktok.com",
		"lite.tiktok.com", "tiktokv.com",
	},
	Order: []providers.Subject{
		providers.AdID, providers.StoreID, providers.AdvertiserID, providers.CommentID, providers.PostID, providers.CollectionID,
		providers.ProductID, providers.TrackID, providers.Handle,
	},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID:    {providers.PostID, providers.Handle},
		providers.PostID:       {providers.Handle},
		providers.CollectionID: {providers.Handle},
	},
	In: inLink, ID: canonical, Short: isShort,
	Searches:   map[string]string{"search": "{q}", "tag": "#{}"},
	AdSearches: map[string]string{"library.tiktok.com/ads": "{adv_name}"},
	Country:    func(l *links.Link) string { return l.Param("region") },
}

// isShort reports whether l is a short link: one on a host with no other pages, or under /t/.
func isShort(l *links.Link) bool {
	switch l.Host {
	case "vm.tiktok.com", "vt.tiktok.com":
		return true
	case "tiktok.com", "lite.tiktok.com":
		return l.Segment(0) == "t"
	}
	return false
}

// canonical lower-cases a handle, which ignores case, and checks the number of anything else. A shop or an advertiser
// may also be given by name.
func canonical(s providers.Subject, value string) (string, error) {
	switch {
	case s == providers.StoreID || s == providers.AdvertiserID:
		return value, nil
	case s == providers.Handle:
		if value = strings.ToLower(strings.TrimPrefix(value, "@")); !handle.MatchString(value) {
			return "", providers.Invalid("a TikTok handle is the name after the @, such as cafe.riyadh")
		}
	case !links.Digits(value) || strings.Trim(value, "0") == "" || len(value) > 20:
		return "", providers.Invalid("a TikTok %s is a number such as 7316329075033836842, or its URL", s)
	}
	return value, nil
}

// inLink returns the identifier in an address: the number of most things, the name of an account.
func inLink(s providers.Subject, l *links.Link) string {
	if l.Host == "ads.tiktok.com" && s != providers.AdID { // pages of its ads, not of the site
		return ""
	}
	switch s {
	case providers.Handle:
		name := l.Segment(0)
		if name == "embed" {
			name = l.Segment(1)
		}
		if !strings.HasPrefix(name, "@") { // a page of the site, such as /foryou
			return ""
		}
		return name
	case providers.AdID:
		return adIn(l)
	case providers.CommentID:
		return l.Param("comment_id")
	case providers.AdvertiserID:
		return l.Param("adv_biz_ids")
	case providers.StoreID: // shop/store/NAME/NUMBER
		if at := slices.Index(l.Segments, "store"); at >= 0 {
			return l.Segment(at + 2)
		}
		return ""
	default:
		return numberIn(s, l)
	}
}

// numberIn returns the number in the address of a page of the site, "" when there is none.
func numberIn(s providers.Subject, l *links.Link) string {
	var words []string
	switch s {
	case providers.PostID:
		words = postWords
	case providers.TrackID:
		words = trackWords
	case providers.CollectionID:
		words = collectionWords
	case providers.ProductID:
		words = productWords
	default:
		return ""
	}
	for i, segment := range l.Segments {
		if slices.Contains(words, segment) {
			return tail(l, i+1)
		}
	}
	if s == providers.PostID && l.Segment(0) == "player" { // player/v1/NUMBER
		return l.Segment(2)
	}
	return ""
}

// These are the path segments that come before the number of each thing. They are read-only.
var (
	postWords       = []string{"video", "photo", "v", "v2", "embed"}
	trackWords      = []string{"music"}
	collectionWords = []string{"collection", "playlist"}
	productWords    = []string{"product", "pdp"}
)

// adIn returns the number in the address of an ad, in the ad library or in the top ads of the Creative Center.
func adIn(l *links.Link) string {
	if l.Host == "ads.tiktok.com" {
		return l.After("topads")
	}
	return l.Param("ad_id")
}

// tail returns the number at the end of a segment, which may begin with a title: Want-to-go-7665668414573546258. A
// product's number comes after its title, in a segment of its own.
func tail(link *links.Link, i int) string {
	for ; i < len(link.Segments); i++ {
		s := strings.TrimSuffix(link.Segments[i], ".html")
		if n := s[strings.LastIndexByte(s, '-')+1:]; links.Digits(n) {
			return n
		}
	}
	return ""
}

// page returns the address of a page of the site. The path may contain any characters.
func page(path string) string {
	return (&url.URL{Scheme: "https", Host: "www.tiktok.com", Path: "/" + path}).String()
}

func profileURL(handle string) string { return page("@" + handle) }

// postURL returns the address of a post's page; TikTok does not need the handle when it is unknown.
func postURL(handle, id string) string {
	if handle == "" {
		handle = "_"
	}
	return page("@" + handle + "/video/" + id)
}

// madeAt returns when the thing with an id was made: TikTok's numbers begin with the second. It is nil for a number
// that does not begin with a plausible time.
func madeAt(id string) *time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	at := time.Unix(int64(n>>32), 0).UTC()
	if err != nil || n > math.MaxInt64 || at.Before(begin) {
		return nil
	}
	return &at
}

// begin is before the oldest posts, which come from another app.
var begin = time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
