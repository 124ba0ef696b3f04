package bluesky

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.actor(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(a.Raw), nil
}

const (
	most    = 25      // accounts or posts in one request
	longest = 3 << 10 // total length of their names in bytes: they are in the URL of the request
)

// profiles reads the accounts of handles and DIDs.
func (c *client) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := c.actors(ctx, handles)
	return providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		a, err := found.of(handle)
		if err != nil {
			return schema.Profile{}, err
		}
		return a.V.profile(a.Raw), nil
	})
}

// actors are the accounts found for some handles and DIDs.
type actors struct {
	rows wire.Rows[actor]
	odd  bool // some cannot be assigned to a requested handle: they state another one, or none
}

// actors reads at most 25 profiles. Those of accounts that are unknown, suspended or deactivated are left out.
// https://docs.bsky.app/docs/api/app-bsky-actor-get-profiles
func (c *client) actors(ctx context.Context, who []string) (actors, error) {
	if len(who) == 0 {
		return actors{}, nil
	}
	var answer struct {
		Profiles wire.Rows[actor] `json:"profiles"`
	}
	r := get("app.bsky.actor.getProfiles").Each("actors", who)
	r.Input = true
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return actors{}, err
	}
	if err := answer.Profiles.Check(ctx, "profiles"); err != nil {
		return actors{}, err
	}
	found := actors{answer.Profiles, answer.Profiles.Lost() > 0}
	for _, a := range answer.Profiles.All() {
		nameless := a.V.Handle == "" || a.V.Handle == invalidHandle
		found.odd = found.odd || nameless || !slices.ContainsFunc(who, a.V.names)
	}
	return found, nil
}

// of returns the account that who identifies.
func (f actors) of(who string) (wire.Object[actor], error) {
	for _, a := range f.rows.All() {
		if a.V.names(who) {
			return a, nil
		}
	}
	if f.odd { // an account whose handle is invalid does not show which handle was requested
		return wire.Object[actor]{}, providers.Unreadable(nil)
	}
	return wire.Object[actor]{}, providers.ErrNotFound
}

// actor reads the profile of a handle or a DID.
// https://docs.bsky.app/docs/api/app-bsky-actor-get-profile
func (c *client) actor(ctx context.Context, who string) (wire.Object[actor], error) {
	var a wire.Object[actor]
	_, err := c.http.Read(ctx, get("app.bsky.actor.getProfile").Says("actor", who), &a)
	if err != nil || a.V.is(who) {
		return a, err
	}
	return a, wire.Same(ctx, "account", who, a.V.handle())
}

// actor is a profile in any of its three sizes: complete, in lists (without counts), and as an author (also without a
// description).
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
type actor struct {
	DID          string     `json:"did"`
	Handle       string     `json:"handle"`      // handle.invalid if the domain no longer points to the account
	DisplayName  string     `json:"displayName"` // absent or ""
	Description  string     `json:"description"`
	Website      string     `json:"website"`
	Avatar       string     `json:"avatar"`
	Followers    wire.Count `json:"followersCount"`
	Follows      wire.Count `json:"followsCount"`
	Posts        wire.Count `json:"postsCount"`
	Verification struct {
		Verified        string `json:"verifiedStatus"`
		TrustedVerifier string `json:"trustedVerifierStatus"`
	} `json:"verification"` // of this account; viewer contains those of others
	Status json.RawMessage `json:"status"` // of kind [status]; absent or null without one
}

func (a actor) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: a.id(), URL: a.url(), Raw: raw},
		Handle:      a.handle(),
		DisplayName: text.NonEmpty(a.DisplayName),
		Bio:         text.NonEmpty(a.Description),
		AvatarURL:   text.URL(a.Avatar),
		Verified:    a.Verification.Verified == "valid" || a.Verification.TrustedVerifier == "valid",
		Followers:   a.Followers.V,
		Following:   a.Follows.V,
		PostsCount:  a.Posts.V,
		Links:       text.URLs(append([]string{a.Website}, text.Addresses(a.Description)...)...),
	}
}

func (a actor) actor() schema.Actor {
	return schema.Actor{
		ID: a.id(), Handle: a.handle(), DisplayName: text.NonEmpty(a.DisplayName), AvatarURL: text.URL(a.Avatar),
	}
}

// id returns the account's DID, "" if the answer has none.
func (a actor) id() string {
	if did.MatchString(a.DID) {
		return a.DID
	}
	return ""
}

// is reports whether who, a handle or a DID, may identify the account a.
func (a actor) is(who string) bool {
	if strings.HasPrefix(who, "did:") {
		return a.DID == who
	}
	return strings.EqualFold(a.Handle, who) || a.Handle == invalidHandle
}

// names reports whether who identifies the account a according to a itself.
func (a actor) names(who string) bool {
	return a.is(who) && (a.Handle != invalidHandle || a.DID == who)
}

// handle returns the handle, or the DID if the handle is missing or invalid.
func (a actor) handle() string {
	if a.Handle == invalidHandle {
		return a.id()
	}
	return cmp.Or(a.Handle, a.id())
}

func (a actor) url() string { return site + a.handle() }

// ParseProfile converts an account in the format of Bluesky's API, app.bsky.actor.defs#profileViewDetailed, from any
// source. The error wraps [providers.ErrUnavailable].
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a actor
	err := wire.Decode(ctx, raw, &a)
	return a.profile(raw), err
}
