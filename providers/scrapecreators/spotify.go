package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/spotify"
	"github.com/socialdata/socialdata/schema"
)

// spotifyReads reads data of Spotify's web player.
type spotifyReads struct{ *client }

func (c *client) spotify() providers.Provider {
	r := spotifyReads{c}
	kinds := []string{"album", "playlist", "podcast"}
	return providers.Provider{
		Platform:         platform.Spotify,
		Profile:          one(c, spotifyAsk("artist"), "", wire.As(spotifyArtist.profile), sameAccount),
		Posts:            r.posts,
		Post:             r.post,
		Search:           r.search,
		Collections:      r.collections,
		Collection:       r.collection,
		CollectionTracks: r.collectionTracks,
		Track:            one(c, spotifyAsk("track"), "", alone(spotifyTrack.row), sameTrack),
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:           {"kind": {"profile", "track", "collection"}},
			providers.OpCollections:      {"kind": {"album"}},
			providers.OpCollection:       {"kind": kinds},
			providers.OpCollectionTracks: {"kind": kinds},
		},
	}
}

// spotifyAsk asks for one thing by its id.
func spotifyAsk(route string) ask[string] {
	return func(_ context.Context, id string) (upstream.Request, error) {
		if len(id) != 22 {
			return upstream.Request{}, providers.Unsupported("ScrapeCreators only finds things on Spotify by id")
		}
		return upstream.Get("v1/spotify", route).Says("id", id), nil
	}
}

const spotifySite = "https://open.spotify.com/"

// spotifyThing reads one thing by its id, which the answer must have.
func spotifyThing[T any](ctx context.Context, c *client, route, id string, idOf func(T) string) (v wire.Object[T], err error) {
	r, err := spotifyAsk(route)(ctx, id)
	if err != nil {
		return v, err
	}
	if _, err := c.http.Read(ctx, r, &v); err != nil {
		return v, err
	}
	return v, wire.Same(ctx, route, id, idOf(v.V))
}

func (r spotifyReads) artist(ctx context.Context, handle string) (wire.Object[spotifyArtist], error) {
	return spotifyThing(ctx, r.client, "artist", handle, func(a spotifyArtist) string { return a.ID })
}

// posts reads the albums that the artist's page shows.
func (r spotifyReads) posts(ctx context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
	a, err := r.artist(ctx, handle)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "discography.albums", a.V.Discography.Albums,
		func(album spotifyAlbum, raw json.RawMessage) (schema.Post, bool) {
			return album.post(a.V.actor(), raw), true
		})
	return page, err
}

func (r spotifyReads) collections(
	ctx context.Context, q providers.CollectionsQuery, _ string,
) (page providers.Page[schema.Collection], err error) {
	a, err := r.artist(ctx, q.Handle)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "discography.albums", a.V.Discography.Albums,
		func(album spotifyAlbum, raw json.RawMessage) (schema.Collection, bool) {
			return album.collection(a.V.actor(), raw), true
		})
	return page, err
}

func (r spotifyReads) album(ctx context.Context, id string) (wire.Object[spotifyAlbum], error) {
	return spotifyThing(ctx, r.client, "album", id, spotifyAlbum.id)
}

func (r spotifyReads) post(ctx context.Context, id string) (schema.Post, error) {
	a, err := r.album(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return a.V.post(a.V.author(), a.Raw), nil
}

func (r spotifyReads) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	return spotify.ByKind(q, func(kind schema.CollectionKind, id string) (c schema.Collection, err error) {
		if kind != schema.Playlist && kind != schema.Podcast {
			a, err := r.album(ctx, id)
			if err != nil {
				return c, err
			}
			return a.V.collection(a.V.author(), a.Raw), nil
		}
		p, err := spotifyThing(ctx, r.client, string(kind), id, spotifyList.id)
		if err != nil {
			return c, err
		}
		return p.V.collection(kind, p.Raw), nil
	})
}

