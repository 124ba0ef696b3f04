package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// witnessed returns err, the meaning of res, unless it is an absence that only a status 404 or 410 says: without the
// upstream's own mark (see [Config.Absent]) the answer may come from a proxy, or the address may have moved. That is
// reported to the trace of ctx, and counts towards no circuit breaker, since it may depend on what was requested.
func (c *Client) witnessed(ctx context.Context, res *Response, err error) error {
	switch {
	case res.Status != http.StatusNotFound && res.Status != http.StatusGone,
		!errors.Is(err, providers.ErrNotFound) && !errors.Is(err, providers.ErrNotHere),
		c.cfg.Absent != nil && c.cfg.Absent(res):
		return err
	}
	callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{"status"}, LeftOut: true})
	return providers.Walled("the upstream answered %d without its own error body or page", res.Status)
}

// Says returns a [Config.Absent] for an API whose error bodies are JSON: it reports whether the body can be decoded into
// a T for which absent returns true.
func Says[T any](absent func(T) bool) func(*Response) bool {
	return func(res *Response) bool {
		var body T
		return json.Unmarshal(res.Body, &body) == nil && absent(body)
	}
}

// Framed returns a [Config.Absent] for a website: it reports whether the answer is a page of the site, whose canonical
// address, metadata for link previews, scripts, styles or pictures are at one of hosts or their subdomains.
func Framed(hosts ...string) func(*Response) bool {
	return func(res *Response) bool {
		z := html.NewTokenizer(bytes.NewReader(res.Body))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() { // the only error is the end of the page
			if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
				continue
			}
			if u, err := url.Parse(frame(z)); err == nil && slices.ContainsFunc(hosts, func(host string) bool {
				return u.Host == host || strings.HasSuffix(u.Host, "."+host)
			}) {
				return true
			}
		}
		return false
	}
}

// frame returns the address that the current element adds to the frame of a page; "" when there is none. Links for
// readers add none: any page may have them.
func frame(z *html.Tokenizer) string {
	tag, more := z.TagName()
	field := map[string]string{"link": "href", "meta": "content", "script": "src", "img": "src"}[string(tag)]
	address, preview := "", false
	for more && field != "" {
		var name, value []byte
		name, value, more = z.TagAttr()
		switch string(name) {
		case field:
			address = strings.TrimSpace(string(value))
		case "property":
			preview = strings.HasPrefix(string(value), "og:")
		}
	}
	if field == "content" && !preview {
		return ""
	}
	return address
}
