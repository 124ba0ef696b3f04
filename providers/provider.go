package providers

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// The functions of a [Provider]. Each returns an error that wraps one of the package's sentinels; any other error is
// taken for [ErrUnavailable]. They are safe for concurrent use and end when ctx does.
type (
	// One reads one thing by its key.
	One[T any] func(ctx context.Context, key string) (T, error)
	// List reads one page by a key. The cursor is "" for the first page and else the Next of the page before.
	List[T any] func(ctx context.Context, key, cursor string) (Page[T], error)
	// OneBy reads one thing by a query.
	OneBy[Q, T any] func(ctx context.Context, q Q) (T, error)
	// ListBy reads one page by a query.
	ListBy[Q, T any] func(ctx context.Context, q Q, cursor string) (Page[T], error)
	// ForwardFunc reads one route of the upstream unchanged. The path has been matched against Routes and is
	// decoded; the answer is JSON.
	ForwardFunc func(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
)

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Next  string          // the upstream's token for the next page; "" when there is none
	Raw   json.RawMessage // the page, where the objects have no raw of their own; else nil
}

// Storefront is a store beside the upstream's object: the one thing of the schema that carries no raw of its own.
type Storefront struct {
	schema.StoreSummary
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Filters says which optional parameters of an operation the platform can apply, and the values that it knows; nil
// values mean any. A parameter that is not listed is refused before the provider is called.
type Filters map[string][]string

// Provider is one upstream serving one platform. A nil function means that it does not serve the operation.
type Provider struct {
	Name     string // of the upstream, such as "github"; unique among the providers of a platform
	Platform platform.ID
	Source   schema.Source

	Profile   One[schema.Profile]        `op:"profile"`
	Followers List[schema.Profile]       `op:"followers"`
	Following List[schema.Profile]       `op:"following"`
	Audience  One[schema.Audience]       `op:"audience"`
	Live      One[schema.LiveStream]     `op:"live"`
	Linked    List[schema.LinkedProfile] `op:"linked"` // what the platform itself confirms; the engine derives the rest

	Posts    List[schema.Post]                  `op:"posts"` // newest first
	Post     One[schema.Post]                   `op:"post"`
	Trending ListBy[TrendingQuery, schema.Post] `op:"trending"`

	Search      ListBy[SearchQuery, schema.SearchResult]    `op:"search"`
	Suggestions ListBy[SuggestionsQuery, schema.Suggestion] `op:"suggestions"`

	Comments List[schema.Comment]                 `op:"comments"`
	Replies  ListBy[RepliesQuery, schema.Comment] `op:"replies"`

	Transcript       OneBy[TranscriptQuery, schema.Transcript]   `op:"transcript"`
	Reels            List[schema.Post]                           `op:"reels"`
	Collections      ListBy[CollectionsQuery, schema.Collection] `op:"collections"`
	Collection       OneBy[CollectionQuery, schema.Collection]   `op:"collection"`
	CollectionPosts  ListBy[CollectionQuery, schema.Post]        `op:"collection/posts"`
	CollectionTracks ListBy[CollectionQuery, schema.Track]       `op:"collection/tracks"`

	Track      One[schema.Track]  `op:"track"`
	Tracks     List[schema.Track] `op:"tracks"`
	TrackPosts List[schema.Post]  `op:"track/posts"`

	Community      One[schema.Profile]                      `op:"community"` // a Profile: handle, title, description, members
	CommunityPosts ListBy[CommunityPostsQuery, schema.Post] `op:"community/posts"`

	Products ListBy[ProductsQuery, schema.Product] `op:"products"`
	Product  OneBy[ProductQuery, schema.Product]   `op:"product"`
	Reviews  List[schema.Review]                   `op:"reviews"`
	Store    One[Storefront]                       `op:"store"`

	Ads         ListBy[AdsQuery, schema.Ad]                 `op:"ads"`
	AdsSearch   ListBy[AdsSearchQuery, schema.Ad]           `op:"ads/search"`
	Ad          One[schema.Ad]                              `op:"ad"`
	Advertisers ListBy[AdvertisersQuery, schema.Advertiser] `op:"advertisers"`

	Event        One[schema.Event]                 `op:"event"`
	Events       ListBy[EventsQuery, schema.Event] `op:"events"`
	EventsSearch List[schema.Event]                `op:"events/search"` // the key is the query

	// Batches are the operations that take many keys at once.
	Batches Batches
	// Gate bounds the upstream's requests at a time, of all operations; nil is no bound. While it is full, reads of Batches
	// gather. It is that of the client that makes the requests, such as upstream.Client.Gate.
	Gate *Gate

	// Normalize reduces what people paste, such as a public URL or a handle with an @, to the canonical identifier.
	// It gets values that are trimmed and not empty, and fails with [ErrInvalid]. Nil leaves values as they are.
	Normalize func(s Subject, value string) (string, error)
	// Names says what an address names: the most telling subject alone, and its canonical identifier. It asks no upstream.
	// It gets an absolute URL of http or https that does not merely lead to another one. Of an address that names nothing it
	// returns false, with [SitePage] or [ShortLink] where that is the platform's own and "" where it is not. Nil knows no
	// address of the platform.
	Names func(u *url.URL) (s Subject, id string, ok bool)
	// Also lists, for what an address names, the other subjects for which Normalize takes that address: a comment's page
	// names its post, an album's page may be asked for as a post and as a collection. [ShortLink] lists what Normalize
	// leaves for the read to find out.
	Also map[Subject][]Subject
	// Open returns the address that a short link leads to, by one request to the host of the link. It fails with [ErrNotFound]
	// when the link leads nowhere. Nil opens none.
	Open func(ctx context.Context, u *url.URL) (string, error)
	// Filters lists what each operation can filter by.
	Filters map[Op]Filters
	// Required lists, for an operation, the optional parameters without which it is not served.
	Required map[Op][]string
	// Searches says why a query cannot be searched for, with [Unsupported] or [Invalid]: it is asked before anything is
	// priced, and looks at nothing but the query. Nil searches for anything.
	Searches func(SearchQuery) error
	// Notes says, for an operation that is not served, why; and for one that is, what a user should know.
	Notes map[Op]string
	// Missing lists, for an operation that is not served, the settings that would switch it on. A setting of a package that
	// serves many platforms is named with the package: "scrapecreators.api_key".
	Missing map[Op][]string
	// Charges says what the upstream charges its own customer for a call at most, in credits of its own: a call that needs
	// more goes without the rest. An operation that is not there costs nothing.
	Charges map[Op]int64

	// Limits are the upstream's limits, as far as they are known.
	Limits []Limit

	// Routes is the allow-list of Forward; without Forward, of what it would read if the settings in Missing were there.
	Routes  []Route
	Forward ForwardFunc
	// Credentials lists the query parameters by which the upstream takes credentials, by exact name: a caller may not
	// send them. See [Provider.Refuse].
	Credentials []string
	// Owner is what the upstream shows to the owner of the credential alone. Callers are not shown it.
	Owner Owner
}

// Chain is the upstreams of one package, in the order in which they are tried.
type Chain []Provider

// Clone returns a copy of p whose tables are its own.
func (p Provider) Clone() Provider {
	p.Filters, p.Notes, p.Charges = maps.Clone(p.Filters), maps.Clone(p.Notes), maps.Clone(p.Charges)
	for op, filters := range p.Filters {
		p.Filters[op] = maps.Clone(filters)
		for name, values := range filters {
			p.Filters[op][name] = slices.Clone(values)
		}
	}
	p.Missing, p.Required, p.Also = cloneLists(p.Missing), cloneLists(p.Required), cloneLists(p.Also)
	p.Routes, p.Credentials, p.Limits = slices.Clone(p.Routes), slices.Clone(p.Credentials), slices.Clone(p.Limits)
	for i := range p.Routes {
		p.Routes[i].Query = slices.Clone(p.Routes[i].Query)
	}
	p.Owner.Words, p.Owner.Fields = slices.Clone(p.Owner.Words), slices.Clone(p.Owner.Fields)
	return p
}

func cloneLists[K comparable, V any](of map[K][]V) map[K][]V {
	out := maps.Clone(of)
	for op, list := range out {
		out[op] = slices.Clone(list)
	}
	return out
}

// Serves reports whether p serves op.
func (p Provider) Serves(op Op) bool {
	f := p.field(op)
	return f.IsValid() && !f.IsNil()
}

// Without returns p as it is while the given settings are missing: it serves nothing, and says which settings would
// switch on what it could serve.
func (p Provider) Without(settings ...string) Provider {
	return p.WithoutOps(settings, Ops()...)
}

// Requiring returns p when each of settings, which are values by name, is there, and else p [Provider.Without] those that
// are "".
func (p Provider) Requiring(settings map[string]string) Provider {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] == "" {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return p
	}
	return p.Without(missing...)
}

