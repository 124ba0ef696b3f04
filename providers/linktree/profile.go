package linktree

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := c.open(ctx, handle)
	var found wire.Rows[link]
	var socials wire.Rows[social]
	if err == nil {
		found, socials, err = p.lists(ctx)
	}
	if err != nil {
		return schema.Profile{}, fmt.Errorf("linktree: profile %q: %w", handle, err)
	}
	addresses := destinations(found)
	for _, s := range inOrder(socials) {
		addresses = append(addresses, s.addresses()...)
	}
	out := p.Account.V.profile(p.raw())
	out.Links = text.URLs(addresses...)
	return out, nil
}

func (a account) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: site + url.PathEscape(a.Username), Raw: raw},
		Handle:      a.Username,
		DisplayName: text.NonEmpty(cmp.Or(a.Name, a.DisplayName)),
		Bio:         text.NonEmpty(a.Description),
		Verified:    a.Verified,
	}
	if title := strings.TrimSpace(a.Title); p.DisplayName == nil && !strings.EqualFold(title, "@"+a.Username) {
		p.DisplayName = text.NonEmpty(title)
	}
	if len(a.Locale) >= 2 {
		p.Lang = &a.Locale
	}
	for _, s := range []string{a.Picture, a.Custom, a.Avatar} {
		if p.AvatarURL == nil && isWeb(s) {
			p.AvatarURL = text.URL(s)
		}
	}
	return p
}

// link is a row of a page: a link, a heading, a group of links, or what the owner sells.
type link struct {
	ID       wire.ID    `json:"id"`
	URL      string     `json:"url"` // "" of a heading, a group and a product, and where it is locked
	Position wire.Count `json:"position"`
	Parent   parent     `json:"parent"` // the group that it stands in
	Context  struct {
		Products []struct {
			ShopURL string `json:"shopUrl"`
			URL     string `json:"url"`
		} `json:"products"`
	} `json:"context"`
}

// parent is the id of a group, alone or in an object.
type parent struct{ ID wire.ID }

// UnmarshalJSON never fails.
func (p *parent) UnmarshalJSON(b []byte) error {
	var object struct {
		ID wire.ID `json:"id"`
	}
	if json.Unmarshal(b, &object) == nil && object.ID != "" {
		p.ID = object.ID
		return nil
	}
	return p.ID.UnmarshalJSON(b)
}

func (l link) position() wire.Count { return l.Position }

// addresses are where a row leads.
func (l link) addresses() []string {
	list := []string{l.URL}
	for _, product := range l.Context.Products {
		list = append(list, cmp.Or(product.ShopURL, product.URL))
	}
	return slices.DeleteFunc(list, isPrivate)
}

// social is an account that the owner has entered under its kind, such as "INSTAGRAM".
type social struct {
	Type     string     `json:"type"`
	URL      string     `json:"url"`
	Position wire.Count `json:"position"` // absent of old
}

func (s social) position() wire.Count { return s.Position }

func (s social) addresses() []string { return slices.DeleteFunc([]string{s.URL}, isPrivate) }

// inOrder returns rows as the page shows them.
func inOrder[T interface{ position() wire.Count }](rows wire.Rows[T]) []T {
	var out []T
	for _, r := range rows.All() {
		out = append(out, r.V)
	}
	slices.SortStableFunc(out, func(a, b T) int {
		if a.position().V == nil || b.position().V == nil {
			return 0
		}
		return cmp.Compare(*a.position().V, *b.position().V)
	})
	return out
}

// destinations returns where the rows of a page lead, in its order: what stands in a group stands behind it.
func destinations(rows wire.Rows[link]) []string {
	var out []string
	all := inOrder(rows)
	isTop := func(l link) bool {
		return l.Parent.ID == "" || !slices.ContainsFunc(all, func(g link) bool { return g.ID == l.Parent.ID })
	}
	for _, l := range all {
		if !isTop(l) {
			continue
		}
		out = append(out, l.addresses()...)
		for _, in := range all {
			if in.Parent.ID != "" && in.Parent.ID == l.ID && in.ID != l.ID {
				out = append(out, in.addresses()...)
			}
		}
	}
	return out
}

// isWeb tells an address of the web from an e-mail address, a telephone number, a picture in a URL, and nothing.
func isWeb(s string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "://")
	return scheme == "http" || scheme == "https"
}

// isPrivate tells what does not lead to the web, or leads to a telephone number: that is how to reach a person, and nobody
// else's business.
func isPrivate(s string) bool {
	if !isWeb(s) {
		return true
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return false
	}
	switch strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") {
	case "wa.me":
		return links.Digits(strings.Trim(u.Path, "/+"))
	case "whatsapp.com", "api.whatsapp.com":
		return u.Query().Has("phone")
	}
	return false
}
