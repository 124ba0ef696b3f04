package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// The vendor's values for ours.
var (
	youtubeKinds = map[schema.ResultKind]string{
		schema.PostResult: "videos", schema.ProfileResult: "channels", schema.CollectionResult: "playlists",
	}
	youtubeSorts   = map[string]string{"relevance": "relevance", "views": "popular"}
	youtubeWindows = []window{{"today", day}, {"this_week", 7 * day}, {"this_month", 30 * day}, {"this_year", 365 * day}}
)

// searchable returns an error if a query cannot be searched for.
func (youtubeReads) searchable(q providers.SearchQuery) error {
	if q.Kind != "" && q.Kind != schema.PostResult && !q.Since.IsZero() {
		return providers.Unsupported("ScrapeCreators only has the times of videos")
	}
	return nil
}

// search searches videos, then channels, then playlists; a hashtag finds what is tagged with it.
// https://docs.scrapecreators.com/v1/youtube/search
// https://docs.scrapecreators.com/v1/youtube/search/hashtag
func (r youtubeReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	if err := r.searchable(q); err != nil {
		return page, err
	}
	tag, tagged := strings.CutPrefix(q.Query, "#")
	posts := q.Kind == "" || q.Kind == schema.PostResult
	if tagged && posts && tag != "" && !strings.ContainsAny(tag, " #") && q.Sort == "" && q.Since.IsZero() {
		ask := upstream.Get("v1/youtube/search/hashtag").Says("hashtag", tag)
		return youtubeList(ctx, r.client, ask, cursor, "videos", hit(youtubeVideo.row))
	}
	return r.find(ctx, q, cursor)
}

func (r youtubeReads) find(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	kind := q.Kind
	if !q.Since.IsZero() {
		kind = schema.PostResult
	}
	var answer json.RawMessage
	ask := upstream.Get("v1/youtube/search").Says("query", q.Query).With("type", youtubeKinds[kind]).
		With("sortBy", youtubeSorts[q.Sort]).With("uploadDate", reaching(q.Since, youtubeWindows...)).
		With("continuationToken", cursor)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	for _, part := range []struct {
		kind schema.ResultKind
		read func() ([]schema.SearchResult, error)
	}{
		{schema.PostResult, found(ctx, answer, "videos", youtubeVideo.row)},
		{schema.PostResult, found(ctx, answer, "shorts", youtubeVideo.row)},
		{schema.PostResult, found(ctx, answer, "lives", youtubeVideo.row)},
		{schema.ProfileResult, found(ctx, answer, "channels", youtubeFound.row)},
		{schema.CollectionResult, found(ctx, answer, "playlists", youtubePlaylist.row)},
	} {
		if kind != "" && kind != part.kind {
			continue
		}
		items, err := part.read()
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, items...)
	}
	page.Items = slices.DeleteFunc(page.Items, func(s schema.SearchResult) bool {
		p, video := s.Object.(*schema.Post)
		return video && before(p.CreatedAt, q.Since)
	})
	if page.Next, err = (upstream.List{Next: "continuationToken"}).Token(ctx, answer); page.Next == cursor {
		page.Next = ""
	}
	return page, err
}

// youtubeFound is a channel among the results of a search.
type youtubeFound struct {
	youtubeChannel
	Description string     `json:"description"`
	Subscribers wire.Count `json:"subscriberCountInt"`
}

// row converts f. It always reports true.
func (f youtubeFound) row(raw json.RawMessage) (schema.Profile, bool) {
	a := f.actor(schema.Actor{})
	return schema.Profile{
		Common: schema.Common{ID: f.ID, URL: youtubeSite + "channel/" + f.ID, Raw: raw},
		Handle: a.Handle, DisplayName: a.DisplayName, AvatarURL: a.AvatarURL,
		Bio: text.NonEmpty(f.Description), Followers: f.Subscribers.V,
	}, true
}

