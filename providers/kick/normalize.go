package kick

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	slug = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	clip = regexp.MustCompile(`^clip_[0-9A-Za-z]{1,64}$`)
)

// reserved are paths of kick.com that are no channels.
var reserved = map[string]bool{
	"api": true, "browse": true, "categories": true, "category": true, "clips": true, "community-guidelines": true,
	"dashboard": true, "following": true, "privacy-policy": true, "search": true, "terms-of-service": true, "video": true,
}

// normalize reduces a handle to its slug, which is lower case and has - where the name has _; and a post to the UUID of
// a recording or the id of a clip.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "kick.com", "player.kick.com", "clips.kick.com")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(0)
			if value == "popout" {
				value = link.Segment(1)
			}
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if value = strings.ReplaceAll(value, "_", "-"); !slug.MatchString(value) || link != nil && reserved[value] {
			return "", providers.Invalid("a Kick handle is a channel's name such as xqc, or its URL")
		}
		return value, nil
	}
	if link != nil {
		value = postOf(link)
	}
	if id := strings.ToLower(value); uuid.MatchString(id) {
		return id, nil
	}
	if !clip.MatchString(value) {
		return "", providers.Invalid("a Kick post is the UUID of a video, the id of a clip such as clip_01ABC, or the URL of either")
	}
	return value, nil
}

// postOf finds the recording or clip that a URL names, "" when it names none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Query.Get("clip") != "":
		return l.Query.Get("clip")
	case second == "videos" || second == "clips":
		return third
	case first == "video" || first == "clips":
		return second
	}
	return ""
}
