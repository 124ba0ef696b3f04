package soundcloud

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// tokens requests access tokens with the app's own credentials. Since SoundCloud limits such requests, it renews them
// with the refresh token that came with them, which can be used once.
// https://developers.soundcloud.com/docs/api/guide#authentication
func tokens(cfg Config) *upstream.Tokens {
	f := &tokenFlow{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.TokenURL, "https://secure.soundcloud.com/oauth/token"),
			Quota: upstream.NewQuota(50, 12*time.Hour),
		}),
		id: cfg.ClientID, secret: cfg.ClientSecret,
	}
	return upstream.NewTokens(f.fetch, nil)
}

type tokenFlow struct {
	http       *upstream.Client
	id, secret string

	mu      sync.Mutex
	refresh string // "" when there is none
}

var errNoToken = errors.New("soundcloud: the answer has no access_token")

func (f *tokenFlow) fetch(ctx context.Context) (upstream.Token, error) {
	f.mu.Lock()
	refresh := f.refresh
	f.refresh = ""
	f.mu.Unlock()
	if refresh != "" {
		r := upstream.Request{Form: url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {f.id}, "client_secret": {f.secret},
		}}
		if token, err := f.ask(ctx, r); err == nil {
			return token, nil
		}
	}
	return f.ask(ctx, upstream.Request{
		Header: http.Header{"Authorization": {upstream.Basic(f.id, f.secret)}},
		Form:   url.Values{"grant_type": {"client_credentials"}},
		Retry:  true,
	})
}

func (f *tokenFlow) ask(ctx context.Context, r upstream.Request) (upstream.Token, error) {
	var answer struct {
		AccessToken  string     `json:"access_token"`
		RefreshToken string     `json:"refresh_token"`
		ExpiresIn    wire.Count `json:"expires_in"`
	}
	r.Method, r.Token = http.MethodPost, true
	if _, err := f.http.JSON(ctx, r, &answer); err != nil {
		return upstream.Token{}, err
	}
	if answer.AccessToken == "" {
		return upstream.Token{}, errNoToken
	}
	f.mu.Lock()
	f.refresh = answer.RefreshToken
	f.mu.Unlock()
	token := upstream.Token{Value: answer.AccessToken}
	if s := answer.ExpiresIn.V; s != nil && *s > 0 {
		token.Expires = time.Now().Add(time.Duration(*s) * time.Second)
	}
	return token, nil
}
