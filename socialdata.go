// Package socialdata is the unified social and commerce data engine: typed, normalised, public data from many
// platforms through one [Client].
//
//	client, err := socialdata.New(
//		socialdata.WithProviders(github.New(github.Config{}), mock.New(mock.Config{})),
//	)
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// [Reader] has the reads, of a [Client] and of a client of package remote: of accounts, posts, comments, collections,
// music, communities, shops, ads and events, of whatever a URL names, and searches. Each takes a request of its name.
// [Walk] and [Pages] read lists, package conversation all comments on a post, [Batch] many objects at once, and Watch
// reports what changes.
//
// Every read goes the same way: it is checked, priced and its price held; answered from the cache or by the first
// provider that can; completed, enriched if that was asked for, and charged.
//
// Package accounts has what belongs to the account that pays: its usage, its keys, its monitors and what they found.
// [Operator] is for the operator of the engine.
//
// Providers, ledgers, caches, key stores and the rest are passed in as options; without any of them the client keeps
// all in memory and charges nothing. The package server serves a client over HTTP.
package socialdata

import (
	"cmp"
	"context"
	_ "embed"
	"iter"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// Client reads public data from every configured platform. It is safe for concurrent use. [Client.As] binds it to the
// account that pays.
type Client struct {
	Reader
	session engine.Session
}

// New returns a Client. It fails when an option is invalid, a price or a provider has an unknown platform, or two
// providers of one platform have the same name, and when there is no cursor key and [WithRecords] cannot store one.
func New(opts ...Option) (*Client, error) {
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	return bound(e.Session()), nil
}

func bound(s engine.Session) *Client {
	c := &Client{session: s}
	c.Reader = Over(local{&c.session})
	return c
}

// As returns a Client that acts for key: its account pays, and its caps apply. Its rate limit does not: a front end
// calls [operation.FrontEnd.Admit].
func (c *Client) As(key keys.Key) *Client { return bound(c.session.As(&key)) }

// Key returns the key that c acts for, which is read-only, or nil.
func (c *Client) Key() *keys.Key { return c.session.Key() }

// Authenticate returns a Client bound to the key with that secret. A missing, malformed, unknown or revoked key gives
// the same unauthorized problem.
func (c *Client) Authenticate(ctx context.Context, secret string) (*Client, error) {
	s, err := c.session.Authenticate(ctx, secret)
	if err != nil {
		return nil, err
	}
	return bound(s), nil
}

// Operator is what the operator of c sees and does. It needs no key.
func (c *Client) Operator() Operator { return Operator{&c.session} }

// FrontEnd returns what a front end needs of c beside its methods: calls with their parameters as text, and the rate
// limit of the key that c is bound to.
func FrontEnd(c *Client) operation.FrontEnd { return local{&c.session} }

// From returns a Client whose calls have that source in the request log. Without it they are calls in Go.
func From(c *Client, source schema.CallSource) *Client { return bound(c.session.From(source)) }

// local makes calls in this process.
type local struct{ *engine.Session }

func (l local) Watch(ctx context.Context, req accounts.WatchRequest) iter.Seq2[schema.Change, error] {
	return func(yield func(schema.Change, error) bool) {
		l.Monitors().Watch(ctx, cmp.Or(req.Name, req.DefaultName()), req.Spec(), yield)
	}
}

// Changes returns a copy of the table of what accounts and the operator change below /manage, which the caller owns.
func Changes() []*operation.Change { return engine.Changes() }

//go:embed CHANGELOG.md
var changelog string

// Changelog returns what is new in each release, newest first, as Markdown.
func Changelog() string { return changelog }
