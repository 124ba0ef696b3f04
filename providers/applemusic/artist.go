package applemusic

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	patience       = 3 * time.Second // maximum wait for optional parts of a profile
	patienceForAll = 2 * patience    // maximum wait for optional parts of all profiles in a batch
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	in, id := storeOf(c.markets, handle)
	var r wire.Object[row]
	var err error
	if links.Digits(id) {
		r, _, err = c.lookup(ctx, in, id, "artist", "")
	} else {
		r, err = c.named(ctx, in, id)
	}
	if err != nil {
		return schema.Profile{}, err
	}
	p := r.V.profile(in, r.Raw)
	c.complete(ctx, &p)
	return p, nil
}

// profiles reads artists by their ids, and adds what the Apple Music API has about each, with one request for each.
// Names are read by profile.
func (c *client) profiles(ctx context.Context, handles []string) (map[string]schema.Profile, error) {
	found, err := c.lookups(ctx, handles)
	all, err := providers.PerKey(handles, err, func(handle string) (schema.Profile, error) {
		in, r, err := found.of(ctx, handle, "artist")
		if err != nil {
			return schema.Profile{}, err
		}
		return r.V.profile(in, r.Raw), nil
	})
	if c.catalog == nil {
		return all, err
	}
	brief, cancel := context.WithTimeout(ctx, patienceForAll)
	defer cancel()
	here := slices.Sorted(maps.Keys(all))
	whole := make([]schema.Profile, len(here))
	upstream.ForEach(brief, len(here), func(i int) {
		whole[i] = all[here[i]]
		c.complete(brief, &whole[i])
	})
	for i, handle := range here {
		if whole[i].ID != "" { // it was read in time
			all[handle] = whole[i]
		}
	}
	return all, err
}

// complete adds an artist's biography and picture, which only the Apple Music API has. A failure to read them is
// ignored.
func (c *client) complete(ctx context.Context, p *schema.Profile) {
	if c.catalog == nil {
		return
	}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in, id := storeOf(c.markets, p.ID)
	full, err := c.catalog.one(brief, "artists", in, id)
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("bio", "avatar_url")
		return
	}
	p.Bio, p.AvatarURL = full.V.Attributes.bio(), full.V.Attributes.Artwork.url()
}

// named finds the artist with exactly that name in a storefront, ignoring case. If several artists have the name, it is the one that
// Apple lists first.
func (c *client) named(ctx context.Context, in store, name string) (wire.Object[row], error) {
	found, err := c.rows(ctx, c.term(name, "musicArtist", in).With("limit", "5"))
	if err != nil {
		return wire.Object[row]{}, err
	}
	odd := found.Lost() > 0
	for _, r := range found.All() {
		if r.V.isArtist() && sameName(r.V.ArtistName, name) {
			return r, wire.Need(ctx, "artistId", r.V.ArtistID != "")
		}
		odd = odd || r.V.odd() || r.V.isArtist() && r.V.ArtistName == ""
	}
	return wire.Object[row]{}, noArtist(odd, in)
}

// sameName compares an artist's name with the requested one, which is in lower case.
func sameName(name, asked string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(name), " "), asked)
}

// noArtist returns the error for a name that no artist in the results has. If odd is true, some results are malformed
// and one of them may be the artist.
func noArtist(odd bool, in store) error {
	if odd {
		return providers.Unreadable(nil)
	}
	return providers.NotFound("Apple Music has no artist of exactly that name in storefront %s", in.country)
}

// artistID returns the number of an artist in a storefront, given the number or the name.
func (c *client) artistID(ctx context.Context, in store, of string) (string, error) {
	if links.Digits(of) {
		return of, nil
	}
	r, err := c.named(ctx, in, of)
	return string(r.V.ArtistID), err
}

func (r row) profile(in store, raw json.RawMessage) schema.Profile {
	id := in.id(string(r.ArtistID))
	p := schema.Profile{
		Common:      schema.Common{ID: id, URL: link(r.ArtistURL), Raw: raw},
		Handle:      id,
		DisplayName: text.NonEmpty(r.ArtistName),
	}
	if !strings.HasPrefix(p.URL, "https://music.apple.com/") { // of the former iTunes Store
		p.URL = in.page("artist/" + string(r.ArtistID))
	}
	return p
}
