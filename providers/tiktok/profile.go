package tiktok

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const accountFields = "display_name,bio_description,avatar_url,is_verified,follower_count,following_count,likes_count," +
	"video_count,bio_url"

// accountInfo is the answer of user/info, which has neither the account's handle nor its number.
// https://developers.tiktok.com/doc/research-api-specs-query-user-info
type accountInfo struct {
	DisplayName string     `json:"display_name"`
	Bio         string     `json:"bio_description"`
	BioURL      string     `json:"bio_url"`
	AvatarURL   string     `json:"avatar_url"`
	Verified    bool       `json:"is_verified"`
	Followers   wire.Count `json:"follower_count"`
	Following   wire.Count `json:"following_count"`
	Videos      wire.Count `json:"video_count"`
}

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	a, err := c.account(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return a.V.profile(handle, a.Raw), nil
}

func (c *client) account(ctx context.Context, handle string) (wire.Object[accountInfo], error) {
	var answer struct {
		Data wire.Object[accountInfo] `json:"data"`
	}
	if _, err := c.http.Read(ctx, ask("user/info/", accountFields, map[string]string{"username": handle}), &answer); err != nil {
		return answer.Data, err
	}
	a := answer.Data.V
	return answer.Data, wire.Need(ctx, "data.display_name", a.DisplayName != "" || a.Followers.V != nil)
}

func (a accountInfo) profile(handle string, raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: handle, URL: profileURL(handle), Raw: raw},
		Handle:      handle,
		DisplayName: text.NonEmpty(a.DisplayName),
		Bio:         text.NonEmpty(a.Bio),
		AvatarURL:   text.URL(a.AvatarURL),
		Verified:    a.Verified,
		Followers:   a.Followers.V,
		Following:   a.Following.V,
		PostsCount:  a.Videos.V,
		Links:       bioLinks(a.BioURL, a.Bio),
	}
}

// bioLinks returns the link of an account, often without a scheme, and those in its bio.
func bioLinks(link, bio string) []string {
	return text.URLs(append([]string{link}, text.Addresses(bio)...)...)
}

// follower is a row of the lists of followers.
type follower struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
}

// profile converts f. It always reports true.
func (f follower) profile(raw json.RawMessage) (schema.Profile, bool) {
	return schema.Profile{
		Common:      schema.Common{ID: f.Username, URL: profileURL(f.Username), Raw: raw},
		Handle:      f.Username,
		DisplayName: text.NonEmpty(f.DisplayName),
	}, true
}

// https://developers.tiktok.com/doc/research-api-specs-query-user-followers
func (c *client) followersOf(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return c.people(ctx, "followers", handle, cursor)
}

// https://developers.tiktok.com/doc/research-api-specs-query-user-following
func (c *client) followingOf(ctx context.Context, handle, cursor string) (providers.Page[schema.Profile], error) {
	return c.people(ctx, "following", handle, cursor)
}

// people reads a page of a list of an account. The cursor is a time.
func (c *client) people(ctx context.Context, list, handle, cursor string) (page providers.Page[schema.Profile], err error) {
	if cursor != "" && !links.Digits(cursor) {
		return page, providers.ErrCursor
	}
	var answer wire.Object[struct{}]
	if _, err := c.http.Read(ctx, ask("user/"+list+"/", "", struct {
		Username string       `json:"username"`
		MaxCount int          `json:"max_count"`
		Cursor   *json.Number `json:"cursor,omitempty"`
	}{handle, pageSize, at(cursor)}).On(c.followers), &answer); err != nil {
		return page, blameCursor(err, cursor)
	}
	if page.Items, err = upstream.Items(ctx, answer.Raw, "data.user_"+list, follower.profile); err != nil {
		return page, err
	}
	var rest wire.Object[paging]
	wire.Part(ctx, answer.Raw, "data", &rest)
	page.Next, err = rest.V.next(ctx)
	return page, err
}
