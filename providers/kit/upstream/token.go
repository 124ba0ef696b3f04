package upstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// early is how long before its expiry a token is replaced.
const early = time.Minute

// Token is an access token.
type Token struct {
	Value   string
	Expires time.Time // zero when it does not expire
}

// Tokens keeps one access token valid. It is safe for concurrent use, and only one caller fetches at a time.
type Tokens struct {
	fetch func(ctx context.Context) (Token, error)
	now   func() time.Time
	group singleflight.Group
	mu    sync.Mutex
	token Token
}

// NewTokens returns Tokens that are obtained with fetch. now is the clock; nil means [time.Now].
func NewTokens(fetch func(ctx context.Context) (Token, error), now func() time.Time) *Tokens {
	if now == nil {
		now = time.Now
	}
	return &Tokens{fetch: fetch, now: now}
}

// ClientCredentials returns Tokens from an OAuth 2.0 client-credentials flow: the answer to r, a POST to c, contains
// access_token and expires_in.
// https://www.rfc-editor.org/rfc/rfc6749#section-4.4
func ClientCredentials(c *Client, r Request) *Tokens {
	return NewTokens(func(ctx context.Context) (Token, error) {
		var answer struct {
			AccessToken string     `json:"access_token"`
			ExpiresIn   wire.Count `json:"expires_in"`
		}
		r.Method, r.Retry, r.Token = "POST", true, true
		if _, err := c.JSON(ctx, r, &answer); err != nil {
			return Token{}, err
		}
		if answer.AccessToken == "" {
			return Token{}, providers.Cause("the answer has no access_token")
		}
		t := Token{Value: answer.AccessToken}
		if s := answer.ExpiresIn.V; s != nil && *s > 0 {
			t.Expires = time.Now().Add(time.Duration(*s) * time.Second)
		}
		return t, nil
	}, nil)
}

// AppTokens returns [ClientCredentials] of an app that posts its id and secret as a form to address, which may have a
// query.
// https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
func AppTokens(client *http.Client, address, id, secret string) *Tokens {
	r := Request{Form: url.Values{
		"client_id": {id}, "client_secret": {secret}, "grant_type": {"client_credentials"},
	}}
	if u, err := url.Parse(address); err == nil {
		r.Query = u.Query()
	}
	return ClientCredentials(New(Config{HTTP: client, Base: address}), r)
}

// Basic returns the Authorization header with an app's id and secret.
// https://www.rfc-editor.org/rfc/rfc7617
func Basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// Get returns a token that is still valid for a while.
func (t *Tokens) Get(ctx context.Context) (string, error) {
	if have := t.good(); have != "" {
		return have, nil
	}
	// Detached: if one caller leaves, others that wait for the same token must not fail.
	ch := t.group.DoChan("", func() (any, error) {
		if have := t.good(); have != "" { // fetched in the meantime
			return have, nil
		}
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultAttempt)
		defer cancel()
		token, err := t.fetch(detached)
		if err != nil {
			return "", refused(err)
		}
		if !token.Expires.IsZero() && token.Expires.Sub(t.now()) <= early {
			token.Expires = t.now().Add(early + time.Second) // a very short lifetime would mean a fetch for every read
		}
		t.mu.Lock()
		t.token = token
		t.mu.Unlock()
		return token.Value, nil
	})
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-ch:
		if r.Err != nil {
			return "", r.Err
		}
		return r.Val.(string), nil
	}
}

// good returns the current token, "" when there is none or it expires soon.
func (t *Tokens) good() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token.Expires.IsZero() || t.now().Add(early).Before(t.token.Expires) {
		return t.token.Value
	}
	return ""
}

// refused returns the error for a missing token. Only the text of the cause is kept: a 404 is a wrong address of ours,
// never a missing profile, and what the token's own client has retried is not retried again.
func refused(err error) error {
	e := &providers.Error{
		Kind: providers.ErrUnavailable, Detail: "the upstream gave us no access token", Err: fmt.Errorf("%w: %v", errToken, err), //nolint:errorlint // see above
	}
	if errors.Is(err, providers.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		e.Kind = providers.ErrTimeout
	}
	if cause, ok := errors.AsType[*providers.Error](err); ok {
		e.RetryAfter, e.Blame = cause.RetryAfter, cause.Blame
	}
	return e
}

// Drop discards the refused token if it is still the current one, so that the next Get fetches a new one.
func (t *Tokens) Drop(refused string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token.Value == refused {
		t.token = Token{}
	}
}
