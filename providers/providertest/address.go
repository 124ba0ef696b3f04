package providertest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// asked are the operations that read a thing by its identifier, by kind of thing.
var asked = map[providers.Subject][]providers.Op{
	providers.Handle:    {providers.OpProfile},
	providers.PostID:    {providers.OpPost, providers.OpComments, providers.OpTranscript},
	providers.CommentID: {providers.OpReplies},
	providers.TrackID:   {providers.OpTrack, providers.OpTrackPosts},
	providers.CollectionID: {
		providers.OpCollections, providers.OpCollection, providers.OpCollectionPosts, providers.OpCollectionTracks,
	},
	providers.CommunityID:  {providers.OpCommunity, providers.OpCommunityPosts},
	providers.ProductID:    {providers.OpProduct, providers.OpReviews},
	providers.StoreID:      {providers.OpStore},
	providers.AdID:         {providers.OpAd},
	providers.AdvertiserID: {providers.OpAds},
	providers.EventID:      {providers.OpEvent},
}

// known is a thing in an answer: what identifies it, and its address.
type known struct {
	subjects []providers.Subject // the first one that the platform reads is used
	url      string
	ids      []string // its id, and for an account also its handle
}

// knownBy returns what identifies item; false if no operation reads such a thing by its address.
func knownBy(item any) (known, bool) {
	switch v := item.(type) {
	case *schema.SearchResult:
		return knownBy(v.Object)
	case *schema.Profile:
		return known{[]providers.Subject{providers.Handle, providers.CommunityID}, v.URL, []string{v.ID, v.Handle}}, true
	case *schema.Post:
		return known{[]providers.Subject{providers.PostID}, v.URL, []string{v.ID}}, true
	case *schema.Comment:
		return known{[]providers.Subject{providers.CommentID}, v.URL, []string{v.ID}}, true
	case *schema.Track:
		return known{[]providers.Subject{providers.TrackID}, v.URL, []string{v.ID}}, true
	case *schema.Collection:
		return known{[]providers.Subject{providers.CollectionID}, v.URL, []string{v.ID}}, true
	case *schema.Product:
		return known{[]providers.Subject{providers.ProductID}, v.URL, []string{v.ID}}, true
	case *providers.Storefront:
		return known{[]providers.Subject{providers.StoreID}, v.URL, []string{v.ID}}, true
	case *schema.Ad:
		return known{[]providers.Subject{providers.AdID}, v.URL, []string{v.ID}}, true
	case *schema.Advertiser:
		return known{[]providers.Subject{providers.AdvertiserID}, v.URL, []string{v.ID}}, true
	case *schema.Event:
		return known{[]providers.Subject{providers.EventID}, v.URL, []string{v.ID}}, true
	}
	return known{}, false
}

// addresses checks that what the golden files contain can be requested by the address in them. If the platform reads
// that kind of thing, Normalize must accept the address, and reduce it to the id where the address contains the id. A
// thing without a page has the address of what it is a part of.
func addresses(t *testing.T, s Suite, m manifest) {
	t.Helper()
	under := s.open(t, &http.Client{Transport: m})
	var chain providers.Chain
	for _, p := range append(s.New(&http.Client{Transport: m}), s.Others...) {
		if p.Platform == under.Platform {
			chain = append(chain, p)
		}
	}
	first := slices.IndexFunc(chain, func(p providers.Provider) bool { return p.Normalize != nil })
	if first < 0 {
		t.Fatal("no provider of the platform normalizes: name the others in Suite.Others")
	}
	for _, c := range s.Calls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pages, err := c.read(t.Context(), s.open(t, &http.Client{Transport: m}))
			if err != nil {
				t.Fatal(err)
			}
			for _, pg := range pages {
				for _, item := range pg.Items {
					if k, ok := knownBy(item); ok && !slices.Contains(s.NoAddress, k.subjects[0]) {
						k.check(t, chain, chain[first].Normalize)
					}
				}
			}
		})
	}
}

func (k known) check(t *testing.T, chain providers.Chain, normalize func(providers.Subject, string) (string, error)) {
	t.Helper()
	var subjects []providers.Subject
	for _, s := range k.subjects {
		if slices.ContainsFunc(chain, func(p providers.Provider) bool { return reads(p, s) }) {
			subjects = append(subjects, s)
		}
	}
	if len(subjects) == 0 {
		return
	}
	var got string
	var err error
	for _, s := range subjects { // a community has the same form as an account
		if got, err = normalize(s, k.url); err == nil {
			subjects[0] = s
			break
		}
	}
	switch {
	case err != nil && k.inside() || err != nil && !nearest(k.url, normalize):
		t.Errorf("%s %s is refused: %v", subjects[0], k.url, err)
	case err == nil && k.inside() && !k.is(got, func(id string) (string, error) { return normalize(subjects[0], id) }):
		t.Errorf("%s %s becomes %q, want one of %q", subjects[0], k.url, got, k.ids)
	}
}

// nearest reports whether address is that of what the thing is a part of, such as its account or a hashtag.
func nearest(address string, normalize func(providers.Subject, string) (string, error)) bool {
	return strings.Contains(address, "/tags/") || slices.ContainsFunc([]providers.Subject{providers.Handle, providers.PostID}, func(s providers.Subject) bool {
		_, err := normalize(s, address)
		return err == nil
	})
}

// inside reports whether an id is contained in the address, as a separate word.
func (k known) inside() bool {
	address := k.url
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	_, address, _ = strings.Cut(address, "://")
	_, address, _ = strings.Cut(strings.ToLower(address), "/")
	return slices.ContainsFunc(k.ids, func(id string) bool {
		for rest, id := address, strings.ToLower(id); id != ""; {
			before, behind, found := strings.Cut(rest, id)
			if !found {
				return false
			}
			last, _ := utf8.DecodeLastRuneInString(before)
			first, _ := utf8.DecodeRuneInString(behind)
			if !isWord(last) && !isWord(first) {
				return true
			}
			rest = behind
		}
		return false
	})
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// is reports whether got is one of the ids after normalization, or ends in one that follows its parent, such as its
// account.
func (k known) is(got string, reduce func(id string) (string, error)) bool {
	return slices.ContainsFunc(k.ids, func(id string) bool {
		if reduced, err := reduce(id); err == nil && got == reduced || strings.EqualFold(got, id) {
			return true
		}
		before := strings.TrimSuffix(strings.ToLower(got), strings.ToLower(id))
		return len(before) < len(got) && strings.HasSuffix(strings.ReplaceAll(before, "_", "/"), "/")
	})
}

// reads reports whether p reads such things, or would if its settings were present.
func reads(p providers.Provider, subject providers.Subject) bool {
	return slices.ContainsFunc(asked[subject], func(op providers.Op) bool { return p.Serves(op) || p.Missing[op] != nil })
}
