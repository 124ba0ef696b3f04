package scrapecreators

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// one reads an answer with a single object.
func one[T any](
	ctx context.Context, c *client, r upstream.Request, parse func(context.Context, json.RawMessage) (T, error),
) (v T, err error) {
	var whole json.RawMessage
	if _, err = c.http.Read(ctx, r, &whole); err == nil {
		v, err = parse(ctx, whole)
	}
	return v, err
}

// answer is one answer of the vendor, by top-level field.
type answer map[string]json.RawMessage

// list reads the page at rows, and the next cursor at next; next is "" when the vendor has no further pages.
func list[T, O any](
	ctx context.Context, c *client, r upstream.Request, rows, next string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	var a answer
	if _, err = c.http.Read(ctx, r, &a); err != nil {
		return page, err
	}
	if page.Items, err = items(ctx, a, rows, convert); err == nil && next != "" {
		page.Next, err = a.next(ctx, next)
	}
	return page, err
}

// at decodes the required object at name; the vendor writes null for what does not exist.
func at[T any](
	ctx context.Context, a answer, name string, parse func(context.Context, json.RawMessage) (T, error),
) (v T, err error) {
	if string(a[name]) == "null" {
		return v, absent("")
	}
	if err = wire.Need(ctx, name, len(a[name]) > 0); err == nil {
		v, err = parse(ctx, a[name])
	}
	return v, err
}

// items converts the rows of a top-level list.
func items[T, O any](ctx context.Context, a answer, name string, convert func(T, json.RawMessage) (O, bool)) ([]O, error) {
	var rows wire.Rows[T]
	if at, here := a[name]; here {
		if err := wire.Decode(ctx, at, &rows); err != nil {
			return nil, wire.Need(ctx, name, false)
		}
	}
	return wire.Items(ctx, name, rows, convert)
}

// next returns the token at name, "" when the vendor has no more: it is [more.next] if there is a flag beside it.
func (a answer) next(ctx context.Context, name string) (string, error) {
	var t wire.Token
	if at, here := a[name]; here {
		t.UnmarshalJSON(at) //nolint:errcheck // it never fails
	}
	for _, flag := range []string{"has_more", "has_next_page", "more_available", "hasMore"} {
		if at, here := a[flag]; here {
			var m more
			m.UnmarshalJSON(at) //nolint:errcheck // it never fails
			return m.next(ctx, name, t)
		}
	}
	return t.Next(ctx, name)
}

// numbered is [list] for numbered pages without a mark of the last one: it is the one without rows, or that with number
// last, the vendor's limit.
func numbered[T, O any](
	ctx context.Context, c *client, r upstream.Request, cursor string, last int, rows string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	n, err := pages.Number(cursor, last)
	if err != nil {
		return page, err
	}
	page, err = list(ctx, c, r.With("page", strconv.Itoa(n)), rows, "", convert)
	if err == nil && len(page.Items) > 0 && n < last {
		page.Next = strconv.Itoa(n + 1)
	}
	return page, err
}

// parsed converts the rows of a list with parse. One that is not public does not belong. One that cannot be read
// becomes the zero object, which the engine leaves out and counts.
func parsed[T any](ctx context.Context, parse func(context.Context, json.RawMessage) (T, error)) func(struct{}, json.RawMessage) (T, bool) {
	return func(_ struct{}, raw json.RawMessage) (T, bool) {
		v, err := parse(ctx, raw)
		if err != nil {
			return *new(T), !errors.Is(err, providers.ErrNotFound)
		}
		return v, true
	}
}

// rowOf is one row of [parsed].
func rowOf[T any](ctx context.Context, raw json.RawMessage, parse func(context.Context, json.RawMessage) (T, error)) T {
	v, _ := parsed(ctx, parse)(struct{}{}, raw)
	return v
}

// rowsOf is [items] for a nested list whose rows are parsed by the platform's own package.
func rowsOf[T any](
	ctx context.Context, name string, rows wire.Rows[struct{}], parse func(context.Context, json.RawMessage) (T, error),
) ([]T, error) {
	return wire.Items(ctx, name, rows, parsed(ctx, parse))
}

// more is the flag that says that there is another page.
type more struct{ wire.Flag }

// next returns the token, called name as in "cursor", of the next page; "" when the vendor says that there is none.
func (m more) next(ctx context.Context, name string, t wire.Token) (string, error) {
	if err := wire.Need(ctx, "the flag beside "+name, m.V != nil); err != nil || !m.Is() {
		return "", err
	}
	token, err := t.Next(ctx, name)
	if err == nil {
		err = wire.Need(ctx, name, token != "")
	}
	return token, err
}

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

// results converts a page of objects to search results.
func results[T any, P interface {
	*T
	schema.Object
}](page providers.Page[T]) (out providers.Page[schema.SearchResult]) {
	out.Next = page.Next
	for i := range page.Items {
		out.Items = append(out.Items, schema.Result(P(&page.Items[i])))
	}
	return out
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
