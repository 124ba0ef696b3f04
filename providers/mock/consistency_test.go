package mock_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// alone maps list operations to the operation that reads one element.
var alone = map[providers.Op]providers.Op{
	providers.OpFollowers: providers.OpProfile, providers.OpFollowing: providers.OpProfile,
	providers.OpPosts: providers.OpPost, providers.OpReels: providers.OpPost, providers.OpTrending: providers.OpPost,
	providers.OpCollectionPosts: providers.OpPost, providers.OpTrackPosts: providers.OpPost, providers.OpCommunityPosts: providers.OpPost,
	providers.OpCollections: providers.OpCollection, providers.OpTracks: providers.OpTrack, providers.OpCollectionTracks: providers.OpTrack,
	providers.OpProducts: providers.OpProduct, providers.OpAds: providers.OpAd, providers.OpAdsSearch: providers.OpAd,
	providers.OpEvents: providers.OpEvent, providers.OpEventsSearch: providers.OpEvent,
}

func TestWhatIsListedCanBeReadAndSaysTheSame(t *testing.T) {
	t.Parallel()
	p := mock.New(mock.Config{})[0]
	for list, single := range alone {
		for _, word := range []string{"salma_haddad", "octocat", "12345"} {
			for _, o := range calls[list].walk(t, p, word, 6) {
				readsTheSame(t, p, single, o)
			}
		}
	}
}

func TestWhatASearchFindsCanBeReadAndSaysTheSame(t *testing.T) {
	t.Parallel()
	p := mock.New(mock.Config{})[0]
	ops := map[schema.ResultKind]providers.Op{
		schema.ProfileResult: providers.OpProfile, schema.PostResult: providers.OpPost, schema.ProductResult: providers.OpProduct,
		schema.TrackResult: providers.OpTrack, schema.CollectionResult: providers.OpCollection,
	}
	kinds := map[schema.ResultKind]int{}
	for _, o := range calls[providers.OpSearch].walk(t, p, "salma haddad", 6) {
		r := o.(*schema.SearchResult)
		kinds[r.Kind]++
		if op, ok := ops[r.Kind]; ok {
			readsTheSame(t, p, op, r.Object)
		}
	}
	for _, kind := range schema.ResultKinds() {
		if kinds[kind] == 0 {
			t.Errorf("no %s found", kind)
		}
	}
}

func readsTheSame(t *testing.T, p prov, op providers.Op, o any) {
	t.Helper()
	key := id(o)
	if profile, ok := o.(*schema.Profile); ok {
		key = profile.Handle
	}
	a, err := calls[op](t.Context(), p, key, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(marshal(t, o)), string(marshal(t, a.items[0]))); diff != "" {
		t.Errorf("%s %s says something else than its list (-listed +read):\n%s", op, key, diff)
	}
}

func TestCommentsRepliesAndCountsFitTogether(t *testing.T) {
	t.Parallel()
	p := mock.New(mock.Config{})[0]
	for _, o := range calls[providers.OpPosts].walk(t, p, "octocat", 6)[:5] {
		post := o.(*schema.Post)
		comments := calls[providers.OpComments].walk(t, p, post.ID, 6)
		if n := post.Engagement.Comments; n != nil && *n != int64(len(comments)) {
			t.Errorf("%s counts %d comments and has %d", post.ID, *n, len(comments))
		}
		for i, o := range comments {
			c := o.(*schema.Comment)
			if c.PostID != post.ID || c.ReplyToID != nil {
				t.Errorf("%s is under %s and answers %v", c.ID, c.PostID, c.ReplyToID)
			}
			if c.CreatedAt != nil && (c.CreatedAt.Before(*post.CreatedAt) || c.CreatedAt.After(mock.Epoch)) {
				t.Errorf("%s is from %s, its post from %s", c.ID, c.CreatedAt, post.CreatedAt)
			}
			if i > 1 {
				continue
			}
			for _, o := range calls[providers.OpReplies].walk(t, p, c.ID, 6) {
				if r := o.(*schema.Comment); r.PostID != post.ID || r.ReplyToID == nil || *r.ReplyToID != c.ID {
					t.Errorf("%s is under %s and answers %v", r.ID, r.PostID, r.ReplyToID)
				}
			}
		}
	}
	profile, err := p.Profile(t.Context(), "octocat")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(calls[providers.OpPosts].walk(t, p, "octocat", 6)); profile.PostsCount == nil || *profile.PostsCount != int64(n) {
		t.Errorf("the profile counts %v posts and has %d", profile.PostsCount, n)
	}
	for _, o := range calls[providers.OpReviews].walk(t, p, "ann-product-3", 6) {
		if r := o.(*schema.Review); r.ProductID != "ann-product-3" {
			t.Errorf("%s is about %s", r.ID, r.ProductID)
		}
	}
	replies, err := p.Replies(t.Context(), providers.RepliesQuery{CommentID: "99", PostID: "42"}, "")
	if err != nil || replies.Items[0].PostID != "42" {
		t.Errorf("replies under %v, %v", replies.Items[0].PostID, err)
	}
}

