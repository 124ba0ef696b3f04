package threads

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

const (
	ripe  = 25 * time.Hour // Threads does not refresh tokens younger than a day
	later = time.Hour      // how long to wait after a failed refresh
)

// longLived keeps a long-lived token alive: after a day it is exchanged for a new one that is valid for 60 days, and so
// on. If an exchange fails, the current token stays in use, since it is valid for weeks.
// https://developers.facebook.com/docs/threads/get-started/long-lived-tokens#refresh-a-long-lived-token
func longLived(c *upstream.Client, token string, now func() time.Time) *upstream.Tokens {
	next := time.Time{} // of the first exchange; Tokens never fetches twice at a time
	return upstream.NewTokens(func(ctx context.Context) (upstream.Token, error) {
		switch {
		case token == "":
			return upstream.Token{}, errors.New("no token is set")
		case next.IsZero():
			next = now().Add(ripe)
		case !now().Before(next.Add(-2 * time.Minute)): // Tokens refreshes a little early
			if fresh, err := refreshed(ctx, c, token); err == nil {
				token, next = fresh, now().Add(ripe)
			} else {
				next = now().Add(later)
			}
		}
		return upstream.Token{Value: token, Expires: next}, nil
	}, now)
}

func refreshed(ctx context.Context, c *upstream.Client, token string) (string, error) {
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	r := upstream.Get("refresh_access_token").With("grant_type", "th_refresh_token").With("access_token", token)
	r.Token = true
	if _, err := c.JSON(ctx, r, &answer); err != nil {
		return "", err
	}
	if answer.AccessToken == "" {
		return "", errors.New("threads: the answer has no access_token")
	}
	return answer.AccessToken, nil
}
