package providers

import (
	"context"
	"maps"
	"net/url"
	"strings"
)

// Pasted are the texts with which a caller identified things, if they differ from the canonical identifiers.
type Pasted map[Subject]string

type pastedKey struct{}

// WithPasted returns a context for reads of things that the caller identified with p.
func WithPasted(ctx context.Context, p Pasted) context.Context {
	if len(p) == 0 {
		return ctx
	}
	return context.WithValue(ctx, pastedKey{}, maps.Clone(p))
}

func pasted(ctx context.Context, s Subject) string {
	p, _ := ctx.Value(pastedKey{}).(Pasted)
	return p[s]
}

// AddressOf returns the public URL with which the caller identified the thing of subject s, without its fragment;
// otherwise or. The URL leads to the same thing as the canonical identifier, and may contain words that are not in the
// identifier, such as a title. It is for upstreams that require URLs.
func AddressOf(ctx context.Context, s Subject, or string) string {
	u, err := url.Parse(pasted(ctx, s))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return or
	}
	u.Scheme, u.Fragment = "https", ""
	return u.String()
}

// SpellingOf returns id in the case in which the caller wrote it. It is for upstreams that are case-sensitive where the
// platform is not.
func SpellingOf(ctx context.Context, s Subject, id string) string {
	p := pasted(ctx, s)
	if i := strings.LastIndex(strings.ToLower(p), strings.ToLower(id)); i >= 0 && i+len(id) <= len(p) && strings.EqualFold(p[i:i+len(id)], id) {
		return p[i : i+len(id)]
	}
	return id
}
