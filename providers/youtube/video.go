package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/languages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	videoParts        = "snippet,contentDetails,statistics,status,liveStreamingDetails,paidProductPlacementDetails"
	playlistItemParts = "snippet,contentDetails,status"
)

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	if !videoID.MatchString(id) {
		return schema.Post{}, providers.NotFound("no such video")
	}
	found, err := c.videos(ctx, []string{id})
	if err != nil {
		return schema.Post{}, err
	}
	v, err := found.one("video")
	if err != nil {
		return schema.Post{}, err
	}
	return v.V.post(v.Raw, nil), nil
}

// postsByID reads videos by their ids.
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	found, err := c.videos(ctx, providers.Together(ids, videoID.MatchString))
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		if !videoID.MatchString(id) {
			return schema.Post{}, providers.NotFound("no such video")
		}
		v, err := found.find("video", func(v video) bool { return v.ID == id })
		if err != nil {
			return schema.Post{}, err
		}
		return v.V.post(v.Raw, nil), nil
	})
}

// posts reads the list of a channel's uploads, which is a playlist.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return c.uploads(ctx, handle, cursor, channel.uploads)
}

// reels reads the list of a channel's Shorts, which is another playlist.
func (c *client) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return c.uploads(ctx, handle, cursor, func(ch channel) string { return "UUSH" + strings.TrimPrefix(ch.ID, "UC") })
}

// walk is a position in a channel's list, with the data of the channel from the first page.
type walk struct {
	List   string        `json:"list"`
	Token  string        `json:"token"`
	Author *schema.Actor `json:"author,omitempty"`
}

func (w walk) String() string {
	b, err := json.Marshal(w)
	if err != nil || w.Token == "" {
		return ""
	}
	return string(b)
}

// walked decodes the cursor of a walk.
func walked(cursor string) (walk, error) {
	var w walk
	if json.Unmarshal([]byte(cursor), &w) != nil || w.List == "" || w.Token == "" {
		return walk{}, providers.ErrCursor
	}
	return w, nil
}

func (c *client) uploads(ctx context.Context, handle, cursor string, of func(channel) string) (providers.Page[schema.Post], error) {
	var w walk
	var err error
	if cursor == "" {
		w, err = c.start(ctx, handle, of)
	} else {
		w, err = walked(cursor)
	}
	if err != nil || w.List == "" {
		return providers.Page[schema.Post]{}, err
	}
	page, err := c.members(ctx, w.List, w.Token, w.Author)
	if cursor == "" && errors.Is(err, errNoPlaylist) {
		return providers.Page[schema.Post]{}, nil // the channel exists: it has no videos
	}
	w.Token = page.Next
	page.Next = w.String()
	return page, err
}

func (c *client) start(ctx context.Context, handle string, of func(channel) string) (walk, error) {
	ch, err := c.channel(ctx, handle, "snippet,contentDetails")
	if err != nil {
		return walk{}, err
	}
	return walk{List: of(ch.V), Author: new(ch.V.actor())}, nil
}

// members reads one page of a playlist's videos, in its order. Private and deleted videos are in the playlist but
// cannot be read, so a page may be short, or empty, and not be the last.
// https://developers.google.com/youtube/v3/docs/playlistItems/list
func (c *client) members(ctx context.Context, playlist, token string, author *schema.Actor) (providers.Page[schema.Post], error) {
	r := upstream.Get("playlistItems").With("part", playlistItemParts).
		With("playlistId", playlist).With("maxResults", pageSize).With("pageToken", token)
	listed, err := get[playlistItem](ctx, c, r)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	ids, lost := videoIDs(listed)
	if err := wire.Understood("items", len(ids), lost); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	found, err := c.videos(ctx, ids)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	page := providers.Page[schema.Post]{Next: listed.Next}
	for _, v := range found.rows {
		page.Items = append(page.Items, v.V.post(v.Raw, author))
	}
	return page, wire.Understood("items", len(page.Items), found.lost)
}

// playlistItem is an item of GET playlistItems. Its publishedAt is the time at which it was added to the playlist.
// https://developers.google.com/youtube/v3/docs/playlistItems#resource
type playlistItem struct {
	Snippet struct {
		ResourceID struct {
			VideoID string `json:"videoId"`
		} `json:"resourceId"`
	} `json:"snippet"`
	ContentDetails struct {
		VideoID string `json:"videoId"`
	} `json:"contentDetails"`
}

// videoIDs returns the videos on a page, and the number of rows without one.
func videoIDs(l list[playlistItem]) (ids []string, lost int) {
	lost = l.Items.Lost()
	for _, i := range l.Items.All() {
		if id := cmp.Or(i.V.ContentDetails.VideoID, i.V.Snippet.ResourceID.VideoID); id != "" {
			ids = append(ids, id)
		} else {
			lost++
		}
	}
	return ids, lost
}

