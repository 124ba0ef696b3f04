package telegram

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (w web) profile(ctx context.Context, handle string) (schema.Profile, error) {
	page, card, err := w.preview(ctx, handle, upstream.Get("s", handle))
	if err != nil {
		return schema.Profile{}, err
	}
	if card != nil {
		return card.profile(), nil
	}
	a := readHead(page)
	if err := a.check(ctx, handle); err != nil {
		return schema.Profile{}, err
	}
	return a.profile(), nil
}

// account is a page's data about a channel, a group or a person, in the page's own texts.
type account struct {
	Handle      string   `json:"username"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Links       []string `json:"links"` // in the description
	Photo       string   `json:"photo"`
	Verified    bool     `json:"verified"`
	Members     string   `json:"members"` // such as "9.77M" and "2 805 members, 120 online"
}

// readHead reads what is above and beside the messages of a channel's preview.
func readHead(page *html.Node) account {
	about := dom.First(page, dom.Class("tgme_channel_info_description"))
	a := account{
		Handle: headHandle(page),
		Title: firstText(
			dom.First(page, dom.Class("tgme_channel_info_header_title")), dom.First(page, dom.Class("tgme_header_title")),
		),
		Description: dom.Text(about),
		Links:       addresses(about),
		Photo:       dom.Attr(dom.First(dom.First(page, dom.Class("tgme_page_photo_image")), dom.Tag("img")), "src"),
		Verified:    isVerified(page, "tgme_channel_info_header_labels", "tgme_header_labels"),
		Members:     subscribers(page),
	}
	return a.orMeta(page)
}

// headHandle returns the name of the previewed channel.
func headHandle(page *html.Node) string {
	shown := dom.Text(dom.First(page, dom.Class("tgme_channel_info_header_username")))
	if name := strings.TrimPrefix(shown, "@"); handle.MatchString(name) {
		return name
	}
	return strings.Trim(dom.Attr(dom.First(page, dom.Class("tgme_main"), dom.Has("data-url")), "data-url"), "/")
}

// subscribers returns the page's count of subscribers, which is among those of photos, videos and links.
func subscribers(page *html.Node) string {
	for c := range dom.All(page, dom.Class("tgme_channel_info_counter")) {
		if strings.HasPrefix(dom.Text(dom.First(c, dom.Class("counter_type"))), "subscriber") {
			return dom.Text(dom.First(c, dom.Class("counter_value")))
		}
	}
	return dom.Text(dom.First(page, dom.Class("tgme_header_counter")))
}

func isVerified(page *html.Node, places ...string) bool {
	for _, place := range places {
		if dom.First(dom.First(page, dom.Class(place)), dom.Class("verified-icon")) != nil {
			return true
		}
	}
	return false
}

// firstText returns the text of the first of nodes that has any.
func firstText(nodes ...*html.Node) string {
	for _, n := range nodes {
		if s := dom.Text(n); s != "" {
			return s
		}
	}
	return ""
}

// logo is the default picture of accounts.
const logo = "telegram.org/img/t_logo"

// orMeta returns a with missing fields taken from the page's meta elements.
func (a account) orMeta(page *html.Node) account {
	if title := dom.Meta(page, "og:title"); a.Title == "" && !strings.HasPrefix(title, contact) {
		a.Title = title
	}
	if about := dom.Meta(page, "og:description"); a.Description == "" && !a.invites(about) {
		a.Description = about
	}
	if picture := dom.Meta(page, "og:image"); a.Photo == "" && !strings.Contains(picture, logo) {
		a.Photo = picture
	}
	return a
}

// invites reports whether about is t.me's own text for an account without a description, such as "You can view and join
// @name right away".
func (a account) invites(about string) bool {
	return strings.HasPrefix(about, "You can ") && strings.Contains(about, "@"+a.Handle)
}

// addresses lists the targets of the links in a description. Hashtags, and links that open the app, are left out.
func addresses(n *html.Node) []string {
	var out []string
	for a := range dom.All(n, dom.Tag("a")) {
		if u, err := url.Parse(href(a)); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			out = append(out, href(a))
		}
	}
	return out
}

// href returns the target of a link. In links that ask before they open, t.me escapes the ampersands twice.
func href(a *html.Node) string {
	to := dom.Attr(a, "href")
	if dom.Attr(a, "onclick") != "" {
		to = html.UnescapeString(to)
	}
	return strings.TrimSpace(to)
}

// check returns an error unless a is the requested account.
func (a account) check(ctx context.Context, asked string) error {
	if err := wire.Need(ctx, "tgme_channel_info_header_username or tgme_main", handle.MatchString(a.Handle)); err != nil {
		return err
	}
	return wire.SameFold(ctx, "account", asked, a.Handle)
}

func (a account) profile() schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: strings.ToLower(a.Handle), URL: site + a.Handle, Raw: raw(a)},
		Handle:      a.Handle,
		DisplayName: text.NonEmpty(a.Title),
		Bio:         text.NonEmpty(a.Description),
		AvatarURL:   text.URL(a.Photo),
		Verified:    a.Verified,
		Followers:   text.Count(a.Members),
		Links:       text.URLs(append(a.Links, text.Addresses(a.Description)...)...),
	}
}

// raw encodes what was read as JSON, since the page is HTML.
func raw(v any) json.RawMessage {
	b, err := schema.Marshal(v)
	if err != nil { // it has only strings
		return nil
	}
	return b
}