func (r spotifyReads) collectionTracks(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (providers.Page[schema.Track], error) {
	return spotify.ByKind(q, func(kind schema.CollectionKind, id string) (page providers.Page[schema.Track], err error) {
		switch kind {
		case schema.Playlist:
			ask := upstream.Get("v1/spotify/playlist").Says("id", id).With("cursor", cursor)
			return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "tracks", Next: "cursor"}, spotifyTrack.row)
		case schema.Podcast:
			ask := upstream.Get("v1/spotify/podcast/episodes").Says("id", id).With("cursor", cursor)
			return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "episodes", Next: "cursor"}, spotifyTrack.row)
		default:
		}
		a, err := r.album(ctx, id)
		if err != nil {
			return page, err
		}
		page.Items, err = wire.Items(ctx, "tracksV2", a.V.Tracks, func(t spotifyEntry, raw json.RawMessage) (schema.Track, bool) {
			t.Track.Album = a.V
			return t.Track.row(raw)
		})
		return page, err
	})
}

// search searches a few of each kind: collections first, then tracks, then artists.
func (r spotifyReads) search(
	ctx context.Context, q providers.SearchQuery, _ string,
) (page providers.Page[schema.SearchResult], err error) {
	var answer json.RawMessage
	if _, err := r.http.Read(ctx, upstream.Get("v1/spotify/search").Says("query", q.Query), &answer); err != nil {
		return page, err
	}
	lists := func(kind schema.CollectionKind) func(spotifyList, json.RawMessage) (schema.Collection, bool) {
		return func(l spotifyList, raw json.RawMessage) (schema.Collection, bool) {
			return l.collection(kind, raw), true
		}
	}
	albums := func(album spotifyAlbum, raw json.RawMessage) (schema.Collection, bool) {
		return album.collection(album.author(), raw), true
	}
	for _, part := range []struct {
		kind schema.ResultKind
		read func() ([]schema.SearchResult, error)
	}{
		{schema.CollectionResult, found(ctx, answer, "podcasts", lists(schema.Podcast))},
		{schema.CollectionResult, found(ctx, answer, "albumsV2", albums)},
		{schema.CollectionResult, found(ctx, answer, "playlists", lists(schema.Playlist))},
		{schema.TrackResult, found(ctx, answer, "tracksV2", spotifyTrack.row)},
		{schema.ProfileResult, found(ctx, answer, "artists", certain(spotifyArtist.profile))},
	} {
		if q.Kind != "" && q.Kind != part.kind {
			continue
		}
		items, err := part.read()
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, items...)
	}
	return page, nil
}

// spotifyPicture is one picture in several sizes, in any order.
type spotifyPicture struct {
	Sources []struct {
		URL   string     `json:"url"`
		Width wire.Count `json:"width"` // null when there is only one
	} `json:"sources"`
}

// widest returns the address of the widest size, nil when there is none.
func (p spotifyPicture) widest() *string {
	var found *string
	most := int64(-1)
	for _, s := range p.Sources {
		width := int64(0)
		if s.Width.V != nil {
			width = *s.Width.V
		}
		if u := text.URL(s.URL); u != nil && width > most {
			found, most = u, width
		}
	}
	return found
}

// spotifyID returns id, or the end of a URI such as spotify:track:0LfCnR4s7l6T4TyCNNsHBs.
func spotifyID(id, uri string) string { return cmp.Or(id, uri[strings.LastIndexByte(uri, ':')+1:]) }

type spotifyArtist struct {
	ID         string `json:"id"`
	URI        string `json:"uri"`
	Reputation struct {
		Verification struct {
			Verified bool `json:"isVerified"`
		} `json:"verification"`
	} `json:"onPlatformReputationTrait"`
	Profile struct {
		Name      string `json:"name"`
		Biography struct {
			Text string `json:"text"` // HTML
		} `json:"biography"`
		Links []struct {
			URL string `json:"url"`
		} `json:"externalLinks"`
	} `json:"profile"`
	Stats struct {
		Followers wire.Count `json:"followers"`
	} `json:"stats"` // absent in lists, like much else
	Visuals struct {
		Avatar spotifyPicture `json:"avatarImage"`
	} `json:"visuals"`
	Discography struct {
		Albums wire.Rows[spotifyAlbum] `json:"albums"`
	} `json:"discography"`
}

func (a spotifyArtist) actor() schema.Actor {
	id := spotifyID(a.ID, a.URI)
	if id == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: id, Handle: id, DisplayName: text.NonEmpty(a.Profile.Name), AvatarURL: a.Visuals.Avatar.widest()}
}