// suggestions reads suggested words and channels.
// https://docs.scrapecreators.com/v1/youtube/search/typeahead
func (r youtubeReads) suggestions(
	ctx context.Context, q providers.SuggestionsQuery, _ string,
) (page providers.Page[schema.Suggestion], err error) {
	var a struct {
		Data struct {
			Rows wire.Rows[youtubeSuggestion] `json:"suggestions"`
		} `json:"data"`
	}
	if _, err := r.http.Read(ctx, upstream.Get("v1/youtube/search/typeahead").Says("query", q.Query), &a); err != nil {
		return page, err
	}
	if err := a.Data.Rows.Check(ctx, "data.suggestions"); err != nil {
		return page, err
	}
	for place, s := range a.Data.Rows.All() {
		page.Items = append(page.Items, s.V.suggestion(int64(place), s.Raw))
	}
	return page, nil
}

type youtubeSuggestion struct {
	Text    string         `json:"text"`
	Type    string         `json:"type"`    // "query" or "channel"
	Channel youtubeChannel `json:"channel"` // absent for a query
}

func (s youtubeSuggestion) suggestion(place int64, raw json.RawMessage) schema.Suggestion {
	u := youtubeSite + "results?" + url.Values{"search_query": {s.Text}}.Encode()
	out := schema.Suggestion{
		Common: schema.Common{ID: ids.Of(u), URL: u, Raw: raw}, Text: s.Text, Kind: schema.SuggestQuery, Position: &place,
	}
	if channel := s.Channel.actor(schema.Actor{}); s.Type == "channel" && channel.ID != "" {
		out.Kind, out.Profile, out.ID = schema.SuggestProfile, &channel, ids.Of(u, channel.ID)
	}
	return out
}

// collections reads the playlists that a channel shows.
// https://docs.scrapecreators.com/v1/youtube/channel/playlists
func (r youtubeReads) collections(
	ctx context.Context, q providers.CollectionsQuery, cursor string,
) (page providers.Page[schema.Collection], err error) {
	ask, err := youtubeOf(upstream.Get("v1/youtube/channel/playlists"), q.Handle)
	if err != nil {
		return page, err
	}
	return youtubeList(ctx, r.client, ask, cursor, "playlists", youtubePlaylist.row)
}

// playlist reads a playlist. The answer does not have its id.
// https://docs.scrapecreators.com/v1/youtube/playlist
func (r youtubeReads) playlist(ctx context.Context, id string) (p wire.Object[youtubePlaylist], err error) {
	_, err = r.http.Read(ctx, upstream.Get("v1/youtube/playlist").Says("playlist_id", id), &p)
	p.V.ID = id
	return p, err
}

func (r youtubeReads) collection(ctx context.Context, q providers.CollectionQuery) (c schema.Collection, err error) {
	p, err := r.playlist(ctx, q.ID)
	if err != nil {
		return c, err
	}
	if err := wire.Need(ctx, "title", p.V.Title != ""); err != nil {
		return c, err
	}
	c, _ = p.V.row(p.Raw)
	return c, nil
}

func (r youtubeReads) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, _ string,
) (page providers.Page[schema.Post], err error) {
	p, err := r.playlist(ctx, q.ID)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "videos", p.V.Videos, youtubeVideo.row)
	return page, err
}

// youtubePlaylist is a playlist in a list, or a single one with its first videos.
type youtubePlaylist struct {
	ID        string                  `json:"id"`
	Title     string                  `json:"title"`
	Thumbnail string                  `json:"thumbnail"`
	Count     wire.Count              `json:"videoCount"`
	Channel   youtubeChannel          `json:"channel"`
	Owner     youtubeChannel          `json:"owner"`       // for a single playlist
	Total     wire.Count              `json:"totalVideos"` // for a single playlist
	Videos    wire.Rows[youtubeVideo] `json:"videos"`      // for a single playlist
}

// row converts p. It always reports true.
func (p youtubePlaylist) row(raw json.RawMessage) (schema.Collection, bool) {
	c := schema.Collection{
		Common: schema.Common{ID: p.ID, URL: youtubeSite + "playlist?list=" + p.ID, Raw: raw},
		Kind:   schema.Playlist, Title: p.Title, ItemsCount: p.Count.V, CoverURL: text.URL(p.Thumbnail),
	}
	if c.ItemsCount == nil {
		c.ItemsCount = p.Total.V
	}
	if owner := cmp.Or(p.Channel, p.Owner).actor(schema.Actor{}); owner.ID != "" {
		c.Owner = &owner
	}
	return c, true
}
