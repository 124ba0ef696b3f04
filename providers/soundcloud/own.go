package soundcloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// own reads what the website reads. Its objects are those of the official interface with some more fields.
type own struct {
	http      *upstream.Client
	clientIDs *upstream.Tokens
}

func newOwn(cfg Config) *own {
	return &own{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.OwnURL, "https://api-v2.soundcloud.com"), Check: checkOwn, Quota: upstream.NewQuota(0, 0),
		}),
		clientIDs: clientIDs(cfg),
	}
}

func (o *own) provider() providers.Provider {
	return providers.Provider{
		Name: "soundcloud_own", Platform: platform.SoundCloud, Source: schema.Own,
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

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"track", "post", "profile", "collection"}},
		},
		Notes: map[providers.Op]string{
			providers.OpSuggestions:      "as the website's search box completes",
			providers.OpCollectionTracks: "the website gives most of a playlist's tracks as numbers only",
		},
	}
}

// errClientID says that the website's client id is no longer good.
var errClientID = &providers.Error{Kind: providers.ErrUnavailable, Detail: "SoundCloud has changed its website's client id"}

func checkOwn(res *upstream.Response) error {
	switch res.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errClientID
	case http.StatusBadRequest:
		if q := res.URL.Query(); q.Has("offset") {
			return providers.ErrCursor
		}
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout}
	}
	return nil
}

// with calls read with the website's client id, and once more with a new one when that was refused.
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

// ownList is a page and the cursor behind it.
type ownList[T any] struct {
	objects []upstream.Object[T]
	next    string
}

func readOwn[T any](ctx context.Context, o *own, r upstream.Request, cursor string) ([]upstream.Object[T], string, error) {
	l, err := with(ctx, o, r, func(r upstream.Request) (ownList[T], error) {
		objects, next, err := read[T](ctx, o.http, r, cursor)
		return ownList[T]{objects, next}, err
	})
	return l.objects, l.next, err
}

// ownObject reads the object of one kind by its number, its URN or its public page.
func ownObject[T interface{ is() string }](ctx context.Context, o *own, kind, key string) (upstream.Object[T], error) {
	r := upstream.Get("resolve").With("url", site(key))
	if n := tail(key); links.Digits(n) && (n != key || kind != "users") {
		r = upstream.Get(kind, n)
		if kind == "playlists" {
			r = r.With("representation", "compact")
		}
	}
	return with(ctx, o, r, func(r upstream.Request) (upstream.Object[T], error) {
		var v upstream.Object[T]
		if _, err := o.http.JSON(ctx, r, &v); err != nil {
			return v, err
		}
		return v, expect(v.V, kind)
	})
}

func (o *own) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := ownObject[user](ctx, o, "users", handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("soundcloud_own: profile %q: %w", handle, err)
	}
	return u.V.profile(u.Raw), nil
}

// belongings reads a list of an account.
func belongings[T any](ctx context.Context, o *own, handle, what, cursor string) ([]upstream.Object[T], string, error) {
	u, err := ownObject[user](ctx, o, "users", handle)
	if err != nil {
		return nil, "", err
	}
	r := upstream.Get("users", u.V.id(), what).With("limit", "20").With("linked_partitioning", "1")
	return readOwn[T](ctx, o, r, cursor)
}

func (o *own) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	ts, next, err := belongings[track](ctx, o, handle, "tracks", cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("soundcloud_own: posts of %q: %w", handle, err)
	}
	return providers.Page[schema.Post]{Items: convert(ts, track.post), Next: next}, nil
}

func (o *own) tracks(ctx context.Context, handle, cursor string) (providers.Page[schema.Track], error) {
	ts, next, err := belongings[track](ctx, o, handle, "tracks", cursor)
	if err != nil {
		return providers.Page[schema.Track]{}, fmt.Errorf("soundcloud_own: tracks of %q: %w", handle, err)
	}
	return providers.Page[schema.Track]{Items: convert(ts, track.track), Next: next}, nil
}

func (o *own) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	ps, next, err := belongings[playlist](ctx, o, q.Handle, "playlists", cursor)
	if err != nil {
		return providers.Page[schema.Collection]{}, fmt.Errorf("soundcloud_own: collections of %q: %w", q.Handle, err)
	}
	return providers.Page[schema.Collection]{Items: convert(ps, playlist.collection), Next: next}, nil
}

func (o *own) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	p, err := ownObject[playlist](ctx, o, "playlists", q.ID)
	if err != nil {
		return schema.Collection{}, fmt.Errorf("soundcloud_own: collection %q: %w", q.ID, err)
	}
	return p.V.collection(p.Raw), nil
}

func (o *own) post(ctx context.Context, id string) (schema.Post, error) {
	t, err := ownObject[track](ctx, o, "tracks", id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("soundcloud_own: post %q: %w", id, err)
	}
	return t.V.post(t.Raw), nil
}

func (o *own) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := ownObject[track](ctx, o, "tracks", id)
	if err != nil {
		return schema.Track{}, fmt.Errorf("soundcloud_own: track %q: %w", id, err)
	}
	return t.V.track(t.Raw), nil
}

func (o *own) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := ownObject[track](ctx, o, "tracks", postID)
	var cs []upstream.Object[comment]
	next := ""
	if err == nil {
		err = open(t.V)
	}
	if err == nil {
		r := upstream.Get("tracks", t.V.id(), "comments").With("threaded", "0").With("filter_replies", "1").With("limit", "20")
		cs, next, err = readOwn[comment](ctx, o, r, cursor)
	}
	if err != nil {
		return providers.Page[schema.Comment]{}, fmt.Errorf("soundcloud_own: comments of %q: %w", postID, err)
	}
	return providers.Page[schema.Comment]{Items: convert(cs, t.V.comment), Next: next}, nil
}
