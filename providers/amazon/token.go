package amazon

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// versions maps the version of a credential to the address of its tokens. Each version belongs to a part of the world.
// https://affiliate-program.amazon.com/creatorsapi/docs/
var versions = map[string]string{
	"3.1": "https://api.amazon.com/auth/o2/token",
	"3.2": "https://api.amazon.co.uk/auth/o2/token",
	"3.3": "https://api.amazon.co.jp/auth/o2/token",
	"2.1": "https://creatorsapi.auth.us-east-1.amazoncognito.com/oauth2/token",
	"2.2": "https://creatorsapi.auth.eu-south-2.amazoncognito.com/oauth2/token",
	"2.3": "https://creatorsapi.auth.us-west-2.amazoncognito.com/oauth2/token",
}

// tokens exchanges the credential for access tokens. For version 2 they are requested with a form, and each read has
// the version after the token.
func tokens(cfg Config) *upstream.Tokens {
	r := upstream.Request{Method: http.MethodPost, Retry: true, Token: true}
	behind := ""
	if version := cfg.version(); strings.HasPrefix(version, "2.") {
		behind = ", Version " + version
		r.Form = url.Values{
			"grant_type": {"client_credentials"}, "client_id": {cfg.ClientID}, "client_secret": {cfg.ClientSecret},
			"scope": {"creatorsapi/default"},
		}
	} else {
		r.JSON = map[string]string{
			"grant_type": "client_credentials", "client_id": cfg.ClientID, "client_secret": cfg.ClientSecret,
			"scope": "creatorsapi::default",
		}
	}
	c := upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: cmp.Or(cfg.TokenURL, versions[cfg.version()])})
	return upstream.NewTokens(func(ctx context.Context) (upstream.Token, error) {
		var answer struct {
			AccessToken string     `json:"access_token"`
			ExpiresIn   wire.Count `json:"expires_in"` // seconds
		}
		if _, err := c.JSON(ctx, r, &answer); err != nil {
			return upstream.Token{}, err
		}
		if answer.AccessToken == "" {
			return upstream.Token{}, errors.New("the answer has no access_token")
		}
		t := upstream.Token{Value: answer.AccessToken + behind}
		if s := answer.ExpiresIn.V; s != nil && *s > 0 {
			t.Expires = time.Now().Add(time.Duration(*s) * time.Second)
		}
		return t, nil
	}, nil)
}
