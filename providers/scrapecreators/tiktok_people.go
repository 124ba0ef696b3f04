package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/tiktok"
	"github.com/socialdata/socialdata/schema"
)

// profile reads an account, and its country with a second call. The country is optional.
// https://docs.scrapecreators.com/v1/tiktok/profile
func (r tiktokReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	answer, err := upstream.Object[struct{}](ctx, r.http, upstream.Get("v1/tiktok/profile").Says("handle", handle), "")
	if err != nil {
		return p, err
	}
	if p, err = tiktok.ParseProfile(ctx, answer.Raw); err != nil {
		return p, err
	}
	if err := sameAccount(ctx, handle, p); err != nil {
		return p, err
	}
	if !r.tooExpensive(2) {
		p.Country = r.country(ctx, handle)
	}
	return p, nil
}

// country reads the country of an account; nil when that fails.
// https://docs.scrapecreators.com/v1/tiktok/profile/region
func (r tiktokReads) country(ctx context.Context, handle string) *string {
	var answer struct {
		Handle string `json:"handle"`
		Region string `json:"region"`
	}
	_, err := r.http.Read(ctx, upstream.Get("v1/tiktok/profile/region").With("handle", handle), &answer)
	if err != nil || !strings.EqualFold(answer.Handle, handle) {
		callctx.Of(ctx).Trace.Unknown("country")
		return nil
	}
	return text.NonEmpty(answer.Region)
}

// searchPeople searches accounts. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/tiktok/search/users
func (r tiktokReads) searchPeople(ctx context.Context, query, cursor string) (providers.Page[schema.Profile], error) {
	type row struct {
		Info wire.Object[tiktokUser] `json:"user_info"`
	}
	ask := upstream.Get("v1/tiktok/search/users").Says("query", query).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "users", Next: "cursor"},
		func(u row, _ json.RawMessage) (schema.Profile, bool) { return u.Info.V.profile(u.Info.Raw) })
}

// tiktokUser is an account in TikTok's app.
type tiktokUser struct {
	UID        wire.Serial `json:"uid"`
	UniqueID   string      `json:"unique_id"`
	Nickname   string      `json:"nickname"`
	Signature  string      `json:"signature"`
	BioURL     string      `json:"bio_url"`
	Large      tiktokFile  `json:"avatar_larger"`
	Thumb      tiktokFile  `json:"avatar_thumb"`
	Custom     string      `json:"custom_verify"` // why it is verified; verification_type is 1 for every account
	Enterprise string      `json:"enterprise_verify_reason"`
	Followers  wire.Count  `json:"follower_count"`
	Following  wire.Count  `json:"following_count"`
	Posts      wire.Count  `json:"aweme_count"`
	Language   string      `json:"language"`
	Region     string      `json:"region"`
}

// tiktokFile is a file with its addresses on several hosts.
type tiktokFile struct {
	URLs []string `json:"url_list"`
}

// tiktokURL returns the first address of the first of files that has any; nil when there is none.
func tiktokURL(files ...tiktokFile) *string {
	for _, f := range files {
		if urls := text.URLs(f.URLs...); urls != nil {
			return &urls[0]
		}
	}
	return nil
}

// profile converts u. It always reports true.
func (u tiktokUser) profile(raw json.RawMessage) (schema.Profile, bool) {
	return schema.Profile{
		Common:      schema.Common{ID: string(u.UID), URL: tiktokProfile(u.UniqueID), Raw: raw},
		Handle:      u.UniqueID,
		DisplayName: text.NonEmpty(u.Nickname),
		Bio:         text.NonEmpty(u.Signature),
		AvatarURL:   tiktokURL(u.Large, u.Thumb),
		Verified:    u.Custom != "" || u.Enterprise != "",
		Followers:   u.Followers.V,
		Following:   u.Following.V,
		PostsCount:  u.Posts.V,
		Lang:        &u.Language,
		Country:     text.NonEmpty(u.Region),
		Links:       text.URLs(append([]string{u.BioURL}, text.Addresses(u.Signature)...)...),
	}, true
}

// actor converts the account to an author. Its handle is used when the number is missing.
func (u tiktokUser) actor() schema.Actor {
	if u.UniqueID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: cmp.Or(string(u.UID), u.UniqueID), Handle: u.UniqueID,
		DisplayName: text.NonEmpty(u.Nickname), AvatarURL: tiktokURL(u.Large, u.Thumb),
	}
}
