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

// One reads one object, given by the first parameter, or many with one request if the provider can. Many is nil if no
// provider can.
func One[T any, P schema.Resource[T]](
	pick func(*providers.Provider) providers.One[T], many func(*providers.Provider) providers.Batch[T],
) Source {
	s := single[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args) (T, error) {
		return pick(p)(ctx, in.Values[0])
	})
	if many != nil {
		s.Batch = several(func(p *providers.Provider, _ operation.Args) providers.Batch[T] { return many(p) }, object[T, P])
	}
	return s
}

// OneBy reads one object, given by a query whose key is the first parameter, or many with one request if the provider
// can.
func OneBy[Q, T any, P schema.Resource[T]](
	pick func(*providers.Provider) providers.OneBy[Q, T], many func(*providers.Provider) providers.BatchBy[Q, T],
	query func(operation.Args) Q,
) Source {
	s := single[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args) (T, error) {
		return pick(p)(ctx, query(in))
	})
	s.Batch = several(func(p *providers.Provider, in operation.Args) providers.Batch[T] {
		b := many(p)
		out := providers.Batch[T]{Most: b.Most, Bytes: b.Bytes, Limited: b.Limited}
		if b.Read != nil {
			out.Read = func(ctx context.Context, keys []string) (map[string]T, error) {
				return b.Read(ctx, keys, query(keyless(in)))
			}
		}
		return out
	}, object[T, P])
	return s
}

// Many reads a page, given by the first parameter.
func Many[T any, P schema.Resource[T]](pick func(*providers.Provider) providers.List[T]) Source {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, in.Values[0], token)
	})
}

// ManyBy reads a page, given by a query.
func ManyBy[Q, T any, P schema.Resource[T]](
	pick func(*providers.Provider) providers.ListBy[Q, T], query func(operation.Args) Q,
) Source {
	return paged[T, P](func(ctx context.Context, p *providers.Provider, in operation.Args, token string) (providers.Page[T], error) {
		return pick(p)(ctx, query(in), token)
	})
}

func single[T any, P schema.Resource[T]](get func(context.Context, *providers.Provider, operation.Args) (T, error)) Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			v, err := get(ctx, r.Provider, r.In)
			if err != nil {
				return Fetched{}, err
			}
			return object[T, P](r, &v, r.reader.now())
		},
		Texts: func(data []byte) ([]string, error) {
			var v T
			if err := json.Unmarshal(data, &v); err != nil {
				return nil, err
			}
			return []string{P(&v).EnrichText()}, nil
		},
		Decode: decode[T],
		Envelop: func(value any) any {
			e := &schema.Envelope[T]{}
			schema.Clone[T, P](&e.Data, value.(*T))
			return e
		},
	}
}

// object converts an object that was read at the given time.
func object[T any, P schema.Resource[T]](r Reading, v *T, at time.Time) (Fetched, error) {
	r.attempt.Read(1)
	out := Fetched{At: at, forget: r.attempt.Forget}
	data, raw, err := r.encode(nil, P(v), at)
	if err != nil {
		r.attempt.Broken(err)
		return out, drifted(err)
	}
	out.Data, out.Raw = data, [][]byte{raw}
	return out, nil
}

// largestGuess is how much room is made for a page before it is known how long its items are, in bytes.
const largestGuess = 256 << 10

// maxItems is how many items of one page are read. No real page has as many; further ones are left out.
const maxItems = 1000

func paged[T any, P schema.Resource[T]](
	get func(context.Context, *providers.Provider, operation.Args, string) (providers.Page[T], error),
) Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			page, err := get(ctx, r.Provider, r.In, r.Token)
			if err != nil {
				return Fetched{}, err
			}
			if len(page.Items) > maxItems {
				r.attempt.Broken(fmt.Errorf("%d items on one page", len(page.Items)))
				page.Items = page.Items[:maxItems]
			}
			return assemble[T, P](ctx, r, page)
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
		Decode: decode[[]T],
		Envelop: func(value any) any {
			return &schema.Envelope[[]T]{Data: schema.CloneAll[T, P](*value.(*[]T))}
		},
	}
}

// decode returns a pointer to the decoded data.
func decode[T any](data string) (any, error) {
	v := new(T)
	return v, json.Unmarshal([]byte(data), v)
}

