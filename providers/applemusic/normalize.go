package applemusic

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var playlistID = regexp.MustCompile(`^pl\.[A-Za-z0-9-]+$`)

// normalize takes ids and the URLs of any storefront. An artist may also be named.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "music.apple.com", ".music.apple.com", "itunes.apple.com", "geo.itunes.apple.com")
	if err != nil {
		return "", err
	}
	kind, id := "", value
	if link != nil {
		kind, id = object(link)
	}
	is := func(one string) bool { return kind == one || link == nil }
	switch s {
	case providers.Handle:
		if link == nil && !links.Digits(id) { // a name, which is looked up without regard to case
			return strings.ToLower(strings.Join(strings.Fields(id), " ")), nil
		}
		if is("artist") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music handle is an artist's id, URL or name")
	case providers.TrackID:
		if link != nil && kind == "album" {
			kind, id = "song", link.Query.Get("i")
		}
		if is("song") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music track is a song's id or URL")
	case providers.CollectionID:
		if is("album") && links.Digits(id) || is("playlist") && playlistID.MatchString(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music collection is the id or URL of an album or a playlist")
	default:
		if is("album") && links.Digits(id) {
			return id, nil
		}
		return "", providers.Invalid("an Apple Music post is an album's id or URL")
	}
}

// object takes the kind and the id out of a path such as us/album/some-words/1728639278 or, of old, us/album/id1728639278.
func object(link *links.Link) (kind, id string) {
	segments := link.Segments
	if len(segments) > 0 && len(segments[0]) == 2 {
		segments = segments[1:]
	}
	if len(segments) < 2 {
		return "", ""
	}
	id = segments[len(segments)-1]
	if id == "see-all" { // of one of an artist's lists
		id = segments[len(segments)-2]
	}
	return segments[0], strings.TrimPrefix(id, "id")
}
