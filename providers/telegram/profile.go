package telegram

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers/internal/dom"
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

// account is what a page tells of a channel, a group or a person, in the page's words.
type account struct {
	Handle      string   `json:"username"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Links       []string `json:"links"` // in the description
	Photo       string   `json:"photo"`
	Verified    bool     `json:"verified"`
	Members     string   `json:"members"` // such as "9.77M" and "2 805 members, 120 online"
}

// readHead reads what stands above and beside the messages of a channel's preview.
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

// headHandle returns the name of the channel that the page previews.
func headHandle(page *html.Node) string {
	shown := dom.Text(dom.First(page, dom.Class("tgme_channel_info_header_username")))
	if name := strings.TrimPrefix(shown, "@"); handle.MatchString(name) {
		return name
	}
	return strings.Trim(dom.Attr(dom.First(page, dom.Class("tgme_main"), dom.Has("data-url")), "data-url"), "/")
}

// subscribers returns how many the page says there are: photos, videos and links are counted beside them.
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

// logo is what stands for the picture of an account that has none.
const logo = "telegram.org/img/t_logo"

// orMeta returns a with what its page lacks taken from the page's meta elements.
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

// invites tells whether about is what t.me says of an account that has no words of its own, such as "You can view and join
// @name right away".
func (a account) invites(about string) bool {
	return strings.HasPrefix(about, "You can ") && strings.Contains(about, "@"+a.Handle)
}

// addresses lists where the links of a description lead. Hashtags, and what opens the app, lead nowhere.
func addresses(n *html.Node) []string {
	var out []string
	for a := range dom.All(n, dom.Tag("a")) {
		if u, err := url.Parse(href(a)); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			out = append(out, href(a))
		}
	}
	return out
}

// href returns where a link leads. Of those that ask before they open, t.me escapes the ampersands twice.
func href(a *html.Node) string {
	to := dom.Attr(a, "href")
	if dom.Attr(a, "onclick") != "" {
		to = html.UnescapeString(to)
	}
	return strings.TrimSpace(to)
}

// check fails unless a is the account that was asked for.
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

// raw is what was read as JSON, the page being none.
func raw(v any) json.RawMessage {
	b, err := schema.Marshal(v)
	if err != nil { // it is all strings
		return nil
	}
	return b
}
