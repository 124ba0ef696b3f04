package kick

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// reels lists a channel's clips. Kick's pages overlap; the engine removes the duplicates.
func (w *website) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	r := upstream.Get("api", "v2", "channels", handle, "clips").With("sort", "date").With("time", "all")
	if cursor != "" {
		r = r.Says("cursor", cursor)
	}
	var a struct {
		Clips wire.Rows[clipping] `json:"clips"`
		Next  wire.Token          `json:"nextCursor"`
	}
	_, err := w.http.Read(ctx, r, &a)
	if cursor != "" && errors.Is(err, providers.ErrInvalid) {
		return page, providers.ErrCursor
	}
	if err != nil {
		return page, err
	}
	if err := a.Clips.Check(ctx, "clips"); err != nil {
		return page, err
	}
	next, err := a.Next.Next(ctx, "nextCursor")
	if err != nil {
		return page, err
	}
	// Kick does not count clips
	err = wire.Witness{Rows: a.Clips.Len(), Cursor: cursor, More: next != ""}.Check(ctx, "clips")
	if err != nil {
		return page, err
	}
	if next != cursor {
		page.Next = next
	}
	of := w.of(ctx, handle, a.Clips)
	page.Items, err = wire.Items(ctx, "clips", a.Clips, func(c clipping, raw json.RawMessage) (schema.Post, bool) {
		if !c.told() || c.Channel.Slug != "" && !strings.EqualFold(c.Channel.Slug, handle) {
			return schema.Post{}, true
		}
		return c.post(c.Channel.channel().or(of).actor(), raw), !c.private()
	})
	return page, err
}

func (w *website) clip(ctx context.Context, id string) (schema.Post, error) {
	var a struct {
		Clip wire.Object[clipping] `json:"clip"`
	}
	_, err := w.http.Read(ctx, upstream.Get("api", "v2", "clips", id, "play"), &a)
	if err != nil {
		return schema.Post{}, err
	}
	if err := wire.Need(ctx, "clip", a.Clip.Raw != nil); err != nil {
		return schema.Post{}, err
	}
	c := a.Clip.V
	if err := wire.Same(ctx, "clip", id, c.ID); err != nil {
		return schema.Post{}, err
	}
	err = wire.Need(ctx, "clip.privacy", c.told())
	switch {
	case err != nil:
		return schema.Post{}, err
	case c.private():
		return schema.Post{}, providers.NotFound("this clip is private")
	}
	return c.post(w.whole(ctx, c.Channel.channel()).actor(), a.Clip.Raw), nil
}

// of returns the channel to which these clips belong. It is looked up if a clip does not have the channel's user.
func (w *website) of(ctx context.Context, handle string, clips wire.Rows[clipping]) channel {
	for _, c := range clips.All() {
		if c.V.Channel.UserID == "" {
			return w.whole(ctx, channel{Slug: handle})
		}
	}
	return channel{Slug: handle}
}

// whole adds the id of its user to a channel, whose slug and name are in each clip. If the look-up fails, the clip is
// valid with the channel as it is.
func (w *website) whole(ctx context.Context, known channel) channel {
	if known.UserID != "" || !slug.MatchString(known.Slug) {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	looked, err := w.channel(ctx, known.Slug)
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("author.display_name", "author.avatar_url")
		return known
	}
	return known.or(looked.V)
}

// or returns c with its missing fields taken from other.
func (c channel) or(other channel) channel {
	c.ID, c.UserID, c.Slug = cmp.Or(c.ID, other.ID), cmp.Or(c.UserID, other.UserID), cmp.Or(c.Slug, other.Slug)
	c.User.Username = cmp.Or(c.User.Username, other.User.Username)
	c.User.ProfilePic = cmp.Or(c.User.ProfilePic, c.User.Picture, other.User.ProfilePic, other.User.Picture)
	return c
}

// clipping is a clip, as in GET /api/v2/clips/{id}/play and GET /api/v2/channels/{slug}/clips.
type clipping struct {
	ID           string              `json:"id"`
	Title        string              `json:"title"`
	ClipURL      string              `json:"clip_url"` // the address of the video's playlist
	ThumbnailURL string              `json:"thumbnail_url"`
	Privacy      wire.Object[string] `json:"privacy"` // such as "public" or "CLIP_PRIVACY_PUBLIC"; absent if unknown
	CreatedAt    wire.Time           `json:"created_at"`
	Duration     wire.Float          `json:"duration"` // seconds
	ViewCount    wire.Count          `json:"view_count"`
	Views        wire.Count          `json:"views"`
	LikesCount   wire.Count          `json:"likes_count"`
	Likes        wire.Count          `json:"likes"`
	Channel      clipChannel         `json:"channel"`
}

func (c clipping) private() bool { return strings.HasSuffix(strings.ToLower(c.Privacy.V), "private") }

// told reports whether it is known who may see c. If the privacy is missing, c is public, because we are not signed in.
func (c clipping) told() bool { return !c.Privacy.Odd() }

// clipChannel is the channel of a clip, not the user who made the clip.
type clipChannel struct {
	ID             wire.Serial `json:"id"`
	UserID         wire.Serial `json:"user_id"`
	Slug           string      `json:"slug"`
	Username       string      `json:"username"`
	ProfilePicture string      `json:"profile_picture"`
}

func (c clipChannel) channel() channel {
	out := channel{ID: c.ID, UserID: c.UserID, Slug: c.Slug}
	out.User.Username, out.User.ProfilePic = c.Username, c.ProfilePicture
	return out
}

func (c clipping) post(author schema.Actor, raw json.RawMessage) schema.Post {
	page := site + author.Handle + "/clips/" + c.ID
	if author == schema.UnknownActor() {
		page = site + "clips/" + c.ID
	}
	film := schema.Media{Type: schema.Video, URL: text.URLOr(c.ClipURL, page), ThumbnailURL: text.URL(c.ThumbnailURL)}
	if s := c.Duration.V; s != nil && *s >= 0 {
		film.DurationS = s
	}
	return schema.Post{
		Common:    schema.Common{ID: c.ID, URL: page, Raw: raw},
		Author:    author,
		Text:      strings.TrimSpace(c.Title),
		CreatedAt: c.CreatedAt.V,
		Media:     []schema.Media{film},
		Engagement: schema.Engagement{
			Views: cmp.Or(c.ViewCount.V, c.Views.V), Likes: cmp.Or(c.LikesCount.V, c.Likes.V),
		},
		Hashtags: text.Hashtags(c.Title),
		Mentions: text.Mentions(c.Title),
	}
}

// ParseClip converts a clip in the format of the website's API, from any source. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] for a private clip.
func ParseClip(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var c clipping
	if err := wire.Decode(ctx, raw, &c); err != nil {
		return schema.Post{}, err
	}
	if err := wire.Need(ctx, "clip.privacy", c.told()); err != nil {
		return schema.Post{}, err
	}
	if c.private() {
		return schema.Post{}, providers.NotFound("this clip is private")
	}
	return c.post(c.Channel.channel().actor(), raw), nil
}
