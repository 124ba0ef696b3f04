package facebook

import (
	"cmp"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

// hosts are the host names of the site, the short ones last.
var hosts = []string{"facebook.com", ".facebook.com", "fb.com", "fb.me", "fb.watch"}

var (
	username = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,79}$`)
	postID   = regexp.MustCompile(`^(?:[a-z0-9.-]+_)?(?:\d+|pfbid[A-Za-z0-9]+)$`)
	// commentID is {post}_{comment}.
	commentID = regexp.MustCompile(`^\d+_\d+$`)
	short     = regexp.MustCompile(`^e/[A-Za-z0-9]+$`)
)

// addresses describes how Facebook's addresses and identifiers are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: hosts,
	Order: []providers.Subject{
		providers.CommentID, providers.EventID, providers.AdID, providers.PostID, providers.CollectionID, providers.CommunityID,
		providers.Handle, providers.AdvertiserID,
	},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID: {providers.PostID},
		providers.PostID:    {providers.CommunityID, providers.Handle, providers.AdvertiserID},
		providers.Handle:    {providers.AdvertiserID},
	},
	In: inLink, ID: canonical, Short: isShared,
	Searches: map[string]string{
		"search": "{q}", "hashtag": "#{}", "watch/search": "{q}", "watch/hashtag": "#{}",
	},
	AdSearches: map[string]string{"ads/library": "{q}"},
	Country: func(l *links.Link) string {
		if l.Segment(0) != "ads" {
			return ""
		}
		return l.Param("country")
	},
}

// isShared reports whether l is a short address that only the site can resolve. Short addresses of events are kept as
// they are.
func isShared(l *links.Link) bool {
	switch {
	case l.Host == "fb.me" || l.Host == "fb.watch":
		return len(l.Segments) > 0 && eventIn(l) == ""
	case l.Segment(0) == "share":
		return l.Segment(1) != ""
	}
	return false
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch s {
	case providers.Handle:
		return pageIn(l)
	case providers.AdvertiserID:
		if of := l.Param("view_all_page_id"); of != "" { // of the Ad Library
			return of
		}
		return pageIn(l)
	case providers.PostID:
		return postIn(l)
	case providers.CommentID:
		return commentIn(l)
	case providers.EventID:
		return eventIn(l)
	case providers.CommunityID:
		if l.Segment(0) == "groups" {
			return l.Segment(1)
		}
	case providers.AdID: // ads/library/?id=1
		if l.Segment(0) == "ads" {
			return l.Param("id")
		}
	case providers.CollectionID:
		return albumIn(l)
	default:
	}
	return ""
}

// canonical reduces an address or identifier to its short form: a Page's name in lower case or its number, a post's
// {page}_{post}, a comment's {post}_{comment}, and an event's number.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle, providers.AdvertiserID:
		return handle(value)
	case providers.PostID:
		return post(value)
	case providers.CommentID:
		return comment(value)
	case providers.EventID:
		return event(value)
	case providers.CommunityID:
		return group(value)
	case providers.AdID:
		return number(value, "ad", "its page in the ad library")
	case providers.CollectionID:
		return number(value, "album", "its URL")
	default:
		return value, nil
	}
}

// number returns the number of a thing that has no other name.
func number(value, thing, other string) (string, error) {
	if !links.Digits(value) || strings.Trim(value, "0") == "" || len(value) > 20 {
		return "", providers.Invalid("a Facebook %s is a number, or %s", thing, other)
	}
	return value, nil
}

// albumIn returns the number of the album in an address such as album.php?fbid=1 or media/set/?set=a.1, "" when there
// is none.
func albumIn(link *links.Link) string {
	switch link.Segment(0) {
	case "album.php":
		return link.Param("fbid")
	case "media":
		set := strings.TrimPrefix(link.Param("set"), "a.")
		set, _, _ = strings.Cut(set, ".")
		return set
	}
	return ""
}

// reserved are first path segments that are not names of Pages.
var reserved = []string{
	"events", "groups", "watch", "reel", "reels", "marketplace", "photo", "photo.php", "permalink.php", "story.php", "home.php",
	"bookmarks", "friends", "messages", "notifications", "settings", "saved", "people.php", "recover", "r.php", "signup", "about",
	"share", "sharer", "sharer.php", "help", "hashtag", "search", "gaming", "ads", "login", "login.php", "l.php",
	"policies", "privacy", "stories", "video.php", "event.php", "plugins", "dialog", "media", "album.php",
}

// handle returns a Page's name, which ignores case, or its number.
func handle(value string) (string, error) {
	value = strings.ToLower(strings.TrimLeft(value, "@"))
	if slices.Contains(reserved, value) || !username.MatchString(value) {
		return "", providers.Invalid("a Facebook handle is a Page's name or number, or its URL")
	}
	return value, nil
}

// pageIn returns the Page in an address, "" when there is none.
func pageIn(link *links.Link) string {
	switch first := link.Segment(0); first {
	case "profile.php", "permalink.php", "story.php":
		return link.Param("id")
	case "pages", "p", "people", "pg": // pages/Name/123, p/Name-123, people/Name/123, pg/name
		last := link.Last()
		if first == "pg" {
			last = link.Segment(1)
		}
		return last[strings.LastIndexByte(last, '-')+1:]
	default:
		if slices.Contains(reserved, strings.ToLower(first)) {
			return ""
		}
		if number := first[strings.LastIndexByte(first, '-')+1:]; number != first && links.Digits(number) {
			return number // after the title of a Page without a name of its own: Tea-House-300100
		}
		return first
	}
}

// group returns the name of a group, which ignores case, or its number.
func group(value string) (string, error) {
	if value = strings.ToLower(value); !username.MatchString(value) {
		return "", providers.Invalid("a Facebook group is its name or number, or its URL")
	}
	return value, nil
}

// post returns {page}_{post}, in which the page may be a name, or the number of a video.
func post(value string) (string, error) {
	if at := strings.LastIndexByte(value, '_'); at >= 0 {
		value = strings.ToLower(value[:at]) + value[at:]
	}
	if !postID.MatchString(value) {
		return "", providers.Invalid("a Facebook post is {page}_{post}, the number of a video, or the URL of one")
	}
	return value, nil
}

// postIn returns the post in an address, "" when there is none.
func postIn(link *links.Link) string {
	last := link.Last()
	switch first, second := link.Segment(0), link.Segment(1); {
	case first == "permalink.php" && link.Param("story_fbid") != "", first == "story.php" && link.Param("story_fbid") != "":
		return link.Param("id") + "_" + link.Param("story_fbid")
	case first == "watch", first == "video.php":
		return link.Param("v")
	case len(link.Segments) == 2 && (second == "videos" || second == "reels" || second == "photos" || second == "posts"):
		return "" // a tab of an account
	case first == "reel", first == "reels", second == "videos", second == "reels":
		return last
	case first == "photo", first == "photo.php":
		return link.Param("fbid")
	case first == "groups" && len(link.Segments) > 3, first == "groups" && second == "permalink":
		return second + "_" + last
	case second == "photos", second == "posts": // a photo has the number of its post
		return first + "_" + last
	case len(link.Segments) == 1 && (strings.Contains(first, "_") || link.Param("comment_id") != ""): // a post's full id
		return first
	}
	return ""
}

// comment returns {post}_{comment}, which newer addresses have in base64.
func comment(value string) (string, error) {
	if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=")); err == nil {
		if id, is := strings.CutPrefix(string(b), "comment:"); is {
			value = id
		}
	}
	if !commentID.MatchString(value) {
		return "", providers.Invalid("a Facebook comment is {post}_{comment}, two numbers, or the comment's URL")
	}
	return value, nil
}

// commentIn returns the comment in an address, "" when there is none. The address has its post elsewhere.
func commentIn(link *links.Link) string {
	id := cmp.Or(link.Param("reply_comment_id"), link.Param("comment_id"))
	if !links.Digits(id) {
		return id
	}
	of := postIn(link)
	return of[strings.LastIndexByte(of, '_')+1:] + "_" + id
}

// event returns the number of an event. When there are several in a row, it is the last, which is one date of a series.
// A short address stays as it is, since only Facebook can resolve it.
func event(value string) (string, error) {
	if isShort(value) || links.Digits(value) && len(value) >= 8 && len(value) <= 20 {
		return value, nil
	}
	return "", providers.Invalid("a Facebook event is a number of eight digits or more, or the event's URL")
}

func isShort(id string) bool { return short.MatchString(id) }

func eventIn(link *links.Link) string {
	path := strings.Join(link.Segments, "/")
	switch {
	case link.Host == "fb.me" && isShort(path):
		return path
	case link.Segment(0) == "event.php":
		return link.Param("eid")
	case link.Segment(0) != "events" && link.Segment(2) != "events": // groups/{group}/events/{event} too
		return ""
	}
	if at := link.Param("event_time_id"); links.Digits(at) {
		return at
	}
	number := ""
	for _, segment := range link.Segments[slices.Index(link.Segments, "events"):] {
		if links.Digits(segment) {
			number = segment
		} else if number != "" {
			break // what comes after the event, such as permalink/1
		}
	}
	return number
}
