package weburl

import (
	"net/url"
	"strings"
)

// mostThrough is how many redirecting addresses are unwrapped.
const mostThrough = 3

// Through returns the address that u leads to if u itself contains it: the warning page of a site before a link leaves
// it, a login page that leads back, a search result, a page in an AMP cache, a player with the address of what it
// plays. Every other address, including a short link, is returned unchanged. No request is sent.
func Through(u *url.URL) *url.URL {
	for range mostThrough {
		target := behind(u)
		if target == "" {
			return u
		}
		to, err := u.Parse(target)
		if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
			return u
		}
		u = to
	}
	return u
}

// behind returns the address that u contains, "" when there is none.
func behind(u *url.URL) string {
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	switch {
	case strings.HasSuffix(host, "facebook.com"), strings.HasPrefix(host, "l."), strings.HasPrefix(host, "lm."):
		return behindMeta(u, host)
	case host == "instagram.com":
		if strings.HasPrefix(u.Path, "/accounts/login") {
			return Param(u.RawQuery, "next")
		}
	case host == "youtube.com", host == "m.youtube.com", host == "consent.youtube.com", strings.HasPrefix(host, "google."):
		return behindGoogle(u, host)
	case strings.HasSuffix(host, ".cdn.ampproject.org"):
		for _, kind := range []string{"/c/", "/v/", "/i/"} {
			if rest, ok := strings.CutPrefix(u.EscapedPath(), kind); ok {
				return amp(rest, u.RawQuery)
			}
		}
	case host == "out.reddit.com":
		return Param(u.RawQuery, "url")
	case host == "w.soundcloud.com":
		return Param(u.RawQuery, "url")
	case host == "t.me" && u.Path == "/iv": // Instant View
		return Param(u.RawQuery, "url")
	case strings.HasSuffix(host, "linkedin.com"):
		switch {
		case strings.HasPrefix(u.Path, "/authwall"):
			return Param(u.RawQuery, "sessionRedirect")
		case strings.HasPrefix(u.Path, "/redir/"), strings.HasPrefix(u.Path, "/safety/go"):
			return Param(u.RawQuery, "url")
		case strings.HasPrefix(u.Path, "/login"), strings.HasPrefix(u.Path, "/uas/login"):
			return Param(u.RawQuery, "session_redirect")
		}
	case host == "tiktok.com" && strings.HasPrefix(u.Path, "/link/v2"):
		return Param(u.RawQuery, "target")
	case host == "tiktok.com" && u.Path == "/login":
		return Param(u.RawQuery, "redirect_url")
	case strings.HasPrefix(host, "pinterest.") && strings.HasPrefix(u.Path, "/offsite"):
		return Param(u.RawQuery, "url")
	case host == "x.com" || host == "twitter.com" || host == "mobile.twitter.com":
		if u.Path == "/i/flow/login" || u.Path == "/login" {
			return Param(u.RawQuery, "redirect_after_login")
		}
	}
	return ""
}

// behindMeta is [behind] for the hosts of Facebook, Instagram and Threads.
func behindMeta(u *url.URL, host string) string {
	own := host == "facebook.com" || strings.HasSuffix(host, ".facebook.com")
	switch first, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "/"); {
	case host == "l.instagram.com", host == "l.threads.com", host == "l.threads.net":
		return Param(u.RawQuery, "u")
	case !own:
		return ""
	case first == "l.php" || first == "l" || first == "flx":
		return Param(u.RawQuery, "u")
	case first == "login" || first == "login.php":
		return Param(u.RawQuery, "next")
	case first == "plugins":
		return Param(u.RawQuery, "href")
	}
	return ""
}

// behindGoogle is [behind] for YouTube and Google's search.
func behindGoogle(u *url.URL, host string) string {
	switch {
	case host == "consent.youtube.com":
		return Param(u.RawQuery, "continue")
	case strings.HasSuffix(host, "youtube.com"):
		switch u.Path {
		case "/redirect":
			return Param(u.RawQuery, "q")
		case "/attribution_link":
			return Param(u.RawQuery, "u")
		case "/oembed":
			return Param(u.RawQuery, "url")
		}
		return ""
	case !isGoogle(strings.TrimPrefix(host, "google.")):
		return ""
	case u.Path == "/url":
		if q := Param(u.RawQuery, "q"); q != "" {
			return q
		}
		return Param(u.RawQuery, "url")
	}
	if rest, ok := strings.CutPrefix(u.EscapedPath(), "/amp/"); ok {
		return amp(rest, u.RawQuery)
	}
	return ""
}

// isGoogle reports whether "google." followed by domain is a host of Google's search: com, de, com.sa, co.uk.
func isGoogle(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	before := strings.TrimSuffix(strings.TrimSuffix(domain, last), ".")
	return domain == "com" || len(last) == 2 && (before == "" || before == "com" || before == "co")
}

// amp returns the address in the path of an AMP cache: s/www.example.com/page for https, else http.
func amp(rest, query string) string {
	scheme := "http://"
	if secure, ok := strings.CutPrefix(rest, "s/"); ok {
		scheme, rest = "https://", secure
	}
	if query != "" {
		rest += "?" + query
	}
	return scheme + rest
}

// Param returns the first value of a query parameter as [url.Values.Get] does, without making a map.
func Param(query, name string) string {
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		if strings.ContainsAny(key, "%+") {
			if plain, err := url.QueryUnescape(key); err == nil {
				key = plain
			}
		}
		if key != name || strings.Contains(part, ";") {
			continue
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			return plain
		}
	}
	return ""
}
