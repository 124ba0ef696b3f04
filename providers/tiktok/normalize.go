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
	"github.com/socialdata/socialdata/providers/internal/links"
)

const site = "https://www.tiktok.com/"

var handle = regexp.MustCompile(`^[a-z0-9._]{1,24}$`)

// normalize folds a handle, which ignores case, and reduces what else has a public page to its number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "tiktok.com", "library.tiktok.com", "ads.tiktok.com", "vm.tiktok.com", "vt.tiktok.com")
	if err != nil {
		return "", err
	}
	if link != nil && (link.Host == "vm.tiktok.com" || link.Host == "vt.tiktok.com") {
		return "", providers.Invalid("a short link does not say what it leads to: open it and pass the address behind it")
	}
	if link != nil && link.Host == "ads.tiktok.com" && s != providers.AdID {
		return "", providers.Invalid("%q is no page of TikTok's site but of its ads", value)
	}
	if s == providers.Handle {
		return account(link, value)
	}
	if s == providers.StoreID || s == providers.AdvertiserID {
		return named(link, value)
	}
	if link != nil {
		value = numberIn(s, link)
	}
	if !links.Digits(value) || strings.Trim(value, "0") == "" || len(value) > 20 {
		return "", providers.Invalid("a TikTok %s is a number such as 7316329075033836842, or its URL", s)
	}
	return value, nil
}

func account(link *links.Link, value string) (string, error) {
	if link != nil {
		value = link.Segment(0)
		if value == "embed" {
			value = link.Segment(1)
		}
		if !strings.HasPrefix(value, "@") { // a page of the site, such as /foryou
			value = ""
		}
	}
	value = strings.ToLower(strings.TrimPrefix(value, "@"))
	if !handle.MatchString(value) {
		return "", providers.Invalid("a TikTok handle is the name behind the @, such as cafe.riyadh")
	}
	return value, nil
}

// named reads a shop or an advertiser, which have a name as well as a number.
func named(link *links.Link, value string) (string, error) {
	if link == nil {
		return value, nil
	}
	if id := link.Query.Get("adv_biz_ids"); id != "" {
		return id, nil
	}
	for i, segment := range link.Segments { // shop/store/NAME/NUMBER
		if segment == "store" && link.Segment(i+2) != "" {
			return link.Segment(i + 2), nil
		}
	}
	return "", providers.Invalid("%q is no page of a shop or an advertiser", value)
}

// numberIn returns the number that a page of the site is about, "" when there is none.
func numberIn(s providers.Subject, link *links.Link) string {
	if s == providers.AdID {
		return adIn(link)
	}
	if s == providers.CommentID {
		return link.Query.Get("comment_id")
	}
	words := map[providers.Subject][]string{
		providers.PostID:       {"video", "photo", "v", "v2"},
		providers.TrackID:      {"music"},
		providers.CollectionID: {"collection", "playlist"},
		providers.ProductID:    {"product", "pdp"},
	}[s]
	for i, segment := range link.Segments {
		if slices.Contains(words, segment) {
			return tail(link, i+1)
		}
	}
	return ""
}

// adIn returns the number in the address of an ad, in the ad library or among the top ads of the Creative Center.
func adIn(link *links.Link) string {
	if at := slices.Index(link.Segments, "topads"); at >= 0 && link.Host == "ads.tiktok.com" {
		return link.Segment(at + 1)
	}
	return link.Query.Get("ad_id")
}

// tail returns the number at the end of a segment, which may begin with a title: Want-to-go-7665668414573546258. The number
// of a product stands behind its title, in a segment of its own.
func tail(link *links.Link, i int) string {
	for ; i < len(link.Segments); i++ {
		s := strings.TrimSuffix(link.Segments[i], ".html")
		if n := s[strings.LastIndexByte(s, '-')+1:]; links.Digits(n) {
			return n
		}
	}
	return ""
}

// page returns the address of a page of the site, whose path may hold anything.
func page(path string) string {
	return (&url.URL{Scheme: "https", Host: "www.tiktok.com", Path: "/" + path}).String()
}

func profileURL(handle string) string { return page("@" + handle) }

// postURL returns the page of a post; TikTok does without the handle where we do not know it.
func postURL(handle, id string) string {
	if handle == "" {
		handle = "_"
	}
	return page("@" + handle + "/video/" + id)
}

// madeAt tells when the thing with an id was made: TikTok's numbers begin with the second. It is nil for a number that does
// not begin with a time at which there was anything to see.
func madeAt(id string) *time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	at := time.Unix(int64(n>>32), 0).UTC()
	if err != nil || n > math.MaxInt64 || at.Before(begin) {
		return nil
	}
	return &at
}

// begin is older than the oldest posts, which come from another app.
var begin = time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
