package youtube

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	channelID  = regexp.MustCompile(`^UC[A-Za-z0-9_-]{22}$`)
	videoID    = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)
	playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{2,64}$`)
	commentID  = regexp.MustCompile(`^[A-Za-z0-9_-]{10,64}(\.[A-Za-z0-9_-]{10,64})?$`)
)

// isHandle reports whether s has the form of a handle without @.
func isHandle(s string) bool {
	return links.Within(s, 100, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.M) || strings.ContainsRune("_.·-", r)
	})
}

// inForm returns an id that matches form, otherwise "": an object with an empty id is invalid.
func inForm(form *regexp.Regexp, id string) string {
	if !form.MatchString(id) {
		return ""
	}
	return id
}

// legacy is the prefix of user names that YouTube assigned until 2012: they are not handles, and need another
// parameter.
const legacy = "user/"

// pages are first path segments of youtube.com that are not channels.
var pages = map[string]bool{
	"about": true, "account": true, "ads": true, "channel": true, "clip": true, "creators": true, "embed": true, "feed": true,
	"feeds": true, "gaming": true, "hashtag": true, "howyoutubeworks": true, "live": true, "logout": true, "playlist": true,
	"playlists": true, "podcasts": true, "post": true, "premium": true, "redirect": true, "results": true, "shorts": true,
	"signin": true, "t": true, "trending": true, "tv": true, "upload": true, "user": true, "watch": true,
}

// addresses describes how the addresses and identifiers of YouTube are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"youtube.com", "youtu.be", "music.youtube.com", "youtube-nocookie.com", "gaming.youtube.com"},
	Order: []providers.Subject{providers.CommentID, providers.PostID, providers.CollectionID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.CommentID: {providers.PostID},
		providers.PostID:    {providers.CollectionID}, // a video in a playlist
	},
	In: inLink, ID: canonical,
	Searches: map[string]string{"results": "{search_query}", "search": "{q}", "hashtag": "#{}"},
}

// canonical converts a channel to its id, its handle in lower case without @, or user/ and its former user name. It
// checks the id of a video, a playlist or a comment.
func canonical(s providers.Subject, value string) (string, error) {
	switch {
	case s == providers.PostID && !videoID.MatchString(value):
		return "", providers.Invalid("a YouTube video is given by its id of eleven characters, such as dQw4w9WgXcQ, or its URL")
	case s == providers.CollectionID && !playlistID.MatchString(value):
		return "", providers.Invalid("a YouTube playlist is given by its id, which begins with PL, or its URL")
	case s == providers.CommentID && !commentID.MatchString(value):
		return "", providers.Invalid("a YouTube comment is given by its id, such as UgxAbCdEfGhIjKlMnOp4AaABAg, or its URL")
	case s != providers.Handle, channelID.MatchString(value):
		return value, nil
	}
	if name, ok := strings.CutPrefix(value, legacy); ok && isHandle(name) {
		return value, nil
	}
	if value = strings.ToLower(strings.TrimPrefix(value, "@")); !isHandle(value) {
		return "", providers.Invalid("a YouTube handle is a name such as @youtube, or a channel id")
	}
	return value, nil
}

// inLink returns the identifier of kind s in a public URL, or "" when there is none.
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
			return second // most owners have kept the name as their handle
		case len(l.Segments) == 1 && l.Host == "youtube.com" && !pages[first]:
			return first // the short form of the same
		}
		return ""
	case providers.PostID:
		switch {
		case l.Host == "youtu.be":
			return first
		case first == "watch":
			return l.Param("v")
		case first == "embed" && second == "videoseries": // a playlist
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