func TestPostsAreNewestFirstAndShowEveryMedia(t *testing.T) {
	t.Parallel()
	seen := map[schema.MediaType]bool{}
	bare := false
	var before *schema.Post
	for _, o := range calls[providers.OpPosts].walk(t, mock.New(mock.Config{})[0], "salma_haddad", 6) {
		post := o.(*schema.Post)
		if before != nil && post.CreatedAt.After(*before.CreatedAt) {
			t.Errorf("%s is newer than %s before it", post.ID, before.ID)
		}
		for _, m := range post.Media {
			seen[m.Type] = true
		}
		bare = bare || len(post.Media) == 0
		before = post
	}
	if len(seen) != 3 || !bare {
		t.Errorf("media %v, bare %v", seen, bare)
	}
}

func TestAProfileThatStandsInIsTheSamePersonElsewhere(t *testing.T) {
	t.Parallel()
	here, _ := calls[providers.OpProfile](t.Context(), mock.New(mock.Config{})[0], "ann", "")
	there, err := calls[providers.OpProfile](t.Context(), mock.NewFor(platform.TikTok, mock.Config{}), "ann", "")
	if err != nil {
		t.Fatal(err)
	}
	a, b := here.items[0].(*schema.Profile), there.items[0].(*schema.Profile)
	if b.Platform != platform.TikTok || a.URL == b.URL || *a.DisplayName != *b.DisplayName {
		t.Errorf("%s and %s", marshal(t, a), marshal(t, b))
	}
	posts, err := mock.NewFor(platform.TikTok, mock.Config{Epoch: mock.Epoch.AddDate(1, 0, 0)}).Posts(t.Context(), "ann", "")
	if err != nil || posts.Items[0].CreatedAt.Year() != 2027 {
		t.Errorf("another epoch: %v, %v", posts.Items[0].CreatedAt, err)
	}
}

