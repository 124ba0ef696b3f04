package facebook

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

// hosts are the names of the site, the short ones last.
var hosts = []string{"facebook.com", ".facebook.com", "fb.com", "fb.me", "fb.watch"}

var (
	username = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,79}$`)
	postID   = regexp.MustCompile(`^(?:[a-z0-9.-]+_)?(?:\d+|pfbid[A-Za-z0-9]+)$`)
	// commentID is {post}_{comment}.
	commentID = regexp.MustCompile(`^\d+_\d+$`)
	short     = regexp.MustCompile(`^e/[A-Za-z0-9]+$`)
)

// normalize reduces what people paste to a Page's name in lower case or its number, a post's {page}_{post}, a comment's
// {post}_{comment}, and an event's number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, hosts...)
	for range 2 { // what leads to another page of the site names it
		if err != nil || link == nil {
			break
		}
		to := link.Query.Get("u") + link.Query.Get("next")
		if first := strings.TrimSuffix(link.Segment(0), ".php"); (first != "l" && first != "login") || to == "" {
			break
		}
		value = to
		link, err = links.Parse(value, hosts...)
	}
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle, providers.AdvertiserID:
		return handle(value, link)
	case providers.PostID:
		return post(value, link)
	case providers.CommentID:
		return comment(value, link)
	case providers.EventID:
		return event(value, link)
	case providers.CommunityID:
		return group(value, link)
	case providers.AdID:
		if link != nil { // ads/library/?id=1
			value = link.Query.Get("id")
		}
		return number(value, "ad", "its page in the ad library")
	case providers.CollectionID:
		if link != nil {
			value = albumIn(link)
		}
		return number(value, "album", "its URL")
	default:
		return value, nil
	}
}

// number gives the number of a thing that has no other name.
func number(value, thing, other string) (string, error) {
	if !links.Digits(value) || strings.Trim(value, "0") == "" || len(value) > 20 {
		return "", providers.Invalid("a Facebook %s is a number, or %s", thing, other)
	}
	return value, nil
}

// albumIn gives the number of the album in an address such as album.php?fbid=1 or media/set/?set=a.1, "" when it names none.
func albumIn(link *links.Link) string {
	switch link.Segment(0) {
	case "album.php":
		return link.Query.Get("fbid")
	case "media":
		set := strings.TrimPrefix(link.Query.Get("set"), "a.")
		set, _, _ = strings.Cut(set, ".")
		return set
	}
	return ""
}

// reserved are first segments of paths that name no Page.
var reserved = []string{
	"events", "groups", "watch", "reel", "reels", "marketplace", "photo", "photo.php", "permalink.php", "story.php",
	"share", "sharer", "sharer.php", "help", "hashtag", "search", "gaming", "ads", "login", "login.php", "l.php",
	"policies", "privacy", "stories", "video.php", "event.php", "plugins", "dialog", "media", "album.php",
}

// handle gives a Page's name, which ignores case, or its number.
func handle(value string, link *links.Link) (string, error) {
	if link != nil {
		value = pageIn(link)
		if of := link.Query.Get("view_all_page_id"); of != "" { // of the Ad Library
			value = of
		}
	}
	value = strings.ToLower(strings.TrimLeft(value, "@"))
	if slices.Contains(reserved, value) || !username.MatchString(value) {
		return "", providers.Invalid("a Facebook handle is a Page's name or number, or its URL")
	}
	return value, nil
}

// pageIn gives the Page in an address, "" when it names none.
func pageIn(link *links.Link) string {
	switch first := link.Segment(0); first {
	case "profile.php", "permalink.php", "story.php":
		return link.Query.Get("id")
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
			return number // of a Page without a name of its own, behind its title: Tea-House-300100
		}
		return first
	}
}

// group gives the name of a group, which ignores case, or its number.
func group(value string, link *links.Link) (string, error) {
	if link != nil {
		if value = ""; link.Segment(0) == "groups" {
			value = link.Segment(1)
		}
	}
	if value = strings.ToLower(value); !username.MatchString(value) {
		return "", providers.Invalid("a Facebook group is its name or number, or its URL")
	}
	return value, nil
}

// post gives {page}_{post}, where the page may be a name, or the number of a video.
func post(value string, link *links.Link) (string, error) {
	if link != nil {
		value = postIn(link)
	}
	if at := strings.LastIndexByte(value, '_'); at >= 0 {
		value = strings.ToLower(value[:at]) + value[at:]
	}
	if !postID.MatchString(value) {
		return "", providers.Invalid("a Facebook post is {page}_{post}, the number of a video, or the URL of one")
	}
	return value, nil
}

func postIn(link *links.Link) string {
	q := link.Query
	last := link.Last()
	switch first := link.Segment(0); {
	case first == "permalink.php", first == "story.php":
		return q.Get("id") + "_" + q.Get("story_fbid")
	case first == "watch", first == "video.php":
		return q.Get("v")
	case first == "reel", first == "reels", link.Segment(1) == "videos", link.Segment(1) == "reels":
		return last
	case first == "photo", first == "photo.php":
		return q.Get("fbid")
	case link.Segment(1) == "photos": // a photo's number is that of its post
		return first + "_" + last
	case first == "groups":
		return link.Segment(1) + "_" + last
	case link.Segment(1) == "posts":
		return first + "_" + last
	case len(link.Segments) == 1: // the address of a post by its whole id
		return first
	}
	return ""
}

// comment gives {post}_{comment}. Addresses name the two apart, and newer ones in base64.
func comment(value string, link *links.Link) (string, error) {
	if link != nil {
		of := postIn(link)
		of = of[strings.LastIndexByte(of, '_')+1:]
		id := link.Query.Get("reply_comment_id")
		if id == "" {
			id = link.Query.Get("comment_id")
		}
		if value = id; links.Digits(id) {
			value = of + "_" + id
		}
	}
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

// event gives the number of an event: of several in a row the last one, which is one date of several. A short address stays,
// since only Facebook knows where it leads.
func event(value string, link *links.Link) (string, error) {
	if link != nil {
		value = eventIn(link)
	}
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
		return link.Query.Get("eid")
	case link.Segment(0) != "events" && link.Segment(2) != "events": // groups/{group}/events/{event} too
		return ""
	case links.Digits(link.Query.Get("event_time_id")):
		return link.Query.Get("event_time_id")
	}
	number := ""
	for _, segment := range link.Segments[slices.Index(link.Segments, "events"):] {
		if links.Digits(segment) {
			number = segment
		} else if number != "" {
			break // what stands behind the event, such as permalink/1
		}
	}
	return number
}
