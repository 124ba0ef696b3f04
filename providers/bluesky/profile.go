package bluesky

import (
	"cmp"
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.actor(ctx, handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("bluesky: profile %q: %w", handle, err)
	}
	return a.V.profile(a.Raw), nil
}

// actor reads a profile.
// https://docs.bsky.app/docs/api/app-bsky-actor-get-profile
func (c *client) actor(ctx context.Context, handle string) (upstream.Object[actor], error) {
	var a upstream.Object[actor]
	if _, err := c.http.JSON(ctx, get("app.bsky.actor.getProfile").With("actor", handle), &a); err != nil {
		return a, err
	}
	if a.V.DID == "" {
		return a, providers.Unavailable(nil, "the upstream's answer is no profile")
	}
	return a, nil
}

// actor is a profile in any of its three sizes: whole, in lists (no counts), and as an author (no description either).
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
type actor struct {
	DID          string `json:"did"`
	Handle       string `json:"handle"`      // handle.invalid when the domain no longer agrees
	DisplayName  string `json:"displayName"` // absent or ""
	Description  string `json:"description"`
	Website      string `json:"website"`
	Avatar       string `json:"avatar"`
	Followers    *int64 `json:"followersCount"`
	Follows      *int64 `json:"followsCount"`
	Posts        *int64 `json:"postsCount"`
	Verification loose[struct {
		Verified        string `json:"verifiedStatus"`
		TrustedVerifier string `json:"trustedVerifierStatus"`
	}] `json:"verification"`
	Status loose[*status] `json:"status"`
}

func (a actor) profile(raw []byte) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: a.DID, URL: a.url(), Raw: raw},
		Handle:      a.handle(),
		DisplayName: text.NonEmpty(a.DisplayName),
		Bio:         text.NonEmpty(a.Description),
		AvatarURL:   text.URL(a.Avatar),
		Verified:    a.Verification.V.Verified == "valid" || a.Verification.V.TrustedVerifier == "valid",
		Followers:   a.Followers,
		Following:   a.Follows,
		PostsCount:  a.Posts,
		Links:       text.URLs(append([]string{a.Website}, text.Addresses(a.Description)...)...),
	}
}

func (a actor) actor() schema.Actor {
	return schema.Actor{
		ID: a.DID, Handle: a.handle(), DisplayName: text.NonEmpty(a.DisplayName), AvatarURL: text.URL(a.Avatar),
	}
}

func (a actor) handle() string { return cmp.Or(a.Handle, a.DID) }

// url leads by the handle, or by the DID where the handle leads nowhere.
func (a actor) url() string {
	if h := a.handle(); h != "handle.invalid" {
		return site + h
	}
	return site + a.DID
}
