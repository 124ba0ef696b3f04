package twitch

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const suggestions = 10 // at most

func search(query string) upstream.Request {
	return upstream.Get("search", "channels").Says("query", query).With("live_only", "false")
}

func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	return listPage(ctx, c, search(q.Query), cursor, func(ch channel, raw json.RawMessage) (schema.SearchResult, bool) {
		return schema.Result(ch.profile(raw)), true
	})
}

func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	rows, _, err := list[channel](ctx, c, search(q.Query).With("first", strconv.Itoa(suggestions)), "")
	if err != nil {
		return providers.Page[schema.Suggestion]{}, err
	}
	var page providers.Page[schema.Suggestion]
	for place, r := range rows.All() {
		if place < suggestions {
			page.Items = append(page.Items, r.V.suggestion(int64(place), r.Raw))
		}
	}
	return page, nil
}

// channel is an element of GET /search/channels.
// https://dev.twitch.tv/docs/api/reference/#search-channels
type channel struct {
	ID           wire.Serial `json:"id"`
	Login        string      `json:"broadcaster_login"`
	DisplayName  string      `json:"display_name"`
	Language     string      `json:"broadcaster_language"`
	ThumbnailURL string      `json:"thumbnail_url"` // the profile picture, or the template of a stream's preview
}

// picture returns the profile picture.
func (c channel) picture() string {
	if strings.Contains(c.ThumbnailURL, "{width}") {
		return ""
	}
	return c.ThumbnailURL
}

func (c channel) profile(raw json.RawMessage) *schema.Profile {
	return &schema.Profile{
		Common:      schema.Common{ID: string(c.ID), URL: site + c.Login, Raw: raw},
		Handle:      c.Login,
		DisplayName: text.NonEmpty(c.DisplayName),
		AvatarURL:   text.URL(c.picture()),
		Lang:        &c.Language,
	}
}

func (c channel) suggestion(position int64, raw json.RawMessage) schema.Suggestion {
	account := user{ID: c.ID, Login: c.Login, DisplayName: c.DisplayName, ProfileImageURL: c.picture()}.actor()
	words := c.DisplayName
	if words == "" {
		words = c.Login
	}
	return schema.Suggestion{
		Common:   schema.Common{ID: string(c.ID), URL: site + c.Login, Raw: raw},
		Text:     words,
		Kind:     schema.SuggestProfile,
		Profile:  &account,
		Position: &position,
	}
}
