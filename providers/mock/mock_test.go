package mock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fetchedAt is the fetch time of every object in the tests.
var fetchedAt = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// answer is one page of any operation; for an operation that returns one object it is a page of one.
type answer struct {
	items []any // pointers to objects
	next  string
}

// call is an operation with word as its key, handle, id or query.
type call func(ctx context.Context, p providers.Provider, word, cursor string) (answer, error)

func one[T any](read func(ctx context.Context, p providers.Provider, word string) (T, error)) call {
	return func(ctx context.Context, p providers.Provider, word, _ string) (answer, error) {
		o, err := read(ctx, p, word)
		if err != nil {
			return answer{}, err
		}
		return answer{items: []any{stamp(p, &o)}}, nil
	}
}

func list[T any](read func(ctx context.Context, p providers.Provider, word, cursor string) (providers.Page[T], error)) call {
	return func(ctx context.Context, p providers.Provider, word, cursor string) (answer, error) {
		page, err := read(ctx, p, word, cursor)
		if err != nil {
			return answer{}, err
		}
		a := answer{next: page.Next}
		for i := range page.Items {
			a.items = append(a.items, stamp(p, &page.Items[i]))
		}
		return a, nil
	}
}

func stamp(p providers.Provider, o any) any {
	switch o := o.(type) {
	case *schema.SearchResult:
		p.Stamp(*o, fetchedAt)
	case schema.Object:
		p.Stamp(o, fetchedAt)
	case *providers.Storefront:
		o.Platform = p.Platform
	}
	return o
}

type (
	ctx  = context.Context
	prov = providers.Provider
)

// calls contains every operation.
var calls = map[providers.Op]call{
	providers.OpProfile: one(func(c ctx, p prov, w string) (schema.Profile, error) { return p.Profile(c, w) }),
	providers.OpFollowers: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Profile], error) {
		return p.Followers(c, w, cur)
	}),
	providers.OpFollowing: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Profile], error) {
		return p.Following(c, w, cur)
	}),
	providers.OpAudience: one(func(c ctx, p prov, w string) (schema.Audience, error) { return p.Audience(c, w) }),
	providers.OpLive:     one(func(c ctx, p prov, w string) (schema.LiveStream, error) { return p.Live(c, w) }),
	providers.OpLinked: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.LinkedProfile], error) {
		return p.Linked(c, w, cur)
	}),
	providers.OpPosts: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) { return p.Posts(c, w, cur) }),
	providers.OpPost:  one(func(c ctx, p prov, w string) (schema.Post, error) { return p.Post(c, w) }),
	providers.OpTrending: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) {
		return p.Trending(c, providers.TrendingQuery{Region: regionOf(w)}, cur)
	}),
	providers.OpSearch: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.SearchResult], error) {
		return p.Search(c, providers.SearchQuery{Query: w}, cur)
	}),
	providers.OpSuggestions: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Suggestion], error) {
		return p.Suggestions(c, providers.SuggestionsQuery{Query: w}, cur)
	}),
	providers.OpComments: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Comment], error) {
		return p.Comments(c, w, cur)
	}),
	providers.OpReplies: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Comment], error) {
		return p.Replies(c, providers.RepliesQuery{CommentID: w}, cur)
	}),
	providers.OpTranscript: one(func(c ctx, p prov, w string) (schema.Transcript, error) {
		return p.Transcript(c, providers.TranscriptQuery{PostID: w})
	}),
	providers.OpReels: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) { return p.Reels(c, w, cur) }),
	providers.OpCollections: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Collection], error) {
		return p.Collections(c, providers.CollectionsQuery{Handle: w}, cur)
	}),
	providers.OpCollection: one(func(c ctx, p prov, w string) (schema.Collection, error) {
		return p.Collection(c, providers.CollectionQuery{ID: w})
	}),
	providers.OpCollectionPosts: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) {
		return p.CollectionPosts(c, providers.CollectionQuery{ID: w}, cur)
	}),
	providers.OpCollectionTracks: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Track], error) {
		return p.CollectionTracks(c, providers.CollectionQuery{ID: w}, cur)
	}),
	providers.OpTrack:  one(func(c ctx, p prov, w string) (schema.Track, error) { return p.Track(c, w) }),
	providers.OpTracks: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Track], error) { return p.Tracks(c, w, cur) }),
	providers.OpTrackPosts: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) {
		return p.TrackPosts(c, w, cur)
	}),
	providers.OpCommunity: one(func(c ctx, p prov, w string) (schema.Profile, error) { return p.Community(c, w) }),
	providers.OpCommunityPosts: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Post], error) {
		return p.CommunityPosts(c, providers.CommunityPostsQuery{ID: w}, cur)
	}),
	providers.OpProducts: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Product], error) {
		return p.Products(c, providers.ProductsQuery{Handle: w}, cur)
	}),
	providers.OpProduct: one(func(c ctx, p prov, w string) (schema.Product, error) {
		return p.Product(c, providers.ProductQuery{ID: w})
	}),
	providers.OpReviews: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Review], error) { return p.Reviews(c, w, cur) }),
	providers.OpStore:   one(func(c ctx, p prov, w string) (providers.Storefront, error) { return p.Store(c, w) }),
	providers.OpAds: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Ad], error) {
		return p.Ads(c, providers.AdsQuery{AdvertiserID: w}, cur)
	}),
	providers.OpAdsSearch: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Ad], error) {
		return p.AdsSearch(c, providers.AdsSearchQuery{Query: w}, cur)
	}),
	providers.OpAd: one(func(c ctx, p prov, w string) (schema.Ad, error) { return p.Ad(c, w) }),
	providers.OpAdvertisers: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Advertiser], error) {
		return p.Advertisers(c, providers.AdvertisersQuery{Query: w}, cur)
	}),
	providers.OpEvent: one(func(c ctx, p prov, w string) (schema.Event, error) { return p.Event(c, w) }),
	providers.OpEvents: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Event], error) {
		return p.Events(c, providers.EventsQuery{Handle: w}, cur)
	}),
	providers.OpEventsSearch: list(func(c ctx, p prov, w, cur string) (providers.Page[schema.Event], error) {
		return p.EventsSearch(c, w, cur)
	}),
}

