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

// longestID is the maximum number of digits in an id that is requested together with others: X refuses the whole
// request if one is longer.
const longestID = 19

// postsByID reads posts by their ids.
// https://docs.x.com/x-api/posts/get-posts-by-ids
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	var a list[tweet]
	short := func(id string) bool { return number(id) && len(id) <= longestID }
	found, err := look(ctx, &a, providers.Together(ids, short), func(known string) error {
		return c.tweets(ctx, upstream.Get("2", "tweets").With("ids", known).On(c.lookups), &a)
	}, func(t tweet) string { return string(t.ID) })
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

// tweet reads one post as a list of one, because X allows seven times as many list requests as look-ups of one.
func (c *client) tweet(ctx context.Context, id string) (wire.Object[tweet], includes, error) {
	var a list[tweet]
	if err := c.tweets(ctx, upstream.Get("2", "tweets").With("ids", id).On(c.lookups), &a); err != nil {
		return wire.Object[tweet]{}, includes{}, err
	}
	if err := a.check(ctx); err != nil {
		return wire.Object[tweet]{}, includes{}, err
	}
	for _, t := range a.Data.All() {
		return t, a.Includes, wire.Same(ctx, "post", id, string(t.V.ID))
	}
	return wire.Object[tweet]{}, includes{}, providers.NotFound("X has no such post")
}

// tweet is a post. Fields that were renamed in 2026 occur twice.
// https://docs.x.com/x-api/fundamentals/data-dictionary#tweet
type tweet struct {
	ID              wire.Serial          `json:"id"`
	Text            string               `json:"text"` // with &, < and > as entities
	AuthorID        wire.Serial          `json:"author_id"`
	CreatedAt       wire.Time            `json:"created_at"`
	Lang            string               `json:"lang"`
	ConversationID  wire.Serial          `json:"conversation_id"` // the id of its first post
	PaidPartnership bool                 `json:"paid_partnership"`
	Entities        entities             `json:"entities"`
	NoteTweet       note                 `json:"note_tweet"` // the full text, if it is longer than 280 characters
	NotePost        note                 `json:"note_post"`
	Referenced      wire.Rows[reference] `json:"referenced_tweets"` // absent if there are none
	ReferencedPosts wire.Rows[reference] `json:"referenced_posts"`
	Attachments     struct {
		MediaKeys []string `json:"media_keys"`
	} `json:"attachments"`
	PublicMetrics metrics `json:"public_metrics"`
}

// metrics are counts. Impressions and bookmarks are absent in older posts. For a retweet, the number of retweets is
// that of its original, and all others are 0.
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

// entities are what X recognizes in a text. Their positions count the characters of the escaped text and are not used.
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

// media is a picture or video.
// https://docs.x.com/x-api/fundamentals/data-dictionary#media
type media struct {
	Key             string     `json:"media_key"`
	Type            string     `json:"type"` // "photo", "video" or "animated_gif"
	URL             string     `json:"url"`  // of a photo
	PreviewImageURL string     `json:"preview_image_url"`
	DurationMS      wire.Float `json:"duration_ms"`
	Variants        []file     `json:"variants"`
}

// file is a video in one quality.
type file struct {
	BitRate         wire.Count `json:"bit_rate"` // absent for a playlist, 0 for an animated GIF
	EmbeddedBitRate wire.Count `json:"bitrate"`  // the name in an embedded post
	ContentType     string     `json:"content_type"`
	URL             string     `json:"url"`
}

// post converts t. account is the requested account, if known: X may omit the author. A retweet has the contents of its
// original.
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
		shares := p.Engagement.Shares // the retweet's own count
		p.Engagement = of.PublicMetrics.engagement()
		p.Engagement.Shares = shares
	case t.retweets(): // the original is missing, and so are its counts
		p.Engagement = schema.Engagement{Shares: p.Engagement.Shares}
	}
	return p
}

// retweets reports whether t is a retweet, or may be one.
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

// mentions includes those in a note, which are in the note's entities or in those of the post.
func (t tweet) mentions() []string {
	var handles []string
	for _, m := range slices.Concat(t.note().Entities.Mentions, t.Entities.Mentions) {
		handles = append(handles, m.Username)
	}
	return text.Each(handles)
}

// author returns the author, and the post's URL, which contains the author's handle. Withheld and suspended authors are
// not in the includes.
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

// note returns the full version of a long text; it is empty for others.
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

// again returns the text of a retweet, which X truncates, with the full text of its original.
func (t tweet) again(original tweet, in includes) string {
	if head, _, ok := strings.Cut(t.Text, ": "); ok && strings.HasPrefix(head, "RT @") {
		return head + ": " + original.whole()
	}
	if u := in.user(original.AuthorID); u != nil {
		return "RT @" + u.Username + ": " + original.whole()
	}
	return t.whole()
}

// whole returns the full text, with links as X writes them.
func (t tweet) whole() string { return unescape(cmp.Or(t.note().Text, t.Text)) }

// unescape decodes the three entities that X uses.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// media returns the pictures and videos of t. page is its own page, which is used for media without an address.
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
		if text.URL(from) == nil { // without variants: the page with the video
			from = text.URLOr(t.mediaPage(key, len(out)), page)
		}
		if item, ok := show(m.Type, from, m.PreviewImageURL, m.DurationMS); ok {
			out = append(out, item)
		}
	}
	return out
}

// show converts what X calls a photo, a video or an animated_gif. It returns false for other types, and if the address
// is invalid.
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

// best returns the address of the video file with the best quality, "" if there is none.
func best(files []file) string {
	best, rate := "", int64(-1)
	for _, f := range files {
		is := int64(0) // if it is unknown
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

// mediaPage returns the page of the i-th attachment: its link in the text ends in /photo/N or /video/N.
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
	if len(pages) > 0 { // all attachments share one link
		return pages[0]
	}
	return ""
}

// language returns the code of a language; nil for "art", by which X marks texts that are only pictures, tags or links.
func language(code string) *string {
	if code == "art" {
		return nil
	}
	return &code
}

// sum adds two counts; nil if either is unknown.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
