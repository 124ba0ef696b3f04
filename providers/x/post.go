package x

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	u, err := c.who(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if u.Protected.Is() {
		return providers.Page[schema.Post]{}, providers.NotFound("the account is protected")
	}
	r := upstream.Get("2", "users", string(u.ID), "tweets").With("max_results", pageSize).With("pagination_token", cursor)
	var a list[tweet]
	if err := c.tweets(ctx, r.On(c.timelines), &a); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return page(ctx, a, func(t tweet, raw json.RawMessage) (schema.Post, bool) {
		return t.post(a.Includes, &u, raw), true
	})
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	t, in, err := c.tweet(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return t.V.post(in, nil, t.Raw), nil
}

// longestID is how many digits X takes together with other ids: one more and it refuses them all.
const longestID = 19

// postsByID reads posts by their ids.
// https://docs.x.com/x-api/posts/get-posts-by-ids
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	var a list[tweet]
	var found looked[tweet]
	var err error
	short := func(id string) bool { return number(id) && len(id) <= longestID }
	if known := providers.Together(ids, short); len(known) > 0 {
		r := upstream.Get("2", "tweets").With("ids", strings.Join(known, ","))
		if err = c.tweets(ctx, r.On(c.lookups), &a); err == nil {
			found, err = a.looked(ctx, known, func(t tweet) string { return string(t.ID) })
		}
	}
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		if !short(id) {
			return schema.Post{}, providers.Alone()
		}
		t, err := found.of(id)
		if err != nil {
			return schema.Post{}, err
		}
		return t.V.post(a.Includes, nil, t.Raw), nil
	})
}

// tweet reads one post as a list of one, which X allows seven times as often as a look-up of one.
func (c *client) tweet(ctx context.Context, id string) (wire.Object[tweet], includes, error) {
	var a list[tweet]
	err := c.tweets(ctx, upstream.Get("2", "tweets").With("ids", id).On(c.lookups), &a)
	if err == nil {
		err = a.check(ctx)
	}
	if err != nil {
		return wire.Object[tweet]{}, includes{}, err
	}
	for _, t := range a.Data.All() {
		return t, a.Includes, wire.Same(ctx, "post", id, string(t.V.ID))
	}
	return wire.Object[tweet]{}, includes{}, providers.NotFound("X knows no such post")
}

// tweet is a post. What the words of 2026 renamed stands twice.
// https://docs.x.com/x-api/fundamentals/data-dictionary#tweet
type tweet struct {
	ID              wire.Serial          `json:"id"`
	Text            string               `json:"text"` // with &, < and > as entities
	AuthorID        wire.Serial          `json:"author_id"`
	CreatedAt       wire.Time            `json:"created_at"`
	Lang            string               `json:"lang"`
	ConversationID  wire.Serial          `json:"conversation_id"` // the id of the post that began it
	PaidPartnership bool                 `json:"paid_partnership"`
	Entities        entities             `json:"entities"`
	NoteTweet       note                 `json:"note_tweet"` // the whole of a text that is longer than 280 characters
	NotePost        note                 `json:"note_post"`
	Referenced      wire.Rows[reference] `json:"referenced_tweets"` // absent from a post that refers to none
	ReferencedPosts wire.Rows[reference] `json:"referenced_posts"`
	Attachments     struct {
		MediaKeys []string `json:"media_keys"`
	} `json:"attachments"`
	PublicMetrics metrics `json:"public_metrics"`
}

// metrics are counts. Impressions and bookmarks are absent in older posts. Of a retweet the retweets are those of its
// original, and the rest is 0.
type metrics struct {
	Retweets    wire.Count `json:"retweet_count"`
	Replies     wire.Count `json:"reply_count"`
	Likes       wire.Count `json:"like_count"`
	Quotes      wire.Count `json:"quote_count"`
	Bookmarks   wire.Count `json:"bookmark_count"`
	Impressions wire.Count `json:"impression_count"`
}

type note struct {
	Text     string   `json:"text"`
	Entities entities `json:"entities"`
}

type reference struct {
	Type string      `json:"type"` // "retweeted", "quoted" or "replied_to"
	ID   wire.Serial `json:"id"`
}

