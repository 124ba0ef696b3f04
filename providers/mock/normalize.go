package mock

import (
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

func inHandle(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune("_.-", r)
}

func inID(r rune) bool { return !strings.ContainsRune("\t\n\f\r /?#@", r) }

// pages says where the public page of each subject is: https://mock.example/posts/{id}. Handles stand behind an @.
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

// normalize reduces a page's address to the id in it. Handles ignore case and a leading @.
func (s *sandbox) normalize(subject providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, s.site)
	if err != nil {
		return "", err
	}
	if subject == providers.Handle {
		if link != nil {
			if value = link.Segment(0); !strings.HasPrefix(value, "@") {
				return "", providers.Invalid("the page of an account is https://%s/@{handle}", s.site)
			}
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !links.Within(value, 100, inHandle) {
			return "", providers.Invalid("a handle is up to 100 letters, digits, dots, hyphens and underscores")
		}
		return value, nil
	}
	if link != nil {
		if link.Segment(0) != pages[subject] {
			return "", providers.Invalid("the page of such an id is https://%s/%s/{id}", s.site, pages[subject])
		}
		value = link.Segment(1)
	}
	if !links.Within(value, 300, inID) {
		return "", providers.Invalid("an id is up to 300 characters, without spaces, slashes and the characters ? # @")
	}
	return value, nil
}
