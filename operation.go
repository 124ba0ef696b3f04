package socialdata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Operation is one row of the operation table: from it come the [Client] method, the route, the binding, the price, the
// cache lifetime and the entry in the API description.
type Operation struct {
	Name    string // such as "collection/posts"; the Client's method is called CollectionPosts
	Path    string // such as "/v1/{platform}/collection/posts"
	Tag     string // the operation group
	Summary string
	Params  []Param
	TTL     time.Duration  // how long an answer is good; 0 when it is not cached
	Free    bool           // costs nothing
	NoKey   bool           // needs no API key
	Bare    bool           // answers without the envelope
	List    bool           // the data is an array
	Errors  []problem.Code // what it may fail with

	plan  func(c *Client, o *Operation, call Call) (*query, error)             // checks and prices a charged call
	entry func(e *engine, ctx context.Context, q *query) (*cache.Entry, error) // makes its answer on a miss
	data  reflect.Type
	op    providers.Op // of a read through a provider; "" for the service's own
	fetch fetchFunc    // nil for the service's own
	texts func(data []byte) ([]string, error)
}

// Data returns the type of the operation's data.
func (o *Operation) Data() reflect.Type { return o.data }

// Paged tells whether the operation answers in pages.
func (o *Operation) Paged() bool { return o.has("cursor") }

func (o *Operation) has(param string) bool {
	for i := range o.Params {
		if o.Params[i].Name == param {
			return true
		}
	}
	return false
}

// Method returns the name of the Client's method.
func (o *Operation) Method() string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(o.Name, func(r rune) bool { return r == '/' || r == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// route returns the operation's route on a platform.
func (o *Operation) route(platform string) string {
	return "GET " + strings.Replace(o.Path, "{platform}", platform, 1)
}

// typed is an operation with the types of its request and data.
type typed[Req, T any] struct{ Operation }

var (
	readErrors = []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.NotFound, problem.RateLimited,
		problem.InternalError, problem.PlatformUnavailable, problem.UpstreamTimeout,
	}
	accountErrors = []problem.Code{problem.Unauthorized, problem.RateLimited, problem.InternalError}
)

// read completes the row of a read through a provider.
func read[Req, T any](op providers.Op, tag, summary string, ttl time.Duration, f fetcher) *typed[Req, T] {
	return &typed[Req, T]{Operation{
		Name: string(op), Path: "/v1/{platform}/" + string(op), Tag: tag, Summary: summary, TTL: ttl,
		Params: paramsOf(reflect.TypeFor[Req]()), Errors: readErrors,
		data: reflect.TypeFor[T](), List: reflect.TypeFor[T]().Kind() == reflect.Slice,
		op: op, plan: (*Client).plan, entry: (*engine).walk, fetch: f.fetch, texts: f.texts,
	}}
}

// do makes the call that req describes and decodes its answer.
func (o *typed[Req, T]) do(ctx context.Context, c *Client, platform string, req Req) (*schema.Envelope[T], error) {
	a, err := c.run(ctx, &o.Operation, Call{Platform: platform, Params: fromStruct(o.Params, req)})
	if err != nil {
		return nil, err
	}
	return decode[T](a)
}

func decode[T any](a *Answer) (*schema.Envelope[T], error) {
	e := &schema.Envelope[T]{Meta: a.Meta}
	if err := json.Unmarshal(a.Data, &e.Data); err != nil {
		return nil, problem.Wrap(err, problem.InternalError, "the answer cannot be decoded")
	}
	return e, nil
}

// fetched is what a provider delivered, completed and encoded.
type fetched struct {
	data []byte
	raw  [][]byte
	page []byte
	next string   // the upstream's token
	ids  []uint64 // of the objects, hashed, in order
	at   time.Time
}

// reading is one read from one provider.
type reading struct {
	engine *engine
	p      *providers.Provider
	in     args
	token  string               // the upstream's; "" for the first page
	skip   func(id uint64) bool // tells which objects have been on an earlier page
	at     time.Time
}

// fetchFunc makes a reading.
type fetchFunc func(ctx context.Context, r reading) (fetched, error)

// fetcher is how a row reads, and how it finds the texts to enrich in what was read.
type fetcher struct {
	fetch fetchFunc
	texts func(data []byte) ([]string, error)
}

// object is a pointer to T that is a resource.
type object[T any] interface {
	*T
	schema.Object
}

// one reads one object by the first parameter.
func one[T any, P object[T]](pick func(*providers.Provider) providers.One[T]) fetcher {
	return single[T, P](func(ctx context.Context, p *providers.Provider, in args) (T, error) {
		return pick(p)(ctx, in.values[0])
	})
}

// oneBy reads one object by a query.
func oneBy[Q, T any, P object[T]](pick func(*providers.Provider) providers.OneBy[Q, T], query func(args) Q) fetcher {
	return single[T, P](func(ctx context.Context, p *providers.Provider, in args) (T, error) { return pick(p)(ctx, query(in)) })
}

// many reads a page by the first parameter.
func many[T any, P object[T]](pick func(*providers.Provider) providers.List[T]) fetcher {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, in.values[0], token)
	})
}

