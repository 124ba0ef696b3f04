package resolve

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

var errNoAddress = problem.New(problem.InvalidRequest,
	"parameter \"url\" must hold a web address, such as https://github.com/octocat")

// addressIn returns the one address in a text.
func addressIn(text string) (*url.URL, error) {
	if plain(text) {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return u, nil
		}
	}
	all := weburl.InBio(text)
	if len(all) == 0 && !strings.ContainsFunc(text, unicode.IsSpace) { // a host without a path
		if address, ok := weburl.Absolute(text); ok {
			all = []string{address}
		}
	}
	switch len(all) {
	case 0:
		return nil, errNoAddress
	case 1:
		u, err := url.Parse(all[0])
		if err != nil || u.Host == "" {
			return nil, errNoAddress
		}
		return u, nil
	}
	return nil, problem.New(problem.InvalidRequest, "parameter \"url\" holds %d web addresses: pass one of them", len(all))
}

// plain reports whether a text is only an address, so that it need not be searched.
func plain(text string) bool {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= utf8.RuneSelf || strings.IndexByte("\"<>\\^`{|}[]", c) >= 0 {
			return false
		}
	}
	return strings.IndexByte(".,;:!?'*)", text[len(text)-1]) < 0
}

var (
	appNumber = regexp.MustCompile(`^id[0-9]{1,20}$`)
	subreddit = regexp.MustCompile(`^/?(r|u|user)/([A-Za-z0-9_-]{1,64})/?$`)
	atPost    = regexp.MustCompile(`^([^/]+)/app\.bsky\.feed\.post/([^/]+)$`)
)

// schemes are the schemes of the App Store's own links, which are otherwise the same as on the web.
var schemes = []string{"itms-apps://", "itms-appss://", "itms://"}

// written returns the address for a short form that only one platform uses.
func written(text string) (address string, ok bool) {
	switch {
	case strings.HasPrefix(text, "http"): // like nearly all texts
		return "", false
	case strings.HasPrefix(text, "spotify:search:"):
		return "https://open.spotify.com/search/" + url.PathEscape(strings.TrimPrefix(text, "spotify:search:")), true
	case strings.HasPrefix(text, "spotify:"):
		parts := strings.Split(text, ":")
		if len(parts) < 3 {
			return "", false
		}
		return "https://open.spotify.com/" + url.PathEscape(parts[len(parts)-2]) + "/" + url.PathEscape(parts[len(parts)-1]),
			true
	case strings.HasPrefix(text, "at://"):
		who := strings.Trim(strings.TrimPrefix(text, "at://"), "/")
		if m := atPost.FindStringSubmatch(who); m != nil {
			return "https://bsky.app/profile/" + url.PathEscape(m[1]) + "/post/" + url.PathEscape(m[2]), true
		}
		return "https://bsky.app/profile/" + who, true
	case strings.HasPrefix(text, "did:"):
		return "https://bsky.app/profile/" + url.PathEscape(text), true
	case appNumber.MatchString(text):
		return "https://apps.apple.com/app/" + text, true
	}
	for _, scheme := range schemes {
		if rest, found := strings.CutPrefix(text, scheme); found {
			return "https://" + rest, true
		}
	}
	if m := subreddit.FindStringSubmatch(text); m != nil {
		kind := "r"
		if m[1] != "r" {
			kind = "user"
		}
		return "https://www.reddit.com/" + kind + "/" + m[2], true
	}
	return "", false
}

// isName reports whether a text is only a name after an @.
func isName(text string) bool {
	return strings.HasPrefix(text, "@") && len(text) > 1 && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '/' || r == ':'
	})
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// name resolves a name after an @, if only one platform has such names.
func (r *Resolver) name(text string) (*Found, error) {
	var all []*site
	var handle string
	for i := range r.sites {
		s := &r.sites[i]
		if !s.offers(providers.Handle) {
			continue
		}
		if id, err := s.p.Normalize(providers.Handle, text); err == nil && id != "" {
			all, handle = append(all, s), id
		}
	}
	switch len(all) {
	case 0:
		return nil, problem.New(problem.InvalidRequest, "no platform has names such as %q: pass a web address", text)
	case 1:
		return &Found{Platform: all[0].id, Calls: all[0].calls([]thing{{providers.Handle, handle}}, "")}, nil
	}
	return nil, ambiguous("a name", all)
}

// number refuses a number, which does not show its platform.
func (r *Resolver) number(text string) error {
	var all []*site
	for i := range r.sites {
		s := &r.sites[i]
		for subject := range s.takes {
			if _, err := s.p.Normalize(subject, text); err == nil && s.offers(subject) {
				all = append(all, s)
				break
			}
		}
	}
	if len(all) == 0 {
		return errNoAddress
	}
	return ambiguous("a number", all)
}

// offers reports whether the platform can read things of a subject, now or once a missing setting is made.
func (s *site) offers(subject providers.Subject) bool {
	return slices.ContainsFunc(s.takes[subject], func(t taker) bool { return t.offered })
}

func ambiguous(what string, all []*site) error {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = string(s.id)
	}
	return problem.New(problem.InvalidRequest,
		"parameter \"url\" is %s, which may be of %s: pass a web address, or read it from one of them",
		what, strings.Join(list, ", "))
}