func (a spotifyArtist) profile(raw json.RawMessage) schema.Profile {
	id := spotifyID(a.ID, a.URI)
	var links []string
	for _, l := range a.Profile.Links {
		links = append(links, l.URL)
	}
	return schema.Profile{
		Common:      schema.Common{ID: id, URL: spotifySite + "artist/" + id, Raw: raw},
		Handle:      id,
		DisplayName: text.NonEmpty(a.Profile.Name),
		Bio:         text.NonEmpty(text.FromHTML(a.Profile.Biography.Text)),
		AvatarURL:   a.Visuals.Avatar.widest(),
		Verified:    a.Reputation.Verification.Verified,
		Followers:   a.Stats.Followers.V,
		Links:       text.URLs(links...),
	}
}

// spotifyDate is a day, a month or a year.
type spotifyDate struct {
	ISO   wire.Time  `json:"isoString"`
	Year  wire.Count `json:"year"`
	Month wire.Count `json:"month"`
	Day   wire.Count `json:"day"`
}

func (d spotifyDate) time() *time.Time {
	if d.ISO.V != nil || d.Year.V == nil || *d.Year.V < 1 || *d.Year.V > 9999 {
		return d.ISO.V
	}
	part := func(n wire.Count, most int64) int {
		if n.V == nil || *n.V < 1 || *n.V > most {
			return 1
		}
		return int(*n.V)
	}
	return new(time.Date(int(*d.Year.V), time.Month(part(d.Month, 12)), part(d.Day, 31), 0, 0, 0, 0, time.UTC))
}

type spotifyAlbum struct {
	ID      string                  `json:"id"`
	URI     string                  `json:"uri"`
	Name    string                  `json:"name"`
	Cover   spotifyPicture          `json:"coverArt"`
	Date    spotifyDate             `json:"date"`
	Artists []spotifyArtist         `json:"artists"`
	Tracks  wire.Rows[spotifyEntry] `json:"tracksV2"` // for a single album
	Discs   []spotifyTotal          `json:"discs"`
	Total   struct {
		Count wire.Count `json:"totalCount"`
	} `json:"tracks"` // in lists
}

type spotifyTotal struct {
	Tracks struct {
		Count wire.Count `json:"totalCount"`
	} `json:"tracks"`
}

func (a spotifyAlbum) id() string { return spotifyID(a.ID, a.URI) }

func (a spotifyAlbum) author() schema.Actor {
	if len(a.Artists) == 0 {
		return schema.UnknownActor()
	}
	return a.Artists[0].actor()
}

func (a spotifyAlbum) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: a.id(), URL: spotifySite + "album/" + a.id(), Raw: raw}
}

func (a spotifyAlbum) post(author schema.Actor, raw json.RawMessage) schema.Post {
	p := schema.Post{Common: a.common(raw), Author: author, Text: a.Name, CreatedAt: a.Date.time()}
	if cover := a.Cover.widest(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover}}
	}
	return p
}

func (a spotifyAlbum) collection(owner schema.Actor, raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common: a.common(raw), Kind: schema.Album, Title: a.Name, Owner: &owner,
		ItemsCount: a.count(), CoverURL: a.Cover.widest(), CreatedAt: a.Date.time(),
	}
}

// count returns the number of tracks, nil when that of one disc is unknown.
func (a spotifyAlbum) count() *int64 {
	if a.Total.Count.V != nil || len(a.Discs) == 0 {
		return a.Total.Count.V
	}
	var n int64
	for _, d := range a.Discs {
		if d.Tracks.Count.V == nil {
			return nil
		}
		n += *d.Tracks.Count.V
	}
	return &n
}

// spotifyList is a playlist or a podcast.
type spotifyList struct {
	ID          string           `json:"id"`
	URI         string           `json:"uri"`
	Name        string           `json:"name"`
	Description string           `json:"description"` // with HTML entities
	Images      []spotifyPicture `json:"images"`      // of a playlist
	Cover       spotifyPicture   `json:"coverArt"`    // of a podcast
	Owner       spotifyOwner     `json:"ownerV2"`
	Publisher   struct {
		Name string `json:"name"`
	} `json:"publisher"`
	Total wire.Count `json:"totalCount"`
}

