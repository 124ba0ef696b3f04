package spotify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var id = regexp.MustCompile(`^[0-9A-Za-z]{22}$`)

// normalize takes ids, URIs such as spotify:artist:0TnOYISbd1XYRBk9myaseg and URLs. The id of a collection whose kind
// is known keeps it, as in album/3IqzqH6ShrRtie9Yd2ODyG, and so does an episode among tracks.
func normalize(s providers.Subject, value string) (string, error) {
	kind, key, err := split(value)
	if err != nil {
		return "", err
	}
	if key != "" && !id.MatchString(key) {
		return "", providers.Invalid("a Spotify id has 22 letters and digits, such as 0TnOYISbd1XYRBk9myaseg")
	}
	is := func(kinds ...string) bool { return slices.Contains(kinds, kind) }
	switch s {
	case providers.Handle:
		if key == "" { // a name, which is looked up without regard to case
			return strings.ToLower(strings.Join(strings.Fields(value), " ")), nil
		}
		if is("", "artist") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify handle is an artist's id, URL or name")
	case providers.CollectionID:
		if is("album", "playlist", "show") {
			return kind + "/" + key, nil
		}
		if key != "" && is("") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify collection is the id or URL of an album, a playlist or a podcast")
	case providers.TrackID:
		if is("episode") {
			return kind + "/" + key, nil
		}
		if key != "" && is("", "track") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify track is the id or URL of a song or an episode")
	default:
		if key != "" && is("", "album") {
			return key, nil
		}
		return "", providers.Invalid("a Spotify post is an album's id or URL")
	}
}

// split takes value apart into the kind of object that it names, "" when it does not tell, and its id, "" when value is
// no id, URI or URL.
func split(value string) (kind, key string, err error) {
	link, err := links.Parse(value, "open.spotify.com", "play.spotify.com")
	switch {
	case err != nil:
		return "", "", err
	case link != nil:
		for len(link.Segments) > 0 && (strings.HasPrefix(link.Segments[0], "intl-") || strings.HasPrefix(link.Segments[0], "embed") || link.Segments[0] == "user" && len(link.Segments) > 2) {
			if link.Segments[0] == "user" { // user/{name}/playlist/{id}, the old form
				link.Segments = link.Segments[1:]
			}
			link.Segments = link.Segments[1:]
		}
		kind, key = link.Segment(0), link.Segment(1)
		if key == "" {
			return "", "", providers.Invalid("%q names nothing on Spotify", value)
		}
		return kind, key, nil
	}
	if rest, ok := strings.CutPrefix(value, "spotify:"); ok {
		parts := strings.Split(rest, ":")
		if len(parts) < 2 {
			return "", "", providers.Invalid("%q names nothing on Spotify", value)
		}
		return parts[len(parts)-2], parts[len(parts)-1], nil
	}
	if kind, key, ok := strings.Cut(value, "/"); ok && id.MatchString(key) { // our own form
		return kind, key, nil
	}
	if id.MatchString(value) {
		return "", value, nil
	}
	return "", "", nil
}
