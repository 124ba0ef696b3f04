package mock

import (
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

func inHandle(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune("_.-", r)
}

func inID(r rune) bool { return !strings.ContainsRune("\t\n\f\r /?&#@", r) }

// pages maps subjects to the path of their public page: https://mock.example/posts/{id}. Handles follow an @.
var pages = map[providers.Subject]string{
	providers.PostID:       "posts",
	providers.CommentID:    "comments",
	providers.TrackID:      "tracks",
	providers.CollectionID: "collections",
	providers.CommunityID:  "communities",
	providers.ProductID:    "products",
	providers.StoreID:      "stores",
	providers.AdID:         "ads",
	providers.AdvertiserID: "advertisers",
	providers.EventID:      "events",
}

// addresses describes how the addresses and identifiers of the sandbox at a site are parsed. Everything except an
// account has a page of its own kind.
func addresses(site string) *links.Site {
	return &links.Site{
		Hosts: []string{site},
		Order: []providers.Subject{
			providers.Handle, providers.PostID, providers.CommentID, providers.TrackID, providers.CollectionID,
			providers.CommunityID, providers.ProductID, providers.StoreID, providers.AdID, providers.AdvertiserID,
			providers.EventID,
		},
		In: func(s providers.Subject, l *links.Link) string {
			switch first := l.Segment(0); {
			case s == providers.Handle && strings.HasPrefix(first, "@"):
				return first
			case s != providers.Handle && first == pages[s]:
				return l.Segment(1)
			}
			return ""
		},
		ID: canonical, Searches: map[string]string{"search": "{q}", "tags": "#{}"},
		Country: func(l *links.Link) string { return l.Param("region") },
	}
}

// canonical checks an identifier. Handles ignore case and a leading @.
func canonical(s providers.Subject, value string) (string, error) {
	if s == providers.Handle {
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !links.Within(value, 100, inHandle) {
			return "", providers.Invalid("a handle is up to 100 letters, digits, dots, hyphens and underscores")
		}
		return value, nil
	}
	if !links.Within(value, 300, inID) {
		return "", providers.Invalid("an id is up to 300 characters, without spaces, slashes and the characters ? & # @")
	}
	return value, nil
}
