package kwai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// look finds the search engine metadata of the given type in a page of the site, or else where the site's own scripts
// get it.
func look[T any](ctx context.Context, s site, kind string, path ...string) (wire.Object[T], error) {
	found, err := inPage[T](ctx, s, kind, path)
	if !errors.Is(err, providers.ErrUnavailable) {
		return found, err
	}
	other, failed := inAnswer[T](ctx, s, kind, path)
	if failed != nil && !errors.Is(failed, providers.ErrNotFound) {
		return found, err
	}
	return other, failed
}

func inPage[T any](ctx context.Context, s site, kind string, path []string) (wire.Object[T], error) {
	r := upstream.Get(path...)
	r.Header = http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}}
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return wire.Object[T]{}, err
	}
	for _, b := range island.Read(res.Body).LinkedData() {
		if isA(b, kind) {
			return thing[T](ctx, b)
		}
	}
	return wire.Object[T]{}, wire.Need(ctx, "the JSON-LD "+kind, false)
}

// isA reports whether JSON-LD is about a thing of the given type.
// https://www.w3.org/TR/json-ld11/#specifying-the-type
func isA(b []byte, kind string) bool {
	var t struct {
		Type oneOrMore[string] `json:"@type"`
	}
	return json.Unmarshal(b, &t) == nil && slices.Contains(t.Type, kind)
}

func thing[T any](ctx context.Context, b []byte) (o wire.Object[T], err error) {
	if err := wire.Decode(ctx, b, &o); err != nil {
		return o, err
	}
	return o, wire.Need(ctx, "the JSON-LD", o.Raw != nil)
}

// inAnswer sends the request that the site's own scripts send.
func inAnswer[T any](ctx context.Context, s site, kind string, path []string) (wire.Object[T], error) {
	page := siteURL + strings.Join(escaped(path), "/")
	var a struct {
		Data wire.Rows[struct {
			ID   string          `json:"id"`
			HTML json.RawMessage `json:"innerHTML"` // an object, or a string that contains one
		}] `json:"data"`
	}
	_, err := s.http.Read(ctx, upstream.Request{
		Method: http.MethodPost, Path: []string{"rest/o/w/seo/ldJson/getByType"}, Retry: true,
		Header: http.Header{"Origin": {strings.TrimSuffix(siteURL, "/")}, "Referer": {page}},
		JSON:   map[string]string{"url": page},
	}, &a)
	if err != nil {
		return wire.Object[T]{}, err
	}
	if err := a.Data.Check(ctx, "data"); err != nil {
		return wire.Object[T]{}, err
	}
	for _, row := range a.Data.All() {
		if row.V.ID == kind {
			return thing[T](ctx, unquoted(row.V.HTML))
		}
	}
	return wire.Object[T]{}, wire.Need(ctx, "the JSON-LD "+kind, false)
}

func escaped(path []string) []string {
	out := make([]string, len(path))
	for i, segment := range path {
		out[i] = url.PathEscape(segment)
	}
	return out
}

func unquoted(b []byte) []byte {
	var s string
	if bytes.HasPrefix(b, []byte(`"`)) && json.Unmarshal(b, &s) == nil {
		return []byte(s)
	}
	return b
}

// oneOrMore is a list that may be written as its only value.
type oneOrMore[T any] []T

// UnmarshalJSON never fails: values that cannot be read are left out.
func (l *oneOrMore[T]) UnmarshalJSON(b []byte) error {
	rows := slices.Values([][]byte{b})
	if bytes.HasPrefix(b, []byte("[")) {
		rows = wire.Split(b)
	}
	*l = nil
	for row := range rows {
		var v T
		if json.Unmarshal(row, &v) == nil && string(row) != "null" {
			*l = append(*l, v)
		}
		if len(*l) == wire.MaxRows {
			break
		}
	}
	return nil
}

func (l oneOrMore[T]) first() (v T) {
	if len(l) > 0 {
		v = l[0]
	}
	return v
}

// counter counts how often people did something with a thing. A shared page has a single one instead of a list.
// https://schema.org/InteractionCounter
type counter struct {
	Count wire.Count `json:"userInteractionCount"`
	Type  action     `json:"interactionType"`
}

// action is a name such as "http://schema.org/LikeAction", written as a string or as the type of an object.
type action string

// UnmarshalJSON never fails.
func (a *action) UnmarshalJSON(b []byte) error {
	var object struct {
		Type string `json:"@type"`
	}
	if json.Unmarshal(b, &object) != nil {
		_ = json.Unmarshal(b, &object.Type) // anything else is not an action
	}
	*a = action(object.Type)
	return nil
}

// times returns how often people did an action such as "LikeAction", nil when it is unknown.
func times(what string, all []counter) *int64 {
	for _, c := range all {
		if string(c.Type[strings.LastIndexByte(string(c.Type), '/')+1:]) == what {
			return c.Count.V
		}
	}
	return nil
}
