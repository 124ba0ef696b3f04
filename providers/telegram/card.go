package telegram

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// card is the page that t.me shows for any account with a public name: it opens the app.
type card struct {
	account
	Extra string `json:"extra"` // "5 012 subscribers", "2 805 members, 120 online", "@name" or nothing
}

// contact begins the title of the card of an unused name, or of a user without a public card.
const contact = "Telegram: Contact @"

// isCard reports whether page is a card, as opposed to a preview or a widget.
func isCard(page *html.Node) bool {
	return dom.First(page, dom.Class("tgme_page")) != nil &&
		dom.First(page, dom.Class("tgme_channel_history")) == nil && dom.First(page, dom.Class("tgme_widget_message")) == nil
}

// readCard reads the card of handle. It returns errNoChannel when the card has nothing but the name.
func readCard(ctx context.Context, page *html.Node, handle string) (*card, error) {
	about := dom.First(page, dom.Class("tgme_page_description"))
	if dom.First(about, dom.Class("tgme_username_link")) != nil { // t.me's own text, when the account has none
		about = nil
	}
	c := card{account: account{
		Handle:      cardHandle(page),
		Title:       dom.Text(dom.First(page, dom.Class("tgme_page_title"))),
		Description: dom.Text(about),
		Links:       addresses(about),
		Photo:       dom.Attr(dom.First(page, dom.Tag("img"), dom.Class("tgme_page_photo_image")), "src"),
		Verified:    isVerified(page, "tgme_page_title"),
	}, Extra: dom.Text(dom.First(page, dom.Class("tgme_page_extra")))}
	if err := wire.Need(ctx, "tg://resolve", c.Handle != ""); err != nil {
		return nil, err
	}
	if err := wire.SameFold(ctx, "account", handle, c.Handle); err != nil {
		return nil, err
	}
	if c.Extra == "" && c.Title == "" && c.Photo == "" && strings.HasPrefix(dom.Meta(page, "og:title"), contact) {
		return nil, errNoChannel
	}
	if err := wire.Need(ctx, "tgme_page_title", c.Title != "" || dom.Meta(page, "og:title") != ""); err != nil {
		return nil, err
	}
	if c.isGroup() || c.isChannel() {
		c.Members, _, _ = strings.Cut(c.Extra, ",")
	}
	c.account = c.orMeta(page)
	return &c, nil
}

// cardHandle returns the name in the card's links into the app.
func cardHandle(page *html.Node) string {
	for e := range dom.All(page) {
		for _, a := range e.Attr {
			if a.Key != "href" && a.Key != "content" || !strings.HasPrefix(a.Val, "tg://resolve?") {
				continue
			}
			if u, err := url.Parse(a.Val); err == nil && handle.MatchString(u.Query().Get("domain")) {
				return u.Query().Get("domain")
			}
		}
	}
	return ""
}

func (c *card) isGroup() bool   { return c.counts("member") }
func (c *card) isChannel() bool { return c.counts("subscriber") }

// counts reports whether the card has a count of the given word. A person's card has a name there, which may contain
// any word.
func (c *card) counts(word string) bool {
	return !strings.HasPrefix(c.Extra, "@") && strings.Contains(c.Extra, word)
}

// noPosts returns why an account that shows this card instead of a preview has no posts.
func (c *card) noPosts() error {
	switch {
	case c.isGroup():
		return errGroup
	case c.isChannel():
		return errNoPreview
	}
	return errPerson
}

// profile converts c. The raw keeps the card's own texts.
func (c *card) profile() schema.Profile {
	p := c.account.profile()
	p.Raw = raw(c)
	return p
}
