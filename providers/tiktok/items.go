package tiktok

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	firstPosts = 1472706000000                 // milliseconds; TikTok has no older posts, so walks end here
	week       = 7 * 24 * int64(time.Hour/1e6) // in milliseconds: how far back one list of posts goes
)

// itemList is the answer of creator/item_list.
type itemList struct {
	Items   wire.Rows[item] `json:"itemList"`
	HasMore wire.Flag       `json:"hasMorePrevious"`
	Status  wire.Count      `json:"statusCode"`
}

// posts walks back through the posts of an account. The cursor is a time in milliseconds, and the list's id of the
// account.
func (w *web) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	before, secUID, count, err := w.start(ctx, handle, cursor)
	if err != nil {
		return page, err
	}
	seen := wire.Witness{Count: count, Cursor: cursor, Gaps: true} // empty pages may come between two posts
	for range patient {
		a, last, err := w.itemsBefore(ctx, secUID, before, cursor != "")
		if err != nil {
			return providers.Page[schema.Post]{}, err
		}
		if page.Items, err = wire.Items(ctx, "itemList", a.Items, func(i item, raw json.RawMessage) (schema.Post, bool) {
			return ofAccount(handle, i, raw), i.Private.Not()
		}); err != nil {
			return providers.Page[schema.Post]{}, err
		}
		seen.Rows += a.Items.Len()
		seen.More = a.HasMore.Is()
		before = cmp.Or(last, before)
		if len(page.Items) == 0 {
			before -= week
		}
		if page.Next = ""; a.HasMore.Is() && before >= firstPosts {
			page.Next = strconv.FormatInt(before, 10) + "." + secUID
		}
		if len(page.Items) > 0 || page.Next == "" {
			break
		}
	}
	if err := seen.Check(ctx, "itemList"); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	return page, nil
}

// start returns the position of a walk, the list's id of the account, and at the beginning the account's number of
// posts.
func (w *web) start(ctx context.Context, handle, cursor string) (before int64, secUID string, count *int64, err error) {
	if cursor != "" {
		number, secUID, _ := strings.Cut(cursor, ".")
		before, err := strconv.ParseInt(number, 10, 64)
		if err != nil || secUID == "" {
			return 0, "", nil, providers.ErrCursor
		}
		return before, secUID, nil, nil
	}
	d, err := w.user(ctx, handle)
	if err != nil {
		return 0, "", nil, err
	}
	if d.V.Info.User.Private.Is() {
		return 0, "", nil, status(privateAccount)
	}
	secUID = d.V.Info.User.SecUID
	return time.Now().UnixMilli(), secUID, d.V.Info.videos(), wire.Need(ctx, "webapp.user-detail.userInfo.user.secUid", secUID != "")
}

// ofAccount converts a row of the posts of an account; a post of another account does not belong in that list.
func ofAccount(handle string, i item, raw json.RawMessage) schema.Post {
	if i.Author.UniqueID != "" && !strings.EqualFold(i.Author.UniqueID, handle) {
		return schema.Post{}
	}
	if i.Author.UniqueID == "" {
		i.Author.UniqueID = handle
	}
	return i.post(raw)
}

// itemsBefore reads a page, and returns the time of its last row; 0 when there is none. TikTok repeats the same page
// for a device that it distrusts: then another device id is used. If moved is true, the walk is
// past its first page.
func (w *web) itemsBefore(ctx context.Context, secUID string, before int64, moved bool) (a itemList, last int64, err error) {
	for range 2 {
		if a, err = w.itemsOnce(ctx, secUID, before); err != nil {
			return a, 0, err
		}
		if last = lastTime(a); !moved || last < before {
			return a, last, nil
		}
	}
	return a, 0, providers.Unavailable(nil, "TikTok returns the same posts repeatedly")
}

func (w *web) itemsOnce(ctx context.Context, secUID string, before int64) (a itemList, err error) {
	r := upstream.Get("api/creator/item_list/")
	r.Query = listQuery(secUID, before)
	if _, err := w.http.Read(ctx, r, &a); err != nil {
		return a, err
	}
	if err := status(code(a.Status)); err != nil {
		return a, err
	}
	return a, wire.Need(ctx, "hasMorePrevious", a.HasMore.V != nil)
}

func lastTime(a itemList) (last int64) {
	for _, i := range a.Items.All() {
		if at := i.V.createdAt(); at != nil {
			last = at.UnixMilli()
		}
	}
	return last
}

// listQuery returns the parameters that the site's own code sends; TikTok does not answer without them.
func listQuery(secUID string, before int64) url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"aid": "1988", "app_language": "en", "app_name": "tiktok_web", "browser_language": "en-US", "browser_name": "Mozilla",
		"browser_online": "true", "browser_platform": "Win32", "browser_version": "5.0 (Windows)", "channel": "tiktok_web",
		"cookie_enabled": "true", "count": "15", "cursor": strconv.FormatInt(before, 10), "device_id": device(),
		"device_platform": "web_pc", "focus_state": "true", "from_page": "user", "history_len": "2", "is_fullscreen": "false",
		"is_page_visible": "true", "language": "en", "os": "windows", "priority_region": "", "referer": "", "region": "US",
		"screen_height": "1080", "screen_width": "1920", "secUid": secUID, "type": "1", "tz_name": "UTC",
		"verifyFp": "verify_" + fmt.Sprintf("%07x", rand.Uint32N(1<<28)), "webcast_language": "en",
	} {
		q.Set(name, value)
	}
	return q
}

// device makes up the id of a browser.
func device() string {
	const low, high = 7250000000000000000, 7325099899999994577
	return strconv.FormatInt(low+rand.Int64N(high-low+1), 10)
}

const collectionPage = 30

// collectionPosts reads the posts in a collection of an account. The cursor is a position in the list.
func (o *own) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Items   wire.Rows[item] `json:"itemList"`
		HasMore wire.Flag       `json:"hasMore"`
		Status  wire.Count      `json:"statusCode"`
	}
	if cursor == "" {
		cursor = "0"
	}
	place, err := strconv.Atoi(cursor)
	if err != nil || !links.Digits(cursor) {
		return page, providers.ErrCursor
	}
	r := upstream.Get("api/collection/item_list/").With("aid", "1988").With("collectionId", q.ID).With("cursor", cursor).
		With("count", strconv.Itoa(collectionPage)).With("sourceType", "113")
	if _, err := o.http.Read(ctx, r, &answer); err != nil {
		return page, err
	}
	if err := final(status(code(answer.Status))); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "itemList", answer.Items, func(i item, raw json.RawMessage) (schema.Post, bool) {
		return i.post(raw), i.Private.Not()
	})
	if err != nil {
		return page, err
	}
	if err := wire.Need(ctx, "hasMore", answer.HasMore.V != nil); err != nil {
		return page, err
	}
	seen := wire.Witness{Rows: answer.Items.Len(), More: answer.HasMore.Is()}
	if place > 0 {
		seen.Cursor = cursor
	}
	if err := seen.Check(ctx, "itemList"); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if answer.HasMore.Is() {
		page.Next = strconv.Itoa(place + collectionPage)
	}
	return page, nil
}
