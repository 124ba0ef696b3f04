package telegram

import (
	"context"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/schema"
)

// message is a message as t.me shows it, in the page's own texts.
type message struct {
	ID        string   `json:"post"` // channel/number; "" when it cannot be read
	Service   bool     `json:"service"`
	Owner     string   `json:"owner_name"`
	Photo     string   `json:"user_photo"`
	Signature string   `json:"from_author"`
	Forwarded string   `json:"forwarded_from_name"`
	Reply     string   `json:"reply"` // the address of the message that it replies to
	Text      string   `json:"text"`
	Hashtags  []string `json:"hashtags"`
	Mentions  []string `json:"mentions"`
	Time      string   `json:"datetime"`
	Edited    bool     `json:"edited"`
	Views     string   `json:"views"`
	Reactions []string `json:"reactions"` // the count of each kind, without paid ones; nil when there is no list of them
	Media     []medium `json:"media"`
	Album     []string `json:"album"` // the ids of its parts

	hidden bool // the page only has a hint to open the app
}

// readMessage reads the element tgme_widget_message, which may be nil.
func readMessage(n *html.Node) message {
	meta := dom.First(n, dom.Class("tgme_widget_message_meta"))
	m := message{
		ID:        postID(dom.Attr(n, "data-post")),
		Service:   n != nil && dom.Class("service_message")(n),
		Owner:     dom.Text(dom.First(n, dom.Class("tgme_widget_message_owner_name"))),
		Photo:     dom.Attr(dom.First(dom.First(n, dom.Class("tgme_widget_message_user_photo")), dom.Tag("img")), "src"),
		Signature: dom.Text(dom.First(n, dom.Class("tgme_widget_message_from_author"))),
		Forwarded: dom.Text(dom.First(n, dom.Class("tgme_widget_message_forwarded_from_name"))),
		Reply:     dom.Attr(dom.First(n, dom.Class("tgme_widget_message_reply"), dom.Has("href")), "href"),
		Time:      dom.Attr(dom.First(dom.First(n, dom.Class("tgme_widget_message_date")), dom.Tag("time")), "datetime"),
		Edited:    strings.HasPrefix(dom.Text(meta), "edited"),
		Views:     dom.Text(dom.First(n, dom.Class("tgme_widget_message_views"))),
		Reactions: reactions(n),
		Album:     album(n),
	}
	m.readText(n)
	m.Media = media(n, site+m.ID)
	m.hidden = m.Text == "" && len(m.Media) == 0 && dom.First(n, dom.Class("message_media_not_supported_label")) != nil
	return m
}

// postID returns data-post if it is channel/number, else "".
func postID(s string) string {
	channel, n, _ := strings.Cut(s, "/")
	if !handle.MatchString(channel) || !number.MatchString(n) {
		return ""
	}
	return s
}

// readText reads the text of the message: the caption of a document or a song, or else its title. It skips the quote of
// a message that is replied to, which looks much the same.
func (m *message) readText(n *html.Node) {
	said := dom.First(n, dom.Class("tgme_widget_message_text", "js-message_text"), outsideQuotes)
	m.Text = dom.Text(said)
	for _, title := range []string{"tgme_widget_message_poll_question", "tgme_widget_message_document_title"} {
		if m.Text == "" {
			m.Text = dom.Text(dom.First(n, dom.Class(title), outsideQuotes))
		}
	}
	for a := range dom.All(said, dom.Tag("a")) {
		words := dom.Text(a)
		if tag, ok := strings.CutPrefix(words, "#"); ok && searchesTag(a) {
			tag, _, _ = strings.Cut(tag, "@") // #tag@channel searches in one channel
			m.Hashtags = append(m.Hashtags, tag)
		}
		if name, ok := strings.CutPrefix(words, "@"); ok && handle.MatchString(name) && leadsTo(a, name) {
			m.Mentions = append(m.Mentions, name)
		}
	}
	if m.Hashtags = text.Each(m.Hashtags); m.Hashtags == nil {
		m.Hashtags = text.Hashtags(m.Text)
	}
	m.Mentions = text.Each(m.Mentions)
}

func outsideQuotes(n *html.Node) bool {
	return !dom.Class("js-message_reply_text")(n) && !dom.Within(n, dom.Class("tgme_widget_message_reply"))
}

// searchesTag reports whether a link searches for a hashtag in the channel: its address is ?q=%23tag.
func searchesTag(a *html.Node) bool {
	u, err := url.Parse(dom.Attr(a, "href"))
	return err == nil && strings.HasPrefix(u.Query().Get("q"), "#")
}

// leadsTo reports whether a link leads to the account with that name.
func leadsTo(a *html.Node, name string) bool {
	u, err := url.Parse(href(a))
	return err == nil && (u.Hostname() == "t.me" || u.Hostname() == "telegram.me") && strings.EqualFold(strings.Trim(u.Path, "/"), name)
}

// reactions returns the count of each kind, and nil when the message has no list of them. Stars are paid, and do not
// count as likes. A picture may come before the number, with the emoji as its text.
func reactions(n *html.Node) []string {
	list := dom.First(n, dom.Class("tgme_widget_message_reactions"))
	if list == nil {
		return nil
	}
	out := []string{}
	for r := range dom.All(list, dom.Class("tgme_reaction")) {
		if dom.Class("tgme_reaction_paid")(r) {
			continue
		}
		var count strings.Builder
		for c := range r.ChildNodes() {
			if c.Type == html.TextNode {
				count.WriteString(c.Data)
			}
		}
		out = append(out, strings.TrimSpace(count.String()))
	}
	return out
}

// album lists the ids of the parts of an album: each links to itself with ?single.
func album(n *html.Node) []string {
	var out []string
	for a := range dom.All(n, dom.Tag("a"), dom.Class("grouped_media_wrap")) {
		if u, err := url.Parse(dom.Attr(a, "href")); err == nil && u.Query().Has("single") {
			out = append(out, postID(strings.Trim(u.Path, "/")))
		}
	}
	return text.Each(out)
}

// post converts m as the channel's own post, even if it was forwarded. A signature is a person's name, not an account.
func (m *message) post() schema.Post {
	channel, _, _ := strings.Cut(m.ID, "/")
	return schema.Post{
		Common: schema.Common{ID: m.ID, URL: site + m.ID, Raw: raw(m)},
		Author: schema.Actor{
			ID: strings.ToLower(channel), Handle: channel, DisplayName: text.NonEmpty(m.Owner), AvatarURL: text.URL(m.Photo),
		},
		Text:       m.Text,
		CreatedAt:  dates.Parse(m.Time, time.RFC3339),
		Media:      converted(m.Media),
		Engagement: schema.Engagement{Likes: m.likes(), Views: text.Count(m.Views)},
		Hashtags:   m.Hashtags,
		Mentions:   m.Mentions,
	}
}

// likes returns the sum of the reactions, nil when one of them cannot be read.
func (m *message) likes() *int64 {
	if m.Reactions == nil {
		return nil
	}
	var sum int64
	for _, r := range m.Reactions {
		n := text.Count(r)
		if n == nil {
			return nil
		}
		sum += *n
	}
	return &sum
}

// search searches posts within one channel.
func (w web) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var out providers.Page[schema.SearchResult]
	if q.Handle == "" {
		return out, providers.Invalid("Telegram only searches within one channel, which must be given by handle")
	}
	page, err := w.list(ctx, q.Handle, q.Query, cursor)
	if err != nil {
		return out, err
	}
	return pages.Results(page), nil
}