// WithoutOps returns p with only those of ops switched off that need settings.
func (p Provider) WithoutOps(settings []string, ops ...Op) Provider {
	missing := maps.Clone(p.Missing)
	if missing == nil {
		missing = map[Op][]string{}
	}
	v := reflect.ValueOf(&p).Elem()
	for _, op := range ops {
		if p.Serves(op) || missing[op] != nil {
			missing[op] = slices.Concat(missing[op], settings)
			v.FieldByIndex(fields[op]).SetZero()
			if at, ok := batches[op]; ok {
				v.FieldByIndex(at).SetZero()
			}
		}
	}
	p.Missing = missing
	if p.Search == nil {
		p.Searches = nil
	}
	if len(ops) == len(fields) && p.Forward != nil {
		missing[OpRaw], p.Forward = settings, nil
	}
	return p
}

// fields is where each operation's function stands in a Provider; order is theirs. Nobody writes to them.
var fields, order = func() (map[Op][]int, []Op) {
	at, ops := map[Op][]int{}, []Op{}
	for f := range reflect.TypeFor[Provider]().Fields() {
		if op, ok := f.Tag.Lookup("op"); ok {
			at[Op(op)] = f.Index
			ops = append(ops, Op(op))
		}
	}
	return at, ops
}()

// batches is where the batch of an operation stands in a Provider. Nobody writes to it.
var batches = func() map[Op][]int {
	at, in := map[Op][]int{}, reflect.TypeFor[Provider]()
	group, _ := in.FieldByName("Batches")
	for f := range group.Type.Fields() {
		at[Op(f.Tag.Get("op"))] = slices.Concat(group.Index, f.Index)
	}
	return at
}()

