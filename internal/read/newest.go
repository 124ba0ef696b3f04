package read

import (
	"context"
	"slices"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Newest reads a page of an account's posts, given by the first parameter, and orders it: the newest come first,
// whatever the order of the upstream (D109).
func Newest(pick func(*providers.Provider) providers.List[schema.Post]) Source {
	return paged[schema.Post](func(ctx context.Context, p *providers.Provider, in operation.Args, token string) (providers.Page[schema.Post], error) {
		page, err := pick(p)(ctx, in.Values[0], token)
		if err == nil {
			page.Items = newestFirst(ctx, page.Items, token == "")
		}
		return page, err
	})
}

// mostPins is how many pinned posts may come first in a list: no platform allows more.
const mostPins = 3

// newestFirst returns posts in order, those without a time last. It reports a list in another order as drift, except
// for the pinned posts at the head of the first page.
func newestFirst(ctx context.Context, posts []schema.Post, first bool) []schema.Post {
	if slices.IsSortedFunc(posts, newest) {
		return posts
	}
	dated := slices.DeleteFunc(slices.Clone(posts), func(p schema.Post) bool { return p.CreatedAt == nil })
	for pins := 0; !slices.IsSortedFunc(dated, newest); pins++ {
		if !first || pins == mostPins {
			callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{"created_at"}})
			break
		}
		dated = dated[1:]
	}
	return slices.SortedStableFunc(slices.Values(posts), newest)
}

// newest is a comparison by time: the latest first, unknown ones last.
func newest(a, b schema.Post) int {
	switch at, bt := a.CreatedAt, b.CreatedAt; {
	case at == nil && bt == nil:
		return 0
	case at == nil:
		return 1
	case bt == nil:
		return -1
	default:
		return bt.Compare(*at)
	}
}
