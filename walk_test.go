package socialdata_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func post(id string) schema.Post {
	return schema.Post{
		Common: schema.Common{ID: id, URL: "https://example.com/" + id}, Author: schema.Actor{ID: "a", Handle: "a"}, Text: id,
	}
}

func sandboxes(t *testing.T, opts ...socialdata.Option) *enginetest.Engine {
	t.Helper()
	return enginetest.New(t, enginetest.Config{
		Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.TikTok), Options: opts,
	})
}

// cursorOf reads page one and returns the cursor to page two.
func cursorOf(t *testing.T, c *socialdata.Client, req socialdata.PostsRequest) string {
	t.Helper()
	page, err := c.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if page.Meta.NextCursor == "" {
		t.Fatal("page one has no cursor")
	}
	return page.Meta.NextCursor
}

// hostile is an upstream's list: for each token, what it shows and which token it says is next.
type hostile struct {
	pages    [][]int // items of each page
	next     []int   // token after each page; 0 is the end
	restless bool    // the same token shows something else the next time
	asked    int
	shown    map[int]bool
}

func (h *hostile) read(_ context.Context, _, token string) (providers.Page[schema.Post], error) {
	at, _ := strconv.Atoi(token)
	shows := at
	if h.restless {
		shows = h.asked % len(h.pages)
	}
	h.asked++
	var page providers.Page[schema.Post]
	for _, n := range h.pages[shows] {
		h.shown[n] = true
		page.Items = append(page.Items, post(strconv.Itoa(n)))
	}
	if n := h.next[at]; n > 0 {
		page.Next = strconv.Itoa(n)
	}
	return page, nil
}

// drawHostile draws a list whose pages repeat items and whose tokens skip, loop, stand still or go back.
func drawHostile(t *rapid.T) *hostile {
	n := rapid.IntRange(1, 12).Draw(t, "pages")
	h := &hostile{shown: map[int]bool{}, restless: rapid.Bool().Draw(t, "restless")}
	for range n {
		h.pages = append(h.pages, rapid.SliceOfN(rapid.IntRange(0, 30), 0, 8).Draw(t, "items"))
		h.next = append(h.next, rapid.IntRange(0, n-1).Draw(t, "next"))
	}
	return h
}

func (h *hostile) client(t *rapid.T) *socialdata.Client {
	client, err := socialdata.New(
		socialdata.WithProviders(providers.Chain{{Name: "hostile", Platform: platform.GitHub, Source: schema.Own, Posts: h.read}}),
		socialdata.WithEnricher(enginetest.Enricher()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestWalkNeverRepeatsNeverLosesAndEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := drawHostile(t)
		got := map[int]bool{}
		for p, err := range socialdata.Walk(context.Background(), h.client(t).Posts, socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}) {
			if err != nil {
				t.Fatal(err)
			}
			n, _ := strconv.Atoi(p.ID)
			if got[n] {
				t.Fatalf("%d came twice", n)
			}
			got[n] = true
		}
		if diff := cmp.Diff(h.shown, got); diff != "" {
			t.Fatalf("items (-shown +got):\n%s", diff)
		}
	})
}

// TestWalkEndsWhateverItIsGiven walks pages that no engine made: the cursors never end.
func TestWalkEndsWhateverItIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 9), 0, 5), 1, 10).Draw(t, "pages")
		calls, got := 0, map[string]bool{}
		page := func(context.Context, socialdata.PostsRequest) (*schema.Envelope[[]schema.Post], error) {
			e := &schema.Envelope[[]schema.Post]{Meta: schema.Meta{NextCursor: strconv.Itoa(calls)}}
			seen := map[int]bool{}
			for _, n := range pages[calls%len(pages)] {
				if !seen[n] {
					e.Data = append(e.Data, post(strconv.Itoa(n)))
				}
				seen[n] = true
			}
			calls++
			return e, nil
		}
		for p, err := range socialdata.Walk(context.Background(), page, socialdata.PostsRequest{}) {
			if err != nil || got[p.ID] {
				t.Fatalf("%s came twice, or %v", p.ID, err)
			}
			got[p.ID] = true
		}
		if calls > 10*10+10 {
			t.Fatalf("%d calls for ten items", calls)
		}
	})
}

func TestWalkStopsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	n := 0
	for _, err := range socialdata.Walk(t.Context(), e.Client.Posts, socialdata.PostsRequest{Platform: platform.Mock, Handle: "endless"}) {
		if n++; n == 50 || err != nil {
			break
		}
	}
	if got := len(e.Charges(t)); got != 3 {
		t.Errorf("%d pages were read for 50 posts, want 3", got)
	}
}

func TestWalkEndsWithAFailure(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	var failed error
	n := 0
	for _, err := range socialdata.Walk(t.Context(), e.Client.Comments, socialdata.CommentsRequest{Platform: platform.Mock, PostID: "dead_cursor"}) {
		if failed != nil {
			t.Error("something comes after the failure")
		}
		if failed = err; err == nil {
			n++
		}
	}
	wantProblem(t, failed, problem.InvalidRequest)
	if n != 20 {
		t.Errorf("%d comments before the failure, want 20", n)
	}
}

func TestTheSandboxesHostileListsAreWalked(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{
		"empty": 0, "one_page": 10, "empty_middle": 40, "repeats": 65, "loops": 30, "stuck": 20, "backwards": 30, "broken_item": -1,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			e := sandboxes(t)
			got := map[string]bool{}
			for p, err := range socialdata.Walk(t.Context(), e.Client.Followers, socialdata.FollowersRequest{Platform: platform.Mock, Handle: word}) {
				if err != nil {
					t.Fatal(err)
				}
				if got[p.ID] {
					t.Errorf("%s came twice", p.ID)
				}
				got[p.ID] = true
			}
			if want >= 0 && len(got) != want {
				t.Errorf("%d objects, want %d", len(got), want)
			}
		})
	}
}

func TestAllResultsWalksASearch(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	n := 0
	for r, err := range socialdata.Walk(t.Context(), e.Client.Search, socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee"}) {
		if err != nil || r.Object == nil {
			t.Fatal(err)
		}
		n++
	}
	if n < 21 {
		t.Errorf("%d results", n)
	}
}
