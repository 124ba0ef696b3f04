package twitch

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	login = regexp.MustCompile(`^[a-z0-9_]{1,25}$`)
	slug  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
)

// reserved are paths of twitch.tv that are no channels.
var reserved = map[string]bool{
	"clip": true, "collections": true, "directory": true, "downloads": true, "drops": true, "friends": true, "inventory": true, "jobs": true,
	"login": true, "p": true, "search": true, "settings": true, "signup": true, "store": true, "subscriptions": true,
	"team": true, "turbo": true, "videos": true, "wallet": true,
}

// normalize folds a login, which ignores case, and reduces a post to the number of a video or the slug of a clip. A
// handle that no login can be is left for the look-up to miss.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "twitch.tv", "clips.twitch.tv", "player.twitch.tv", "go.twitch.tv")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link == nil {
			return bare(value)
		}
		name := link.Segment(0)
		switch {
		case name == "popout" || name == "moderator" || name == "embed" || name == "subs":
			name = link.Segment(1)
		case link.Host == "player.twitch.tv":
			name = link.Query.Get("channel")
		}
		name = strings.ToLower(name)
		if link.Host == "clips.twitch.tv" || reserved[name] || !login.MatchString(name) {
			return "", errHandle
		}
		return name, nil
	}
	if link != nil {
		value = postOf(link)
	}
	if !slug.MatchString(value) {
		return "", providers.Invalid("a Twitch post is the number of a video, the slug of a clip, or the URL of either")
	}
	return value, nil
}

var errHandle = providers.Invalid("a Twitch handle is a login such as twitchdev, or the URL of a channel")

func bare(handle string) (string, error) {
	handle = strings.ToLower(strings.TrimLeft(handle, "@"))
	if handle == "" {
		return "", errHandle
	}
	return handle, nil
}

// postOf finds the video or clip that a URL names, "" when it names none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Host == "clips.twitch.tv" && first == "embed":
		return l.Query.Get("clip")
	case l.Host == "clips.twitch.tv":
		return first
	case l.Host == "player.twitch.tv":
		return strings.TrimPrefix(l.Query.Get("video"), "v")
	case first == "videos" && links.Digits(second), first == "clip":
		return second
	case (second == "video" || second == "v" || second == "videos") && links.Digits(third):
		return third
	case second == "clip":
		return third
	}
	return ""
}
