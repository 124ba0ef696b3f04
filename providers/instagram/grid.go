package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// members is the cursor after the posts on an account's page. Visitors cannot see the page that it leads to.
const members = "members"

// grid reads the posts on an account's page: the newest twelve and the pinned ones, without counts and times. It
// reports false when the page has no such list.
func (s site) grid(
	ctx context.Context, handle string, keep func(isReel bool) bool,
) (page providers.Page[schema.Post], found bool, err error) {
	p, err := s.open(ctx, handle+"/")
	switch {
	case err != nil && elsewhere(err):
		return page, false, nil
	case err != nil:
		return page, false, err
	case p.account == nil || p.account.Raw == nil:
		if c := p.profiled; c != nil && c.posts != nil {
			return page, *c.posts == 0, counted(*c.posts)
		}
		return page, false, nil
	}
	m := p.account.V
	if err := wire.SameFold(ctx, "account", handle, m.Username); err != nil {
		return page, false, err
	}
	switch {
	case m.Private.Is():
		err = errPrivate
	case m.Timeline.Edges.Len()+m.Timeline.Edges.Lost() > 0:
		page, err = m.firstPosts(ctx, keep)
	case m.Posts.V == nil:
		return page, false, nil
	default:
		err = counted(*m.Posts.V)
	}
	return page, err == nil, err
}

// counted returns nil if an account has no posts.
func counted(posts int64) error {
	if posts == 0 {
		return nil
	}
	return errMembers
}

var errMembers = providers.Walled("Instagram only shows the posts of this account to logged-in users")

// firstPosts returns the posts on the page of m.
func (m member) firstPosts(ctx context.Context, keep func(isReel bool) bool) (page providers.Page[schema.Post], err error) {
	name := "polaris_ordered_timeline_connection.edges"
	page.Items, err = wire.Items(ctx, name, m.Timeline.Edges, func(e edge[node], _ json.RawMessage) (schema.Post, bool) {
		n := e.Node.V
		if n.Product == "" && n.Type.V != nil && *n.Type.V == video {
			n.Product = clips // since 2022 every other video is a reel
		}
		return n.post(m.actor(), e.Node.Raw), e.Node.Raw == nil || keep(n.isReel())
	})
	if err != nil {
		return page, err
	}
	// The posts have no times, by which the engine orders others: a higher number is a newer post.
	slices.SortStableFunc(page.Items, func(a, b schema.Post) int {
		return cmp.Or(cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
	})
	if more := m.Timeline.PageInfo.More; more.V == nil || *more.V {
		page.Next = members
	}
	return page, nil
}