// manyBy reads a page by a query.
func manyBy[Q, T any, P object[T]](pick func(*providers.Provider) providers.ListBy[Q, T], query func(args) Q) fetcher {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, query(in), token)
	})
}

func single[T any, P object[T]](get func(context.Context, *providers.Provider, args) (T, error)) fetcher {
	return fetcher{
		fetch: func(ctx context.Context, r reading) (fetched, error) {
			v, err := get(ctx, r.p, r.in)
			if err != nil {
				return fetched{}, err
			}
			raw, err := complete(r.p, P(&v), r.at)
			if err != nil {
				return fetched{}, providers.Unavailable(err, "the upstream's answer breaks the schema")
			}
			data, err := schema.Marshal(&v)
			return fetched{data: data, raw: [][]byte{raw}}, err
		},
		texts: func(data []byte) ([]string, error) {
			var v T
			if err := json.Unmarshal(data, &v); err != nil {
				return nil, err
			}
			return []string{P(&v).EnrichText()}, nil
		},
	}
}

func paged[T any, P object[T]](get func(context.Context, *providers.Provider, args, string) (providers.Page[T], error)) fetcher {
	return fetcher{
		fetch: func(ctx context.Context, r reading) (fetched, error) {
			page, err := get(ctx, r.p, r.in, r.token)
			if err != nil {
				return fetched{}, err
			}
			out := fetched{page: compact(page.Raw), next: page.Next}
			var kept [][]byte
			broken, here := error(nil), map[uint64][]byte{}
			for i := range page.Items {
				o := P(&page.Items[i])
				raw, err := complete(r.p, o, r.at)
				if err != nil {
					broken = fmt.Errorf("item %d of %d: %w", i+1, len(page.Items), err)
					continue
				}
				data, err := schema.Marshal(o)
				if err != nil {
					return fetched{}, err
				}
				// The same object twice on a page is one; two that only share an id, as placeholders do, are two.
				id := identity(o)
				if r.skip(id) || bytes.Equal(here[id], data) {
					continue
				}
				here[id] = data
				kept = append(kept, data)
				out.raw = append(out.raw, raw)
				out.ids = append(out.ids, id)
			}
			// One broken item is left out of a page; a page of nothing else is an upstream that has changed.
			if broken != nil && len(kept) == 0 {
				return fetched{}, providers.Unavailable(broken, "the upstream's answer breaks the schema")
			}
			out.data = slices.Concat([]byte("["), bytes.Join(kept, []byte(",")), []byte("]"))
			return out, nil
		},
		texts: func(data []byte) ([]string, error) {
			var vs []T
			if err := json.Unmarshal(data, &vs); err != nil {
				return nil, err
			}
			texts := make([]string, len(vs))
			for i := range vs {
				texts[i] = P(&vs[i]).EnrichText()
			}
			return texts, nil
		},
	}
}

// complete stamps and checks o, and takes its raw off.
func complete(p *providers.Provider, o schema.Object, at time.Time) (raw []byte, err error) {
	if r, ok := o.(*schema.SearchResult); ok && r.Object == nil {
		return nil, r.Validate()
	}
	p.Stamp(o, at)
	c := o.Shared()
	raw, c.Raw = compact(c.Raw), nil
	return raw, o.Validate()
}

// compact returns JSON without its white space, or nil for what is none: it goes into an answer as it is.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// store reads a store, the one thing that carries no shared fields: its raw is the page's.
func store() fetcher {
	return fetcher{
		fetch: func(ctx context.Context, r reading) (fetched, error) {
			s, err := r.p.Store(ctx, r.in.values[0])
			if err != nil {
				return fetched{}, err
			}
			s.Platform = r.p.Platform
			if err := s.Validate(); err != nil {
				return fetched{}, providers.Unavailable(err, "the upstream's answer breaks the schema")
			}
			data, err := schema.Marshal(s.StoreSummary)
			return fetched{data: data, page: compact(s.Raw)}, err
		},
	}
}
