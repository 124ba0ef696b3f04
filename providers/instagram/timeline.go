package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (s site) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return s.feed(ctx, handle, cursor, func(bool) bool { return true })
}

func (s site) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return s.feed(ctx, handle, cursor, func(isReel bool) bool { return isReel })
}

// feed reads one page of an account's posts; keep selects the kind.
func (s site) feed(
	ctx context.Context, handle, cursor string, keep func(isReel bool) bool,
) (providers.Page[schema.Post], error) {
	if cursor == members {
		return providers.Page[schema.Post]{}, providers.Walled("Instagram only shows more posts of this account to logged-in users")
	}
	page, rows, err := s.connection(ctx, handle, cursor, keep)
	switch {
	case err != nil && (cursor != "" || !elsewhere(err)):
		return providers.Page[schema.Post]{}, err
	case err != nil, cursor == "" && rows == 0 && page.Next == "": // a visitor's list may be empty
		return s.firstPosts(ctx, handle, keep, err)
	}
	w := wire.Witness{Rows: rows, Cursor: cursor, Last: page.Next == "", More: page.Next != ""}
	return page, w.Check(ctx, timelineEdges)
}

const timelineEdges = "user_timeline_graphql_connection.edges"

// connection requests a page of posts, and returns how many rows it has.
func (s site) connection(
	ctx context.Context, handle, cursor string, keep func(isReel bool) bool,
) (page providers.Page[schema.Post], rows int, err error) {
	var a struct {
		Data struct {
			Feed struct {
				Edges    wire.Rows[edge[node]] `json:"edges"`
				PageInfo pageInfo              `json:"page_info"`
			} `json:"xdt_api__v1__feed__user_timeline_graphql_connection"`
		} `json:"data"`
		faults
	}
	if err := s.web(ctx, http.MethodGet, s.timeline, feedOf(handle, cursor), &a); err != nil {
		return page, 0, err
	}
	if err := a.err(); err != nil {
		return page, 0, err
	}
	feed := a.Data.Feed
	page.Items, err = wire.Items(ctx, timelineEdges, feed.Edges, func(e edge[node], _ json.RawMessage) (schema.Post, bool) {
		n := e.Node.V
		author := schema.Actor{ID: n.author(), Handle: handle}
		if author.ID == "" {
			author.ID = handle
		}
		return n.post(author, e.Node.Raw), e.Node.Raw == nil || keep(n.isReel())
	})
	if err != nil {
		return page, 0, err
	}
	page.Next, err = feed.PageInfo.next(ctx)
	return page, feed.Edges.Len() + feed.Edges.Lost(), err
}

// feedVariables are the parameters of a query for posts. Their order, and those that mean nothing to us, are the site's
// own.
type feedVariables struct {
	After  *string `json:"after"`
	Before *string `json:"before"`
	Data   struct {
		Count             int  `json:"count"`
		SeenTimestamp     bool `json:"include_reel_media_seen_timestamp"`
		Relationship      bool `json:"include_relationship_info"`
		LatestBestiesReel bool `json:"latest_besties_reel_media"`
		LatestReel        bool `json:"latest_reel_media"`
	} `json:"data"`
	First     int     `json:"first"`
	Last      *string `json:"last"`
	Username  string  `json:"username"`
	LoggedIn  bool    `json:"__relay_internal__pv__PolarisIsLoggedInrelayprovider"`
	ShareIsV3 bool    `json:"__relay_internal__pv__PolarisShareSheetV3relayprovider"`
}

func feedOf(handle, cursor string) feedVariables {
	v := feedVariables{First: 12, Username: handle, LoggedIn: true, ShareIsV3: true}
	v.Data.Count, v.Data.SeenTimestamp, v.Data.Relationship = 12, true, true
	v.Data.LatestBestiesReel, v.Data.LatestReel = true, true
	if cursor != "" {
		v.After = &cursor
	}
	return v
}

// pageInfo leads to the next page.
type pageInfo struct {
	More wire.Bool  `json:"has_next_page"`
	End  wire.Token `json:"end_cursor"`
}

func (p pageInfo) next(ctx context.Context) (string, error) {
	if p.More.V != nil && !*p.More.V {
		return "", nil
	}
	end, err := p.End.Next(ctx, "page_info.end_cursor")
	if err != nil {
		return end, err
	}
	if p.More.V == nil {
		if err := wire.Need(ctx, "page_info.has_next_page", end != ""); err != nil {
			return end, err
		}
	}
	return end, wire.Need(ctx, "page_info.end_cursor", end != "")
}

var errPrivate = providers.NotFound("the account is private")

// firstPosts reads the posts that come with an account, when the list of them is empty or failed with err: those that
// the site's scripts get, else those on the account's page. It returns an empty page if the account has a count of 0.
func (s site) firstPosts(
	ctx context.Context, handle string, keep func(isReel bool) bool, err error,
) (none providers.Page[schema.Post], _ error) {
	u, missing := s.info(ctx, handle)
	count := u.V.Timeline.Count.V
	switch {
	case missing != nil && !elsewhere(missing):
		return none, missing
	case missing == nil && u.V.Private.Is():
		return none, errPrivate
	case missing == nil && u.V.Timeline.Edges.Len() > 0:
		return u.V.firstPosts(ctx, keep)
	case missing == nil && count != nil && *count == 0:
		return none, nil
	}
	page, found, gone := s.grid(ctx, handle, keep)
	switch {
	case found || gone != nil:
		return page, gone
	case err != nil:
		return none, err
	case count != nil:
		return none, errMembers
	}
	return none, wire.Witness{}.Check(ctx, timelineEdges)
}

// firstPosts returns the posts that came with u. The cursor of the next page is that of any other post: its number and
// the author's.
func (u webUser) firstPosts(ctx context.Context, keep func(isReel bool) bool) (page providers.Page[schema.Post], err error) {
	last, list := "", u.Timeline
	name := "edge_owner_to_timeline_media.edges"
	page.Items, err = wire.Items(ctx, name, list.Edges, func(e edge[item], _ json.RawMessage) (schema.Post, bool) {
		last = cmp.Or(string(e.Node.V.ID), last)
		return e.Node.V.post(e.Node.Raw), e.Node.Raw == nil || keep(e.Node.V.isReel())
	})
	if err != nil || list.PageInfo.More.Not() && list.PageInfo.More.V != nil {
		return page, err
	}
	if err := wire.Need(ctx, "edge_owner_to_timeline_media.edges[].node.id", last != "" && u.ID != ""); err != nil {
		return page, err
	}
	page.Next = last + "_" + string(u.ID)
	return page, nil
}
