package scrapecreators

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ask makes the request of a read for what the caller asks for; it returns an error for what the vendor cannot find.
type ask[Q any] func(context.Context, Q) (upstream.Request, error)

// The converters of rows: a method of their wire struct, one that also has the context, and the function of a platform's
// own package, which decodes the row itself. The bool is false for a row that does not belong.
type (
	method[T, O any]    = func(T, json.RawMessage) (O, bool)
	converter[T, O any] = func(context.Context, T, json.RawMessage) (O, bool)
	parser[O any]       = func(context.Context, json.RawMessage) (O, error)
)

// by asks with a handle, an id or other words of the caller in a parameter of the route.
func by(route, parameter string) ask[string] {
	return func(_ context.Context, words string) (upstream.Request, error) {
		return upstream.Get(route).Says(parameter, words), nil
	}
}

// byURL asks with the address of a page.
func byURL(route string, address func(string) string) ask[string] {
	return func(_ context.Context, id string) (upstream.Request, error) {
		return upstream.Get(route).Says("url", address(id)), nil
	}
}

// byPost asks with the address of a post, which is the caller's own if it gave one.
func byPost(route string, address func(id string) string) ask[string] {
	return func(ctx context.Context, id string) (upstream.Request, error) {
		return upstream.Get(route).Says("url", providers.AddressOf(ctx, providers.PostID, address(id))), nil
	}
}

// fixed asks for a list without parameters.
func fixed[Q any](route string) ask[Q] {
	return func(context.Context, Q) (upstream.Request, error) { return upstream.Get(route), nil }
}

// after makes addresses that end in an id.
func after(prefix string) func(id string) string {
	return func(id string) string { return prefix + id }
}

// one is the read of the object at a path of the answer, "" for the whole answer. about returns an error if it is not
// the requested one.
func one[Q, T, O any](
	c *client, request ask[Q], at string,
	convert func(context.Context, wire.Object[T]) (O, error), about func(context.Context, Q, O) error,
) func(context.Context, Q) (O, error) {
	return func(ctx context.Context, q Q) (none O, err error) {
		r, err := request(ctx, q)
		if err != nil {
			return none, err
		}
		return upstream.One(ctx, c.http, r, at, convert, func(ctx context.Context, v O) error { return about(ctx, q, v) })
	}
}

// list is the read of a page of a list. The parameter for its cursor has the name of the token in the answer. If about
// is not nil, a row for which it is false becomes the zero object, which the engine leaves out and counts: it is about
// something else.
func list[Q, T, O any](
	c *client, request ask[Q], at upstream.List, convert converter[T, O], about func(Q, O) bool,
) func(context.Context, Q, string) (providers.Page[O], error) {
	return func(ctx context.Context, q Q, cursor string) (page providers.Page[O], err error) {
		r, err := request(ctx, q)
		if err != nil {
			return page, err
		}
		return upstream.Page(ctx, c.http, from(r, at, cursor), at, only(ctx, q, convert, about))
	}
}

// from asks for the page at a cursor, if the list has more than one.
func from(r upstream.Request, at upstream.List, cursor string) upstream.Request {
	if at.Next == "" {
		return r
	}
	return r.With(at.Next[strings.LastIndexByte(at.Next, '.')+1:], cursor)
}

// only converts the rows of a [list] that are about what was requested.
func only[Q, T, O any](ctx context.Context, q Q, convert converter[T, O], about func(Q, O) bool) method[T, O] {
	return func(v T, raw json.RawMessage) (O, bool) {
		o, belongs := convert(ctx, v, raw)
		if about != nil && belongs && !about(q, o) {
			return *new(O), true
		}
		return o, belongs
	}
}

// rows converts the rows of a [list] with a method of their wire struct.
func rows[T, O any](convert method[T, O]) converter[T, O] {
	return func(_ context.Context, v T, raw json.RawMessage) (O, bool) { return convert(v, raw) }
}

// parsed converts the rows of a [list] with the platform's own package. One that is not public does not belong. One that
// cannot be read becomes the zero object, which the engine leaves out and counts.
func parsed[O any](parse parser[O]) converter[struct{}, O] {
	return func(ctx context.Context, _ struct{}, raw json.RawMessage) (O, bool) {
		v, err := parse(ctx, raw)
		if err != nil {
			return *new(O), !errors.Is(err, providers.ErrNotFound)
		}
		return v, true
	}
}

// parsing is [parsed] for [wire.Items].
func parsing[O any](ctx context.Context, parse parser[O]) method[struct{}, O] {
	return func(v struct{}, raw json.RawMessage) (O, bool) { return parsed(parse)(ctx, v, raw) }
}

