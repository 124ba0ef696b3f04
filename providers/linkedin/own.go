package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"html"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads LinkedIn's public pages.
type site struct{ http *upstream.Client }

// page is a page of the site: its head, and the whole document.
type page struct {
	*island.Page
	root  node
	moved bool
}

// open reads a page and checks that it is a public one.
func (s site) open(ctx context.Context, path ...string) (*page, error) {
	res, err := s.http.Do(ctx, upstream.Get(path...))
	if err != nil {
		return nil, err
	}
	p := &page{island.Read(res.Body), parse(res.Body), res.Moved}
	key := p.Meta("pagekey")
	switch {
	case strings.HasPrefix(key, "auth_wall"), p.root.first(dom.Class("challenge-form")).here():
		return nil, errWall
	case strings.HasPrefix(p.Title, "Profile Not Found"), strings.HasPrefix(p.Title, "Page not found"):
		return nil, errGone
	}
	shown := p.Meta("og:type") != ""
	for _, public := range []string{"d_org_guest_company", "public_profile", "d_public_post"} {
		shown = shown || strings.HasPrefix(key, public)
	}
	return p, wire.Need(ctx, "pageKey", shown)
}

// about returns the account that the page names as its own.
func (p *page) about() account {
	a := accountOf(p.Canonical)
	if a.slug == "" {
		a = accountOf(p.Meta("og:url"))
	}
	return a
}

// subject opens the page of an account. A person's name may have changed, and LinkedIn then shows the page under both;
// the page says which is current. An organisation redirects to its new name.
func (s site) subject(ctx context.Context, handle string) (*page, account, error) {
	kind, slug, _ := strings.Cut(handle, "/")
	p, err := s.open(ctx, kind, slug)
	if err != nil {
		return nil, account{}, err
	}
	a := p.about()
	switch {
	case a.slug == "":
		a = account{kind, slug}
	case kind != person && !p.moved && !links.Digits(slug):
		err = wire.SameFold(ctx, "account", slug, a.slug)
	case (kind == person) != (a.kind == person):
		err = wire.Same(ctx, "account", kind, a.kind)
	}
	return p, a, err
}

func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, a, err := s.subject(ctx, handle)
	var out schema.Profile
	switch {
	case err != nil:
	case a.kind == person:
		out, err = p.person(ctx, a)
	default:
		out, err = p.organization(ctx, a)
	}
	if err != nil {
		return schema.Profile{}, err
	}
	return out, nil
}

// card is the top of an account's page. It completes the JSON-LD, which some pages lack.
type card struct {
	Title       string   `json:"title"`
	Headline    string   `json:"headline,omitempty"`
	Followers   string   `json:"followers,omitempty"`
	Summary     string   `json:"summary,omitempty"`
	Slogan      string   `json:"slogan,omitempty"`
	Picture     string   `json:"picture,omitempty"`
	Websites    []string `json:"websites,omitempty"`
	Description string   `json:"og:description,omitempty"`
}

func (p *page) card() card {
	top := p.root.first(dom.Class("top-card-layout"))
	if !top.here() {
		top = p.root
	}
	c := card{
		Title:    unmasked(top.first(dom.Class("top-card-layout__title")).line()),
		Headline: unmasked(top.first(dom.Class("top-card-layout__headline")).line()),
		Slogan:   top.first(dom.Class("top-card-layout__second-subline")).line(),
		Summary:  p.root.first(dom.Is("data-section", "summary")).first(dom.Class("core-section-container__content")).text(),
		Picture:  top.first(dom.Class("top-card-layout__entity-image")).picture(),
	}
	for words := range top.first(dom.Class("top-card-layout__first-subline")).texts() {
		for part := range strings.SplitSeq(words, "·") {
			if part = strings.TrimSpace(part); c.Followers == "" && strings.Contains(part, "follower") {
				c.Followers = part
			}
		}
	}
	for a := range p.root.first(dom.Is("data-section", "websites")).all(dom.Tag("a")) {
		c.Websites = append(c.Websites, unwrap(a.attr("href")))
	}
	c.fromHead(p)
	return c
}

// fromHead fills the fields that the page itself does not show from its metadata.
func (c *card) fromHead(p *page) {
	if c.Title == "" { // the head is escaped twice
		title := strings.TrimSuffix(html.UnescapeString(p.Meta("og:title")), " | LinkedIn")
		name, headline, _ := strings.Cut(title, " - ")
		c.Title, c.Headline = unmasked(name), cmp.Or(c.Headline, unmasked(headline))
	}
	c.Description = html.UnescapeString(p.Meta("og:description"))
	for part := range strings.SplitSeq(c.Description, "|") {
		if many, _, ok := strings.Cut(part, " on LinkedIn"); ok && c.Followers == "" && strings.HasSuffix(strings.TrimSuffix(many, "s"), "follower") {
			c.Followers = strings.TrimSpace(many)
		}
	}
	if image := p.Meta("og:image"); !strings.Contains(image, "//static.licdn.com/") {
		c.Picture = cmp.Or(image, c.Picture)
	}
}

