package spotify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var id = regexp.MustCompile(`^[0-9A-Za-z]{22}$`)

// addresses describes how addresses and identifiers of Spotify are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: append([]string{"open.spotify.com", "play.spotify.com"}, shorteners...),
	Order: []providers.Subject{providers.PostID, providers.CollectionID, providers.TrackID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.CollectionID}}, // albums
	In:    inLink, ID: canonical,
	Short:    func(l *links.Link) bool { return slices.Contains(shorteners, l.Host) && l.Segment(0) != "" },
	Searches: map[string]string{"search": "{}", "intl-*/search": "{}"},
}

// shorteners are the hosts of Spotify's short links. It is read-only.
var shorteners = []string{"spotify.link", "spotify.app.link", "spoti.fi"}

// kinds are Spotify's names for each subject, in addresses and URIs.
var kinds = map[providers.Subject][]string{
	providers.Handle: {"artist"}, providers.PostID: {"album"}, providers.TrackID: {"track", "episode"},
	providers.CollectionID: {"album", "playlist", "show"},
}

// inLink returns the kind and the id in an address, as in album/3IqzqH6ShrRtie9Yd2ODyG.
func inLink(s providers.Subject, l *links.Link) string {
	segments := l.Segments
	for len(segments) > 0 && (strings.HasPrefix(segments[0], "intl-") || strings.HasPrefix(segments[0], "embed")) {
		segments = segments[1:]
	}
	if len(segments) > 2 && segments[0] == "user" { // user/{name}/playlist/{id}, the old form
		segments = segments[2:]
	}
	if len(segments) < 2 || !slices.Contains(kinds[s], segments[0]) || !id.MatchString(segments[1]) {
		return ""
	}
	return segments[0] + "/" + segments[1]
}

// canonical accepts ids and URIs such as spotify:artist:0TnOYISbd1XYRBk9myaseg. The id of a collection keeps its kind
// if that is known, as in album/3IqzqH6ShrRtie9Yd2ODyG, and so does an episode among tracks.
func canonical(s providers.Subject, value string) (string, error) {
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

// split splits value into the kind of object that it names, "" when it is unknown, and its id, "" when value is not an
// id or a URI.
func split(value string) (kind, key string, err error) {
	if rest, ok := strings.CutPrefix(value, "spotify:"); ok {
		parts := strings.Split(rest, ":")
		if len(parts) < 2 {
			return "", "", providers.Invalid("%q does not identify anything on Spotify", value)
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
