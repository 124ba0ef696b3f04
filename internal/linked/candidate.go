package linked

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// The confidence that two accounts belong to the same person, by piece of evidence. Several combine to 1 − Π(1 − c).
const (
	official   = 0.95 // the platform keeps a list of them
	backLink   = 0.95 // the other account links back
	ownedPage  = 0.9  // linked from a page or list that the owner edits
	namedInBio = 0.8
	sameName   = 0.5 // same handle and same display name or picture
	sameHandle = 0.3
)

// candidate is an account elsewhere, with the evidence for it.
type candidate struct {
	schema.LinkedProfile
	doubt  float64       // product of 1 − c over the evidence
	source schema.Source // source of the evidence; our own derivation unless the platform confirms it
}

// add adds evidence of the form word:value.
func (c *candidate) add(word, value string, confidence float64) {
	evidence := word + ":" + value
	if !slices.Contains(c.Evidence, evidence) {
		c.Evidence = append(c.Evidence, evidence)
		c.doubt *= 1 - confidence
	}
}

// settle sets the confidence from all evidence, to two decimals.
func (c *candidate) settle() { c.Confidence = math.Round((1-c.doubt)*100) / 100 }

type candidates struct {
	self *schema.Profile
	list []*candidate
}

// at returns the candidate for an account, which is created if it is new; nil for the account itself. An account that
// is not read is identified by its handle.
func (cs *candidates) at(id platform.ID, handle, page string) *candidate {
	if id == cs.self.Platform && strings.EqualFold(handle, cs.self.Handle) {
		return nil
	}
	for _, c := range cs.list {
		if c.Platform == id && strings.EqualFold(c.Handle, handle) {
			return c
		}
	}
	c := &candidate{doubt: 1, source: schema.Own}
	c.Platform, c.Handle, c.URL, c.ID = id, handle, page, handle
	cs.list = append(cs.list, c)
	return c
}

// confirm adds an account that the platform itself lists. An official list counts the same in every call.
func (cs *candidates) confirm(l *schema.LinkedProfile) {
	c := cs.at(l.Platform, l.Handle, l.URL)
	if c == nil {
		return
	}
	c.ID, c.Raw, c.source = l.ID, l.Raw, l.Source
	for _, evidence := range l.Evidence {
		word, value, found := strings.Cut(evidence, ":")
		confidence := l.Confidence
		switch {
		case l.Source == schema.Official:
			word, value, confidence = "official", strings.TrimPrefix(evidence, "official:"), official
		case !found:
			word, value = string(cs.self.Platform), evidence
		}
		c.add(word, value, confidence)
	}
}

// follow adds the accounts that a profile links to.
func (d *deriver) follow(cs *candidates, p *schema.Profile) {
	named := p.Links[:min(len(p.Links), weburl.MostFinds)] // each is compared with those before it
	links := make([]string, 0, len(named))
	for _, l := range named {
		if u, ok := weburl.Absolute(l); ok {
			links = append(links, u)
		}
	}
	if p.Bio != nil {
		links = append(links, weburl.InBio(*p.Bio)...)
	}
	for _, l := range links {
		id, handle, ok := d.accountAt(l)
		if !ok {
			continue
		}
		c := cs.at(id, handle, l)
		if c == nil || c.source == schema.Official && p == cs.self { // another account of the owner on the same platform
			continue
		}
		switch d.linksOf(p.Platform) {
		case platform.LinksPage:
			c.add(string(p.Platform), strings.ToUpper(string(id)), ownedPage)
		case platform.LinksListed:
			c.add(string(p.Platform), l, ownedPage)
		case platform.LinksInBio:
			c.add("bio_link", l, namedInBio)
		}
	}
}

// linksOf returns the meaning of the links of a platform's profiles.
func (d *deriver) linksOf(id platform.ID) platform.Links {
	info, _ := d.reader.Upstreams().Platforms().Lookup(id)
	return info.Links
}

// compare adds evidence from an account's own profile, if it could be read: whether it links back, and whether the
// names are alike.
func (d *deriver) compare(c *candidate, other, me *schema.Profile) {
	if other != nil {
		c.Handle, c.URL = other.Handle, other.URL
		if c.source != schema.Official {
			c.ID = other.ID
		}
		if d.linksTo(other, me) {
			c.add("back_link", other.URL, backLink)
		}
	}
	if !strings.EqualFold(c.Handle, me.Handle) {
		return
	}
	alike := other != nil && (equalNames(other.DisplayName, me.DisplayName) || equalNames(other.AvatarURL, me.AvatarURL))
	if alike {
		c.add("same_handle_and_name", c.Handle, sameName)
	} else {
		c.add("same_handle", c.Handle, sameHandle)
	}
}

func equalNames(a, b *string) bool {
	return a != nil && b != nil && *a != "" && strings.EqualFold(*a, *b)
}

func (d *deriver) linksTo(p, to *schema.Profile) bool {
	cs := candidates{self: p}
	d.follow(&cs, p)
	return slices.ContainsFunc(cs.list, func(c *candidate) bool {
		return c.Platform == to.Platform && strings.EqualFold(c.Handle, to.Handle)
	})
}

// accountAt returns the account whose page has the given URL.
func (d *deriver) accountAt(page string) (id platform.ID, handle string, ok bool) {
	u, err := url.Parse(page)
	if err != nil {
		return "", "", false
	}
	if id, handle, ok = platform.AccountAt(u); !ok {
		return "", "", false
	}
	if canonical, known, err := d.reader.Upstreams().Normalize(id, providers.Handle, page); known {
		return id, canonical, err == nil
	}
	return id, handle, !platform.Reserved(handle)
}
