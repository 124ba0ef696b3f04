package facebook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// graph reads the Graph API with one token.
type graph struct {
	http  *upstream.Client
	proof string // proves that the token is held by its app; "" for none
}

func newGraph(cfg Config, token string) graph {
	g := graph{http: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cfg.base(), Check: check, Absent: ownRefusal, Credentials: credentials,
		Tokens: upstream.NewTokens(func(context.Context) (upstream.Token, error) {
			if token == "" { // such as for looking up an advertiser's name when only the Ad Library has a token
				return upstream.Token{}, providers.Cause("no token is set")
			}
			return upstream.Token{Value: token}, nil
		}, nil),
	})}
	if cfg.AppSecret != "" && !strings.Contains(token, "|") { // the app's own token needs no proof
		mac := hmac.New(sha256.New, []byte(cfg.AppSecret))
		mac.Write([]byte(token))
		g.proof = hex.EncodeToString(mac.Sum(nil))
	}
	return g
}

// Read sends r, and retries once after a failure that may pass, with a smaller page if r is a list. Texts written by
// Facebook, such as categories, come in English.
func (g graph) Read(ctx context.Context, r upstream.Request, dst any) (*upstream.Response, error) {
	r = r.With("appsecret_proof", g.proof).With("locale", "en_US")
	res, err := g.http.Read(ctx, r, dst)
	if errors.Is(err, errPassing) {
		if r.Query.Has("limit") {
			r = r.With("limit", fewer)
		}
		res, err = g.http.Read(ctx, r, dst)
	}
	return res, err
}

// forward reads a route unchanged. It does not return what only our token may see.
func (g graph) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	first, _, _ := strings.Cut(path, "/")
	if strings.EqualFold(first, "me") || strings.Contains(strings.ToLower(query.Encode()), "access_token") {
		return nil, providers.Invalid("what belongs to our own account is not forwarded")
	}
	query = maps.Clone(query)
	if g.proof != "" {
		query.Set("appsecret_proof", g.proof)
	}
	raw, err := g.http.Forward(ctx, path, query)
	return withoutTokens(raw), err
}

// withoutTokens removes the values of access_token from the addresses in raw: Facebook signs some with a token other
// than the one sent.
func withoutTokens(raw json.RawMessage) json.RawMessage {
	name := []byte("access_token=")
	if !bytes.Contains(raw, name) {
		return raw
	}
	var out []byte
	for {
		before, behind, found := bytes.Cut(raw, name)
		out = append(out, before...)
		if !found {
			return out
		}
		out = append(out, name...)
		raw = behind
		if end := bytes.IndexAny(behind, `"&\`); end >= 0 {
			raw = behind[end:]
		}
	}
}

// list is a page of T.
type list[T any] struct {
	Data   wire.Rows[T] `json:"data"`
	Paging paging       `json:"paging"`
}

// pageOf reads one page of a list. The cursor holds the parameters by which its address differs from that of the first
// page.
func pageOf[T, O any](
	ctx context.Context, g graph, r upstream.Request, cursor string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	from, err := url.ParseQuery(cursor)
	if err != nil {
		return page, providers.ErrCursor
	}
	for _, name := range places {
		r = r.With(name, from.Get(name))
	}
	var a list[T]
	_, err = following(r.Path[0], func(id string) error {
		r.Path = slices.Concat([]string{id}, r.Path[1:])
		_, err := g.Read(ctx, r.With("limit", pageSize), &a)
		return err
	})
	if err != nil {
		return page, err
	}
	if page.Items, err = wire.Items(ctx, "data", a.Data, convert); err != nil {
		return page, err
	}
	page.Next, err = a.Paging.next(ctx)
	return page, err
}

// places are the parameters by which the address of a page differs from that of the first: a cursor or a time.
var places = []string{"after", "until", "since", "__paging_token"}

// paging leads to the next page. The last page may have cursors too; only next means that there is more.
type paging struct {
	Cursors struct {
		After wire.Token `json:"after"`
	} `json:"cursors"`
	Next wire.Token `json:"next"` // the address of the next page, which contains our token and the place
	odd  bool
}

// UnmarshalJSON never fails: malformed paging must not end a walk.
func (p *paging) UnmarshalJSON(b []byte) error {
	type plain paging
	*p = paging{}
	p.odd = json.Unmarshal(b, (*plain)(p)) != nil
	return nil
}

func (p paging) next(ctx context.Context) (string, error) {
	address, err := p.Next.Next(ctx, "paging.next")
	if err != nil {
		return "", err
	}
	if address == "" {
		return "", wire.Need(ctx, "paging", !p.odd)
	}
	to := url.Values{}
	if after, err := p.Cursors.After.Next(ctx, "paging.cursors.after"); err == nil && after != "" {
		to.Set("after", after)
	} else if u, err := url.Parse(address); err == nil {
		for _, name := range places {
			if v := u.Query().Get(name); v != "" {
				to.Set(name, v)
			}
		}
	}
	return to.Encode(), wire.Need(ctx, "paging.cursors.after", len(to) > 0)
}