// assemble collects the valid and new items of a page. An invalid item only affects itself; a page on which no item
// could be understood means that the upstream has changed.
func assemble[T any, P schema.Resource[T]](ctx context.Context, r Reading, page providers.Page[T]) (Fetched, error) {
	r.attempt.Read(len(page.Items))
	out := Fetched{At: r.reader.now(), Page: r.public(page.Raw), Next: page.Next, forget: r.attempt.Forget}
	list := []byte("[")
	broken, understood, here := error(nil), false, map[uint64][]byte{}
	for i := range page.Items {
		if err := ctx.Err(); err != nil {
			return Fetched{}, err
		}
		o := P(&page.Items[i])
		longer, raw, err := r.encode(list, o, out.At)
		if err != nil {
			r.attempt.Broken(err)
			broken = fmt.Errorf("item %d of %d: %w", i+1, len(page.Items), err)
			continue
		}
		understood = true
		data, id := longer[len(list):len(longer):len(longer)], cursor.Identity(o)
		if r.skip(id) {
			out.Again = append(out.Again, id)
			continue
		}
		// The same object twice on a page counts once; two that only share an id, as placeholders do, count twice.
		if bytes.Equal(here[id], data) {
			continue
		}
		here[id] = data
		if list = append(longer, ','); len(here) == 1 {
			list = slices.Grow(list, min(len(data)*(len(page.Items)-i), largestGuess)) // most are about as long
		}
		out.Raw = append(out.Raw, raw)
		out.IDs = append(out.IDs, id)
	}
	if broken != nil && !understood {
		return out, drifted(broken)
	}
	out.Data = append(bytes.TrimSuffix(list, []byte(",")), ']')
	return out, nil
}

// drifted returns the error of an answer that breaks the schema. That is drift, which is not a reason to stop calling
// the upstream.
func drifted(err error) error {
	return &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the upstream's answer breaks the schema", Blame: providers.BlameNone, Err: err,
	}
}

// encode completes o and appends it to dst as JSON, and returns that with its raw, both redacted. It validates o as
// callers will see it.
func (r Reading) encode(dst []byte, o schema.Object, at time.Time) (data, raw []byte, err error) {
	if raw, err = r.reader.complete(r.Provider, o, at); err != nil {
		return nil, nil, err
	}
	raw = r.blank(raw, nil)
	if err := r.blankTexts(o); err != nil {
		return nil, nil, err
	}
	if err := r.reader.validator.Validate(o); err != nil {
		return nil, nil, err
	}
	data, err = schema.Append(dst, o)
	return data, raw, err
}

// Complete sets the common fields of o, moves its raw out of it, and validates it.
func (r *Reader) Complete(p *providers.Provider, o schema.Object, at time.Time) (raw []byte, err error) {
	if raw, err = r.complete(p, o, at); err != nil {
		return nil, err
	}
	return raw, r.validator.Validate(o)
}

// complete is [Reader.Complete] without the check.
func (r *Reader) complete(p *providers.Provider, o schema.Object, at time.Time) (raw []byte, err error) {
	if found, ok := o.(*schema.SearchResult); ok && found.Object == nil {
		return nil, found.Check()
	}
	p.Stamp(o, at)
	c := o.Shared()
	raw, c.Raw = p.Public(c.Raw), nil
	return raw, nil
}

// Store reads a store, the only object without common fields: its raw is the page's.
func Store() Source {
	return Source{
		Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
			s, err := r.Provider.Store(ctx, r.In.Values[0])
			if err != nil {
				return Fetched{}, err
			}
			return storefront(r, &s, r.reader.now())
		},
		Batch: several(func(p *providers.Provider, _ operation.Args) providers.Batch[providers.Storefront] {
			return p.Batches.Store
		}, storefront),
	}
}

// storefront converts a store that was read at the given time.
func storefront(r Reading, s *providers.Storefront, at time.Time) (Fetched, error) {
	s.Platform = r.Provider.Platform
	r.attempt.Read(1)
	out := Fetched{At: at, Page: r.public(s.Raw), forget: r.attempt.Forget}
	err := r.blankTexts(&s.StoreSummary)
	if err == nil {
		err = r.reader.validator.Validate(&s.StoreSummary)
	}
	if err != nil {
		r.attempt.Broken(err)
		return out, drifted(err)
	}
	out.Data, err = schema.Marshal(s.StoreSummary)
	return out, err
}
