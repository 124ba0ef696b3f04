package linkedin

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/text"
)

const person = "in"

// kinds are the first parts of the addresses of accounts.
var kinds = map[string]bool{person: true, "company": true, "school": true, "showcase": true}

// normalize reduces a handle to its kind and name, such as in/ann or company/tea: a bare name is a person's, and a number
// a company's. A post is the number of its activity, the whole name of a share, or pulse/ and the name of an article.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "linkedin.com", ".linkedin.com")
	if err != nil {
		return "", err
	}
	switch s {
	case providers.Handle:
		return handleOf(link, value)
	case providers.PostID:
		return postID(link, value)
	case providers.AdvertiserID:
		if link != nil {
			value = link.Segment(1)
		}
		if value == "" || strings.ContainsFunc(value, unicode.IsControl) {
			return "", providers.Invalid("an advertiser of LinkedIn is named, such as Example Ltd")
		}
		return value, nil
	case providers.AdID:
		if link != nil {
			value = behind(value, "detail")
		}
		if !isNumber(value) {
			return "", providers.Invalid("a LinkedIn ad is a number, or its page in the ad library")
		}
		return value, nil
	default:
		return "", providers.Invalid("LinkedIn has accounts, posts and ads")
	}
}

func handleOf(link *links.Link, value string) (string, error) {
	parts := strings.Split(strings.Trim(value, "/"), "/")
	if link != nil {
		parts = link.Segments
	}
	kind, name := person, strings.TrimPrefix(text.First(parts), "@")
	switch {
	case len(parts) >= 2:
		kind, name = strings.ToLower(parts[0]), parts[1]
	case link != nil:
		name = ""
	case links.Digits(name):
		kind = "company"
	}
	if link == nil {
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
	}
	if !kinds[kind] || !isName(name) || link == nil && len(parts) > 2 {
		return "", providers.Invalid("a LinkedIn handle is the end of an address, such as in/name or company/name")
	}
	return kind + "/" + strings.ToLower(name), nil
}

// isName tells whether s can be the last part of an account's address: letters of any script, digits and a few signs.
func isName(s string) bool {
	odd := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So, unicode.Cf) && !strings.ContainsRune("-_.&'’", r)
	}
	return s != "" && len(s) <= 400 && !strings.ContainsFunc(s, odd) && strings.Trim(s, ".") != ""
}

func postID(link *links.Link, value string) (string, error) {
	words := []string{value}
	name, isArticle := strings.CutPrefix(value, article)
	if link != nil {
		words = append(slices.Clone(link.Segments), link.Query.Get("highlightedUpdateUrn")) // of a feed that opens at a post
		name, isArticle = link.Segment(1), link.Segment(0)+"/" == article
	}
	if isArticle && isName(name) {
		return article + name, nil
	}
	for _, w := range words {
		if id := urnOf(w); id != "" {
			return id, nil
		}
		if id := numbered(w); link != nil && id != "" {
			return id, nil
		}
	}
	if link == nil && isNumber(value) {
		return value, nil
	}
	return "", providers.Invalid("a LinkedIn post is its activity's number, its urn:li:activity, or its address")
}

// article stands before the name of an article.
const article = "pulse/"

// postKinds are what the number of a post may count.
var postKinds = []string{"activity", "share", "ugcPost"}

const urn = "urn:li:"

// urnOf reads urn:li:activity:1 as 1, and keeps the others, whose numbers count something else. It returns "" for what is
// no post's.
func urnOf(s string) string {
	for _, kind := range postKinds {
		if id, ok := strings.CutPrefix(s, urn+kind+":"); ok && isNumber(id) {
			return named(kind, id)
		}
	}
	return ""
}

// numbered finds the number of a post in the last part of its address, as in ann_tea-time-activity-1-AbCd, or in
// ann_activity-1-AbCd of one without words.
func numbered(s string) string {
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

// account is whom an address of the site is about.
type account struct{ kind, slug string }

// accountOf reads an address such as https://uk.linkedin.com/company/tea?trk=x; it is zero for that of anything else.
func accountOf(address string) account {
	link, err := links.Parse(address, "linkedin.com", ".linkedin.com")
	if err != nil || link == nil || !kinds[link.Segment(0)] || link.Segment(1) == "" {
		return account{}
	}
	return account{link.Segment(0), link.Segment(1)}
}

func (a account) url() string { return siteURL + "/" + a.kind + "/" + url.PathEscape(a.slug) }
