package youtube

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	channelID  = regexp.MustCompile(`^UC[A-Za-z0-9_-]{22}$`)
	videoID    = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)
	playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{2,64}$`)
	commentID  = regexp.MustCompile(`^[A-Za-z0-9_-]{10,64}(\.[A-Za-z0-9_-]{10,64})?$`)
)

// isHandle tells whether s has the form of a handle without @.
func isHandle(s string) bool {
	return links.Within(s, 100, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.M) || strings.ContainsRune("_.·-", r)
	})
}

// inForm returns an id of the form, "" for any other: an object with such an id is invalid.
func inForm(form *regexp.Regexp, id string) string {
	if !form.MatchString(id) {
		return ""
	}
	return id
}

// legacy stands before the user names that YouTube gave until 2012: they are no handles, and are asked for in another
// way.
const legacy = "user/"

// pages are first segments of youtube.com that are no channels.
var pages = map[string]bool{
	"about": true, "account": true, "ads": true, "channel": true, "clip": true, "creators": true, "embed": true, "feed": true,
	"feeds": true, "gaming": true, "hashtag": true, "howyoutubeworks": true, "live": true, "logout": true, "playlist": true,
	"playlists": true, "podcasts": true, "post": true, "premium": true, "redirect": true, "results": true, "shorts": true,
	"signin": true, "t": true, "trending": true, "tv": true, "upload": true, "user": true, "watch": true,
}

// addresses is how the addresses and identifiers of YouTube are read. Read only.
var addresses = &links.Site{
	Hosts: []string{"youtube.com", "youtu.be", "music.youtube.com", "youtube-nocookie.com", "gaming.youtube.com"},
	Order: []providers.Subject{providers.CommentID, providers.PostID, providers.CollectionID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID: {providers.PostID},
		providers.PostID:    {providers.CollectionID}, // a video that is played in a list
	},
	In: inLink, ID: canonical,
}

// canonical reduces a channel to its id, its handle in lower case without @, or user/ and its old user name. An id of a
// video, playlist or comment that has a wrong form is left as it is: there is no such video, which is not the same as a
// question that makes no sense.
func canonical(s providers.Subject, value string) (string, error) {
	if s != providers.Handle || channelID.MatchString(value) {
		return value, nil
	}
	if name, ok := strings.CutPrefix(value, legacy); ok && isHandle(name) {
		return value, nil
	}
	if value = strings.ToLower(strings.TrimPrefix(value, "@")); !isHandle(value) {
		return "", providers.Invalid("a YouTube handle is one such as @youtube, or a channel id")
	}
	return value, nil
}

// inLink finds the identifier in a public URL; "" when it is not there.
func inLink(s providers.Subject, l *links.Link) string {
	first, second := l.Segment(0), l.Segment(1)
	switch s {
	case providers.Handle:
		switch {
		case strings.HasPrefix(first, "@"):
			return first
		case first == "channel" && channelID.MatchString(second):
			return second
		case first == "user" && second != "":
			return legacy + second
		case first == "c":
			return second // its owner has most often kept the name as the handle
		case len(l.Segments) == 1 && l.Host == "youtube.com" && !pages[first]:
			return first // the same, shorter
		}
		return ""
	case providers.PostID:
		switch {
		case l.Host == "youtu.be":
			return first
		case first == "watch":
			return l.Param("v")
		case first == "embed" && second == "videoseries": // of a playlist
			return ""
		case first == "shorts", first == "live", first == "embed", first == "v", first == "e":
			return second
		}
		return ""
	case providers.CollectionID:
		return l.Param("list")
	case providers.CommentID:
		return l.Param("lc")
	default:
		return ""
	}
}
