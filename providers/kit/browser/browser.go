// Package browser holds the headers of browsers, for sites that only answer what looks like one. They are all in this
// package, so that they can be updated together.
package browser

import "net/http"

const (
	// Agent is the User-Agent of Chrome on Windows, recorded on 2026-11-22.
	Agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 " +
		"Safari/537.36"
	// Phone is the User-Agent of Safari on an iPhone, for sites whose mobile pages have more data. It was recorded on
	// 2026-11-21.
	Phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Version/18.5 Mobile/15E148 Safari/604.1"
)

const (
	document = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	english  = "en-US,en;q=0.9"
)

// Page returns the header of a request for a page, in English. The names and values in more replace its own.
func Page(more ...string) http.Header {
	return with(http.Header{"User-Agent": {Agent}, "Accept": {document}, "Accept-Language": {english}}, more)
}

// Navigation returns the header of [Page] and what a browser adds when a person opens the page, for sites that check
// it.
func Navigation(more ...string) http.Header {
	return with(Page(
		"Sec-Fetch-Dest", "document", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none", "Sec-Fetch-User", "?1",
		"Upgrade-Insecure-Requests", "1",
	), more)
}

// Script returns the header of a request that a site's scripts send to the site itself.
func Script(more ...string) http.Header {
	return with(http.Header{
		"User-Agent": {Agent}, "Accept": {"*/*"}, "Accept-Language": {english},
		"Sec-Fetch-Dest": {"empty"}, "Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Site": {"same-origin"},
	}, more)
}

// with sets names and values in pairs.
func with(h http.Header, pairs []string) http.Header {
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}