// unmasked drops text that LinkedIn hides with asterisks.
func unmasked(s string) string {
	if strings.Trim(s, "* ") == "" {
		return ""
	}
	return strings.TrimSpace(s)
}

// unwrap returns the target of a link that leaves the site.
func unwrap(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	to := weburl.Through(u)
	if to == u {
		return address
	}
	return to.String()
}

func (c card) raw(t wire.Object[thing]) json.RawMessage {
	if t.Raw != nil {
		return t.Raw
	}
	return asJSON(c)
}

// asJSON returns all that was read from a page of HTML as its raw.
func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil // strings and numbers can always be marshalled
	}
	return raw
}

// person converts the page of a member. Its counts are rounded if the page has no JSON-LD.
func (p *page) person(ctx context.Context, a account) (schema.Profile, error) {
	var t wire.Object[thing]
	for _, o := range things(ctx, p.Page, "Person") {
		t = o
		break
	}
	c := p.card()
	name := cmp.Or(unmasked(t.V.Name), c.Title)
	if err := wire.Need(ctx, "top-card-layout__title", name != ""); err != nil {
		return schema.Profile{}, err
	}
	followers := count(t.V.Counters, "FollowAction")
	if followers == nil {
		followers = text.Count(c.Followers)
	}
	out := profileOf(a, name, cmp.Or(unmasked(c.Summary), unmasked(text.FromHTML(t.V.Description)), c.Headline), cmp.Or(pictureOf(t.V.Image), c.Picture))
	out.ID, out.Raw, out.Followers, out.Country = a.slug, c.raw(t), followers, text.NonEmpty(t.V.Address.first().Country)
	out.Links = text.URLs(outside(append(c.Websites, t.V.SameAs...))...)
	return out, nil
}

// organization converts the page of a company, a school or a part of one.
func (p *page) organization(ctx context.Context, a account) (schema.Profile, error) {
	var t wire.Object[thing]
	for _, o := range things(ctx, p.Page, "Organization", "Corporation", "CollegeOrUniversity", "School") {
		t = o
		break
	}
	c := p.card()
	name := cmp.Or(t.V.Name, c.Title)
	if err := wire.Need(ctx, "Organization.name", name != ""); err != nil {
		return schema.Profile{}, err
	}
	out := profileOf(a, name, cmp.Or(text.FromHTML(t.V.Description), t.V.Slogan, c.Slogan), cmp.Or(pictureOf(t.V.Logo), c.Picture))
	out.ID, out.Raw, out.Followers = cmp.Or(p.number(), a.slug), c.raw(t), text.Count(c.Followers)
	out.Country, out.Links = text.NonEmpty(t.V.Address.first().Country), text.URLs(outside(t.V.SameAs)...)
	return out, nil
}

func profileOf(a account, name, bio, avatar string) schema.Profile {
	return schema.Profile{
		Common: schema.Common{URL: a.url()}, Handle: a.slug,
		DisplayName: text.NonEmpty(name), Bio: text.NonEmpty(bio), AvatarURL: text.URL(avatar),
	}
}

func pictureOf(list []picture) string {
	for _, u := range pictures(list) {
		if text.URL(u) != nil {
			return u
		}
	}
	return ""
}

// outside leaves out addresses of LinkedIn itself.
func outside(list []string) (out []string) {
	for _, u := range list {
		if accountOf(u).slug == "" {
			out = append(out, u)
		}
	}
	return out
}

// mostHops is the maximum number of times that a link is unwrapped: a page redirects to the login once.
const mostHops = 4

// number returns the number of an organisation: from the link to the people who work there, preferably one that belongs
// to it, else from the only organisation that the page names outside its posts.
func (p *page) number() string {
	for a := range p.root.all(dom.Tag("a")) {
		u := a.attr("href")
		for range mostHops {
			link, err := url.Parse(u)
			if err != nil {
				break
			}
			id, _, _ := strings.Cut(strings.Trim(link.Query().Get("facetCurrentCompany"), "[]"), ",")
			if id = strings.Trim(id, `" `); isNumber(id) {
				return id
			}
			u = link.Query().Get("session_redirect") // the link leads to the login first
		}
	}
	only := ""
	for n := range p.root.all(either(has("data-entity-id"), has("data-entity-urn"))) {
		id, ok := strings.CutPrefix(cmp.Or(n.attr("data-entity-id"), n.attr("data-entity-urn")), urn+"organization:")
		if !ok || !isNumber(id) || id == only || n.inside(has("data-activity-urn"), p.root) {
			continue
		}
		if only != "" {
			return ""
		}
		only = id
	}
	return only
}

// ActorAt returns the account with the given address, or an unknown one with the given name.
func ActorAt(address, name, image string) schema.Actor {
	out := schema.UnknownActor()
	if a := accountOf(address); a.slug != "" {
		out.ID, out.Handle = a.slug, a.slug
	}
	out.Platform, out.DisplayName, out.AvatarURL = platform.LinkedIn, text.NonEmpty(name), text.URL(image)
	return out
}

// checkCursor refuses every cursor: every list of the site has one page.
func checkCursor(cursor string) error {
	if cursor != "" {
		return providers.ErrCursor // there is only one page
	}
	return nil
}
