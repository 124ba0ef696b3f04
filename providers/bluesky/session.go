package bluesky

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// session reads through the server of an account.
type session struct {
	http   *upstream.Client
	tokens *upstream.Tokens

	login      *upstream.Client // the same server without a token
	create     *upstream.Quota
	identifier string
	password   string
	refresh    string // renews the session; only one fetch runs at a time
}

func newSession(cfg Config) providers.Provider {
	base := cmp.Or(cfg.PDSURL, "https://bsky.social")
	s := &session{
		login: upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Check: refused}),
		// An account may create 30 sessions in 5 minutes.
		create:     upstream.NewQuota(30, 5*time.Minute),
		identifier: strings.TrimPrefix(cfg.Identifier, "@"),
		password:   cfg.AppPassword,
	}
	s.tokens = upstream.NewTokens(s.token, nil)
	s.http = newClient(cfg, base, s.tokens).http
	return providers.Provider{
		Name: "bluesky_session", Platform: platform.Bluesky, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(searchSize, providers.OpSearch),
		Search:    s.searchPosts,
		Normalize: normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {
				"kind": {"post"}, "sort": {"recent", "relevance"}, "since": nil, "until": nil, "lang": nil, "handle": nil,
			},
		},
	}.Requiring(map[string]string{"identifier": cfg.Identifier, "app_password": cfg.AppPassword})
}

// refused pauses logins for 5 minutes after the server has rejected our password: it allows 300 failed ones a day.
func refused(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest || res.Status == http.StatusUnauthorized {
		return &providers.Error{
			Kind: providers.ErrUnavailable, Detail: "Bluesky refused the session of our account", RetryAfter: 5 * time.Minute,
		}
	}
	return nil
}

// token renews the session, or creates one.
// https://docs.bsky.app/docs/api/com-atproto-server-create-session
// https://docs.bsky.app/docs/api/com-atproto-server-refresh-session
func (s *session) token(ctx context.Context) (upstream.Token, error) {
	var answer struct {
		AccessJWT  string `json:"accessJwt"`
		RefreshJWT string `json:"refreshJwt"`
	}
	if s.refresh != "" {
		r := upstream.Request{
			Method: http.MethodPost, Path: []string{"xrpc", "com.atproto.server.refreshSession"}, Token: true,
			Header: http.Header{"Authorization": {"Bearer " + s.refresh}},
		}
		s.refresh = ""
		if _, err := s.login.JSON(ctx, r, &answer); err != nil {
			answer.AccessJWT = ""
		}
	}
	if answer.AccessJWT == "" {
		r := upstream.Request{
			Method: http.MethodPost, Path: []string{"xrpc", "com.atproto.server.createSession"}, Quota: s.create, Token: true,
			JSON: struct {
				Identifier string `json:"identifier"`
				Password   string `json:"password"`
			}{s.identifier, s.password},
		}
		if _, err := s.login.JSON(ctx, r, &answer); err != nil {
			return upstream.Token{}, err
		}
	}
	if answer.AccessJWT == "" {
		return upstream.Token{}, providers.Unavailable(nil, "the upstream gave us no access token")
	}
	s.refresh = answer.RefreshJWT
	return upstream.Token{Value: answer.AccessJWT, Expires: expiry(answer.AccessJWT)}, nil
}

// renew drops the token in use.
func (s *session) renew(ctx context.Context) {
	if token, err := s.tokens.Get(ctx); err == nil {
		s.tokens.Drop(token)
	}
}

// expiry returns when a JSON Web Token expires; zero if it does not state it.
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct {
		Exp int64 `json:"exp"`
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}
