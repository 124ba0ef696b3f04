package x

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := c.timeline(ctx, handle, cursor)
	if err != nil {
		return page, fmt.Errorf("x: posts of %q: %w", handle, err)
	}
	return page, nil
}

func (c *client) timeline(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	u, err := c.who(ctx, handle)
	if err != nil {
		return page, err
	}
	if u.Protected {
		return page, providers.NotFound("the account is protected")
	}
	r := upstream.Get("2", "users", u.ID, "tweets").With("max_results", pageSize).With("pagination_token", cursor)
	var a list[tweet]
	if err := c.tweets(ctx, r.On(c.timelines), &a); err != nil {
		return page, err
	}
	if a.Data == nil {
		return page, a.absent()
	}
	for _, t := range a.Data {
		page.Items = append(page.Items, t.V.post(a.Includes, &u, t.Raw))
	}
	page.Next = a.next()
	return page, nil
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	t, in, err := c.tweet(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("x: post %q: %w", id, err)
	}
	return t.V.post(in, nil, t.Raw), nil
}

// tweet reads one post as a list of one, which X allows seven times as often as a look-up of one.
func (c *client) tweet(ctx context.Context, id string) (upstream.Object[tweet], includes, error) {
	var a list[tweet]
	if err := c.tweets(ctx, upstream.Get("2", "tweets").With("ids", id).On(c.lookups), &a); err != nil {
		return upstream.Object[tweet]{}, includes{}, err
	}
	if len(a.Data) == 0 {
		err := a.absent()
		if err == nil {
			err = providers.NotFound("X knows no such post")
		}
		return upstream.Object[tweet]{}, includes{}, err
	}
	return a.Data[0], a.Includes, nil
}

// tweet is a post. What the words of 2026 renamed stands twice.
// https://docs.x.com/x-api/fundamentals/data-dictionary#tweet
type tweet struct {
	ID              string      `json:"id"`
	Text            string      `json:"text"` // with &, < and > as entities
	AuthorID        string      `json:"author_id"`
	CreatedAt       *time.Time  `json:"created_at"`
	Lang            string      `json:"lang"`
	ConversationID  string      `json:"conversation_id"` // the id of the post that began it
	PaidPartnership bool        `json:"paid_partnership"`
	Entities        entities    `json:"entities"`
	NoteTweet       *note       `json:"note_tweet"` // the whole of a text that is longer than 280 characters
	NotePost        *note       `json:"note_post"`
	Referenced      []reference `json:"referenced_tweets"`
	ReferencedPosts []reference `json:"referenced_posts"`
	Attachments     struct {
		MediaKeys []string `json:"media_keys"`
	} `json:"attachments"`
	PublicMetrics struct { // impressions and bookmarks are absent in older posts
		Retweets    *int64 `json:"retweet_count"`
		Replies     *int64 `json:"reply_count"`
		Likes       *int64 `json:"like_count"`
		Quotes      *int64 `json:"quote_count"`
		Bookmarks   *int64 `json:"bookmark_count"`
		Impressions *int64 `json:"impression_count"`
	} `json:"public_metrics"`
}

type note struct {
	Text     string    `json:"text"`
	Entities *entities `json:"entities"`
}