// entities are what X has found in a text. Their positions count the characters of the escaped text and are not used.
type entities struct {
	URLs     []link `json:"urls"`
	Hashtags []struct {
		Tag string `json:"tag"`
	} `json:"hashtags"`
	Mentions []struct {
		Username string `json:"username"`
	} `json:"mentions"`
}

func (e entities) here() bool { return len(e.URLs)+len(e.Hashtags)+len(e.Mentions) > 0 }

type link struct {
	URL         string `json:"url"` // t.co
	ExpandedURL string `json:"expanded_url"`
	MediaKey    string `json:"media_key"`
}

// media is a picture or film.
// https://docs.x.com/x-api/fundamentals/data-dictionary#media
type media struct {
	Key             string     `json:"media_key"`
	Type            string     `json:"type"` // "photo", "video" or "animated_gif"
	URL             string     `json:"url"`  // of a photo
	PreviewImageURL string     `json:"preview_image_url"`
	DurationMS      wire.Float `json:"duration_ms"`
	Variants        []file     `json:"variants"`
}

// file is a film in one quality.
type file struct {
	BitRate         wire.Count `json:"bit_rate"` // absent for a playlist, 0 for an animated GIF
	EmbeddedBitRate wire.Count `json:"bitrate"`  // the same in an embedded post
	ContentType     string     `json:"content_type"`
	URL             string     `json:"url"`
}

// post converts t. Account is who was asked for, where that is known: X may leave out the author. A retweet shows what its
// original shows.
func (t tweet) post(in includes, account *user, raw json.RawMessage) schema.Post {
	author, page := t.author(in, account)
	p := schema.Post{
		Common:    schema.Common{ID: string(t.ID), URL: page, Raw: raw},
		Author:    author,
		Text:      t.whole(),
		Lang:      language(t.Lang),
		CreatedAt: t.CreatedAt.V,
		Media:     t.media(in, page),
		Hashtags:  t.hashtags(),
		Mentions:  t.mentions(),
		IsAd:      t.PaidPartnership,
	}
	p.Engagement = t.PublicMetrics.engagement()
	switch of := in.tweet(t.refers("retweeted")); {
	case of != nil:
		_, shown := of.author(in, nil)
		p.Text, p.Lang, p.Media, p.Hashtags = t.again(*of, in), language(of.Lang), of.media(in, shown), of.hashtags()
		shares := p.Engagement.Shares // as the retweet has them
		p.Engagement = of.PublicMetrics.engagement()
		p.Engagement.Shares = shares
	case t.retweets(): // the original is not at hand, and its counts neither
		p.Engagement = schema.Engagement{Shares: p.Engagement.Shares}
	}
	return p
}

// retweets tells whether t is a retweet, or may be one.
func (t tweet) retweets() bool {
	for _, list := range []wire.Rows[reference]{t.Referenced, t.ReferencedPosts} {
		if list.Odd() || list.Lost() > 0 {
			return true
		}
		for _, r := range list.All() {
			if r.V.Type == "retweeted" || r.V.Type == "" {
				return true
			}
		}
	}
	return false
}

func (m metrics) engagement() schema.Engagement {
	return schema.Engagement{
		Likes: m.Likes.V, Comments: m.Replies.V, Shares: sum(m.Retweets.V, m.Quotes.V),
		Views: m.Impressions.V, Saves: m.Bookmarks.V,
	}
}

func (t tweet) hashtags() []string {
	e := t.Entities
	if n := t.note().Entities; n.here() {
		e = n
	}
	var tags []string
	for _, h := range e.Hashtags {
		tags = append(tags, h.Tag)
	}
	return text.Each(tags)
}

// mentions gives those of a note too, which are in its own entities, or only beside them.
func (t tweet) mentions() []string {
	var handles []string
	for _, m := range slices.Concat(t.note().Entities.Mentions, t.Entities.Mentions) {
		handles = append(handles, m.Username)
	}
	return text.Each(handles)
}

// author gives the author and, by their handle, the post's URL. Withheld and suspended authors are not included.
func (t tweet) author(in includes, account *user) (actor schema.Actor, page string) {
	u := in.user(t.AuthorID)
	if u == nil && account != nil && (t.AuthorID == "" || t.AuthorID == account.ID) {
		u = account
	}
	switch {
	case u != nil:
		return u.actor(), statusURL(u.Username, string(t.ID))
	case t.AuthorID != "":
		return schema.Actor{ID: string(t.AuthorID), Handle: string(t.AuthorID)}, statusURL("i", string(t.ID))
	}
	return schema.UnknownActor(), statusURL("i", string(t.ID))
}

