package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s site) posts(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	if err := checkCursor(cursor); err != nil {
		return out, err
	}
	p, a, err := s.subject(ctx, handle)
	if err != nil {
		return out, err
	}
	name, section, cards := "updates", dom.Is("data-test-id", "updates"), has("data-activity-urn")
	read := func(n node) (post, bool) { return a.update(n) }
	if a.kind == person {
		name, section, cards = "posts", dom.Is("data-section", "posts"), activityCard
		own := p.card()
		read = func(n node) (post, bool) { return a.activity(n, own.Title) }
	}
	if err := wire.Need(ctx, name, p.root.first(section).here()); err != nil {
		return out, err
	}
	understood, lost, words := 0, 0, false
	seen := map[string]bool{}
	for n := range p.root.all(cards) {
		if !n.inside(section, p.root) || n.inside(cards, p.root) {
			continue // not in the list, or shared by a card
		}
		switch r, ours := read(n); {
		case r.ID == "":
			lost++
		case !ours || seen[r.ID]:
			understood++
		default:
			understood++
			seen[r.ID] = true
			words = words || r.Text != ""
			out.Items = append(out.Items, r.post())
		}
	}
	if err := (wire.Witness{Rows: understood + lost}).Check(ctx, name); err != nil { // a page has no count of posts
		return providers.Page[schema.Post]{}, err
	}
	if err := wire.Need(ctx, name+" commentary", words || len(out.Items) == 0); err != nil {
		return providers.Page[schema.Post]{}, err // some posts are only pictures, but hardly all of them
	}
	return out, wire.Understood(name, understood, lost)
}

// activityCard matches a card of a person's page, in either layout.
var activityCard = either(dom.Class("main-activity-card"), dom.Class("profile-activity-card"))

// post is the data of a card.
type post struct {
	ID       string         `json:"id"`
	URL      string         `json:"url,omitempty"`
	Author   wrote          `json:"author"`
	Of       *wrote         `json:"reposted_from,omitempty"`
	Text     string         `json:"text"`
	Mentions []string       `json:"mentions,omitempty"`
	Media    []schema.Media `json:"media,omitempty"`
	Likes    *int64         `json:"num_reactions"`
	Comments *int64         `json:"num_comments"`
}