func TestFiltersLeaveWhatTheySay(t *testing.T) {
	t.Parallel()
	p, ctx := mock.New(mock.Config{})[0], t.Context()
	search := func(q providers.SearchQuery) []schema.SearchResult {
		var all []schema.SearchResult
		for cursor := ""; ; {
			page, err := p.Search(ctx, q, cursor)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page.Items...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(all) == 0 {
			t.Errorf("%+v finds nothing", q)
		}
		return all
	}
	for _, kind := range schema.ResultKinds() {
		for _, r := range search(providers.SearchQuery{Query: "tea", Kind: kind}) {
			if r.Kind != kind {
				t.Errorf("kind %s finds a %s", kind, r.Kind)
			}
		}
	}
	since, until := mock.Epoch.AddDate(0, 0, -5), mock.Epoch.AddDate(0, 0, -2)
	var last *time.Time
	for _, r := range search(providers.SearchQuery{Query: "tea", Kind: schema.PostResult, Since: since, Until: until, Sort: "recent"}) {
		at := r.Object.(*schema.Post).CreatedAt
		if at.Before(since) || !at.Before(until) || last != nil && at.After(*last) {
			t.Errorf("since, until and sort find %s after %s", at, last)
		}
		last = at
	}
	for _, r := range search(providers.SearchQuery{Query: "tea", Kind: schema.CommentResult, Lang: "ar-SA"}) {
		if lang := r.Object.(*schema.Comment).Lang; lang == nil || *lang != "ar" {
			t.Errorf("lang finds %v", lang)
		}
	}
	for _, r := range search(providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult, Region: "EG"}) {
		if country := r.Object.(*schema.Profile).Country; country != nil && *country != "EG" {
			t.Errorf("region finds %s", *country)
		}
	}
	seen := map[string]bool{}
	for _, r := range search(providers.SearchQuery{Query: "tea", Handle: "ann"}) {
		if post, ok := r.Object.(*schema.Post); ok && post.Author.Handle != "ann" {
			t.Errorf("handle finds a post of %s", post.Author.Handle)
		}
		if seen[id(&r)] {
			t.Errorf("handle finds %s twice", id(&r))
		}
		seen[id(&r)] = true
	}
	trending, err := p.Trending(ctx, providers.TrendingQuery{Region: "KW"}, "")
	if err != nil || len(trending.Items) == 0 {
		t.Errorf("nothing trends in Kuwait: %v", err)
	}
	collections, err := p.Collections(ctx, providers.CollectionsQuery{Handle: "ann", Kind: schema.Album}, "")
	if err != nil || len(collections.Items) == 0 {
		t.Fatalf("no albums: %v", err)
	}
	for _, c := range collections.Items {
		if c.Kind != schema.Album {
			t.Errorf("%s is a %s", c.ID, c.Kind)
		}
	}
	if _, err := p.Collection(ctx, providers.CollectionQuery{ID: collections.Items[0].ID, Kind: schema.Board}); err == nil {
		t.Error("an album passes for a board")
	}
	top, err := p.CommunityPosts(ctx, providers.CommunityPostsQuery{ID: "golang", Sort: "top"}, "")
	if err != nil || !slices.IsSortedFunc(top.Items, byLikes) {
		t.Errorf("top is not sorted: %v", err)
	}
	for region, currency := range map[string]string{"SA": "SAR", "KW": "KWD", "US": "USD"} {
		product, err := p.Product(ctx, providers.ProductQuery{ID: "ann-product-1", Region: region})
		if err != nil || product.Price.Currency != currency || product.Price.Amount <= 0 {
			t.Errorf("in %s it costs %+v, %v", region, product.Price, err)
		}
	}
	for _, status := range []string{"active", "inactive"} {
		ads, err := p.Ads(ctx, providers.AdsQuery{Domain: "ann.example", AdFilter: providers.AdFilter{Status: status}}, "")
		if err != nil || len(ads.Items) == 0 {
			t.Fatalf("no %s ads: %v", status, err)
		}
		for _, ad := range ads.Items {
			if *ad.IsActive != (status == "active") || (ad.EndedAt == nil) != *ad.IsActive || *ad.Advertiser.ID != "ann" {
				t.Errorf("%s ad %s", status, marshal(t, ad))
			}
		}
	}
	for _, when := range []string{"upcoming", "past"} {
		events, err := p.Events(ctx, providers.EventsQuery{Place: "Kuwait City", Time: when}, "")
		if err != nil || len(events.Items) == 0 {
			t.Fatalf("no %s events: %v", when, err)
		}
		for _, e := range events.Items {
			if e.StartsAt.After(mock.Epoch) != (when == "upcoming") || *e.Location != "Kuwait City" {
				t.Errorf("%s event at %s in %s", when, e.StartsAt, *e.Location)
			}
		}
	}
	for _, lang := range []string{"ar", "en"} {
		transcript, err := p.Transcript(ctx, providers.TranscriptQuery{PostID: "ann-post-2", Lang: lang})
		if err != nil || *transcript.Lang != lang || len(transcript.Segments) < 6 {
			t.Errorf("transcript in %s: %v, %v", lang, transcript.Lang, err)
		}
	}
	for handle, want := range map[string]bool{"on_air": true, "off_air": false} {
		if live, err := p.Live(ctx, handle); err != nil || live.IsLive != want || (live.StartedAt != nil) != want {
			t.Errorf("%s: %v, %v", handle, live.IsLive, err)
		}
	}
}

func byLikes(a, b schema.Post) int {
	switch {
	case a.Engagement.Likes == nil && b.Engagement.Likes == nil:
		return 0
	case a.Engagement.Likes == nil:
		return 1
	case b.Engagement.Likes == nil:
		return -1
	}
	return int(*b.Engagement.Likes - *a.Engagement.Likes)
}
