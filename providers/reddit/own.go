package reddit

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

const defaultWeb = "https://www.reddit.com"

// web is the public site.
type web struct{ http *upstream.Client }

func newWeb(cfg Config) web {
	h := header(cfg)
	h.Set("Accept", "*/*")
	return web{upstream.New(upstream.Config{
		HTTP: upstream.Still(cfg.HTTP), Base: cmp.Or(cfg.WebURL, defaultWeb), Header: h, Check: check, Absent: absent,
		// Reddit does not document the limit; since June 2026 it has been about one read a minute.
		Quota: upstream.NewQuota(10, 10*time.Minute),
	})}
}

func newOwn(cfg Config) providers.Provider {
	w := newWeb(cfg)
	p := providers.Provider{
		Name: "reddit_own", Platform: platform.Reddit, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(feedSize), providers.OpPosts, providers.OpSearch, providers.OpComments,
			providers.OpCommunityPosts),
		Limits:         upstream.Limits(map[string]*upstream.Quota{"pages": w.http.Quota()}),
		Posts:          w.posts,
		Search:         w.find,
		Comments:       w.comments,
		CommunityPosts: w.communityPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:          providers.NewestFirst(),
			providers.OpSearch:         {"kind": {"post"}, "sort": {"recent", "relevance", "top", "comments"}, "handle": nil},
			providers.OpCommunityPosts: {"sort": {"recent", "hot", "top", "rising"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:          "without credentials: from the Atom feed, without counts, about one read a minute",
			providers.OpSearch:         "without credentials: posts, from the Atom feed",
			providers.OpComments:       "without credentials: one page, from the Atom feed, without the parents of replies",
			providers.OpCommunityPosts: "without credentials: from the Atom feed, without counts",
		},
	}
	return p.IfOwn(cfg.Own, true)
}

// resolve returns the target of id if it is a share link, and otherwise id.
func (w web) resolve(ctx context.Context, s providers.Subject, id string) (string, error) {
	if !strings.Contains(id, "/s/") {
		return id, nil
	}
	_, err := w.http.Do(ctx, upstream.Get(id))
	moved, ok := errors.AsType[*movedError](err)
	switch {
	case err != nil && !ok:
		return "", err
	case !ok:
		return "", providers.NotFound("this share link has no target")
	}
	to, err := addresses.Normalize(s, moved.to)
	if err != nil || strings.Contains(to, "/") {
		return "", providers.NotFound("this share link leads to no %s", s)
	}
	return to, nil
}