// spotifyOwner is a user; in a search it is within data.
type spotifyOwner struct {
	spotifyUser
	Data spotifyUser `json:"data"`
}

type spotifyUser struct {
	Name     string `json:"name"`
	URI      string `json:"uri"`
	Username string `json:"username"`
}

func (l spotifyList) id() string { return spotifyID(l.ID, l.URI) }

func (l spotifyList) collection(kind schema.CollectionKind, raw json.RawMessage) schema.Collection {
	path, cover := "playlist/", l.Cover.widest()
	if kind == schema.Podcast {
		path = "show/"
	} else if len(l.Images) > 0 {
		cover = l.Images[0].widest()
	}
	c := schema.Collection{
		Common: schema.Common{ID: l.id(), URL: spotifySite + path + l.id(), Raw: raw},
		Kind:   kind, Title: l.Name, Description: text.NonEmpty(text.FromHTML(l.Description)), ItemsCount: l.Total.V, CoverURL: cover,
	}
	user := l.Owner.spotifyUser
	if user == (spotifyUser{}) {
		user = l.Owner.Data
	}
	if id := spotifyID(user.Username, user.URI); id != "" {
		c.Owner = &schema.Actor{ID: id, Handle: id, DisplayName: text.NonEmpty(user.Name)}
	}
	return c
}

type spotifyEntry struct {
	Track spotifyTrack `json:"track"`
}

// spotifyTrack is a song or an episode.
type spotifyTrack struct {
	ID       string          `json:"id"`
	URI      string          `json:"uri"`
	Kind     string          `json:"__typename"` // "Track", "Episode"; absent in some lists
	Name     string          `json:"name"`
	Album    spotifyAlbum    `json:"albumOfTrack"`
	First    []spotifyArtist `json:"firstArtist"`
	Others   []spotifyArtist `json:"otherArtists"`
	Artists  []spotifyArtist `json:"artists"`
	Cover    spotifyPicture  `json:"coverArt"`    // of an episode
	Released spotifyDate     `json:"releaseDate"` // of an episode
	Plays    wire.Count      `json:"playcount"`
	Duration struct {
		Millis wire.Float `json:"totalMilliseconds"`
	} `json:"duration"`
	Rating struct {
		Label string `json:"label"` // "EXPLICIT", "NONE"
	} `json:"contentRating"`
	Preview struct {
		Audio struct {
			URL string `json:"cdnUrl"`
		} `json:"audioPreview"`
	} `json:"previewPlayback"` // of an episode
	Podcast spotifyList `json:"podcastV2"`
}

func (t spotifyTrack) id() string { return spotifyID(t.ID, t.URI) }

// row reports whether the track is Spotify's own: a playlist may contain its owner's files.
func (t spotifyTrack) row(raw json.RawMessage) (schema.Track, bool) {
	path := "track/"
	if t.Kind == "Episode" || strings.HasPrefix(t.URI, "spotify:episode:") {
		path = "episode/"
	}
	out := schema.Track{
		Common: schema.Common{ID: t.id(), URL: spotifySite + path + t.id(), Raw: raw},
		Title:  t.Name, Album: text.NonEmpty(cmp.Or(t.Album.Name, t.Podcast.Name)), DurationS: t.Duration.Millis.Seconds(),
		CoverURL: t.Album.Cover.widest(), ReleasedAt: t.Album.Date.time(), Plays: t.Plays.V,
		AudioURL: text.URL(t.Preview.Audio.URL),
	}
	if path == "episode/" {
		out.CoverURL, out.ReleasedAt = t.Cover.widest(), t.Released.time()
	}
	if l := t.Rating.Label; l == "EXPLICIT" || l == "NONE" {
		out.Explicit = new(l == "EXPLICIT")
	}
	for _, a := range slices.Concat(t.First, t.Others, t.Artists) {
		if a.Profile.Name != "" {
			out.Artists = append(out.Artists, a.Profile.Name)
		}
	}
	if len(out.Artists) == 0 {
		out.Artists = text.Each([]string{t.Podcast.Name})
	}
	return out, !strings.HasPrefix(t.URI, "spotify:local:")
}
