package kick

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	slug = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	clip = regexp.MustCompile(`^clip_[0-9A-Za-z]{1,64}$`)
)

// reserved are paths of kick.com that are not channels.
var reserved = map[string]bool{
	"api": true, "browse": true, "categories": true, "category": true, "clips": true, "community-guidelines": true,
	"dashboard": true, "following": true, "login": true, "signup": true, "privacy-policy": true, "search": true, "terms-of-service": true, "video": true,
}

// addresses describes how the addresses and identifiers of Kick are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"kick.com", "player.kick.com", "clips.kick.com"},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.Handle}},
	In: func(s providers.Subject, l *links.Link) string {
		if s != providers.Handle {
			return postOf(l)
		}
		name := l.Segment(0)
		if name == "popout" {
			name = l.Segment(1)
		}
		if reserved[strings.ToLower(name)] {
			return ""
		}
		return name
	},
	ID: canonical, Searches: map[string]string{"search": "{query}"},
}

// canonical converts a handle to its slug, which is lower case and has - in place of _, and a post to the UUID of a
// recording or the id of a clip.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		value = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, "@")), "_", "-")
		if !slug.MatchString(value) {
			return "", providers.Invalid("a Kick handle is a channel's name such as xqc, or its URL")
		}
		return value, nil
	}
	if id := strings.ToLower(value); uuid.MatchString(id) {
		return id, nil
	}
	if !clip.MatchString(value) {
		return "", providers.Invalid("a Kick post is the UUID of a video, the id of a clip such as clip_01ABC, or the URL of either")
	}
	return value, nil
}

// postOf returns the recording or clip in a URL, "" if there is none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Param("clip") != "":
		return l.Param("clip")
	case second == "videos" || second == "clips":
		return third
	case first == "video" || first == "clips":
		return second
	}
	return ""
}
