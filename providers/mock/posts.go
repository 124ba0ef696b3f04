package mock

import (
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/schema"
)

// posts lists an account's posts, newest first.
func (s *sandbox) posts(handle string) (series[schema.Post], error) {
	if s.lively.is(handle) {
		return s.livelyPosts(handle), nil
	}
	return s.postsOf(handle, "post"), nil
}

// reels lists an account's short videos, newest first.
func (s *sandbox) reels(handle string) (series[schema.Post], error) {
	return s.postsOf(handle, "reel"), nil
}

func (g *generator) postsOf(handle, kind string) series[schema.Post] {
	return series[schema.Post]{n: length(kind, handle), at: func(i int) schema.Post {
		return g.item(child(handle, kind, i+1)).post()
	}}
}

func (s *sandbox) post(id string) (schema.Post, error) {
	if _, ok := s.lively.published(id); ok && !s.lively.exists(id, s.lively.now()) {
		return schema.Post{}, providers.NotFound("there is no such post, or it has been deleted")
	}
	return s.item(id).post(), nil
}

func trendingKey(q providers.TrendingQuery) []string { return []string{magicRegion(q.Region)} }

// trending lists recent posts of many accounts.
func (s *sandbox) trending(q providers.TrendingQuery) (series[schema.Post], error) {
	all := s.mixed("trending", "")
	if q.Region != "" && magicRegion(q.Region) == "" {
		all.keep = func(p schema.Post) bool { return homeOf(p.Author.Handle).country == q.Region }
	}
	return all, nil
}

// mixed is a list of posts of different accounts.
func (g *generator) mixed(list, key string) series[schema.Post] {
	author := people(list, key)
	return series[schema.Post]{n: length(list, key), at: func(i int) schema.Post {
		return g.item(child(author(i), "post", roll(list, key, strconv.Itoa(i)).between(1, 20))).post()
	}}
}

// item is a post in the format of the sandbox platform.
type item struct {
	ItemID    string  `json:"item_id"`
	Link      string  `json:"link"`
	By        account `json:"by"`
	Body      string  `json:"body"`
	Language  *string `json:"language"`
	PostedAt  int64   `json:"posted_at"` // Unix seconds
	Files     []file  `json:"files"`
	Hearts    *int64  `json:"hearts"` // null when the author hides it
	Answers   *int64  `json:"answers"`
	Forwards  *int64  `json:"forwards"`
	Plays     *int64  `json:"plays"` // null if there is nothing to play
	Bookmarks *int64  `json:"bookmarks"`
	Sponsored bool    `json:"sponsored"`
}

// file is a picture, video or sound in the format of the sandbox platform.
type file struct {
	Kind     schema.MediaType `json:"kind"`
	Src      string           `json:"src"`
	Poster   *string          `json:"poster"`
	Duration *int             `json:"duration_ms"`
}

func (g *generator) item(id string) item {
	d, lang := roll("post", id), langOf(id)
	hearts := 50 + d.count(6) // roughly the number of comments, or more
	p := item{
		ItemID:    id,
		Link:      g.page("posts", id),
		By:        g.account(owner(id)),
		Body:      body(d, lang),
		Language:  hide(d, 15, lang),
		PostedAt:  g.postedAt(id),
		Files:     g.files(d, id),
		Hearts:    hide(d, 8, hearts),
		Answers:   hide(d, 5, int64(length("comments", id))),
		Forwards:  hide(d, 20, hearts/int64(d.between(4, 40))),
		Bookmarks: hide(d, 40, hearts/int64(d.between(3, 30))),
		Sponsored: d.often(6),
	}
	for _, f := range p.Files {
		if f.Kind != schema.Image {
			p.Plays = hide(d, 5, hearts*int64(d.between(3, 60)))
		}
	}
	if published, ok := g.lively.published(id); ok {
		return g.lively.item(p, published)
	}
	return p
}

// langOf returns the language of a post, usually its author's.
func langOf(id string) string {
	if d := roll("lang", id); d.often(20) {
		return pick(d, []string{"ar", "en"})
	}
	return homeOf(owner(id)).lang
}

// postedAt dates the n-th post of an account within the n-th nine hours before now.
func (g *generator) postedAt(id string) int64 {
	_, n := origin(id)
	return g.ago(time.Duration(n)*9*time.Hour + time.Duration(roll("posted", id).below(9*3600))*time.Second)
}

func (p item) post() schema.Post {
	out := schema.Post{
		Common:    common(p.ItemID, p.Link, p),
		Author:    p.By.actor(),
		Text:      p.Body,
		Lang:      p.Language,
		CreatedAt: at(p.PostedAt),
		Engagement: schema.Engagement{
			Likes: p.Hearts, Comments: p.Answers, Shares: p.Forwards, Views: p.Plays, Saves: p.Bookmarks,
		},
		Hashtags: text.Hashtags(p.Body),
		Mentions: text.Mentions(p.Body),
		IsAd:     p.Sponsored,
	}
	for _, f := range p.Files {
		out.Media = append(out.Media, f.media())
	}
	return out
}

func (f file) media() schema.Media {
	m := schema.Media{Type: f.Kind, URL: f.Src, ThumbnailURL: f.Poster}
	if f.Duration != nil {
		m.DurationS = new(float64(*f.Duration) / 1000)
	}
	return m
}

// files cycles through the kinds of media: a picture, a video, text only, a sound, an album.
func (g *generator) files(d *dice, id string) []file {
	if strings.Contains(id, "-reel-") {
		return []file{g.film(d, id, 1)}
	}
	switch _, n := origin(id); n % 5 {
	case 1:
		return []file{g.picture(id, 1)}
	case 2:
		return []file{g.film(d, id, 1)}
	case 3:
		return nil
	case 4:
		return []file{{Kind: schema.Audio, Src: g.file("sounds", id+".mp3"), Duration: new(d.between(20_000, 300_000))}}
	default:
		return []file{g.picture(id, 1), g.picture(id, 2), g.film(d, id, 3)}
	}
}

func (g *generator) picture(id string, n int) file {
	return file{Kind: schema.Image, Src: g.file("pictures", id, strconv.Itoa(n)+".jpg")}
}

func (g *generator) film(d *dice, id string, n int) file {
	poster := g.file("films", id, strconv.Itoa(n)+".jpg")
	return file{
		Kind: schema.Video, Src: g.file("films", id, strconv.Itoa(n)+".mp4"), Poster: hide(d, 20, poster),
		Duration: hide(d, 10, d.between(60_000, 300_000)),
	}
}

// body generates the text of a post: a sentence or two, often with hashtags, sometimes with a title before it or a
// mention.
func body(d *dice, lang string) string {
	var b strings.Builder
	if d.often(15) {
		b.WriteString(pick(d, titles[lang]) + "\n\n")
	}
	said := pick(d, sentences[lang])
	b.WriteString(said)
	if more := pick(d, sentences[lang]); d.often(40) && more != said {
		b.WriteString(" " + more)
	}
	if d.often(20) {
		b.WriteString(" @" + person(d.below(cast)))
	}
	for i, n := d.below(len(tags[lang])), d.below(3); n > 0; i, n = i+1, n-1 {
		b.WriteString(" #" + tags[lang][i%len(tags[lang])])
	}
	return b.String()
}
