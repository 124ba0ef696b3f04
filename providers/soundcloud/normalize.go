package soundcloud

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	permalink = regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	urn       = regexp.MustCompile(`^soundcloud:(users|tracks|playlists):([0-9]+)$`)
	short     = regexp.MustCompile(`^https://on\.soundcloud\.com/[A-Za-z0-9]+$`)
)

// api maps subjects to the API's names for them.
var api = map[providers.Subject]string{
	providers.Handle: "users", providers.CollectionID: "playlists", providers.PostID: "tracks", providers.TrackID: "tracks",
}

// reserved are paths of soundcloud.com that are not accounts.
var reserved = map[string]bool{
	"charts": true, "discover": true, "feed": true, "imprint": true, "jobs": true, "library": true, "login": true, "logout": true,
	"notifications": true, "signin": true, "signup": true, "messages": true, "mobile": true, "pages": true,
	"people": true, "search": true, "settings": true, "stations": true, "stream": true, "tags": true, "upload": true, "you": true,
}

// shortener is the host of SoundCloud's short links.
const shortener = "on.soundcloud.com"

// addresses describes how addresses and identifiers of SoundCloud are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"soundcloud.com", shortener, "api.soundcloud.com"},
	Order: []providers.Subject{providers.CollectionID, providers.TrackID, providers.Handle},
	Also: map[providers.Subject][]providers.Subject{
		providers.TrackID:      {providers.PostID, providers.Handle},
		providers.CollectionID: {providers.Handle},
		providers.ShortLink: { // what it leads to is only known once it is read
			providers.Handle, providers.TrackID, providers.PostID, providers.CollectionID,
		},
	},
	In: inLink, ID: canonical,
	Short:    func(l *links.Link) bool { return l.Host == shortener && l.Segment(0) != "" },
	Searches: map[string]string{"search": "{q}", "tags": "#{}"},
}

// tabs are the parts of an account's page that are not its tracks.
var tabs = []string{
	"albums", "comments", "followers", "following", "likes", "playlists", "popular-tracks", "reposts", "sets", "spotlight", "tracks",
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	path := strings.ToLower(strings.Join(l.Segments, "/"))
	switch {
	case l.Host == shortener:
		return "https://" + shortener + "/" + l.Segment(0)
	case l.Host == "api.soundcloud.com": // for things without a page: tracks/1, and tracks/soundcloud:tracks:1
		value := l.Segment(1)
		if links.Digits(value) {
			value = "soundcloud:" + l.Segment(0) + ":" + value
		}
		if m := urn.FindStringSubmatch(value); m == nil || m[1] != api[s] {
			return ""
		}
		return value
	case s == providers.Handle:
		return l.Segment(0)
	case s == providers.CollectionID:
		path, _ = publicPath(path, true)
		return path
	case slices.Contains(tabs, strings.ToLower(l.Segment(1))):
		return ""
	}
	path, _ = publicPath(path, false)
	return path
}

// canonical accepts permalinks, ids and URNs. An account becomes its permalink. Anything else with a public page
// becomes its number or the path of that page, as in ann/tea or ann/sets/tea; a short link stays one.
func canonical(s providers.Subject, value string) (string, error) {
	m := urn.FindStringSubmatch(value)
	switch {
	case short.MatchString(value):
		return value, nil
	case s == providers.Handle:
		if m != nil && m[1] == "users" {
			return value, nil
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
	if m != nil && m[1] == kind {
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

// publicPath reports whether path is the public page of a track, account/track, or of a set, account/sets/set. It cuts
// off what follows, such as a private link's secret or the set in which a track was played.
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

// site returns the address of the public page of a normalized identifier that is not a number.
func site(value string) string {
	if strings.HasPrefix(value, "https://") {
		return value
	}
	return (&url.URL{Scheme: "https", Host: "soundcloud.com", Path: "/" + value}).String()
}
