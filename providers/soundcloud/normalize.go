package soundcloud

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	permalink = regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	urn       = regexp.MustCompile(`^soundcloud:(users|tracks|playlists):([0-9]+)$`)
	short     = regexp.MustCompile(`^https://on\.soundcloud\.com/[A-Za-z0-9]+$`)
)

// api is what the interface calls the things that have an address there.
var api = map[providers.Subject]string{
	providers.Handle: "users", providers.CollectionID: "playlists", providers.PostID: "tracks", providers.TrackID: "tracks",
}

// reserved are paths of soundcloud.com that are no accounts.
var reserved = map[string]bool{
	"charts": true, "discover": true, "feed": true, "jobs": true, "library": true, "messages": true, "mobile": true, "pages": true,
	"people": true, "search": true, "settings": true, "stations": true, "stream": true, "tags": true, "upload": true, "you": true,
}

// normalize takes permalinks, ids, URNs and URLs. An account becomes its permalink; what else has a public page becomes
// its number or the path of that page, as in ann/tea or ann/sets/tea; a short link stays one.
func normalize(s providers.Subject, value string) (string, error) {
	pasted := value
	link, err := links.Parse(value, "soundcloud.com", "on.soundcloud.com", "api.soundcloud.com")
	if err != nil {
		return "", err
	}
	if link != nil && link.Host == "on.soundcloud.com" {
		value = "https://on.soundcloud.com/" + link.Segment(0)
		if !short.MatchString(value) {
			return "", providers.Invalid("%q is no short link of SoundCloud", value)
		}
		return value, nil
	}
	if link != nil {
		value = strings.Join(link.Segments, "/")
	}
	if link != nil && link.Host == "api.soundcloud.com" { // of what has no page: tracks/1, and tracks/soundcloud:tracks:1
		if kind := link.Segment(0); links.Digits(link.Segment(1)) {
			value = "soundcloud:" + kind + ":" + link.Segment(1)
		} else {
			value = link.Segment(1)
		}
		if m := urn.FindStringSubmatch(value); m == nil || m[1] != api[s] {
			return "", providers.Invalid("%q is no %s of SoundCloud", pasted, s)
		}
		link = nil
	}
	if s == providers.Handle {
		if m := urn.FindStringSubmatch(value); m != nil && m[1] == "users" {
			return value, nil
		}
		if link != nil {
			value = link.Segment(0)
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !permalink.MatchString(value) || reserved[value] {
			return "", providers.Invalid("a SoundCloud handle is the name in the account's URL, such as pelican-song")
		}
		return value, nil
	}
	kind, set := "tracks", false
	if s == providers.CollectionID {
		kind, set = "playlists", true
	}
	if m := urn.FindStringSubmatch(value); m != nil && m[1] == kind {
		return m[2], nil
	}
	if links.Digits(value) {
		return value, nil
	}
	if path, ok := publicPath(strings.ToLower(value), set); ok {
		return path, nil
	}
	if set {
		return "", providers.Invalid("a SoundCloud collection is a playlist's number or URL")
	}
	return "", providers.Invalid("a SoundCloud post is a track's number or URL")
}

// publicPath tells whether path is the public page of a track, account/track, or of a set, account/sets/set. What follows,
// such as a private link's secret or the set that a track was played in, is left out.
func publicPath(path string, set bool) (string, bool) {
	parts := strings.Split(path, "/")
	n := 2
	if set {
		n = 3
	}
	if len(parts) < n || reserved[parts[0]] || (parts[1] == "sets") != set {
		return "", false
	}
	for _, p := range parts[:n] {
		if !permalink.MatchString(p) {
			return "", false
		}
	}
	return strings.Join(parts[:n], "/"), true
}

// site returns the public page of a normalized identifier that is no number.
func site(value string) string {
	if strings.HasPrefix(value, "https://") {
		return value
	}
	return (&url.URL{Scheme: "https", Host: "soundcloud.com", Path: "/" + value}).String()
}
