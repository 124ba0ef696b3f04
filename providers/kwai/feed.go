package kwai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize = 50
	noMore   = "no_more" // the cursor of the last page; any other cursor that is not a time is invalid
)

func (s site) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if cursor != "" && !links.Digits(cursor) {
		return page, providers.ErrCursor
	}
	f, err := s.feed(ctx, handle, cursor)
	if err != nil {
		return page, err
	}
	if f.Feeds.Len() == 0 {
		if err := s.empty(ctx, f, handle, cursor); err != nil {
			return page, err
		}
	}
	return f.page(ctx, handle, cursor)
}

// empty returns an error unless an account has no posts: its page says how many there are, and whether the account
// exists.
func (s site) empty(ctx context.Context, f feed, handle, cursor string) error {
	w := wire.Witness{Cursor: cursor}
	if cursor == "" {
		page, err := s.account(ctx, handle)
		if err != nil {
			return err
		}
		w.Count = page.V.Person.posts()
	}
	err := f.check(ctx)
	if err != nil {
		return err
	}
	next, err := f.next(ctx, cursor)
	if err != nil {
		return err
	}
	w.More = next != ""
	return w.Check(ctx, "feeds")
}

// feed reads a page of an account's posts.
func (s site) feed(ctx context.Context, handle, cursor string) (f feed, err error) {
	_, err = s.http.Read(ctx, upstream.Request{
		Method: http.MethodPost, Path: []string{"rest/o/w/pc/feed/profile"}, Retry: true,
		JSON: map[string]any{
			"userId": "@" + handle, "fromPage": "PC_PROFILE", "beforePage": "", "pcursor": cursor, "count": pageSize,
		},
	}, &f)
	return f, err
}

// fine is the result code of an answer that is not a refusal.
const fine = 1

// check returns an error unless f is a list, which may be empty.
func (f feed) check(ctx context.Context) error {
	if f.Result.V != nil && *f.Result.V != fine {
		return providers.Unavailable(nil, "Kwai refuses to list the posts of this account")
	}
	return f.Feeds.Check(ctx, "feeds")
}

// feed is a page of an account's posts.
type feed struct {
	Result wire.Count      `json:"result"`
	Feeds  wire.Rows[item] `json:"feeds"`
	Cursor wire.Token      `json:"cursor"`
}

func (f feed) page(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	theirs, other := 0, ""
	page.Items, err = wire.Items(ctx, "feeds", f.Feeds, func(i item, raw json.RawMessage) (schema.Post, bool) {
		if i.Handle != "" && !i.isBy(handle) {
			other = i.Handle
			return schema.Post{}, false
		}
		theirs++
		return i.post(raw), true
	})
	if err != nil {
		return page, err
	}
	if theirs == 0 && other != "" {
		if err := wire.SameFold(ctx, "account", handle, other); err != nil {
			return page, err
		}
	}
	page.Next, err = f.next(ctx, cursor)
	return page, err
}

// next returns the cursor of the next page, "" on the last one. A page whose cursor leads to itself is the last: Kwai
// would repeat it endlessly.
func (f feed) next(ctx context.Context, cursor string) (string, error) {
	next, err := f.Cursor.Next(ctx, "cursor")
	if err != nil {
		return "", err
	}
	if err := wire.Need(ctx, "cursor", next == noMore || links.Digits(next)); err != nil || next == noMore || next == cursor {
		return "", err
	}
	return next, nil
}

// item is a post in the list of an account. The field names for media differ between versions of the site.
type item struct {
	ID       wire.Serial `json:"photo_id_str"`
	Number   wire.Serial `json:"photo_id"`
	UserID   wire.Serial `json:"user_id"`
	Handle   string      `json:"kwai_id"`
	Name     string      `json:"user_name"`
	Heads    []file      `json:"headurls"`
	Verified bool        `json:"verified"`
	Caption  string      `json:"caption"`
	Time     wire.Time   `json:"timestamp"`
	Views    wire.Count  `json:"view_count"`
	Likes    wire.Count  `json:"like_count"`
	Comments wire.Count  `json:"comment_count"`
	Shares   wire.Count  `json:"forward_count"`
	Duration wire.Float  `json:"duration"` // milliseconds
	Videos   []file      `json:"main_mv_urls"`
	Videos2  []file      `json:"mainMvUrls"`
	Video3   string      `json:"main_url"`
	Video4   string      `json:"video_url"`
	Covers   []file      `json:"cover_thumbnail_urls"`
	Covers2  []file      `json:"coverUrls"`
	Covers3  []file      `json:"cover_urls"`
}

// file is one of several addresses of the same file.
type file struct {
	URL string `json:"url"`
}

func first(lists ...[]file) string {
	for _, f := range slices.Concat(lists...) {
		if f.URL != "" {
			return f.URL
		}
	}
	return ""
}

// isBy reports whether i is of an account.
func (i item) isBy(handle string) bool { return strings.EqualFold(i.Handle, handle) }

// post converts i. A post without its account has no id, since the list may contain posts of others.
func (i item) post(raw json.RawMessage) schema.Post {
	if i.Handle == "" {
		return schema.Post{}
	}
	id, by := string(cmp.Or(i.ID, i.Number)), i.Handle
	return schema.Post{
		Common: schema.Common{ID: id, URL: videoURL(by, id), Raw: raw},
		Author: schema.Actor{
			ID: cmp.Or(string(i.UserID), by), Handle: by, DisplayName: text.NonEmpty(i.Name), AvatarURL: text.URL(first(i.Heads)),
		},
		Text:       strings.TrimSpace(i.Caption),
		CreatedAt:  i.Time.V,
		Media:      i.media(),
		Engagement: schema.Engagement{Likes: i.Likes.V, Comments: i.Comments.V, Shares: i.Shares.V, Views: i.Views.V},
		Hashtags:   text.Hashtags(i.Caption),
		Mentions:   text.Mentions(i.Caption),
	}
}

func (i item) media() []schema.Media {
	var seconds *float64
	if ms := i.Duration.V; ms != nil && *ms > 0 {
		seconds = new(*ms / 1000)
	}
	return film(cmp.Or(first(i.Videos, i.Videos2), i.Video3, i.Video4), first(i.Covers, i.Covers2, i.Covers3), seconds)
}

// film is the one video of a post; an album has none.
func film(address, cover string, seconds *float64) []schema.Media {
	u := text.URL(address)
	if u == nil {
		return nil
	}
	return []schema.Media{{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(cover), DurationS: seconds}}
}
