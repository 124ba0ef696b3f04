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

// addresses describes how the addresses of Google's ads are parsed. It is read-only. Google's other pages name nothing
// that can be read.
var addresses = &links.Site{
	Hosts: []string{"adstransparency.google.com", "google.com"},
	Order: []providers.Subject{providers.AdID, providers.AdvertiserID},
	Also:  map[providers.Subject][]providers.Subject{providers.AdID: {providers.AdvertiserID}},
	In:    inLink, ID: canonical,
}

// inLink returns the advertiser or the ad in an address; "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	switch {
	case l.Host != "adstransparency.google.com":
		return ""
	case s == providers.AdvertiserID && domainOf(l.Param("domain")) != "":
		return l.Param("domain")
	case l.Segment(0) != "advertiser":
		return ""
	case s == providers.AdvertiserID:
		return l.Segment(1)
	case s == providers.AdID && l.Segment(2) == "creative":
		return l.Segment(1) + "/" + l.Segment(3)
	}
	return ""
}

func normalize(s providers.Subject, value string) (string, error) {
	if s != providers.AdvertiserID && s != providers.AdID {
		return value, nil // for what Google does not serve
	}
	return addresses.Normalize(s, value)
}

// canonical reduces an advertiser to its number, or to the domain that its ads lead to. It reduces an ad to the
// advertiser's number and its own, as in AR1234/CR5678, because Google finds no ad by its own number alone.
func canonical(s providers.Subject, value string) (string, error) {
	if name := domainOf(value); s == providers.AdvertiserID && name != "" {
		return name, nil
	}
	of, ad, both := cut(value)
	switch {
	case s == providers.AdvertiserID && !both && advertiserID.MatchString(value):
		return value, nil
	case s == providers.AdvertiserID && both && advertiserID.MatchString(of): // an ad
		return of, nil
	case s == providers.AdvertiserID:
		return "", providers.Invalid("a Google advertiser is given as AR and a number, its page in the Ads Transparency Center, or a domain")
	case !both || !advertiserID.MatchString(of) || !creativeID.MatchString(ad):
		return "", providers.Invalid("a Google ad is given by its URL: its id does not contain the advertiser")
	}
	return of + "/" + ad, nil
}

// domainOf returns a domain such as "leaf.example" in lower case and without www.; "" for what is not a domain.
func domainOf(value string) string {
	name := strings.TrimPrefix(strings.ToLower(value), "www.")
	if !domainName.MatchString(name) {
		return ""
	}
	return name
}