// singles are the operations that return one object.
var singles = map[providers.Op]bool{
	providers.OpProfile: true, providers.OpAudience: true, providers.OpLive: true, providers.OpPost: true,
	providers.OpTranscript: true, providers.OpCollection: true, providers.OpTrack: true, providers.OpCommunity: true,
	providers.OpProduct: true, providers.OpStore: true, providers.OpAd: true, providers.OpEvent: true,
}

// regionOf returns the region for a magic word if an operation has no key; "" for an ordinary word.
func regionOf(word string) string {
	for _, w := range mock.Magic() {
		if w.Word == word {
			return w.Region
		}
	}
	return ""
}

// walk reads a list to its end, up to most pages.
func (c call) walk(t *testing.T, p prov, word string, most int) []any {
	t.Helper()
	var items []any
	cursor := ""
	for range most {
		a, err := c(t.Context(), p, word, cursor)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, a.items...)
		if cursor = a.next; cursor == "" {
			return items
		}
	}
	t.Fatalf("%q has no end within %d pages", word, most)
	return nil
}

func id(o any) string {
	switch o := o.(type) {
	case *schema.SearchResult:
		return string(o.Kind) + ":" + o.Shared().ID
	case *providers.Storefront:
		return o.ID
	default:
		return o.(schema.Object).Shared().ID
	}
}

func TestEveryOperationIsServedAndAsked(t *testing.T) {
	t.Parallel()
	p := mock.New(mock.Config{})[0]
	for _, op := range providers.Ops() {
		if !p.Serves(op) {
			t.Errorf("%s is not served", op)
		}
		if calls[op] == nil {
			t.Errorf("%s is not asked by the tests", op)
		}
	}
	for op := range p.Filters {
		if !p.Serves(op) {
			t.Errorf("filters for %s", op)
		}
	}
}

// keys are ordinary words of all kinds: handles, ids of the sandbox, ids of other platforms, queries.
var keys = []string{
	"octocat", "سلمى", "salma_haddad-post-7", "ann-collection-2-song-1", "7412345678901234567", "t3_abc-1", "-x--1",
	"coffee in Riyadh", "☕️", "a/b?c#d <e>",
}

func TestEveryAnswerIsValid(t *testing.T) {
	t.Parallel()
	for op, ask := range calls {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			for _, key := range keys {
				p := mock.New(mock.Config{})[0]
				items := ask.walk(t, p, key, 6)
				if len(items) == 0 {
					t.Errorf("%q: nothing", key)
				}
				seen := map[string]bool{}
				for _, o := range items {
					if err := o.(interface{ Check() error }).Check(); err != nil {
						t.Errorf("%q: %v in %s", key, err, marshal(t, o))
					}
					if seen[id(o)] {
						t.Errorf("%q: %s twice", key, id(o))
					}
					seen[id(o)] = true
					if object, ok := o.(schema.Object); ok {
						if raw := object.Shared().Raw; len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
							t.Errorf("%q: raw %s", key, raw)
						}
					}
				}
			}
		})
	}
}

func TestEverySandboxSaysTheSame(t *testing.T) {
	t.Parallel()
	for op, ask := range calls {
		a, err := ask(t.Context(), mock.New(mock.Config{})[0], "octocat", "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := ask(t.Context(), mock.New(mock.Config{})[0], "octocat", "")
		if diff := cmp.Diff(string(marshal(t, a.items)), string(marshal(t, b.items))); diff != "" || err != nil {
			t.Errorf("%s differs between two sandboxes (-want +got):\n%s%v", op, diff, err)
		}
	}
}

func TestListsHavePagesOfAnHonestSize(t *testing.T) {
	t.Parallel()
	p := mock.New(mock.Config{})[0]
	for op, ask := range calls {
		if singles[op] {
			continue
		}
		first, err := ask(t.Context(), p, "salma_haddad", "")
		if err != nil {
			t.Fatal(err)
		}
		if op != providers.OpLinked && (len(first.items) < 10 || len(first.items) > 30) {
			t.Errorf("%s: a page of %d", op, len(first.items))
		}
		if op != providers.OpLinked && op != providers.OpSuggestions && first.next == "" {
			t.Errorf("%s: one page only", op)
		}
	}
}

// TestGolden compares the first three objects of each operation with testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	for op, ask := range calls {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			a, err := ask(t.Context(), mock.New(mock.Config{})[0], "salma_haddad", "")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, o := range a.items[:min(3, len(a.items))] {
				if err := json.Indent(&out, marshal(t, o), "", "  "); err != nil {
					t.Fatal(err)
				}
				out.WriteByte('\n')
			}
			file := filepath.Join("testdata", strings.ReplaceAll(string(op), "/", "-")+".golden.json")
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := schema.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestACursorThatWasNeverGivenIsDead(t *testing.T) {
	t.Parallel()
	for op, ask := range calls {
		if singles[op] {
			continue
		}
		for _, cursor := range []string{"0", "-1", "99", "1000001", "x", "2 "} {
			if a, err := ask(t.Context(), mock.New(mock.Config{})[0], "salma_haddad", cursor); !errors.Is(err, providers.ErrCursor) {
				t.Errorf("%s %q: %d objects, %v", op, cursor, len(a.items), err)
			}
		}
	}
}