type reference struct {
	Type string `json:"type"` // "retweeted", "quoted" or "replied_to"
	ID   string `json:"id"`
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

type link struct {
	URL         string `json:"url"` // t.co
	ExpandedURL string `json:"expanded_url"`
	MediaKey    string `json:"media_key"`
}

func (l link) target() string {
	if l.ExpandedURL != "" {
		return l.ExpandedURL
	}
	return l.URL
}

// media is a picture or film.
// https://docs.x.com/x-api/fundamentals/data-dictionary#media
type media struct {
	Key             string   `json:"media_key"`
	Type            string   `json:"type"` // "photo", "video" or "animated_gif"
	URL             string   `json:"url"`  // of a photo
	PreviewImageURL string   `json:"preview_image_url"`
	DurationMS      *float64 `json:"duration_ms"`
	Variants        []struct {
		BitRate     int64  `json:"bit_rate"` // absent for a playlist, 0 for an animated GIF
		ContentType string `json:"content_type"`
		URL         string `json:"url"`
	} `json:"variants"`
}

// post converts t. Account is who was asked for, where that is known: X may leave out the author.
func (t tweet) post(in includes, account *user, raw []byte) schema.Post {
	author, page := t.author(in, account)
	p := schema.Post{
		Common:    schema.Common{ID: t.ID, URL: page, Raw: raw},
		Author:    author,
		Text:      t.text(in),
		Lang:      language(t.Lang),
		CreatedAt: t.CreatedAt,
		Media:     t.media(in, page),
		Engagement: schema.Engagement{
			Likes:    t.PublicMetrics.Likes,
			Comments: t.PublicMetrics.Replies,
			Shares:   sum(t.PublicMetrics.Retweets, t.PublicMetrics.Quotes),
			Views:    t.PublicMetrics.Impressions,
			Saves:    t.PublicMetrics.Bookmarks,
		},
		IsAd: t.PaidPartnership,
	}
	e := t.Entities
	if n := t.note(); n != nil && n.Entities != nil {
		e = *n.Entities
	}
	for _, h := range e.Hashtags {
		p.Hashtags = appendNew(p.Hashtags, h.Tag)
	}
	for _, m := range e.Mentions {
		p.Mentions = appendNew(p.Mentions, m.Username)
	}
	for _, m := range t.Entities.Mentions { // those of a note are in its own entities, or only here
		p.Mentions = appendNew(p.Mentions, m.Username)
	}
	return p
}

// author gives the author and, by their handle, the post's URL. Withheld and suspended authors are not included.
func (t tweet) author(in includes, account *user) (schema.Actor, string) {
	u := in.user(t.AuthorID)
	if u == nil && account != nil && (t.AuthorID == "" || t.AuthorID == account.ID) {
		u = account
	}
	switch {
	case u != nil:
		return u.actor(), statusURL(u.Username, t.ID)
	case t.AuthorID != "":
		return schema.Actor{ID: t.AuthorID, Handle: t.AuthorID}, statusURL("i", t.ID)
	}
	return schema.UnknownActor(), statusURL("i", t.ID)
}

func statusURL(handle, id string) string { return "https://x.com/" + handle + "/status/" + id }

func (t tweet) note() *note {
	if t.NoteTweet != nil {
		return t.NoteTweet
	}
	return t.NotePost
}

func (t tweet) refers(typ string) string {
	for _, r := range slices.Concat(t.Referenced, t.ReferencedPosts) {
		if r.Type == typ {
			return r.ID
		}
	}
	return ""
}

// text gives the whole text, with the links as X writes them. That of a retweet is cut short, so it is made anew from
// the original where that is at hand.
func (t tweet) text(in includes) string {
	if original := in.tweet(t.refers("retweeted")); original != nil && original.ID != "" {
		if head, _, ok := strings.Cut(t.Text, ": "); ok && strings.HasPrefix(head, "RT @") {
			return head + ": " + original.whole()
		}
		if u := in.user(original.AuthorID); u != nil {
			return "RT @" + u.Username + ": " + original.whole()
		}
	}
	return t.whole()
}

func (t tweet) whole() string {
	if n := t.note(); n != nil && n.Text != "" {
		return unescape(n.Text)
	}
	return unescape(t.Text)
}

// unescape undoes the only three entities that X writes.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

func (t tweet) media(in includes, page string) []schema.Media {
	var out []schema.Media
	for _, key := range t.Attachments.MediaKeys {
		m := in.media(key)
		if m == nil {
			continue
		}
		from := text.URL(m.best())
		if from == nil { // no variants: the page that shows it
			from = text.URL(t.mediaPage(key, len(out)))
		}
		if from == nil {
			from = &page
		}
		item := schema.Media{Type: schema.Video, URL: *from, ThumbnailURL: text.URL(m.PreviewImageURL)}
		if m.Type == "photo" {
			item.Type = schema.Image
		}
		if m.DurationMS != nil && *m.DurationMS >= 0 {
			item.DurationS = new(*m.DurationMS / 1000)
		}
		out = append(out, item)
	}
	return out
}

// best is a photo's address, or a film's in the best quality that is a file.
func (m media) best() string {
	if m.Type == "photo" {
		return m.URL
	}
	best, rate := "", int64(-1)
	for _, v := range m.Variants {
		if v.ContentType == "video/mp4" && v.BitRate > rate {
			best, rate = v.URL, v.BitRate
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

// sum adds two counts of which either may be unknown.
func sum(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
