package schema

import (
	"slices"
	"time"
)

// Resource is a pointer to a resource.
type Resource[T any] interface {
	pointer[T]
	Object
}

// pointer is a pointer to what data is made of.
type pointer[T any] interface {
	*T
	// detach replaces everything in a shallow copy that can be modified with copies.
	detach(c *cells)
}

// Clone makes *dst a deep copy of *src: they share nothing that can be modified.
func Clone[T any, P Resource[T]](dst, src *T) {
	few := &struct { // the targets of a profile's pointers are allocated together with the cells
		cells
		texts [8]string
		ints  [4]int64
	}{cells: cells{block: 8}}
	few.cells.texts, few.cells.ints = few.texts[:0], few.ints[:0]
	*dst = *src
	P(dst).detach(&few.cells)
}

// CloneAll returns a deep copy of a list; nil for nil.
func CloneAll[T any, P Resource[T]](vs []T) []T {
	out := slices.Clone(vs)
	detachAll[T, P](out, &cells{block: 64})
	return out
}

// cells hold the values that copies point to. They are allocated in blocks: a page of 50 posts points to about 700
// values, each of which would be an allocation of its own, and the page would take twice as long
// (BenchmarkCachedPage in the root package).
type cells struct {
	block  int // how many values a block has
	texts  []string
	ints   []int64
	floats []float64
	times  []time.Time
	flags  []bool
}

// own makes *p a pointer to a copy of its target, in a block with space for more.
func own[T any](block *[]T, size int, p **T) {
	if *p == nil {
		return
	}
	if len(*block) == cap(*block) {
		*block = make([]T, 0, size)
	}
	*block = append(*block, **p)
	*p = &(*block)[len(*block)-1]
}

func (c *cells) text(p **string)   { own(&c.texts, c.block, p) }
func (c *cells) int(p **int64)     { own(&c.ints, c.block, p) }
func (c *cells) float(p **float64) { own(&c.floats, c.block, p) }
func (c *cells) flag(p **bool)     { own(&c.flags, c.block, p) }

func (c *cells) time(p **time.Time) {
	own(&c.times, c.block, p)
}

// list makes *s a copy without spare capacity, so that appending to it allocates.
func (c *cells) list(s *[]string) {
	if len(*s) == 0 {
		*s = slices.Clip(*s)[:0:0]
		return
	}
	if cap(c.texts)-len(c.texts) < len(*s) {
		c.texts = make([]string, 0, max(c.block, len(*s)))
	}
	from := len(c.texts)
	c.texts = append(c.texts, *s...)
	*s = c.texts[from:len(c.texts):len(c.texts)]
}

// lists copies lists of structs with pointers.
func lists[T any, P pointer[T]](c *cells, s *[]T) {
	*s = slices.Clone(*s)
	detachAll[T, P](*s, c)
}

func detachAll[T any, P pointer[T]](vs []T, c *cells) {
	for i := range vs {
		P(&vs[i]).detach(c)
	}
}

// one copies a pointer to a struct with pointers.
func one[T any, P pointer[T]](c *cells, p **T) {
	if *p != nil {
		*p = copied[T, P](c, *p)
	}
}

func copied[T any, P pointer[T]](c *cells, v *T) *T {
	out := new(*v)
	P(out).detach(c)
	return out
}

func (o *Common) detach(c *cells) {
	o.Raw = slices.Clone(o.Raw)
	one(c, &o.Enrichment.Value)
}

func (e *Enrichment) detach(c *cells) {
	e.Entities = slices.Clone(e.Entities)
	c.list(&e.Topics)
}

func (a *Actor) detach(c *cells) {
	c.text(&a.DisplayName)
	c.text(&a.AvatarURL)
}

func (p *Profile) detach(c *cells) {
	p.Common.detach(c)
	c.text(&p.DisplayName)
	c.text(&p.Bio)
	c.text(&p.AvatarURL)
	c.int(&p.Followers)
	c.int(&p.Following)
	c.int(&p.PostsCount)
	c.text(&p.Lang)
	c.text(&p.Country)
	c.list(&p.Links)
}

func (a *Audience) detach(c *cells) {
	a.Common.detach(c)
	lists(c, &a.Countries)
}

func (a *AudienceCountry) detach(c *cells) {
	c.text(&a.Country)
	c.int(&a.Count)
}

func (l *LinkedProfile) detach(c *cells) {
	l.Common.detach(c)
	c.list(&l.Evidence)
}

func (s *Suggestion) detach(c *cells) {
	s.Common.detach(c)
	one(c, &s.Profile)
	c.int(&s.Position)
}