func statusURL(handle, id string) string { return "https://x.com/" + handle + "/status/" + id }

// note is the whole of a long text; empty for any other.
func (t tweet) note() note {
	if t.NoteTweet.Text != "" {
		return t.NoteTweet
	}
	return t.NotePost
}

func (t tweet) refers(typ string) wire.Serial {
	for _, list := range []wire.Rows[reference]{t.Referenced, t.ReferencedPosts} {
		for _, r := range list.All() {
			if r.V.Type == typ {
				return r.V.ID
			}
		}
	}
	return ""
}

// again gives the text of a retweet, which X cuts short, with that of its original.
func (t tweet) again(original tweet, in includes) string {
	if head, _, ok := strings.Cut(t.Text, ": "); ok && strings.HasPrefix(head, "RT @") {
		return head + ": " + original.whole()
	}
	if u := in.user(original.AuthorID); u != nil {
		return "RT @" + u.Username + ": " + original.whole()
	}
	return t.whole()
}

// whole gives the whole text, with the links as X writes them.
func (t tweet) whole() string { return unescape(cmp.Or(t.note().Text, t.Text)) }

// unescape undoes the only three entities that X writes.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// media gives the pictures and films of t. Page is its own page, which stands for what has no address.
func (t tweet) media(in includes, page string) []schema.Media {
	var out []schema.Media
	for _, key := range t.Attachments.MediaKeys {
		m := in.media(key)
		if m == nil {
			continue
		}
		from := m.URL
		if m.Type != "photo" {
			from = best(m.Variants)
		}
		if text.URL(from) == nil { // without variants: the page that shows it
			from = text.URLOr(t.mediaPage(key, len(out)), page)
		}
		if item, ok := show(m.Type, from, m.PreviewImageURL, m.DurationMS); ok {
			out = append(out, item)
		}
	}
	return out
}

// show makes an attachment of what X calls a photo, a video or an animated_gif. It is false for any other, and where the
// address is none.
func show(typ, from, thumbnail string, ms wire.Float) (item schema.Media, ok bool) {
	u := text.URL(from)
	if u == nil {
		return item, false
	}
	switch typ {
	case "photo":
		return schema.Media{Type: schema.Image, URL: *u}, true
	case "video", "animated_gif":
		item = schema.Media{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(thumbnail)}
		if ms.V != nil && *ms.V > 0 {
			item.DurationS = new(*ms.V / 1000)
		}
		return item, true
	}
	return item, false
}

// best is the address of the film in the best quality that is a file, "" when there is none.
func best(files []file) string {
	best, rate := "", int64(-1)
	for _, f := range files {
		is := int64(0) // where it is not told
		for _, r := range []wire.Count{f.BitRate, f.EmbeddedBitRate} {
			if r.V != nil {
				is = *r.V
			}
		}
		if f.ContentType == "video/mp4" && is > rate {
			best, rate = f.URL, is
		}
	}
	return best
}

// mediaPage is the page of the i-th attachment: its link in the text ends in /photo/N or /video/N.
func (t tweet) mediaPage(key string, i int) string {
	var pages []string
	for _, l := range t.Entities.URLs {
		if l.MediaKey == key {
			return l.ExpandedURL
		}
		if strings.Contains(l.ExpandedURL, "/photo/") || strings.Contains(l.ExpandedURL, "/video/") {
			pages = append(pages, l.ExpandedURL)
		}
	}
	if i < len(pages) {
		return pages[i]
	}
	if len(pages) > 0 { // one link stands for all
		return pages[0]
	}
	return ""
}

// language drops what is no language, such as "und" or "zxx", and puts the codes of today for the two old ones.
func language(code string) *string {
	switch code {
	case "", "und", "zxx", "qme", "qst", "qht", "qam", "qct", "art":
		return nil
	case "iw":
		code = "he"
	case "in":
		code = "id"
	}
	return &code
}

// sum adds two counts; what is added to an unknown one is unknown.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
