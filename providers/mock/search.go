package mock

import (
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func searchKey(q providers.SearchQuery) []string { return []string{q.Query, q.Handle} }

// search finds results for any query: the account of that name first, and then a selection by the words. Without a kind
// it cycles through all eight.
func (s *sandbox) search(q providers.SearchQuery) (series[schema.SearchResult], error) {
	found := s.finder(q)
	l := series[schema.SearchResult]{n: length("search", q.Query), at: func(i int) schema.SearchResult { return found(q.Kind, i) }}
	if q.Kind == "" {
		kinds := schema.ResultKinds()
		l.n = 8 * len(kinds)
		l.at = func(i int) schema.SearchResult { return found(kinds[i%len(kinds)], i/len(kinds)) }
	}
	if q.Handle != "" || q.Region != "" || q.Lang != "" || !q.Since.IsZero() || !q.Until.IsZero() {
		l.keep = func(r schema.SearchResult) bool { return r.Object != nil && matches(q, r) }
	}
	if q.Sort == "recent" {
		l.sort = func(a, b schema.SearchResult) int { return newest(factsOf(a).at, factsOf(b).at) }
	}
	return l, nil
}

// finder returns a function that generates the i-th result of a kind.
func (g *generator) finder(q providers.SearchQuery) func(kind schema.ResultKind, i int) schema.SearchResult {
	somebody := finds("search", q.Query)
	return func(kind schema.ResultKind, i int) schema.SearchResult {
		by, n := somebody(i), roll("search", q.Query, strconv.Itoa(i)).between(1, 20)
		switch {
		case q.Handle != "" && kind == schema.ProfileResult && i > 0:
			return schema.SearchResult{} // a community has only one account in it
		case q.Handle != "":
			by, n = q.Handle, i+1
		}
		return schema.Result(g.object(kind, by, n))
	}
}

// finds returns the accounts that a query finds: the one of that name first, and then a crowd.
func finds(list, query string) func(i int) string {
	somebody, named := people(list, query), slug(query)
	return func(i int) string {
		handle := somebody(i)
		switch {
		case named == "":
		case i == 0:
			return named
		case handle == named: // it was already the first
			return somebody(0)
		}
		return handle
	}
}

// object generates the n-th object of a kind that belongs to an account.
func (g *generator) object(kind schema.ResultKind, by string, n int) schema.Object {
	switch kind {
	case schema.ProfileResult:
		return new(g.user(by).profile())
	case schema.PostResult:
		return new(g.item(child(by, "post", n)).post())
	case schema.CommentResult:
		return new(g.note(child(child(by, "post", n), "comment", n)).comment())
	case schema.ProductResult:
		return new(g.ware(child(by, "product", n), "").product())
	case schema.ReviewResult:
		return new(g.verdict(child(child(by, "product", n), "review", n)).review())
	case schema.TrackResult:
		return new(g.sound(child(by, "track", n)).track())
	case schema.CollectionResult:
		return new(g.set(child(by, "collection", n)).collection())
	default:
		return new(g.hit(child(by, "web", n)).page())
	}
}

// facts are the properties by which results can be filtered.
type facts struct {
	country string
	lang    *string
	at      *time.Time
}

func factsOf(r schema.SearchResult) facts {
	f := facts{country: homeOf(owner(r.Shared().ID)).country}
	switch o := r.Object.(type) {
	case *schema.Profile:
		f.country, f.lang = homeOf(o.Handle).country, o.Lang
	case *schema.Post:
		f.lang, f.at = o.Lang, o.CreatedAt
	case *schema.Comment:
		f.lang, f.at = o.Lang, o.CreatedAt
	case *schema.Review:
		f.lang, f.at = o.Lang, o.CreatedAt
	case *schema.Track:
		f.at = o.ReleasedAt
	case *schema.Collection:
		f.at = o.CreatedAt
	case *schema.WebPage:
		f.at = o.PublishedAt
	}
	return f
}

// matches reports whether r passes the filters of q. A filter on a missing property fails.
func matches(q providers.SearchQuery, r schema.SearchResult) bool {
	f := factsOf(r)
	lang, _, _ := strings.Cut(q.Lang, "-")
	switch {
	case q.Region != "" && f.country != q.Region,
		lang != "" && (f.lang == nil || *f.lang != lang),
		!q.Since.IsZero() && (f.at == nil || f.at.Before(q.Since)),
		!q.Until.IsZero() && (f.at == nil || !f.at.Before(q.Until)):
		return false
	}
	return true
}

// newest sorts newest first; objects without a time come last.
func newest(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return b.Compare(*a)
}

// hit is a web page in the format of the sandbox platform.
type hit struct {
	HitID     string  `json:"hit_id"`
	Link      string  `json:"link"`
	Headline  string  `json:"headline"`
	Extract   *string `json:"extract"`
	Host      string  `json:"host"`
	Rank      *int64  `json:"rank"`      // from 1
	Published *int64  `json:"published"` // Unix seconds
}

func (g *generator) hit(id string) hit {
	d, by := roll("web", id), owner(id)
	lang, host := homeOf(by).lang, "www."+g.site
	return hit{
		HitID:     id,
		Link:      address(host, []string{by, id + ".html"}),
		Headline:  pick(d, titles[lang]),
		Extract:   hide(d, 15, pick(d, sentences[lang])+" …"),
		Host:      host,
		Rank:      hide(d, 15, int64(d.between(1, 60))),
		Published: hide(d, 30, g.ago(time.Duration(d.below(400*24))*time.Hour)),
	}
}

func (h hit) page() schema.WebPage {
	return schema.WebPage{
		Common:      common(h.HitID, h.Link, h),
		Title:       h.Headline,
		Snippet:     h.Extract,
		Domain:      h.Host,
		Position:    h.Rank,
		PublishedAt: atOrNil(h.Published),
	}
}
