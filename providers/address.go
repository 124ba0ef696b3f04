package providers

import (
	"context"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/weburl"
)

// AddressOf returns the public URL with which the caller identified the thing of subject s, without its fragment;
// otherwise or. The URL leads to the same thing as the canonical identifier, and may contain words that are not in the
// identifier, such as a title. It is for upstreams that require URLs.
func AddressOf(ctx context.Context, s Subject, or string) string {
	u, err := url.Parse(weburl.Repair(callctx.Of(ctx).Pasted[string(s)]))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return or
	}
	u.Scheme, u.Fragment = "https", ""
	return u.String()
}

// SpellingOf returns id in the case in which the caller wrote it. It is for upstreams that are case-sensitive where the
// platform is not.
func SpellingOf(ctx context.Context, s Subject, id string) string {
	p := callctx.Of(ctx).Pasted[string(s)]
	if i := strings.LastIndex(strings.ToLower(p), strings.ToLower(id)); i >= 0 && i+len(id) <= len(p) && strings.EqualFold(p[i:i+len(id)], id) {
		return p[i : i+len(id)]
	}
	return id
}
