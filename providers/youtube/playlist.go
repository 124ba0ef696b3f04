package youtube

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const playlistParts = "snippet,contentDetails,status"

// collections reads a channel's playlists, of one kind if the query has one.
func (c *client) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	var w walk
	var err error
	if cursor == "" {
		w, err = c.start(ctx, q.Handle, func(ch channel) string { return ch.ID })
	} else {
		w, err = walked(cursor)
	}
	if err != nil {
		return providers.Page[schema.Collection]{}, err
	}
	r := upstream.Get("playlists").With("part", playlistParts).
		With("channelId", w.List).With("maxResults", pageSize).With("pageToken", w.Token)
	page, err := listPage(ctx, c, r, func(p playlist, raw json.RawMessage) (schema.Collection, bool) {
		if q.Kind != "" && p.Status == (playlistStatus{}) { // its kind is unknown
			return schema.Collection{}, true
		}
		out := p.collection(raw, w.Author)
		return out, q.Kind == "" || q.Kind == out.Kind
	})
	if err != nil {
		return page, err
	}
	w.Token = page.Next
	page.Next = w.String()
	return page, nil
}

func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	if !playlistID.MatchString(q.ID) {
		return schema.Collection{}, providers.NotFound("no such playlist")
	}
	found, err := c.playlistsByID(ctx, []string{q.ID})
	if err != nil {
		return schema.Collection{}, err
	}
	p, err := found.one("playlist")
	if err != nil {
		return schema.Collection{}, err
	}
	return p.V.collection(p.Raw, nil), nil
}

// collectionsByID reads playlists by their ids.
func (c *client) collectionsByID(ctx context.Context, ids []string, _ providers.CollectionQuery) (map[string]schema.Collection, error) {
	found, err := byID(ctx, c, upstream.Get("playlists").With("part", playlistParts).With("maxResults", pageSize),
		providers.Together(ids, playlistID.MatchString), func(p playlist) string { return p.ID })
	return providers.PerKey(ids, err, func(id string) (schema.Collection, error) {
		if !playlistID.MatchString(id) {
			return schema.Collection{}, providers.NotFound("no such playlist")
		}
		p, err := found.find("playlist", func(p playlist) bool { return p.ID == id })
		if err != nil {
			return schema.Collection{}, err
		}
		return p.V.collection(p.Raw, nil), nil
	})
}

func (c *client) collectionPosts(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Post], error) {
	if !playlistID.MatchString(q.ID) {
		return providers.Page[schema.Post]{}, providers.NotFound("no such playlist")
	}
	return c.members(ctx, q.ID, cursor, nil)
}

func (c *client) playlistsByID(ctx context.Context, ids []string) (batch[playlist], error) {
	return byID(ctx, c, upstream.Get("playlists").With("part", playlistParts), ids, func(p playlist) string { return p.ID })
}

// playlist is an item of GET playlists.
// https://developers.google.com/youtube/v3/docs/playlists#resource
type playlist struct {
	ID      string `json:"id"`
	Snippet struct {
		PublishedAt  wire.Time  `json:"publishedAt"`
		ChannelID    string     `json:"channelId"`
		ChannelTitle string     `json:"channelTitle"`
		Title        string     `json:"title"`
		Description  string     `json:"description"`
		Thumbnails   thumbnails `json:"thumbnails"`
	} `json:"snippet"`
	ContentDetails struct {
		Count wire.Count `json:"itemCount"`
	} `json:"contentDetails"`
	Status playlistStatus `json:"status"`
}

type playlistStatus struct {
	Privacy string `json:"privacyStatus"`
	Podcast string `json:"podcastStatus"` // "enabled" for a podcast; absent from older answers
}

func (p playlist) collection(raw json.RawMessage, author *schema.Actor) schema.Collection {
	out := schema.Collection{
		Common:      schema.Common{ID: inForm(playlistID, p.ID), URL: "https://www.youtube.com/playlist?list=" + p.ID, Raw: raw},
		Kind:        schema.Playlist,
		Title:       p.Snippet.Title,
		Description: text.NonEmpty(p.Snippet.Description),
		ItemsCount:  p.ContentDetails.Count.V,
		CoverURL:    p.Snippet.Thumbnails.best(),
		CreatedAt:   p.Snippet.PublishedAt.V,
	}
	if p.Snippet.ChannelID != "" {
		out.Owner = new(owner(p.Snippet.ChannelID, p.Snippet.ChannelTitle, author))
	}
	if p.Status.Podcast == "enabled" {
		out.Kind = schema.Podcast
	}
	return out
}
