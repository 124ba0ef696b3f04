package providers

import (
	"context"
	"maps"
	"net/url"
	"strings"
)

// Pasted are the words by which a caller named things, where their canonical identifiers are others.
type Pasted map[Subject]string

type pastedKey struct{}

// WithPasted returns a context whose reads know how the caller named things.
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

// AddressOf returns the public URL by which the caller named the thing that s stands for, without its fragment, and else the
// given one. It leads to what the canonical identifier names and may hold words that this has lost, such as a title: for
// upstreams that ask for URLs.
func AddressOf(ctx context.Context, s Subject, or string) string {
	u, err := url.Parse(pasted(ctx, s))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return or
	}
	u.Scheme, u.Fragment = "https", ""
	return u.String()
}

// SpellingOf returns id in upper and lower case as the caller wrote it: for upstreams that mind the case of what the
// platform does not.
func SpellingOf(ctx context.Context, s Subject, id string) string {
	p := pasted(ctx, s)
	if i := strings.LastIndex(strings.ToLower(p), strings.ToLower(id)); i >= 0 && i+len(id) <= len(p) && strings.EqualFold(p[i:i+len(id)], id) {
		return p[i : i+len(id)]
	}
	return id
}
