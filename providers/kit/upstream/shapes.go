package upstream

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Reader sends a request and decodes the answer, as [Client.Read] does.
type Reader interface {
	Read(ctx context.Context, r Request, dst any) (*Response, error)
}

// Object reads the object at a path of an answer, as in "data.user"; "" is the whole answer. It returns
// [providers.ErrNotFound] when [Absence] holds, and [providers.ErrUnavailable] when there is no object for another reason.
func Object[T any](ctx context.Context, c Reader, r Request, at string) (o wire.Object[T], err error) {
	if at == "" {
		_, err = c.Read(ctx, r, &o)
		return o, err
	}
	var answer wire.Object[struct{}]
	if _, err := c.Read(ctx, r, &answer); err != nil {
		return o, err
	}
	return At[T](ctx, answer.Raw, at)
}

// At decodes the object at a path of an answer, with the errors of [Object].
func At[T any](ctx context.Context, answer json.RawMessage, at string) (o wire.Object[T], err error) {
	if Absence(answer, at) {
		return o, providers.NotFound("it does not exist, or is not public")
	}
	wire.Part(ctx, answer, at, &o)
	return o, wire.Need(ctx, at, o.Here())
}

// Absence reports whether an answer has null at a path, states success, and nothing else but its price in credits: then
// the object does not exist. With any other word, null may be a failure of the upstream.
func Absence(answer json.RawMessage, at string) bool {
	return string(wire.Find(answer, at)) == "null" && wire.Find(answer, "success") != nil && silent(answer, at)
}

// silent reports whether an answer says nothing beside a path, except that it succeeded and what it has cost.
func silent(answer json.RawMessage, at string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil {
		return false
	}
	first, rest, nested := strings.Cut(at, ".")
	for name, value := range members {
		switch {
		case name == first:
			if nested && !silent(value, rest) {
				return false
			}
		case name == "success", name == "ok":
			var succeeded wire.Flag
			if json.Unmarshal(value, &succeeded) != nil || !succeeded.Is() {
				return false
			}
		case name == "status" && string(value) == `"ok"`:
		case wire.Filled(value) && !strings.HasPrefix(name, "credits_"):
			return false
		}
	}
	return true
}

// One reads an object as [Object] does, and converts it. about returns an error if it is not the requested one, as
// [wire.Same] does.
func One[T, O any](
	ctx context.Context, c Reader, r Request, at string,
	convert func(context.Context, wire.Object[T]) (O, error), about func(context.Context, O) error,
) (none O, err error) {
	o, err := Object[T](ctx, c, r, at)
	if err != nil {
		return none, err
	}
	v, err := convert(ctx, o)
	if err != nil {
		return none, err
	}
	if err := about(ctx, v); err != nil {
		return none, err
	}
	return v, nil
}

// About returns a check for [One] by the id of the object. what is the name of the thing, as in [wire.Same].
func About[O any, P interface {
	*O
	schema.Object
}](what, asked string) func(context.Context, O) error {
	return func(ctx context.Context, o O) error { return wire.Same(ctx, what, asked, P(&o).Shared().ID) }
}

// AboutAccount returns a check for [One] by the handle of an account, on a platform that ignores case.
func AboutAccount(asked string) func(context.Context, schema.Profile) error {
	return func(ctx context.Context, p schema.Profile) error {
		return wire.SameFold(ctx, "account", asked, p.Handle)
	}
}

// List names the parts of an answer that is a page of a list, each by its path, as in "data.items".
type List struct {
	Rows string
	Next string // the token of the next page; "" for a list with one page
	More string // the flag that reports whether there is a next page; "" when only the token does
}

// Page reads a page of a list and converts its rows, as [wire.Items] does.
func Page[T, O any](
	ctx context.Context, c Reader, r Request, at List, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	var answer wire.Object[struct{}]
	if _, err := c.Read(ctx, r, &answer); err != nil {
		return page, err
	}
	if page.Items, err = Items(ctx, answer.Raw, at.Rows, convert); err != nil {
		return page, err
	}
	page.Next, err = at.Token(ctx, answer.Raw)
	return page, err
}

// Items converts the rows of the list at a path of an answer, as [wire.Items] does.
func Items[T, O any](
	ctx context.Context, answer json.RawMessage, at string, convert func(T, json.RawMessage) (O, bool),
) ([]O, error) {
	var rows wire.Rows[T]
	wire.Part(ctx, answer, at, &rows)
	return wire.Items(ctx, at, rows, convert)
}

// Token returns the token of the next page; "" when there is none. If there is a flag, the token must agree with it.
func (at List) Token(ctx context.Context, answer json.RawMessage) (string, error) {
	if at.Next == "" {
		return "", nil
	}
	var token wire.Token
	wire.Part(ctx, answer, at.Next, &token)
	if at.More == "" {
		return token.Next(ctx, at.Next)
	}
	var more wire.Flag
	wire.Part(ctx, answer, at.More, &more)
	return wire.NextIf(ctx, more, at.Next, token)
}
