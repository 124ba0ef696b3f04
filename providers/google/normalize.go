package google

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	advertiserID = regexp.MustCompile(`^AR\d{4,30}$`)
	creativeID   = regexp.MustCompile(`^CR\d{4,30}$`)
	domainName   = regexp.MustCompile(`^[\pL\pN-]+(?:\.[\pL\pN-]+)+$`)
)

// normalize reduces an advertiser to its number, or to the domain that its ads lead to, and an ad to those of its
// advertiser and its own, as in AR1234/CR5678: Google finds no ad by its own number.
func normalize(s providers.Subject, value string) (string, error) {
	if s != providers.AdvertiserID && s != providers.AdID {
		return value, nil // of what Google does not serve
	}
	if name := domainOf(value); s == providers.AdvertiserID && name != "" {
		return name, nil
	}
	link, err := links.Parse(value, "adstransparency.google.com")
	if err != nil {
		return "", err
	}
	if link == nil {
		link = &links.Link{Segments: []string{"advertiser", value}}
		if of, ad, both := cut(value); both {
			link.Segments = []string{"advertiser", of, "creative", ad}
		}
	}
	if name := domainOf(link.Query.Get("domain")); s == providers.AdvertiserID && name != "" {
		return name, nil
	}
	of, ad := link.Segment(1), link.Segment(3)
	known := link.Segment(0) == "advertiser" && advertiserID.MatchString(of)
	switch {
	case s == providers.AdvertiserID && !known:
		return "", providers.Invalid("an advertiser of Google is AR and a number, its page among the ads, or a domain")
	case s == providers.AdvertiserID:
		return of, nil
	case !known || link.Segment(2) != "creative" || !creativeID.MatchString(ad):
		return "", providers.Invalid("an ad of Google is asked for by its url: its id does not say whose it is")
	}
	return of + "/" + ad, nil
}

// domainOf reads a domain such as "leaf.example", which may have www. before it or be written in capitals; "" for what is
// none.
func domainOf(value string) string {
	name := strings.TrimPrefix(strings.ToLower(value), "www.")
	if !domainName.MatchString(name) {
		return ""
	}
	return name
}