// trending reads the chart of a region.
// https://developers.google.com/youtube/v3/docs/videos/list#chart
func (c *client) trending(ctx context.Context, q providers.TrendingQuery, cursor string) (providers.Page[schema.Post], error) {
	r := upstream.Get("videos").With("part", videoParts).With("chart", "mostPopular").
		With("regionCode", cmp.Or(q.Region, "US")).With("maxResults", pageSize).With("pageToken", cursor)
	return listPage(ctx, c, r, func(v video, raw json.RawMessage) (schema.Post, bool) { return v.post(raw, nil), true })
}

// videos reads at most 50 videos, in the order of ids; those that do not exist are left out.
// https://developers.google.com/youtube/v3/docs/videos/list
func (c *client) videos(ctx context.Context, ids []string) (batch[video], error) {
	return byID(ctx, c, upstream.Get("videos").With("part", videoParts), ids, func(v video) string { return v.ID })
}

// video is an item of GET videos. Counts that are hidden or disabled are absent.
// https://developers.google.com/youtube/v3/docs/videos#resource
type video struct {
	ID      string `json:"id"`
	Snippet struct {
		PublishedAt   wire.Time  `json:"publishedAt"`
		ChannelID     string     `json:"channelId"`
		ChannelTitle  string     `json:"channelTitle"`
		Title         string     `json:"title"`
		Description   string     `json:"description"`
		Thumbnails    thumbnails `json:"thumbnails"`
		Language      string     `json:"defaultLanguage"`
		AudioLanguage string     `json:"defaultAudioLanguage"`
		Broadcast     string     `json:"liveBroadcastContent"` // live, upcoming or none
	} `json:"snippet"`
	ContentDetails struct {
		Duration string `json:"duration"` // P0D for a running or upcoming broadcast
	} `json:"contentDetails"`
	Statistics struct {
		Views    wire.Count `json:"viewCount"`
		Likes    wire.Count `json:"likeCount"`
		Comments wire.Count `json:"commentCount"`
	} `json:"statistics"`
	Live struct {
		Started wire.Time  `json:"actualStartTime"`
		Ended   wire.Time  `json:"actualEndTime"`
		Viewers wire.Count `json:"concurrentViewers"` // absent when hidden, or after the end
	} `json:"liveStreamingDetails"`
	Paid struct {
		Placement bool `json:"hasPaidProductPlacement"`
	} `json:"paidProductPlacementDetails"`
}

func (v video) post(raw json.RawMessage, author *schema.Actor) schema.Post {
	all := text.Join(v.Snippet.Title, v.Snippet.Description)
	return schema.Post{
		Common:    schema.Common{ID: inForm(videoID, v.ID), URL: watchURL(v.ID), Raw: raw},
		Author:    owner(v.Snippet.ChannelID, v.Snippet.ChannelTitle, author),
		Text:      all,
		Lang:      languages.Tag(v.Snippet.AudioLanguage, v.Snippet.Language),
		CreatedAt: v.Snippet.PublishedAt.V,
		Media: []schema.Media{{
			Type: schema.Video, URL: watchURL(v.ID),
			ThumbnailURL: v.Snippet.Thumbnails.best(), DurationS: seconds(v.ContentDetails.Duration),
		}},
		Engagement: schema.Engagement{
			Likes: v.Statistics.Likes.V, Comments: v.Statistics.Comments.V, Views: v.Statistics.Views.V,
		},
		Hashtags: text.Hashtags(all),
		Mentions: Mentions(all),
		IsAd:     v.Paid.Placement,
	}
}

func watchURL(id string) string { return "https://www.youtube.com/watch?v=" + id }

var mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([\pL\pN_](?:[\pL\pN\pM_.·-]*[\pL\pN\pM_])?)`)

// Mentions returns the handles after an @ in s, each once, in order. They may be in any script.
func Mentions(s string) []string { return text.Find(mention, s, "@") }

var iso8601 = regexp.MustCompile(`^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// seconds parses a duration such as P1DT2H3M4S; nil if it is zero, which is the duration of a broadcast without an end.
func seconds(duration string) *float64 {
	m := iso8601.FindStringSubmatch(duration)
	if m == nil {
		return nil
	}
	total := 0.0
	for i, unit := range []float64{7 * 86400, 86400, 3600, 60, 1} {
		if n, err := strconv.ParseFloat(m[i+1], 64); err == nil {
			total += n * unit
		}
	}
	if total == 0 {
		return nil
	}
	return &total
}
