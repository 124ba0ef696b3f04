// Package linked derives the accounts that seem to be the same person's from what profiles say: it is made of several
// reads of one account each.
package linked

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// How sure one piece of evidence makes us that two accounts are the same person's. Several combine to 1 − Π(1 − c).
const (
	backLink   = 0.95 // the other account links back
	ownedPage  = 0.9  // linked from a page that the owner fills, such as Linktree
	namedInBio = 0.8
	sameName   = 0.5 // same handle and same display name or picture
	sameHandle = 0.3
)

// Fetch derives the accounts elsewhere from a profile: what the platform confirms, what the profile and its
// Linktree page link to, and what those accounts say in turn. Only accounts that something points to are looked at.
func Fetch(ctx context.Context, r read.Reading) (read.Fetched, error) {
	e := deriver{r.Reader}
	me, err := r.Reader.ProfileOf(ctx, r.Provider.Platform, r.In.Values[0])
	if err != nil {
		return read.Fetched{}, err
	}
	found := candidates{self: me}
	if r.Provider.Linked != nil {
		if err := found.confirmed(ctx, r); err != nil {
			return read.Fetched{}, err
		}
	}
	e.follow(&found, me)
	for _, c := range slices.Clone(found.list) {
		if c.Platform == platform.Linktree {
			if page, err := e.reader.ProfileOf(ctx, c.Platform, c.Handle); err == nil {
				e.follow(&found, page)
			}
		}
	}
	for _, c := range found.list {
		e.verify(ctx, c, me)
	}
	return found.encode(r)
}

// deriver looks at what profiles say of each other.
type deriver struct{ reader *read.Reader }

// candidate is an account elsewhere, and what speaks for it.
type candidate struct {
	schema.LinkedProfile
	doubt    float64 // product of 1 − c over the evidence
	official bool    // the platform itself confirms it
}

func (c *candidate) add(evidence string, confidence float64) {
	if !slices.Contains(c.Evidence, evidence) {
		c.Evidence = append(c.Evidence, evidence)
		c.doubt *= 1 - confidence
	}
}

type candidates struct {
	self *schema.Profile
	list []*candidate
}

// at returns the candidate for an account, new if need be; nil for the account itself.
func (cs *candidates) at(id platform.ID, handle, page string) *candidate {
	if id == cs.self.Platform && strings.EqualFold(handle, cs.self.Handle) {
		return nil
	}
	for _, c := range cs.list {
		if c.Platform == id && strings.EqualFold(c.Handle, handle) {
			return c
		}
	}
	c := &candidate{doubt: 1}
	c.Platform, c.Handle, c.URL = id, handle, page
	c.ID = string(id) + ":" + handle
	cs.list = append(cs.list, c)
	return c
}

// confirmed adds what the platform itself confirms.
func (cs *candidates) confirmed(ctx context.Context, r read.Reading) error {
	token := ""
	for range read.MaxEmpty {
		page, err := r.Provider.Linked(ctx, r.In.Values[0], token)
		if token != "" && errors.Is(err, providers.ErrCursor) {
			return nil // what came before stands
		}
		if err != nil {
			return err
		}
		for _, l := range page.Items {
			if c := cs.at(l.Platform, l.Handle, l.URL); c != nil {
				c.ID, c.Raw, c.official = l.ID, l.Raw, true
				for _, evidence := range l.Evidence {
					c.add(evidence, l.Confidence)
				}
			}
		}
		if token = page.Next; token == "" {
			break
		}
	}
	return nil
}

var bioURL = regexp.MustCompile(`(?i)\b(?:https?://)?(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s<>()"']+`)

// follow adds the accounts that a profile links to.
func (e deriver) follow(cs *candidates, p *schema.Profile) {
	kind, confidence := "bio_link", namedInBio
	if p.Platform == platform.Linktree || p.Platform == platform.YouTube {
		kind, confidence = string(p.Platform), ownedPage
	}
	links := slices.Clone(p.Links)
	if p.Bio != nil {
		for _, u := range bioURL.FindAllString(*p.Bio, -1) {
			links = append(links, strings.TrimRight(u, ".,;:!?"))
		}
	}
	for _, l := range links {
		if !strings.Contains(l, "://") {
			l = "https://" + l
		}
		id, handle, ok := e.accountAt(l)
		if !ok {
			continue
		}
		evidence := l
		if kind == string(platform.Linktree) {
			evidence = p.URL
		}
		if c := cs.at(id, handle, l); c != nil {
			c.add(kind+":"+evidence, confidence)
		}
	}
}

