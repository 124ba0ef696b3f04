package upstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/revalidate"
)

// Validators describes the validators that an upstream sends, the header fields ETag and Last-Modified. With them a GET
// asks whether the stored answer is still current, and a 304 confirms it.
type Validators struct {
	Off  bool // the validators are unreliable: every answer is read completely
	Free bool // a 304 does not count against the upstream's limit
	// Vary lists the fields that answers may name in Vary besides Accept, Accept-Encoding and Authorization: fields that
	// requests never send.
	Vary []string
}

// errStale is returned for a 304 that does not match the stored answer.
var errStale = providers.Cause("304 does not match the stored answer")

// varies are the fields on which every answer may depend: they are constant, or in the key.
var varies = []string{"Accept", "Accept-Encoding", "Authorization"}

// condition is the state of a GET that may be answered with 304.
type condition struct {
	client *Client
	key    revalidate.Key
	round  int64              // of the pool, when the request was made
	stored *revalidate.Stored // nil when the request carries no condition
}

// condition adds the condition to req if an earlier answer is stored. It returns nil for a request whose answer is
// never stored.
func (c *Client) condition(ctx context.Context, r Request, req *http.Request) *condition {
	if c.stores || c.stored == nil || c.cfg.Validators.Off || req.Method != http.MethodGet || req.Body != nil || r.Token || c.http.Jar != nil {
		return nil
	}
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range"} {
		if req.Header.Get(name) != "" {
			return nil // the provider sets its own condition
		}
	}
	d := &condition{client: c, key: keyOf(req), round: c.stored.Round()}
	if r.whole || callctx.Of(ctx).Whole {
		return d
	}
	k := c.stored.Get(d.key)
	switch {
	case k == nil:
		return d
	case k.ETag != "":
		req.Header.Set("If-None-Match", k.ETag)
	default:
		req.Header.Set("If-Modified-Since", k.LastModified)
	}
	d.stored = k
	return d
}

// keyOf returns the hash of an address and all header fields, including the credential.
func keyOf(req *http.Request) revalidate.Key {
	var room [1 << 10]byte
	b := appendText(room[:0], req.URL.String())
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		b = appendText(b, name)
		for _, v := range req.Header[name] {
			b = appendText(b, v)
		}
	}
	return sha256.Sum256(b)
}

// appendText appends s, after its length.
func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// asked reports whether the request carries a condition.
func (d *condition) asked() bool { return d != nil && d.stored != nil }

// answer replaces a 304 with the stored answer, whose head is updated with the new one. Memory for the body must be
// available first.
func (d *condition) answer(ctx context.Context, res *Response) error {
	if !d.stored.Is(res.Header.Get("ETag"), res.Header.Get("Last-Modified")) {
		return errStale
	}
	if err := callctx.Of(ctx).Trace.Reserve(ctx, int64(d.stored.Length())); err != nil {
		return err
	}
	old := d.stored.Answer()
	if old.URL != res.URL.String() {
		return errStale // a redirect now leads elsewhere
	}
	for name, values := range res.Header {
		if !ofBody(name) {
			old.Header[name] = values
		}
	}
	res.Status, res.Header, res.Body = http.StatusOK, old.Header, old.Body
	return nil
}

// ofBody reports whether a field of a head describes the body that came with it.
func ofBody(name string) bool {
	return strings.HasPrefix(name, "Content-") || name == "Transfer-Encoding"
}

// settle stores a valid answer if the upstream can be asked whether it has changed. It drops the stored answer if this
// one, or err, shows that it is no longer valid; a mere failure of the upstream does not.
func (r *Response) settle(ctx context.Context, err error) {
	d := r.condition
	switch {
	case d == nil:
		return
	case err == nil && r.again:
	case err == nil && r.Status == http.StatusOK:
		etag, modified := r.Header.Get("ETag"), r.Header.Get("Last-Modified")
		if cmp.Or(etag, modified) == "" || !d.client.mayKeep(r.Header) {
			d.drop() // the stored answer is no longer current
			return
		}
		callctx.Of(ctx).Trace.Keeps(d.client.stored)
		d.client.stored.Put(d.round, d.key, etag, modified, revalidate.Answer{
			URL: r.URL.String(), Header: d.client.lasting(r.Header), Body: r.Body,
		})
	case r.again, errors.Is(err, providers.ErrNotFound), err == nil:
		d.drop()
		return
	default:
		return
	}
	callctx.Of(ctx).Trace.Kept(d.drop)
}

// drop removes the stored answer.
func (d *condition) drop() {
	if d != nil {
		d.client.stored.Drop(d.key)
	}
}

// mayKeep reports whether an answer with that head may be returned again.
func (c *Client) mayKeep(h http.Header) bool {
	if len(h["Set-Cookie"]) > 0 {
		return false
	}
	for _, line := range h["Cache-Control"] {
		if strings.Contains(strings.ToLower(line), "no-store") {
			return false
		}
	}
	for _, line := range h["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			same := func(known string) bool { return strings.EqualFold(known, name) }
			if name != "" && !slices.ContainsFunc(varies, same) && !slices.ContainsFunc(c.cfg.Validators.Vary, same) {
				return false
			}
		}
	}
	return true
}

// lasting returns the fields of a head that are worth storing: not those about one transfer or for browsers.
func (c *Client) lasting(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		switch name {
		case "Date", "Age", "Connection", "Keep-Alive", "Content-Length", "Transfer-Encoding", "Alt-Svc", "Nel", "Report-To",
			"Server-Timing", "Strict-Transport-Security", "Content-Security-Policy", "Content-Security-Policy-Report-Only",
			"Permissions-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options", "X-Xss-Protection",
			"Retry-After":
		default:
			if !strings.HasPrefix(name, "Access-Control-") {
				out[name] = values
			}
		}
	}
	if l := c.cfg.Limits; l != nil { // these are only valid now
		out.Del(l.Remaining)
		out.Del(l.Reset)
	}
	return out
}
