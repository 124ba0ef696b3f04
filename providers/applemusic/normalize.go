package applemusic

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var playlistID = regexp.MustCompile(`^pl\.[A-Za-z0-9-]+$`)

// addresses describes how the addresses and identifiers of Apple Music are parsed, in any storefront.
func addresses(markets *links.Markets) *links.Site {
	return &links.Site{
		Hosts: []string{"music.apple.com", ".music.apple.com", "itunes.apple.com", "geo.itunes.apple.com"},
		Order: []providers.Subject{providers.TrackID, providers.PostID, providers.CollectionID, providers.Handle},
		Also: map[providers.Subject][]providers.Subject{
			providers.TrackID: {providers.PostID, providers.CollectionID}, // a song on its album
			providers.PostID:  {providers.CollectionID},
		},
		In: inLink, ID: canonical,
		Searches: map[string]string{"music.apple.com/search": "{term}", "music.apple.com/??/search": "{term}"},
		Country:  func(l *links.Link) string { return l.Segment(0) },
		Markets:  markets,
	}
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	kind, id := object(l)
	switch {
	case s == providers.TrackID && kind == "album":
		return l.Param("i")
	case s == providers.TrackID && kind == "song", s == providers.PostID && kind == "album", s == providers.Handle && kind == "artist",
		s == providers.CollectionID && (kind == "album" || kind == "playlist"):
		if links.Digits(id) != (kind == "playlist") {
			return id
		}
	}
	return ""
}

// canonical checks an id. An artist may also be given by name.
func canonical(s providers.Subject, value string) (string, error) {
	switch {
	case s == providers.Handle && !links.Digits(value): // a name, which is looked up ignoring case
		return strings.ToLower(strings.Join(strings.Fields(value), " ")), nil
	case links.Digits(value), s == providers.CollectionID && playlistID.MatchString(value):
		return value, nil
	case s == providers.TrackID:
		return "", providers.Invalid("an Apple Music track is a song's id or URL")
	case s == providers.CollectionID:
		return "", providers.Invalid("an Apple Music collection is the id or URL of an album or a playlist")
	}
	return "", providers.Invalid("an Apple Music post is an album's id or URL")
}

// object extracts the kind and the id from a path such as us/album/some-words/1728639278 or, in the former format,
// us/album/id1728639278.
func object(link *links.Link) (kind, id string) {
	segments := link.Segments
	if len(segments) > 0 && len(segments[0]) == 2 {
		segments = segments[1:]
	}
	for i := min(2, len(segments)-1); i > 0; i-- { // the words may be missing, and may be a number
		if id := strings.TrimPrefix(segments[i], "id"); links.Digits(id) || playlistID.MatchString(id) {
			return segments[0], id
		}
	}
	return "", ""
}
