package soundcloud

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// own reads the website's own API. Its objects are those of the official API with some more fields.
type own struct {
	http      *upstream.Client
	clientIDs *upstream.Tokens
}

func newOwn(cfg Config) *own {
	return &own{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.OwnURL, "https://api-v2.soundcloud.com"), Check: checkOwn, Absent: isRefusalOwn, Credentials: credentials,
			Quota: upstream.NewQuota(0, 0),
		}),
		clientIDs: clientIDs(cfg),
	}
}

const (
	ownPage     = "20" // of every list but the next
	suggestSize = "10"
)

func (o *own) provider() providers.Provider {
	return providers.Provider{
		Name: "soundcloud_own", Platform: platform.SoundCloud, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf(ownPage, providers.OpPosts, providers.OpSearch, providers.OpComments,
			providers.OpCollections, providers.OpTracks).And(suggestSize, providers.OpSuggestions),
		Profile:     o.profile,
		Posts:       o.posts,
		Post:        o.post,
		Search:      o.search,
		Suggestions: o.suggestions,
		Comments:    o.comments,
		Collections: o.collections,
		Collection:  o.collection,
		Track:       o.track,
		Tracks:      o.tracks,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"track", "post", "profile", "collection"}},
		},
		Notes: map[providers.Op]string{
			providers.OpSuggestions:      "the suggestions of the website's search box",
			providers.OpCollectionTracks: "the website only returns numbers for most tracks of a playlist",
		},
	}
}

// with calls read with the website's client id, and again with a new one if that was refused.
func with[T any](ctx context.Context, o *own, r upstream.Request, read func(r upstream.Request) (T, error)) (T, error) {
	id, err := o.clientIDs.Get(ctx)
	if err != nil {
		var none T
		return none, err
	}
	v, err := read(r.With("client_id", id))
	if !errors.Is(err, errClientID) {
		return v, err
	}
	o.clientIDs.Drop(id)
	again, gerr := o.clientIDs.Get(ctx)
	if gerr != nil || again == id {
		return v, err
	}
	return read(r.With("client_id", again))
}

// readOwn reads a page of a list. count returns the number of all rows as just read, nil when it is unknown.
func readOwn[T any](ctx context.Context, o *own, r upstream.Request, cursor string, count *int64) (part[T], error) {
	p, err := with(ctx, o, r, func(r upstream.Request) (part[T], error) {
		return read[T](ctx, o.http, r, cursor)
	})
	if err != nil {
		return p, err
	}
	return p, p.witnessed(ctx, cursor, cmp.Or(count, p.total))
}

// ownObject reads the object of one kind by its number, its URN or its public page.
func ownObject[T thing](ctx context.Context, o *own, kind, key string) (wire.Object[T], error) {
	r := upstream.Get("resolve").With("url", site(key))
	if n, ok := number(kind, key); ok {
		r = upstream.Get(kind, n)
		if kind == "playlists" {
			r = r.With("representation", "compact")
		}
	}
	return with(ctx, o, r, func(r upstream.Request) (wire.Object[T], error) {
		var v wire.Object[T]
		res, err := o.http.Read(ctx, r, &v)
		if err != nil {
			return v, err
		}
		return v, expect(ctx, v.V, kind, key, res.Moved)
	})
}

func (o *own) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := ownObject[user](ctx, o, "users", handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return u.V.profile(u.Raw), nil
}

// belongings reads a list of an account.
func belongings[T, O any](
	ctx context.Context, o *own, handle, what, cursor string, count func(u user) *int64,
	convert func(v T, raw json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	u, err := ownObject[user](ctx, o, "users", handle)
	if err != nil {
		return page, err
	}
	r := upstream.Get("users", u.V.id(), what).With("limit", ownPage).With("linked_partitioning", "1")
	p, rerr := readOwn[T](ctx, o, r, cursor, count(u.V))
	return made(ctx, p, rerr, convert)
}

func (o *own) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return belongings(ctx, o, handle, "tracks", cursor, user.tracks, track.post)
}

func (o *own) tracks(ctx context.Context, handle, cursor string) (providers.Page[schema.Track], error) {
	return belongings(ctx, o, handle, "tracks", cursor, user.tracks, track.track)
}

func (o *own) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	return belongings(ctx, o, q.Handle, "playlists", cursor, user.playlists, playlist.collection)
}

func (o *own) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	p, err := ownObject[playlist](ctx, o, "playlists", q.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	out, _ := p.V.collection(p.Raw)
	return out, nil
}

func (o *own) post(ctx context.Context, id string) (schema.Post, error) {
	t, err := ownObject[track](ctx, o, "tracks", id)
	if err != nil {
		return schema.Post{}, err
	}
	out, _ := t.V.post(t.Raw)
	return out, nil
}

func (o *own) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := ownObject[track](ctx, o, "tracks", id)
	if err != nil {
		return schema.Track{}, err
	}
	out, _ := t.V.track(t.Raw)
	return out, nil
}

func (o *own) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := ownObject[track](ctx, o, "tracks", postID)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if err := open(t.V); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	r := upstream.Get("tracks", t.V.id(), "comments").With("threaded", "0").With("filter_replies", "1").With("limit", ownPage)
	cs, err := readOwn[comment](ctx, o, r, cursor, t.V.Comments.V)
	return made(ctx, cs, err, t.V.comment)
}