func (p *Post) detach(c *cells) {
	p.Common.detach(c)
	p.Author.detach(c)
	c.text(&p.Lang)
	c.time(&p.CreatedAt)
	lists(c, &p.Media)
	p.Engagement.detach(c)
	c.list(&p.Hashtags)
	c.list(&p.Mentions)
}

func (e *Engagement) detach(c *cells) {
	c.int(&e.Likes)
	c.int(&e.Comments)
	c.int(&e.Shares)
	c.int(&e.Views)
	c.int(&e.Saves)
}

func (m *Media) detach(c *cells) {
	c.text(&m.ThumbnailURL)
	c.float(&m.DurationS)
}

func (o *Comment) detach(c *cells) {
	o.Common.detach(c)
	o.Author.detach(c)
	c.text(&o.Lang)
	c.time(&o.CreatedAt)
	c.int(&o.Likes)
	c.text(&o.ReplyToID)
}

func (t *Transcript) detach(c *cells) {
	t.Common.detach(c)
	c.text(&t.Lang)
	lists(c, &t.Segments)
}

func (s *TranscriptSegment) detach(c *cells) {
	c.float(&s.StartS)
	c.float(&s.EndS)
}

func (l *LiveStream) detach(c *cells) {
	l.Common.detach(c)
	l.Host.detach(c)
	c.text(&l.Title)
	c.int(&l.Viewers)
	c.int(&l.Likes)
	c.time(&l.StartedAt)
	c.text(&l.ThumbnailURL)
}

func (p *Product) detach(c *cells) {
	p.Common.detach(c)
	c.text(&p.Description)
	c.list(&p.Images)
	c.float(&p.Rating)
	c.int(&p.ReviewsCount)
	c.list(&p.Categories)
}

func (r *Review) detach(c *cells) {
	r.Common.detach(c)
	r.Author.detach(c)
	c.text(&r.Lang)
	c.time(&r.CreatedAt)
}

func (a *Ad) detach(c *cells) {
	a.Common.detach(c)
	a.Advertiser.detach(c)
	c.text(&a.Headline)
	lists(c, &a.Media)
	c.text(&a.CallToAction)
	c.text(&a.LandingURL)
	c.time(&a.StartedAt)
	c.time(&a.EndedAt)
	c.flag(&a.IsActive)
	c.list(&a.Countries)
	c.list(&a.Formats)
}

func (a *AdvertiserSummary) detach(c *cells) {
	c.text(&a.ID)
	c.text(&a.URL)
}

func (a *Advertiser) detach(c *cells) {
	a.Common.detach(c)
	c.text(&a.AvatarURL)
	c.text(&a.Country)
	c.int(&a.AdsCount)
	c.list(&a.Domains)
}

func (e *Event) detach(c *cells) {
	e.Common.detach(c)
	c.text(&e.Description)
	c.time(&e.StartsAt)
	c.time(&e.EndsAt)
	c.text(&e.Location)
	one(c, &e.Host)
	c.text(&e.CoverURL)
	c.int(&e.Going)
	c.int(&e.Interested)
	c.flag(&e.IsOnline)
}

func (o *Collection) detach(c *cells) {
	o.Common.detach(c)
	c.text(&o.Description)
	one(c, &o.Owner)
	c.int(&o.ItemsCount)
	c.text(&o.CoverURL)
	c.time(&o.CreatedAt)
}

func (t *Track) detach(c *cells) {
	t.Common.detach(c)
	c.list(&t.Artists)
	c.text(&t.Album)
	c.float(&t.DurationS)
	c.text(&t.CoverURL)
	c.text(&t.AudioURL)
	c.time(&t.ReleasedAt)
	c.int(&t.Plays)
	c.int(&t.PostsCount)
	c.flag(&t.Explicit)
}

func (w *WebPage) detach(c *cells) {
	w.Common.detach(c)
	c.text(&w.Snippet)
	c.int(&w.Position)
	c.time(&w.PublishedAt)
}

func (r *SearchResult) detach(c *cells) {
	switch o := r.Object.(type) {
	case *Profile:
		r.Object = copied(c, o)
	case *Post:
		r.Object = copied(c, o)
	case *Comment:
		r.Object = copied(c, o)
	case *Product:
		r.Object = copied(c, o)
	case *Review:
		r.Object = copied(c, o)
	case *Track:
		r.Object = copied(c, o)
	case *Collection:
		r.Object = copied(c, o)
	case *WebPage:
		r.Object = copied(c, o)
	}
}
