package wire

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/socialdata/socialdata/callctx"
)

// Find returns the value at path, as in "data.items", in the object b; nil when there is none. It is a part of b.
func Find(b []byte, path string) json.RawMessage {
	name, rest, nested := strings.Cut(path, ".")
	b = b[space(b, 0):]
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	var found json.RawMessage // the last one counts, as in encoding/json
	whole := false
	for key, value := range members(b, &whole) {
		if string(key[1:len(key)-1]) == name {
			found = value
		}
	}
	if nested {
		return Find(found, rest)
	}
	return found
}

// Filled reports whether a value is there and is not null, false, zero or an empty text, list or object.
func Filled(value json.RawMessage) bool {
	switch string(value) {
	case "", "null", "false", "0", `""`, `"0"`, "[]", "{}":
		return false
	}
	return true
}

// Part decodes the value at path in the answer b into dst, a pointer to one of the types of this package; a missing
// value leaves dst as it is. What is malformed in it is reported to the trace of ctx.
func Part(ctx context.Context, b []byte, path string, dst json.Unmarshaler) {
	at := Find(b, path)
	if at == nil {
		return
	}
	dst.UnmarshalJSON(at) //nolint:errcheck // these types never fail
	tell := callctx.Of(ctx).Trace.Drift
	v := reflect.ValueOf(dst).Elem()
	if paths := (walk{tell}).collect(nil, path, v, planOf(v.Type())); len(paths) > 0 {
		tell(callctx.Drift{Paths: paths})
	}
}

// As makes a converter of a method of a wire struct that converts it, for an object that is read alone.
func As[T, O any](convert func(T, json.RawMessage) O) func(context.Context, Object[T]) (O, error) {
	return func(_ context.Context, o Object[T]) (O, error) { return convert(o.V, o.Raw), nil }
}

// Parsed is [As] for a function that decodes the object itself.
func Parsed[O any](parse func(context.Context, json.RawMessage) (O, error)) func(context.Context, Object[struct{}]) (O, error) {
	return func(ctx context.Context, o Object[struct{}]) (O, error) { return parse(ctx, o.Raw) }
}
