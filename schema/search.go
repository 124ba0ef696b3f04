package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ResultKind is the kind of object in a [SearchResult].
type ResultKind string

// The kinds of search result.
const (
	ProfileResult    ResultKind = "profile"
	PostResult       ResultKind = "post"
	CommentResult    ResultKind = "comment"
	ProductResult    ResultKind = "product"
	ReviewResult     ResultKind = "review"
	TrackResult      ResultKind = "track"
	CollectionResult ResultKind = "collection"
	WebResult        ResultKind = "web"
)

// ResultKinds lists every kind of search result.
func ResultKinds() []ResultKind {
	return []ResultKind{
		ProfileResult, PostResult, CommentResult, ProductResult, ReviewResult, TrackResult,
		CollectionResult, WebResult,
	}
}

// WebPage is a web page in the results of a search.
type WebPage struct {
	Common
	Title       string     `json:"title"`            // the title of the page
	Snippet     *string    `json:"snippet"`          // an excerpt of the page, as plain text
	Domain      string     `json:"domain"`           // the domain of the page, such as "example.org"
	Position    *int64     `json:"position" min:"1"` // its position in the list of results, from 1
	PublishedAt *time.Time `json:"published_at"`     // when the page was published
}

// Check implements [Object].
func (w *WebPage) Check() error { return validate(w) }

// Fill implements [Object].
func (w *WebPage) Fill() {}

// EnrichText implements [Object].
func (w *WebPage) EnrichText() string { return join(w.Title, w.Snippet) }

var errEmptyResult = errors.New("search result: holds no object of a known kind")

// SearchResult holds one object of any of eight kinds. As JSON it is that object, preceded by the field kind. The kind
// of a collection itself is then in collection_kind.
type SearchResult struct {
	Kind ResultKind
	Object
}

// Result returns the search result that holds o: a *[Profile], *[Post], *[Comment], *[Product], *[Review],
// *[Track], *[Collection] or *[WebPage]. Any other object is invalid.
func Result(o Object) SearchResult {
	var kind ResultKind
	switch o.(type) {
	case *Profile:
		kind = ProfileResult
	case *Post:
		kind = PostResult
	case *Comment:
		kind = CommentResult
	case *Product:
		kind = ProductResult
	case *Review:
		kind = ReviewResult
	case *Track:
		kind = TrackResult
	case *Collection:
		kind = CollectionResult
	case *WebPage:
		kind = WebResult
	}
	return SearchResult{kind, o}
}

// NewResult returns a search result with an empty object of that kind, or nil if there is no such kind.
func NewResult(kind ResultKind) SearchResult {
	r := SearchResult{Kind: kind}
	switch kind {
	case ProfileResult:
		r.Object = new(Profile)
	case PostResult:
		r.Object = new(Post)
	case CommentResult:
		r.Object = new(Comment)
	case ProductResult:
		r.Object = new(Product)
	case ReviewResult:
		r.Object = new(Review)
	case TrackResult:
		r.Object = new(Track)
	case CollectionResult:
		r.Object = new(Collection)
	case WebResult:
		r.Object = new(WebPage)
	}
	return r
}

// Check implements [Object].
func (r SearchResult) Check() error {
	if !r.whole() {
		return errEmptyResult
	}
	return r.Object.Check()
}

// whole reports whether r holds an object of its kind.
func (r SearchResult) whole() bool {
	return r.Object != nil && r.Kind != "" && Result(r.Object).Kind == r.Kind
}

// Actors returns the actors of the object.
func (r SearchResult) Actors() []*Actor {
	if a, ok := r.Object.(interface{ Actors() []*Actor }); ok {
		return a.Actors()
	}
	return nil
}

// Stores returns the stores of the object.
func (r SearchResult) Stores() []*StoreSummary {
	if s, ok := r.Object.(interface{ Stores() []*StoreSummary }); ok {
		return s.Stores()
	}
	return nil
}

// collectionResult is a collection whose field kind is that of the result.
type collectionResult struct {
	ResultKind ResultKind `json:"kind"`
	*Collection
	CollectionKind CollectionKind `json:"collection_kind"`
}

// MarshalJSON writes the object with its kind first.
func (r SearchResult) MarshalJSON() ([]byte, error) { return r.appendJSON(nil) }

func (r *SearchResult) appendJSON(dst []byte) ([]byte, error) {
	if r.Object == nil {
		return nil, errEmptyResult
	}
	if c, ok := r.Object.(*Collection); ok {
		return Append(dst, collectionResult{CollectionResult, c, c.Kind})
	}
	dst = append(dst, `{"kind":"`+string(r.Kind)+`"`...)
	from := len(dst)
	dst, err := Append(dst, r.Object)
	if err != nil {
		return nil, err
	}
	dst[from] = ',' // was the brace that opens the object
	return dst, nil
}

// UnmarshalJSON reads an object of the given kind.
func (r *SearchResult) UnmarshalJSON(b []byte) error {
	var head struct {
		Kind           ResultKind     `json:"kind"`
		CollectionKind CollectionKind `json:"collection_kind"`
	}
	// MarshalJSON writes the kind first, in which case it need not be decoded separately.
	if rest, ok := bytes.CutPrefix(b, []byte(`{"kind":"`)); ok {
		kind, _, _ := bytes.Cut(rest, []byte{'"'})
		head.Kind = ResultKind(kind)
	}
	if head.Kind == "" || head.Kind == CollectionResult {
		if err := json.Unmarshal(b, &head); err != nil {
			return err
		}
	}
	if *r = NewResult(head.Kind); r.Object == nil {
		return fmt.Errorf("search result: %q is not a kind", head.Kind)
	}
	if err := json.Unmarshal(b, r.Object); err != nil {
		return err
	}
	if c, ok := r.Object.(*Collection); ok {
		c.Kind = head.CollectionKind
	}
	return nil
}
