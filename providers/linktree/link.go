package linktree

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// link is a link of a page. Most of its many types only look different.
type link struct {
	Type     string     `json:"type"`     // "CLASSIC", "HEADER", "GROUP" …; for an icon "INSTAGRAM", "PHONE" …
	URL      string     `json:"url"`      // "" when the link leads nowhere, or is locked
	Position wire.Count `json:"position"` // from top to bottom, including the links in groups
	Context  struct {
		Products []product `json:"products"`
	} `json:"context"` // null or {} unless the type has more data
	Products []product `json:"products"`
}

type product struct {
	ShopURL string `json:"shopUrl"`
	URL     string `json:"url"`
}

// destinations returns the pages to which l leads, as URIs.
func (l link) destinations() []string {
	if l.Type == "EMAIL_ADDRESS" || l.Type == "PHONE" {
		return nil
	}
	found := []string{l.URL}
	if strings.TrimSpace(l.URL) == "" {
		for _, p := range slices.Concat(l.Context.Products, l.Products) {
			found = append(found, cmp.Or(p.ShopURL, p.URL))
		}
	}
	return slices.DeleteFunc(text.URLs(found...), isContact)
}

// isContact reports whether a URL contains a telephone number, which is not an account's page.
func isContact(page string) bool {
	u, err := url.Parse(page)
	if err != nil {
		return true
	}
	number := strings.TrimPrefix(strings.Trim(u.Path, "/"), "+")
	switch strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") {
	case "wa.me":
		return links.Digits(number)
	case "t.me", "telegram.me":
		return links.Digits(number)
	case "api.whatsapp.com", "web.whatsapp.com", "whatsapp.com":
		return u.Query().Has("phone")
	case "signal.me":
		return true
	}
	return false
}

// destinations returns the pages to which the links lead, from top to bottom, and then those of the icons.
func (p *page) destinations() []string {
	var found []string
	for _, l := range slices.Concat(inOrder(p.links), inOrder(p.socials)) {
		found = append(found, l.V.destinations()...)
	}
	return text.Each(found)
}

// inOrder sorts links by their position. A link without one comes after the one before it.
func inOrder(rows wire.Rows[link]) []wire.Object[link] {
	type placed struct {
		link wire.Object[link]
		at   int64
	}
	var all []placed
	at := int64(-1)
	for _, l := range rows.All() {
		if l.V.Position.V != nil {
			at = *l.V.Position.V
		}
		all = append(all, placed{l, at})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	out := make([]wire.Object[link], len(all))
	for i, p := range all {
		out[i] = p.link
	}
	return out
}
