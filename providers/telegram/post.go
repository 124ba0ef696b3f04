package telegram

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// post reads the widget with which other sites show a post. An album is one widget, whichever of its pictures is
// requested.
// https://core.telegram.org/widgets/post
func (w web) post(ctx context.Context, id string) (schema.Post, error) {
	m, err := w.widget(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return m.post(), nil
}

func (w web) widget(ctx context.Context, id string) (*message, error) {
	channel, n, _ := strings.Cut(id, "/")
	page, err := w.page(ctx, upstream.Get(channel, n).With("embed", "1"))
	if err != nil {
		return nil, err
	}
	if isCard(page) {
		if _, err := readCard(ctx, page, channel); err != nil {
			return nil, err
		}
	}
	found := dom.First(page, dom.Class("tgme_widget_message"))
	if err := wire.Need(ctx, "tgme_widget_message", found != nil); err != nil {
		return nil, err
	}
	if dom.Class("err_message")(found) {
		return nil, errNoPost
	}
	m := readMessage(found)
	if err := wire.Need(ctx, "data-post", m.ID != ""); err != nil {
		return nil, err
	}
	if err := wire.Same(ctx, "post", strings.ToLower(id), strings.ToLower(m.answers(id))); err != nil {
		return nil, err
	}
	switch {
	case m.Service:
		return nil, errService
	case m.hidden:
		return nil, errHidden
	}
	return &m, nil
}

// answers returns id if the message is an album that contains it, else the message's own id.
func (m *message) answers(id string) string {
	if slices.ContainsFunc(m.Album, func(part string) bool { return strings.EqualFold(part, id) }) {
		return id
	}
	return m.ID
}

func (w web) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return w.list(ctx, handle, "", cursor)
}

// list reads one page of a channel's messages, or of those that match query. The cursor is the number of the message
// before which the page ends.
func (w web) list(ctx context.Context, handle, query, cursor string) (providers.Page[schema.Post], error) {
	var none providers.Page[schema.Post]
	if cursor != "" && !number.MatchString(cursor) {
		return none, providers.ErrCursor
	}
	r := upstream.Get("s", handle).With("before", cursor)
	if query != "" {
		r = r.Says("q", query)
	}
	page, card, err := w.preview(ctx, handle, r)
	if err != nil {
		return none, err
	}
	if card != nil {
		return none, card.noPosts()
	}
	if err := checkList(ctx, page, handle, query); err != nil {
		return none, err
	}
	return readList(ctx, page, handle, query, cursor)
}

// checkList returns an error unless page is the requested list.
func checkList(ctx context.Context, page *html.Node, asked, query string) error {
	here := dom.First(page, dom.Class("tgme_channel_history")) != nil || dom.First(page, messageWrap) != nil
	if err := wire.Need(ctx, "tgme_channel_history", here); err != nil {
		return err
	}
	if name := headHandle(page); handle.MatchString(name) {
		if err := wire.SameFold(ctx, "account", asked, name); err != nil {
			return err
		}
	}
	return checkSearch(ctx, page, query)
}

// checkSearch returns an error unless the page is the result of a search for query. Sometimes t.me ignores the search
// and shows the whole history.
func checkSearch(ctx context.Context, page *html.Node, query string) error {
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if box := dom.First(page, dom.Class("tgme_header_search_form_input")); box != nil || query == "" {
		return wire.SameFold(ctx, "search", plain(query), plain(dom.Attr(box, "value")))
	}
	searched := dom.First(page, noMessages) != nil || dom.First(page, dom.Tag("mark"), dom.Class("highlight")) != nil
	return wire.Need(ctx, "tgme_header_search_form_input", searched)
}

// noMessages matches the notice "No posts found", which is shown instead of messages.
var noMessages = dom.Class("tme_no_messages_found")

var messageWrap = dom.Class("tgme_widget_message_wrap")

// readList reads the messages of a page, which go from old to new.
func readList(ctx context.Context, page *html.Node, handle, query, cursor string) (providers.Page[schema.Post], error) {
	var out providers.Page[schema.Post]
	understood, lost := 0, 0
	for wrap := range dom.Rows(page, messageWrap) {
		found := dom.First(wrap, dom.Class("tgme_widget_message"))
		if found == nil && dom.First(wrap, noMessages) != nil {
			continue
		}
		m := readMessage(found)
		if channel, _, _ := strings.Cut(m.ID, "/"); !strings.EqualFold(channel, handle) || m.hidden && !m.Service {
			lost++
			out.Items = append(out.Items, schema.Post{}) // the engine leaves it out and counts it
			continue
		}
		understood++
		if !m.Service {
			out.Items = append(out.Items, m.post())
		}
	}
	if err := wire.Understood("tgme_widget_message_wrap", understood, lost); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	slices.Reverse(out.Items)
	next, more := older(page)
	if err := wire.Need(ctx, "data-before", !more || next != ""); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	out.Next = next
	// t.me also says "No posts found" to clients that send too many requests: for a channel's whole list it is believed
	// only if the page counts no posts.
	words := dom.First(page, noMessages) != nil && (query != "" || !countsPosts(page))
	witness := wire.Witness{Rows: understood, Words: words, Cursor: cursor, More: more}
	if err := witness.Check(ctx, "tgme_widget_message_wrap"); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return out, nil
}

// countsPosts reports whether the head of a page counts anything besides subscribers, such as photos.
func countsPosts(page *html.Node) bool {
	for c := range dom.All(page, dom.Class("tgme_channel_info_counter")) {
		kind := dom.Text(dom.First(c, dom.Class("counter_type")))
		n := text.Count(dom.Text(dom.First(c, dom.Class("counter_value"))))
		if !strings.HasPrefix(kind, "subscriber") && n != nil && *n > 0 {
			return true
		}
	}
	return false
}

// older returns the number of the message before which the next page ends, and whether the page has one: the link is
// above the messages and in the head. A link to newer messages may come below them.
func older(page *html.Node) (before string, more bool) {
	for _, e := range []*html.Node{
		dom.First(page, dom.Class("tme_messages_more"), dom.Has("data-before")),
		dom.First(page, dom.Class("tme_messages_more"), leadsBack),
		dom.First(page, dom.Tag("link"), dom.Is("rel", "prev")),
	} {
		more = more || e != nil
		for _, s := range []string{dom.Attr(e, "data-before"), beforeIn(dom.Attr(e, "href"))} {
			if number.MatchString(s) {
				return s, true
			}
		}
	}
	return "", more
}

func leadsBack(n *html.Node) bool { return beforeIn(dom.Attr(n, "href")) != "" }

func beforeIn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("before")
}