// wrote is the author at the top of a card.
type wrote struct {
	URL   string `json:"url"`
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`
}

func (p post) post() schema.Post {
	words := p.Text
	if p.Of != nil {
		words = strings.TrimSpace("RT @" + ActorAt(p.Of.URL, p.Of.Name, "").Handle + ": " + words)
	}
	return schema.Post{
		Common:     schema.Common{ID: p.ID, URL: text.URLOr(p.URL, PostURL(p.ID)), Raw: asJSON(p)},
		Author:     ActorAt(p.Author.URL, p.Author.Name, p.Author.Image),
		Text:       words,
		CreatedAt:  createdAt(p.ID),
		Media:      p.Media,
		Engagement: schema.Engagement{Likes: p.Likes, Comments: p.Comments},
		Hashtags:   text.Hashtags(p.Text),
		Mentions:   text.Each(p.Mentions),
	}
}

// PostURL returns the address of the page of a post by its id.
func PostURL(id string) string {
	if name, ok := strings.CutPrefix(id, article); ok {
		return siteURL + "/" + article + url.PathEscape(name)
	}
	if !strings.HasPrefix(id, urn) {
		id = urn + "activity:" + id
	}
	return siteURL + "/feed/update/" + id
}

// createdAt returns the time at which a post was made: the upper bits of its number are milliseconds.
func createdAt(id string) *time.Time {
	n, err := strconv.ParseInt(id[strings.LastIndex(id, ":")+1:], 10, 64)
	if err != nil || n>>22 < 1_000_000_000_000 {
		return nil // a time before 2001: not one of LinkedIn's numbers
	}
	t := time.UnixMilli(n >> 22).UTC()
	return &t
}

// update reads a card of an organisation's page. It reports false for what the organisation has only liked or commented
// on.
func (a account) update(n node) (post, bool) {
	out := shown(n)
	header := n.first(func(d *html.Node) bool {
		return strings.HasSuffix(dom.Attr(d, "data-tracking-control-name"), "feed-reaction-header")
	})
	if !header.here() {
		out.Author.URL = cmp.Or(out.Author.URL, a.url())
		return out, true
	}
	words := node{header.Parent}.line()
	if !strings.Contains(words, "repost") {
		return out, false
	}
	original := out.Author
	out.Author, out.Of = wrote{URL: a.url(), Name: header.line()}, &original
	return out, true
}

// shown reads the parts that a card of an organisation's page and the main card of a post's page have in common.
func shown(n node) post {
	words := n.first(dom.Is("data-test-id", commentary))
	out := post{
		ID: urnOf(n.attr("data-activity-urn")), Author: lockup(n), Text: words.text(), Mentions: mentions(words), Media: media(n),
	}
	out.Likes, out.Comments = reactions(n)
	return out
}

const commentary = "main-feed-activity-card__commentary"

// lockup reads the author at the top of a card: a picture and a name, which both link to the account.
func lockup(n node) (w wrote) {
	top := n.first(dom.Is("data-test-id", "main-feed-activity-card__entity-lockup"))
	for a := range top.all(dom.Tag("a")) {
		if accountOf(a.attr("href")).slug == "" {
			continue
		}
		w.URL, w.Name = cmp.Or(w.URL, a.attr("href")), cmp.Or(w.Name, a.line())
		w.Image = cmp.Or(w.Image, a.first(dom.Tag("img")).picture())
	}
	return w
}

func mentions(n node) (all []string) {
	for a := range n.all(dom.Tag("a")) {
		if slug := accountOf(a.attr("href")).slug; slug != "" {
			all = append(all, slug)
		}
	}
	return all
}

// reactions returns the counts of a card; a missing count is unknown, because LinkedIn leaves out some that are not 0.
func reactions(n node) (likes, comments *int64) {
	number := func(name string) *int64 { return text.Count(n.first(has(name)).attr(name)) }
	return number("data-num-reactions"), number("data-num-comments")
}

// source is one rendition of a video, as the player of a page has it.
type source struct {
	Src  string `json:"src"`
	Type string `json:"type"`
}

// media reads the pictures and videos of a card.
func media(n node) (all []schema.Media) {
	for img := range n.first(dom.Is("data-test-id", "feed-images-content")).all(dom.Tag("img")) {
		all = append(all, image(img.picture())...)
	}
	for v := range n.all(dom.Tag("video")) {
		address := v.attr("src")
		var sources []source
		if json.Unmarshal([]byte(v.attr("data-sources")), &sources) == nil && len(sources) > 0 {
			address = sources[0].Src
		}
		if u := text.URL(address); u != nil {
			poster := cmp.Or(v.attr("data-poster-url"), v.attr("poster"))
			all = append(all, schema.Media{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(poster)})
		}
	}
	return all
}

func image(address string) []schema.Media {
	u := text.URL(address)
	if u == nil {
		return nil
	}
	return []schema.Media{{Type: schema.Image, URL: *u}}
}

// activity reads a card of a person's page. It reports false for what the person has only liked or commented on.
func (a account) activity(n node, name string) (post, bool) {
	link := n.first(func(d *html.Node) bool { return d.Data == "a" && PostAt(dom.Attr(d, "href")) != "" })
	out := post{ID: PostAt(link.attr("href")), URL: bare(link.attr("href")), Author: wrote{URL: a.url(), Name: name}}
	out.Likes, out.Comments = reactions(n)
	if dom.Class("main-activity-card")(n.Node) {
		return a.listed(n, out)
	}
	inner := n.first(activityCard)
	own := func(p dom.Match) dom.Match { // leaves out what is in the card that this one shares
		return func(d *html.Node) bool { return p(d) && !(node{d}).inside(activityCard, n) }
	}
	said, content := n.first(own(has("data-see-more-text"))), n.first(own(dom.Class("profile-activity-content-card")))
	if !said.here() && inner.here() { // no text of their own: a repost
		said, content = inner.first(has("data-see-more-text")), inner.first(dom.Class("profile-activity-content-card"))
		root := inner.first(dom.Class("profile-activity-root-author")).first(dom.Tag("a"))
		out.Of = &wrote{URL: root.attr("href"), Name: root.line()}
	}
	out.Text, out.Mentions = said.text(), mentions(said)
	out.Media = cover(content, content.first(dom.Tag("img")), out.URL)
	caption := link.line() // such as "Ann Leaf liked this"
	if !strings.HasSuffix(caption, " this") && !strings.Contains(caption, "comment") && !strings.Contains(caption, "repl") {
		out.ID = "" // its author is unknown
	}
	return out, strings.HasSuffix(caption, " shared this") || strings.HasSuffix(caption, " reposted this")
}

// listed reads a card of the older layout into out, whose address is known. Its subtitle names the action and its
// author, as in "Reposted by Ann Leaf".
func (a account) listed(n node, out post) (post, bool) {
	subtitle := n.first(dom.Class("base-main-card__subtitle"))
	did, _, named := strings.Cut(subtitle.line(), " by ")
	by := accountOf(subtitle.first(dom.Tag("a")).attr("href")).slug
	out.Text = n.first(dom.Class("base-main-card__title")).line()
	out.Media = cover(n, n.first(dom.Class("main-activity-card__img")), out.URL)
	if !named {
		out.ID = "" // its author is unknown
	}
	if of := slugOf(out.URL); did == "Reposted" && of != "" && !strings.EqualFold(of, a.slug) {
		out.Of = &wrote{URL: account{person, of}.url(), Name: of}
	}
	return out, (did == "Posted" || did == "Reposted" || did == "Shared") && strings.EqualFold(by, a.slug)
}

// slugOf returns the account in the address of a post, such as /posts/ann_tea-time-activity-1-AbCd; "" for another
// address.
func slugOf(address string) string {
	_, name, _ := strings.Cut(address, "/posts/")
	slug, _, _ := strings.Cut(name, "_")
	return slug
}

// cover returns the picture of a card. With a play button it is the cover of a video, which only the post's page plays.
func cover(n, img node, page string) []schema.Media {
	all := image(img.picture())
	if len(all) == 0 || page == "" || !n.first(playButton).here() {
		return all
	}
	return []schema.Media{{Type: schema.Video, URL: page, ThumbnailURL: &all[0].URL}}
}

// playButton matches elements with "play" as a word of a class, such as activity-video-play.
func playButton(n *html.Node) bool {
	words := strings.FieldsFunc(dom.Attr(n, "class"), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	return slices.Contains(words, "play")
}

// PostAt returns the id of the post or article at an address; "" for another page.
func PostAt(href string) string {
	id, err := addresses.Normalize(providers.PostID, href)
	if err != nil || !strings.Contains(href, "/") {
		return ""
	}
	return id
}

// bare returns the address of a page of the site without tracking parameters, on the host that is not country-specific.
func bare(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	if strings.HasSuffix(u.Host, ".linkedin.com") {
		u.Scheme, u.Host = "https", "www.linkedin.com"
	}
	return u.String()
}