// hit converts a row of a search.
func hit[T, O any, P interface {
	*O
	schema.Object
}](convert method[T, O]) method[T, schema.SearchResult] {
	return func(v T, raw json.RawMessage) (schema.SearchResult, bool) {
		o, belongs := convert(v, raw)
		return schema.Result(P(&o)), belongs
	}
}

// found makes a function that reads one of the lists of a search.
func found[T, O any, P interface {
	*O
	schema.Object
}](ctx context.Context, answer json.RawMessage, at string, convert method[T, O]) func() ([]schema.SearchResult, error) {
	return func() ([]schema.SearchResult, error) { return upstream.Items(ctx, answer, at, hit[T, O, P](convert)) }
}

// certain makes a converter of rows that all belong.
func certain[T, O any](convert func(T, json.RawMessage) O) method[T, O] {
	return func(v T, raw json.RawMessage) (O, bool) { return convert(v, raw), true }
}

// alone makes a converter of rows one for an object that is read alone.
func alone[T, O any](convert method[T, O]) func(context.Context, wire.Object[T]) (O, error) {
	return wire.As(func(v T, raw json.RawMessage) O {
		o, _ := convert(v, raw)
		return o
	})
}

func sameAccount(ctx context.Context, handle string, p schema.Profile) error {
	return wire.SameFold(ctx, "account", handle, p.Handle)
}

// sameAccountOrID is [sameAccount] for an account that may have been requested by its id.
func sameAccountOrID(ctx context.Context, asked string, p schema.Profile) error {
	if p.ID == asked {
		return nil
	}
	return sameAccount(ctx, asked, p)
}

func samePost(ctx context.Context, id string, p schema.Post) error {
	return wire.Same(ctx, "post", id, p.ID)
}

func sameTrack(ctx context.Context, id string, t schema.Track) error {
	return wire.Same(ctx, "track", id, t.ID)
}

func sameAd(ctx context.Context, id string, a schema.Ad) error { return wire.Same(ctx, "ad", id, a.ID) }

// wrote reports whether a post is by an account.
func wrote(handle string, p schema.Post) bool { return strings.EqualFold(p.Author.Handle, handle) }

// readNumbered reads a numbered page of a list without a mark of the last one: it is the one without rows, or that with
// number last, the vendor's limit.
func readNumbered[T, O any](
	ctx context.Context, c *client, r upstream.Request, cursor string, last int, at string, convert method[T, O],
) (page providers.Page[O], err error) {
	n, err := pages.Number(cursor, last)
	if err != nil {
		return page, err
	}
	some := false // all rows may be outside of the bounds of a search
	r = r.With("page", strconv.Itoa(n))
	page, err = upstream.Page(ctx, c.http, r, upstream.List{Rows: at}, func(v T, raw json.RawMessage) (O, bool) {
		some = true
		return convert(v, raw)
	})
	if err != nil {
		return page, err
	}
	if some && n < last {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, nil
}

// endless is the last page of a list that continues until a page has no rows.
const endless = math.MaxInt

// sole is the requested object. The vendor writes null for what does not exist.
type sole[T any] struct {
	wire.Object[T]
	null bool
}

// UnmarshalJSON never fails.
func (o *sole[T]) UnmarshalJSON(b []byte) error {
	o.null = string(b) == "null"
	return o.Object.UnmarshalJSON(b)
}

// given returns an error when o, called name as in "transcript", is neither present nor null: a missing field means
// that the format has changed.
func (o sole[T]) given(ctx context.Context, name string) error {
	return wire.Need(ctx, name, o.null || o.Here())
}

// check returns nil when the object, called name as in "post", is present.
func (o sole[T]) check(ctx context.Context, name string) error {
	if o.null {
		return absent("")
	}
	return wire.Need(ctx, name, o.Here())
}

// asResults converts a page of objects to search results.
func asResults[T any, P interface {
	*T
	schema.Object
}](page providers.Page[T], err error) (providers.Page[schema.SearchResult], error) {
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	out := providers.Page[schema.SearchResult]{Next: page.Next}
	for i := range page.Items {
		out.Items = append(out.Items, schema.Result(P(&page.Items[i])))
	}
	return out, nil
}

// languageCode returns the code of a language with an English name, as in "English (auto)"; nil for an unknown one.
func languageCode(name string) *string {
	name, _, _ = strings.Cut(name, " (")
	for _, tag := range display.Supported.Tags() {
		if strings.EqualFold(display.English.Languages().Name(tag), name) {
			base, _ := tag.Base()
			return new(base.String())
		}
	}
	return nil
}

// sameLanguage reports whether two codes are the same language, ignoring the region.
func sameLanguage(a, b string) bool {
	x, _ := language.Make(a).Base()
	y, _ := language.Make(b).Base()
	return x == y
}
