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

// The functions of a [Provider]. Each returns an error that wraps one of the package's sentinel errors; any other error
// counts as [ErrUnavailable]. They are safe for concurrent use and return when ctx ends.
type (
	// One reads one thing by its key.
	One[T any] func(ctx context.Context, key string) (T, error)
	// List reads one page by a key. The cursor is "" for the first page, and otherwise the Next of the previous page.
	List[T any] func(ctx context.Context, key, cursor string) (Page[T], error)
	// OneBy reads one thing by a query.
	OneBy[Q, T any] func(ctx context.Context, q Q) (T, error)
	// ListBy reads one page by a query.
	ListBy[Q, T any] func(ctx context.Context, q Q, cursor string) (Page[T], error)
	// ForwardFunc reads one route of the upstream unchanged. path matches one of Routes and is decoded; the answer is
	// JSON.
	ForwardFunc func(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
)

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Next  string          // the upstream's token for the next page; "" if there is none
	Raw   json.RawMessage // the page, if the objects have no raw of their own; otherwise nil
}

// Storefront is a store with the upstream's object: stores are the only type of the schema without a raw of their own.
type Storefront struct {
	schema.StoreSummary
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Filters lists the optional parameters of an operation that the platform supports, with their values; nil values mean
// any. Other parameters are refused before the provider is called.
type Filters map[string][]string

// NewestFirst is the entry of [Provider.Filters] for a list of posts that goes on from new to old over all its pages,
// except for pinned posts at the head of the first one: it can be read up to a time or a post.
func NewestFirst() Filters { return Filters{"since": nil, "stop_at_id": nil} }

// Provider is one upstream serving one platform. A nil function means that it does not serve the operation.
type Provider struct {
	Name     string // the upstream's name, such as "github"; unique among the providers of a platform
	Platform platform.ID
	Source   schema.Source
	// Prompt promises that every function returns within a second of the end of its context, whatever the upstream
	// does, as those do that only wait in [http.Client.Do]. The engine then calls it without a goroutine between them.
	// Without the promise, a call whose context has ended is abandoned. While a promise is broken, nothing counts as a
	// failure of the provider, and closing the client waits for it. A copy of the provider with another function in it
	// makes the same promise. Package providertest checks it.
	Prompt bool

	Profile   One[schema.Profile]        `op:"profile"`
	Followers List[schema.Profile]       `op:"followers"`
	Following List[schema.Profile]       `op:"following"`
	Audience  One[schema.Audience]       `op:"audience"`
	Live      One[schema.LiveStream]     `op:"live"`
	Linked    List[schema.LinkedProfile] `op:"linked"` // what the platform itself confirms; the engine derives others

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

	Community      One[schema.Profile]                      `op:"community"` // as a Profile: handle, title, bio, members
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
	// Gate limits the upstream's concurrent requests, of all operations; nil is no limit. While it is full, reads for
	// Batches are collected. It is that of the client that sends the requests, such as upstream.Client.Gate.
	Gate *Gate

	// Normalize converts what people paste, such as a public URL or a handle with an @, to the canonical identifier.
	// Its values are trimmed and not empty. It fails with [ErrInvalid]. Nil leaves values unchanged.
	Normalize func(s Subject, value string) (string, error)
	// Country returns the country that an address or an identifier of a subject names, as ISO 3166-1 alpha-2; "" when it
	// names none. It applies to the parameters region and country of a read. Nil knows none.
	Country func(s Subject, value string) string
	// InCountry returns the canonical identifier for a thing in a country, from one that names no country; ok is false for
	// a subject whose identifiers never name one. It is nil if no identifier of the platform does.
	InCountry func(s Subject, id, country string) (in string, ok bool)
	// Names returns the most specific subject that an address identifies, and its canonical identifier. It sends no
	// request. u is an absolute http or https URL that is not a wrapper around another one. If the address identifies
	// nothing, ok is false, and s is [SitePage] or [ShortLink] for an address of the platform and "" for any other. Nil
	// knows no address of the platform.
	Names func(u *url.URL) (s Subject, id string, ok bool)
	// Also lists, for the subject of an address, the other subjects for which Normalize accepts that address: a
	// comment's page also identifies its post, an album's page may be read as a post and as a collection. The entry of
	// [ShortLink] lists the subjects whose short links Normalize accepts and the read resolves.
	Also map[Subject][]Subject
	// Open returns the target of a short link, with one request to the host of the link. It fails with [ErrNotFound] if
	// the link has no target. Nil opens none.
	Open func(ctx context.Context, u *url.URL) (string, error)
	// Filters lists the filters of each operation.
	Filters map[Op]Filters
	// Required lists, for an operation, the optional parameters that this platform requires.
	Required map[Op][]string
	// Searches returns [Unsupported] or [Invalid] if a query cannot be searched for. It is called before anything is
	// priced, and only uses the query. Nil searches for anything.
	Searches func(SearchQuery) error
	// Notes describes, for an operation that is not served, why; and for one that is, what a user should know.
	Notes map[Op]string
	// Missing lists, for an operation that is not served, the settings that would enable it. A setting of a package
	// that serves many platforms includes the package: "scrapecreators.api_key".
	Missing map[Op][]string
	// Charges is the maximum that the upstream charges us for a call, in its own credits: a call that needs more stops
	// there. A missing operation costs nothing.
	Charges map[Op]int64

	// PageSizes has the page size of each list that has a known one.
	PageSizes PageSizes

	// Limits are the upstream's known limits.
	Limits []Limit

	// Routes is the allow-list of Forward; without Forward, the routes that the settings in Missing would enable.
	Routes  []Route
	Forward ForwardFunc
	// Credentials lists the query parameters in which the upstream accepts credentials, by exact name: callers may not
	// send them. See [Provider.Refuse].
	Credentials []string
	// Subjects lists the members of raw answers that identify an account or an object and are not called so at other
	// upstreams: see [Provider.NamesSubject].
	Subjects []string
	// Owner describes what the upstream only shows to the owner of the credential. It is not shown to callers.
	Owner Owner
}

// Chain is the upstreams of one package, in the order in which they are tried.
type Chain []Provider

// Clone returns a copy of p with its own tables.
func (p Provider) Clone() Provider {
	p.Filters, p.Notes, p.Charges = maps.Clone(p.Filters), maps.Clone(p.Notes), maps.Clone(p.Charges)
	p.PageSizes = maps.Clone(p.PageSizes)
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
	p.Subjects = slices.Clone(p.Subjects)
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

// Serves reports whether p serves op. It takes a pointer because a Provider is large.
func (p *Provider) Serves(op Op) bool {
	f := p.field(op)
	return f.IsValid() && !f.IsNil()
}

// Without returns p without the given settings: it serves nothing, and Missing lists the settings for what it could
// serve.
func (p Provider) Without(settings ...string) Provider {
	return p.WithoutOps(settings, Ops()...)
}

// Requiring returns p if all of settings, which maps names to values, are set, and otherwise p [Provider.Without] those
// that are "".
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

// WithoutOps returns p with only those of ops disabled, for lack of settings.
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

// fields is the index of each operation's function in a Provider; order is the order of the operations. Read only.
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

// batches is the index of each operation's batch in a Provider. Read only.
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

func (p *Provider) field(op Op) reflect.Value {
	at, ok := fields[op]
	if !ok {
		return reflect.Value{}
	}
	return reflect.ValueOf(p).Elem().FieldByIndex(at)
}

// batch returns the batch of an operation; the zero value if no provider can have one.
func (p *Provider) batch(op Op) reflect.Value {
	at, ok := batches[op]
	if !ok {
		return reflect.Value{}
	}
	return reflect.ValueOf(p).Elem().FieldByIndex(at)
}

// Stamp completes an object that p returned at the given time: it sets platform, source and time of every part, and
// replaces nil arrays.
func (p *Provider) Stamp(o schema.Object, at time.Time) {
	c := o.Shared()
	c.FetchedAt = at.UTC()
	c.Source = p.Source
	if c.Platform == "" { // a linked profile is on another platform
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
	localize(o)
	o.Fill()
}
