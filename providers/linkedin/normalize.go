package linkedin

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
)

const person = "in"

// kinds are the first segments of the addresses of accounts.
var kinds = map[string]bool{person: true, "company": true, "school": true, "showcase": true}

// short is the host of LinkedIn's short links in posts.
const short = "lnkd.in"

// addresses describes how addresses and identifiers of LinkedIn are parsed. It is read-only.
var addresses = &links.Site{
	Hosts: []string{"linkedin.com", ".linkedin.com", short},
	Order: []providers.Subject{providers.AdID, providers.PostID, providers.Handle, providers.AdvertiserID},
	Also:  map[providers.Subject][]providers.Subject{providers.Handle: {providers.AdvertiserID}},
	In:    inLink, ID: canonical,
	Short: func(l *links.Link) bool { return l.Host == short && l.Segment(0) != "" },
	Searches: map[string]string{
		"search/results": "{keywords}", "feed/hashtag": "#{}", "feed/*": "#{keywords}", "hashtag": "#{}",
	},
	AdSearches: map[string]string{"ad-library/search": "{keyword}"},
	Country:    func(l *links.Link) string { return l.Param("countries") },
}

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	kind := strings.ToLower(l.Segment(0))
	switch s {
	case providers.Handle:
		if kinds[kind] && l.Segment(1) != "" {
			return kind + "/" + strings.ReplaceAll(l.Whole(1), "%", "%25") // it will be unescaped once more
		}
	case providers.AdvertiserID:
		if kinds[kind] && kind != person {
			return l.Whole(1)
		}
	case providers.AdID:
		if kind == "ad-library" {
			return l.After("detail")
		}
	case providers.PostID:
		return postIn(l)
	default:
	}
	return ""
}

// canonical reduces a handle to its kind and name, such as in/ann or company/tea: a bare name is a person's, and a
// number a company's. A post becomes the number of its activity, the whole name of a share, or pulse/ and the name of
// an article.
func canonical(s providers.Subject, value string) (string, error) {
	switch s {
	case providers.Handle:
		return handleOf(value)
	case providers.PostID:
		return postID(value)
	case providers.AdvertiserID:
		if value == "" || strings.ContainsFunc(value, unicode.IsControl) {
			return "", providers.Invalid("a LinkedIn advertiser is given by its name, such as Example Ltd")
		}
		return value, nil
	case providers.AdID:
		if !isNumber(value) {
			return "", providers.Invalid("a LinkedIn ad is a number, or its page in the ad library")
		}
		return value, nil
	default:
		return "", providers.Invalid("LinkedIn has accounts, posts and ads")
	}
}

func handleOf(value string) (string, error) {
	parts := strings.Split(strings.Trim(value, "/"), "/")
	kind, name := person, strings.TrimPrefix(text.First(parts), "@")
	switch {
	case len(parts) >= 2:
		kind, name = strings.ToLower(parts[0]), parts[1]
	case links.Digits(name):
		kind = "company"
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if !kinds[kind] || !isName(name) || len(parts) > 2 {
		return "", providers.Invalid("a LinkedIn handle is the end of an address, such as in/name or company/name")
	}
	return kind + "/" + strings.ToLower(name), nil
}

// isName reports whether s can be the last part of an account's address: letters of any script, digits and a few signs.
func isName(s string) bool {
	odd := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So, unicode.Cf) && !strings.ContainsRune("-_.&'’", r)
	}
	return s != "" && len(s) <= 400 && !strings.ContainsFunc(s, odd) && strings.Trim(s, ".") != ""
}

func postID(value string) (string, error) {
	if name, isArticle := strings.CutPrefix(value, article); isArticle && isName(name) {
		return value, nil
	}
	if id := urnOf(value); id != "" {
		return id, nil
	}
	if isNumber(value) {
		return value, nil
	}
	return "", providers.Invalid("a LinkedIn post is its activity's number, its urn:li:activity, or its address")
}

// postIn returns the post in an address, "" when there is none.
func postIn(l *links.Link) string {
	if l.Segment(0)+"/" == article {
		return article + l.Segment(1)
	}
	for _, word := range append(slices.Clone(l.Segments), l.Param("highlightedUpdateUrn")) { // a feed opened at a post
		if id := urnOf(word); id != "" {
			return id
		}
		if id := postNumber(word); id != "" {
			return id
		}
	}
	return ""
}

// article precedes the name of an article.
const article = "pulse/"

// postKinds are the things that the number of a post may identify.
var postKinds = []string{"activity", "share", "ugcPost"}

const urn = "urn:li:"

// urnOf returns urn:li:activity:1 as 1, and other URNs whole, because their numbers identify something else. It returns
// "" if s is not a post's.
func urnOf(s string) string {
	for _, kind := range postKinds {
		if id, ok := strings.CutPrefix(s, urn+kind+":"); ok && isNumber(id) {
			return named(kind, id)
		}
	}
	return ""
}

// postNumber returns the number of a post in the last part of its address, as in ann_tea-time-activity-1-AbCd, or
// ann_activity-1-AbCd for a post without text.
func postNumber(s string) string {
	for _, kind := range postKinds {
		at := strings.LastIndex(s, kind+"-")
		if at < 1 || s[at-1] != '-' && s[at-1] != '_' {
			continue
		}
		id, _, _ := strings.Cut(s[at+len(kind)+1:], "-")
		if isNumber(id) {
			return named(kind, id)
		}
	}
	return ""
}

func named(kind, id string) string {
	if kind == "activity" {
		return id
	}
	return urn + kind + ":" + id
}

func isNumber(s string) bool { return links.Digits(s) && len(s) <= 19 && strings.Trim(s, "0") != "" }

// account is the account that an address of the site is about.
type account struct{ kind, slug string }

// accountOf parses an address such as https://uk.linkedin.com/company/tea?trk=x; it returns the zero account for the
// address of anything else.
func accountOf(address string) account {
	link, err := links.Parse(address, "linkedin.com", ".linkedin.com")
	if err != nil || link == nil || !kinds[link.Segment(0)] || link.Segment(1) == "" {
		return account{}
	}
	return account{link.Segment(0), link.Segment(1)}
}

func (a account) url() string { return siteURL + "/" + a.kind + "/" + url.PathEscape(a.slug) }