// verify looks at the account itself, where it can be read: does it link back, is it named alike?
func (e deriver) verify(ctx context.Context, c *candidate, me *schema.Profile) {
	other, err := e.reader.ProfileOf(ctx, c.Platform, c.Handle)
	if err == nil {
		c.Handle, c.URL = other.Handle, other.URL
		if !c.official {
			c.ID = other.ID
		}
		if e.linksTo(other, me) {
			c.add("back_link", backLink)
		}
	}
	if !strings.EqualFold(c.Handle, me.Handle) {
		return
	}
	alike := other != nil && (equalNames(other.DisplayName, me.DisplayName) || equalNames(other.AvatarURL, me.AvatarURL))
	if alike {
		c.add("same_handle_and_name", sameName)
	} else {
		c.add("same_handle", sameHandle)
	}
}

func equalNames(a, b *string) bool { return a != nil && b != nil && strings.EqualFold(*a, *b) }

func (e deriver) linksTo(p, to *schema.Profile) bool {
	cs := candidates{self: p}
	e.follow(&cs, p)
	return slices.ContainsFunc(cs.list, func(c *candidate) bool {
		return c.Platform == to.Platform && strings.EqualFold(c.Handle, to.Handle)
	})
}

// accountHosts finds the account in a URL of platforms whose provider does not tell: the path in front of the handle.
var accountHosts = map[string]struct {
	id     platform.ID
	prefix string
}{
	"facebook.com": {platform.Facebook, ""}, "instagram.com": {platform.Instagram, ""}, "linkedin.com": {platform.LinkedIn, "in/"},
	"linktr.ee": {platform.Linktree, ""}, "pinterest.com": {platform.Pinterest, ""}, "snapchat.com": {platform.Snapchat, "add/"},
	"t.me": {platform.Telegram, ""}, "tiktok.com": {platform.TikTok, "@"}, "twitter.com": {platform.X, ""}, "x.com": {platform.X, ""},
	"youtube.com": {platform.YouTube, "@"}, "twitch.tv": {platform.Twitch, ""}, "kick.com": {platform.Kick, ""},
	"threads.net": {platform.Threads, "@"}, "threads.com": {platform.Threads, "@"}, "bsky.app": {platform.Bluesky, "profile/"},
	"github.com": {platform.GitHub, ""}, "soundcloud.com": {platform.SoundCloud, ""}, "truthsocial.com": {platform.TruthSocial, "@"},
}

// accountAt returns the account that a URL is the page of.
func (e deriver) accountAt(page string) (platform.ID, string, bool) {
	u, err := url.Parse(page)
	if err != nil {
		return "", "", false
	}
	host := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), "m.")
	at, ok := accountHosts[host]
	if !ok {
		return "", "", false
	}
	handle, ok := strings.CutPrefix(strings.Trim(u.Path, "/"), at.prefix)
	if !ok || handle == "" || strings.Contains(handle, "/") {
		return "", "", false
	}
	if canonical, known, err := e.reader.HandleAt(at.id, page); known {
		return at.id, canonical, err == nil
	}
	return at.id, strings.TrimPrefix(handle, "@"), true
}

func (cs *candidates) encode(r read.Reading) (read.Fetched, error) {
	out := []schema.LinkedProfile{}
	f := read.Fetched{}
	var broken error
	for _, c := range cs.list {
		c.Confidence = 1 - c.doubt
		raw, err := read.Complete(r.Provider, &c.LinkedProfile, r.At)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		if !c.official {
			c.Source = schema.Own
		}
		out = append(out, c.LinkedProfile)
		f.Raw = append(f.Raw, raw)
	}
	if broken != nil && len(out) == 0 {
		return read.Fetched{}, providers.Unavailable(broken, "the upstream's answer breaks the schema")
	}
	var err error
	f.Data, err = schema.Marshal(out)
	return f, err
}
