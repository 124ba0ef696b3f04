package twitch

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	login = regexp.MustCompile(`^[a-z0-9_]{1,25}$`)
	slug  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
)

// reserved are paths of twitch.tv that are not channels.
var reserved = map[string]bool{
	"clip": true, "collections": true, "directory": true, "downloads": true, "drops": true, "friends": true, "inventory": true, "jobs": true,
	"login": true, "logout": true, "p": true, "search": true, "settings": true, "signup": true, "store": true, "subscriptions": true,
	"team": true, "turbo": true, "videos": true, "wallet": true,
}

// addresses describes how the addresses and identifiers of Twitch are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"twitch.tv", "clips.twitch.tv", "player.twitch.tv", "go.twitch.tv"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.Handle}},
	In: func(s providers.Subject, l *links.Link) string {
		if s == providers.Handle {
			return channelIn(l)
		}
		return postOf(l)
	},
	ID: canonical, Searches: map[string]string{"search": "{term}", "directory/all/tags": "{}"},
}

// canonical converts a login, which ignores case, to lower case, and checks the number of a video or the slug of a
// clip.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		if value = strings.ToLower(strings.TrimPrefix(value, "@")); !login.MatchString(value) {
			return "", providers.Invalid("a Twitch handle is a login such as twitchdev, or the URL of a channel")
		}
		return value, nil
	}
	if !slug.MatchString(value) {
		return "", providers.Invalid("a Twitch post is the number of a video, the slug of a clip, or the URL of either")
	}
	return value, nil
}

// channelIn returns the channel in a URL, "" if there is none.
func channelIn(l *links.Link) string {
	name := l.Segment(0)
	switch {
	case l.Host == "player.twitch.tv":
		name = l.Param("channel")
	case l.Host == "clips.twitch.tv":
		return ""
	case name == "popout" || name == "moderator" || name == "embed" || name == "subs":
		name = l.Segment(1)
	}
	if name = strings.ToLower(name); reserved[name] || !login.MatchString(name) {
		return ""
	}
	return name
}

// postOf returns the video or clip in a URL, "" if there is none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Host == "clips.twitch.tv" && first == "embed":
		return l.Param("clip")
	case l.Host == "clips.twitch.tv":
		return first
	case l.Host == "player.twitch.tv":
		return strings.TrimPrefix(l.Param("video"), "v")
	case first == "videos" && links.Digits(second), first == "clip":
		return second
	case (second == "video" || second == "v" || second == "videos") && links.Digits(third):
		return third
	case second == "clip":
		return third
	}
	return ""
}
