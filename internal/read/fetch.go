package read

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// object is a pointer to T that is a resource.
type object[T any] interface {
	*T
	schema.Object
}

// One reads one object by the first parameter.
func One[T any, P object[T]](pick func(*providers.Provider) providers.One[T]) Source {
	return single[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args) (T, error) {
		return pick(p)(ctx, in.Values[0])
	})
}

// OneBy reads one object by a query.
func OneBy[Q, T any, P object[T]](
	pick func(*providers.Provider) providers.OneBy[Q, T], query func(operation.Args) Q,
) Source {
	return single[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args) (T, error) {
		return pick(p)(ctx, query(in))
	})
}

// Many reads a page by the first parameter.
func Many[T any, P object[T]](pick func(*providers.Provider) providers.List[T]) Source {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, in.Values[0], token)
	})
}

// ManyBy reads a page by a query.
func ManyBy[Q, T any, P object[T]](
	pick func(*providers.Provider) providers.ListBy[Q, T], query func(operation.Args) Q,
) Source {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, query(in), token)
	})
}

func single[T any, P object[T]](get func(context.Context, *providers.Provider, operation.Args) (T, error)) Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			v, err := get(ctx, r.Provider, r.In)
			if err != nil {
				return Fetched{}, err
			}
			raw, err := Complete(r.Provider, P(&v), r.At)
			if err != nil {
				return Fetched{}, providers.Unavailable(err, "the upstream's answer breaks the schema")
			}
			data, err := schema.Marshal(&v)
			return Fetched{Data: data, Raw: [][]byte{raw}}, err
		},
		Texts: func(data []byte) ([]string, error) {
			var v T
			if err := json.Unmarshal(data, &v); err != nil {
				return nil, err
			}
			return []string{P(&v).EnrichText()}, nil
		},
	}
}

func paged[T any, P object[T]](
	get func(context.Context, *providers.Provider, operation.Args, string) (providers.Page[T], error),
) Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			page, err := get(ctx, r.Provider, r.In, r.Token)
			if err != nil {
				return Fetched{}, err
			}
			out := Fetched{Page: compact(page.Raw), Next: page.Next}
			var kept [][]byte
			broken, here := error(nil), map[uint64][]byte{}
			for i := range page.Items {
				o := P(&page.Items[i])
				raw, err := Complete(r.Provider, o, r.At)
				if err != nil {
					broken = fmt.Errorf("item %d of %d: %w", i+1, len(page.Items), err)
					continue
				}
				data, err := schema.Marshal(o)
				if err != nil {
					return Fetched{}, err
				}
				// The same object twice on a page is one; two that only share an id, as placeholders do, are two.
				id := cursor.Identity(o)
				if r.skip(id) || bytes.Equal(here[id], data) {
					continue
				}
				here[id] = data
				kept = append(kept, data)
				out.Raw = append(out.Raw, raw)
				out.IDs = append(out.IDs, id)
			}
			// One broken item is left out of a page; a page of nothing else is an upstream that has changed.
			if broken != nil && len(kept) == 0 {
				return Fetched{}, providers.Unavailable(broken, "the upstream's answer breaks the schema")
			}
			out.Data = slices.Concat([]byte("["), bytes.Join(kept, []byte(",")), []byte("]"))
			return out, nil
		},
		Texts: func(data []byte) ([]string, error) {
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

// Complete stamps and checks o, and takes its raw off.
func Complete(p *providers.Provider, o schema.Object, at time.Time) (raw []byte, err error) {
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

// Store reads a store, the one thing that carries no shared fields: its raw is the page's.
func Store() Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			s, err := r.Provider.Store(ctx, r.In.Values[0])
			if err != nil {
				return Fetched{}, err
			}
			s.Platform = r.Provider.Platform
			if err := s.Validate(); err != nil {
				return Fetched{}, providers.Unavailable(err, "the upstream's answer breaks the schema")
			}
			data, err := schema.Marshal(s.StoreSummary)
			return Fetched{Data: data, Page: compact(s.Raw)}, err
		},
	}
}