// Ops returns every operation, in the order of the [Provider] struct. The caller owns the slice.
func Ops() []Op { return append([]Op(nil), order...) }

func (p Provider) field(op Op) reflect.Value {
	at, ok := fields[op]
	if !ok {
		return reflect.Value{}
	}
	return reflect.ValueOf(p).FieldByIndex(at)
}

// batch returns the batch of an operation; not valid where the operation has none on any upstream.
func (p Provider) batch(op Op) reflect.Value {
	at, ok := batches[op]
	if !ok {
		return reflect.Value{}
	}
	return reflect.ValueOf(p).FieldByIndex(at)
}

// Stamp completes an object that p returned at the given time: platform, source and time of every part, and arrays
// that are not nil.
func (p Provider) Stamp(o schema.Object, at time.Time) {
	c := o.Shared()
	c.FetchedAt = at.UTC()
	c.Source = p.Source
	if c.Platform == "" { // a linked profile lives on another platform
		c.Platform = p.Platform
	}
	if a, ok := o.(interface{ Actors() []*schema.Actor }); ok {
		for _, actor := range a.Actors() {
			actor.Platform = c.Platform
		}
	}
	if s, ok := o.(interface{ Stores() []*schema.StoreSummary }); ok {
		for _, store := range s.Stores() {
			store.Platform = c.Platform
		}
	}
	o.Fill()
}
