package kick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// reels lists a channel's clips. Kick's pages overlap; what has been there before is the engine's to leave out.
func (w *website) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := w.clips(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("kick: reels of %q: %w", handle, err)
	}
	return page, nil
}

func (w *website) clips(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	r := upstream.Get("api", "v2", "channels", handle, "clips").With("sort", "date").With("time", "all").With("cursor", cursor)
	var a struct {
		Clips []upstream.Object[clipping] `json:"clips"`
		Next  *string                     `json:"nextCursor"`
	}
	_, err := w.http.JSON(ctx, r, &a)
	switch {
	case cursor != "" && errors.Is(err, errRefused):
		return providers.Page[schema.Post]{}, providers.ErrCursor
	case err != nil:
		return providers.Page[schema.Post]{}, err
	case a.Clips == nil:
		return providers.Page[schema.Post]{}, providers.Unreadable(errNoList)
	case len(a.Clips) == 0:
		return providers.Page[schema.Post]{}, nil
	}
	var page providers.Page[schema.Post]
	if a.Next != nil && *a.Next != cursor {
		page.Next = *a.Next
	}
	author := w.author(ctx, a.Clips[0].V)
	for _, c := range a.Clips {
		if c.V.ID != "" && !c.V.private() {
			page.Items = append(page.Items, c.V.post(author, c.Raw))
		}
	}
	return page, nil
}

func (w *website) clip(ctx context.Context, id string) (schema.Post, error) {
	var a struct {
		Clip *upstream.Object[clipping] `json:"clip"`
	}
	if _, err := w.http.JSON(ctx, upstream.Get("api", "v2", "clips", id, "play"), &a); err != nil {
		return schema.Post{}, err
	}
	switch {
	case a.Clip == nil || a.Clip.V.ID != id:
		return schema.Post{}, providers.Unreadable(nil)
	case a.Clip.V.private():
		return schema.Post{}, providers.NotFound("this clip is private")
	}
	return a.Clip.V.post(w.author(ctx, a.Clip.V), a.Clip.Raw), nil
}

// author returns the channel that a clip is of. The clip tells the channel's id only, so its user is looked up; without
// that the clip still stands.
func (w *website) author(ctx context.Context, c clipping) schema.Actor {
	known := c.Channel.channel()
	if known.UserID == "" && slug.MatchString(known.Slug) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if looked, err := w.channel(ctx, known.Slug); err == nil {
			known.UserID = looked.V.UserID
		}
	}
	return known.actor()
}

// clipping is a clip, as in GET /api/v2/clips/{id}/play and GET /api/v2/channels/{slug}/clips.
type clipping struct {
	ID           string       `json:"id"`
	Title        string       `json:"title"`
	ClipURL      string       `json:"clip_url"` // a playlist of the film
	ThumbnailURL string       `json:"thumbnail_url"`
	Privacy      string       `json:"privacy"` // such as "public" or "CLIP_PRIVACY_PUBLIC"
	CreatedAt    string       `json:"created_at"`
	Duration     *float64     `json:"duration"` // seconds
	ViewCount    upstream.Int `json:"view_count"`
	Views        upstream.Int `json:"views"`
	LikesCount   upstream.Int `json:"likes_count"`
	Likes        upstream.Int `json:"likes"`
	Channel      clipChannel  `json:"channel"`
}

func (c clipping) private() bool { return strings.HasSuffix(strings.ToLower(c.Privacy), "private") }

// clipChannel is the channel that a clip is of, not the user who made it.
type clipChannel struct {
	ID             upstream.ID `json:"id"`
	UserID         upstream.ID `json:"user_id"`
	Slug           string      `json:"slug"`
	Username       string      `json:"username"`
	ProfilePicture string      `json:"profile_picture"`
}

func (c clipChannel) channel() channel {
	out := channel{ID: c.ID, UserID: c.UserID, Slug: c.Slug}
	out.User.Username, out.User.ProfilePic = c.Username, c.ProfilePicture
	return out
}

func (c clipping) post(author schema.Actor, raw []byte) schema.Post {
	page := site + author.Handle + "/clips/" + c.ID
	if author == schema.UnknownActor() {
		page = site + "clips/" + c.ID
	}
	film := page
	if u := text.URL(c.ClipURL); u != nil {
		film = *u
	}
	return schema.Post{
		Common:    schema.Common{ID: c.ID, URL: page, Raw: raw},
		Author:    author,
		Text:      strings.TrimSpace(c.Title),
		CreatedAt: timeOf(c.CreatedAt),
		Media: []schema.Media{{
			Type: schema.Video, URL: film, ThumbnailURL: text.URL(c.ThumbnailURL), DurationS: c.Duration,
		}},
		Engagement: schema.Engagement{
			Views: cmp.Or(c.ViewCount.V, c.Views.V), Likes: cmp.Or(c.LikesCount.V, c.Likes.V),
		},
		Hashtags: text.Hashtags(c.Title),
		Mentions: text.Mentions(c.Title),
	}
}
