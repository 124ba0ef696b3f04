package rumble

import (
	"context"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s *site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, h, err := s.channel(ctx, handle, "")
	if err != nil {
		return schema.Profile{}, err
	}
	h.readLinks(p)
	return h.profile(ctx), nil
}

// header is the head of an account's page.
type header struct {
	Account   account  `json:"account"`
	Title     string   `json:"title"`
	Followers string   `json:"followers"` // such as "265K Followers"
	Picture   string   `json:"picture"`
	Verified  bool     `json:"verified"`
	Links     []string `json:"links"`
}

// channel reads a page of an account: the first one, or the one with the given number. A handle without a kind is
// looked for first among channels, then among users.
func (s *site) channel(ctx context.Context, handle, number string) (p *page, h header, err error) {
	asked := []account{{"c", handle}, {"user", handle}}
	if kind, name, ok := strings.Cut(handle, "/"); ok {
		asked = []account{{kind, name}}
	}
	for _, a := range asked {
		p, err = s.page(ctx, upstream.Get(a.Kind, a.Slug).With("page", number))
		if errors.Is(err, providers.ErrNotFound) {
			continue
		}
		if err != nil {
			return p, h, err
		}
		h, err = p.header(ctx)
		if err != nil {
			return p, h, err
		}
		if !p.moved { // else it has been renamed
			if err := wire.SameFold(ctx, "account", a.id(), h.Account.id()); err != nil {
				return p, h, err
			}
		}
		return p, h, nil
	}
	return nil, h, err
}

// header reads the head of an account's page. The number of followers may be missing: then it is unknown.
func (p *page) header(ctx context.Context) (h header, err error) {
	h = header{
		Account:   p.account(),
		Title:     line(dom.First(dom.First(p.doc, dom.Class("channel-header--title")), dom.Tag("h1"))),
		Followers: line(dom.First(p.doc, dom.Class("channel-header--followers"))),
		Picture:   dom.Attr(dom.First(p.doc, dom.Tag("img"), dom.Class("channel-header--img")), "src"),
		Verified:  dom.First(p.doc, dom.Class("channel-header--verified")) != nil,
	}
	if err := wire.Need(ctx, "data-slug", h.Account.Slug != ""); err != nil {
		return h, err
	}
	return h, wire.Need(ctx, "channel-header--title h1", h.Title != "")
}

// account returns the account that the page belongs to: from the follow button, or else from the page's address.
func (p *page) account() account {
	button := dom.First(p.doc, dom.Class("media-subscribe-and-notify"), dom.Has("data-slug"))
	kind := map[string]string{"channel": "c", "user": "user"}[dom.Attr(button, "data-type")]
	if name := dom.Attr(button, "data-slug"); kind != "" && slug.MatchString(name) {
		return account{kind, name}
	}
	return accountAt(p.canonical())
}

func (h *header) readLinks(p *page) {
	for a := range dom.All(dom.First(p.doc, dom.Class("channel-subheader--socials")), dom.Tag("a")) {
		h.Links = append(h.Links, dom.Attr(a, "href"))
	}
}

func (h header) actor() schema.Actor { return h.Account.actor(h.Title, h.Picture) }

func (h header) profile(ctx context.Context) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: h.Account.id(), URL: h.Account.url(), Raw: raw(h)},
		Handle:      h.Account.Slug,
		DisplayName: text.NonEmpty(h.Title),
		AvatarURL:   absolute(h.Picture),
		Verified:    h.Verified,
		Followers:   count(ctx, "channel-header--followers", h.Followers),
		Links:       text.URLs(h.Links...),
	}
}
