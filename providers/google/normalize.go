package google

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	advertiserID = regexp.MustCompile(`^AR\d{4,30}$`)
	creativeID   = regexp.MustCompile(`^CR\d{4,30}$`)
	domainName   = regexp.MustCompile(`^[\pL\pN-]+(?:\.[\pL\pN-]+)+$`)
)

// hosts are the hosts of the Ads Transparency Center and of the search, which has one for each country.
// https://www.google.com/supported_domains
var hosts = func() []string {
	list := []string{"adstransparency.google.com"}
	for end := range strings.FieldsSeq(`
		com ad ae com.af com.ag al am co.ao com.ar as at com.au az ba com.bd be bf bg com.bh bi bj com.bn com.bo com.br bs bt
		co.bw by com.bz ca cat cd cf cg ch ci co.ck cl cm cn com.co co.cr com.cu cv com.cy cz de dj dk dm com.do dz com.ec ee
		com.eg es com.et fi com.fj fm fr ga ge gg com.gh com.gi gl gm gr com.gt gy com.hk hn hr ht hu co.id ie co.il im co.in
		iq is it je com.jm jo co.jp co.ke com.kh ki kg co.kr com.kw kz la com.lb li lk co.ls lt lu lv com.ly co.ma md me mg mk
		ml com.mm mn com.mt mu mv mw com.mx com.my co.mz com.na com.ng com.ni ne nl no com.np nr nu co.nz com.om com.pa com.pe
		com.pg com.ph com.pk pl pn com.pr ps pt com.py com.qa ro rs ru rw com.sa com.sb sc se com.sg sh si sk com.sl sm sn so
		sr st com.sv td tg co.th com.tj tl tm tn to com.tr tt com.tw co.tz com.ua co.ug co.uk com.uy co.uz com.vc co.ve co.vi
		com.vn vu ws co.za co.zm co.zw`) {
		list = append(list, "google."+end)
	}
	return list
}()

// addresses describes how the addresses of Google's ads are parsed. It is read-only. Google's other pages name nothing
// that can be read.
var addresses = &links.Site{
	Hosts: hosts,
	Order: []providers.Subject{providers.AdID, providers.AdvertiserID},
	Also:  map[providers.Subject][]providers.Subject{providers.AdID: {providers.AdvertiserID}},
	In:    inLink, ID: canonical, Searches: map[string]string{"search": "{q}"},
	Country: func(l *links.Link) string { return cmp.Or(l.Param("region"), l.Param("gl")) },
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
